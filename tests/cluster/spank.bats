#!/usr/bin/env bats
# The plugin inside a real Slurm, with a helper that stands in for the real one and misbehaves to order
# (tests/doubles/helper). What is tested is the shim's promise: flags arrive, and no fault of ours reaches a job.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
  export BATS_TEST_TIMEOUT=90
  export work=$BATS_FILE_TMPDIR/work prefix=$BATS_FILE_TMPDIR/prefix
  mkdir -p "$work" "$prefix"/{lib,bin}
  chmod 777 "$work"
  install "$repository/build/release/lib/spank_paced_fabric.so" "$prefix/lib/"
  install "$repository"/tests/doubles/helper/* "$prefix/bin/"
  # what the helper lets tasks preload; its constructor says that it was
  echo 'int paced_fabric_is_here;' | gcc -shared -fPIC -x c - -o "$prefix/lib/libpaced_fabric.so"
  echo 'int the_users_own;' | gcc -shared -fPIC -x c - -o "$work/libusers.so"
  echo '{"recorded": "node"}' >"$work/node.json"
  cluster_up spank --nodes 4 --plugin-dir "$prefix/lib" --no-plugin-on n4 --node-topology "n3=$work/node.json"
}

teardown_file() {
  cluster_down spank
}

setup() {
  CLUSTER=spank
  cd "$work"
  # where the plugin and the policy's folder are, as seen on the nodes and from here
  plugin_folder=/run/paced-cluster/prefix/lib
  policy_folder=$(state_of spank)/paced-fabric
}

teardown() {
  rm -f "$policy_folder/disabled" "$policy_folder/policy.toml"
}

# Every node takes jobs, and nothing of a step is left on one: no helper, no zombie of slurmstepd, no folder of ours.
assert_nodes_unharmed() {
  local node left
  [[ $(run_in ctl sinfo -h -p all -N -t idle,alloc,mix,comp -o %N | sort -u | xargs) == "n1 n2 n3 n4" ]]
  for node in n1 n2 n3; do
    wait_until 5 nothing_left_on "$node"
  done
}

nothing_left_on() {
  local left
  # the brackets keep grep from finding itself
  left=$(run_in "$1" sh -c 'cat /proc/[0-9]*/cmdline 2>/dev/null | tr "\\0" "\\n" | grep "[p]aced-fabric-[hp]"; grep -h "^State:.*Z" /proc/[0-9]*/status; ls -d /dev/shm/*paced*/*' 2>/dev/null || true)
  [[ -z $left ]] || { echo "left on $1: $left" >&2; return 1; }
}

# --- flags ------------------------------------------------------------------------------------------------------

@test "--help of srun, sbatch and salloc shows the five flags" {
  for program in srun sbatch salloc; do
    both run_in ctl $program --help
    for flag in --paced-fabric= --paced-fabric-order= --paced-fabric-bind= --paced-fabric-window= --paced-fabric-report=; do
      has "$out" "$flag"
    done
  done
}

@test "srun: all flags arrive, a bare one too" {
  both run_in ctl srun -N2 -n3 --paced-fabric=observe --paced-fabric-order=tp=2,dp=2 --paced-fabric-bind=gpu-nic \
    --paced-fabric-window=2ms --paced-fabric-report=full,/tmp/x.json hostname
  same "$(sort out.txt | xargs)" "n1 n1 n2"
  has "$err" "fake: node n1 (0 of 2) step"
  has "$err" "tasks 2/3 MODE='observe' ORDER='tp=2,dp=2' BIND='gpu-nic' WINDOW='2ms' REPORT='full,/tmp/x.json'"
  same "$(grep -c . <<<"$err")" 1
  both run_in ctl srun --paced-fabric hostname
  has "$err" "tasks 1/1 MODE=''"
}

@test "sbatch: the flag reaches every srun inside, under each --export" {
  for export in ALL NONE NIL PACED_NOTHING; do
    id=$(submit -o job.out --export=$export --paced-fabric=observe --paced-fabric-order=ring --wrap '/usr/bin/srun /bin/true; /usr/bin/srun --paced-fabric-order=tree /bin/true')
    same "$(wait_for_job "$id")" "COMPLETED 0:0"
    has "$(<job.out)" "step $id.0 tasks 1/1 MODE='observe' ORDER='ring'"
    has "$(<job.out)" "step $id.1 tasks 1/1 MODE='observe' ORDER='tree'"
    same "$(grep -c fake: job.out)" 2
  done
}

@test "sbatch: a flag in the script counts, the command line counts more" {
  printf '#!/bin/bash\n#SBATCH --paced-fabric\n#SBATCH --paced-fabric-window=5ms\nsrun true\n' >job.sh
  id=$(submit -o job.out job.sh)
  wait_for_job "$id"
  has "$(<job.out)" "MODE='' WINDOW='5ms'"
  id=$(submit -o job.out --paced-fabric=pace job.sh)
  wait_for_job "$id"
  has "$(<job.out)" "MODE='pace' WINDOW='5ms'"
}

@test "salloc: the flag reaches its srun" {
  both run_in ctl salloc -Q -N2 --paced-fabric=observe srun hostname
  same "$(sort out.txt | xargs)" "n1 n2"
  has "$err" "(0 of 2)"
  has "$err" "MODE='observe'"
}

@test "job arrays: each task of the array has the flag" {
  id=$(submit --array=1-3 -o 'array.%a.out' --paced-fabric=observe --wrap 'srun hostname')
  wait_for_job "$id"
  for i in 1 2 3; do has "$(<array.$i.out)" "MODE='observe'"; done
}

@test "a heterogeneous step: both components run, and have the flag" {
  export PACED_FABRIC_FAKE_SAY=all
  both run_in ctl srun -N1 -n1 --paced-fabric=observe hostname : -N1 -n2 hostname
  same "$code" 0
  same "$(wc -l <out.txt)" 3
  same "$(grep -c "MODE='observe'" err.txt)" 2
}

@test "a heterogeneous job: one key, and the flag in both components" {
  id=$(PACED_FABRIC_FAKE_SAY=key submit -o job.out -N1 --paced-fabric=observe : -N1 <<<$'#!/bin/bash\nsrun --het-group=0 hostname\nsrun --het-group=1 hostname\n')
  same "$(wait_for_job "$id" | sort -u)" "COMPLETED 0:0"
  same "$(grep -c "MODE='observe'" job.out)" 2
  same "$(grep 'fake: key' job.out | sort -u | wc -l)" 1
}

@test "the environment asks too, the flag wins over it" {
  export PACED_FABRIC=observe
  both run_in ctl srun hostname
  has "$err" "fake: node n1"
  lacks "$err" "MODE="
  both run_in ctl srun --paced-fabric=off hostname
  same "$err" ""
  PACED_FABRIC=off both run_in ctl srun --paced-fabric=pace hostname
  has "$err" "MODE='pace'"
}

@test "off, or nothing asked and no policy: the helper is not started" {
  both run_in ctl srun --paced-fabric=off env
  same "$err" ""
  lacks "$out" PACED_FABRIC_STEP
  both run_in ctl srun env
  same "$err" ""
  lacks "$out" PACED_FABRIC
  PACED_FABRIC=off both run_in ctl srun hostname
  same "$err" ""
}

@test "nothing asked but there is a policy: the helper decides" {
  echo 'schema = 1' >"$policy_folder/policy.toml"
  both run_in ctl srun hostname
  has "$err" "fake: node n1 (0 of 1)"
}

# --- refusal at submission ----------------------------------------------------------------------------------------

@test "a wrong value ends the submission, with the helper's words" {
  for program in "srun" "sbatch --wrap" "salloc"; do
    name=${program%% *}
    both run_in ctl $name --paced-fabric=bad-mode ${program#"$name"} hostname
    same "$code" 255
    same "$out" ""
    same "$err" "--paced-fabric: error: unknown value \"bad-mode\"
--paced-fabric: hint: did you mean \"good\"?
$name: error: Invalid --paced-fabric argument: bad-mode"
  done
  both run_in ctl srun --paced-fabric-order=bad hostname
  same "$code" 255
  has "$err" '--paced-fabric-order: error: unknown value "bad"'
}

@test "a helper that is ill at submission refuses nothing" {
  for kind in hang crash fail flood; do
    PACED_FABRIC_FAKE=$kind both run_in ctl srun --paced-fabric=site-policy true
    same "$code" 0
  done
  assert_nodes_unharmed
}

@test "a value of 5,000 characters is refused" {
  both run_in ctl srun --paced-fabric="$(printf '%05000d' 0)" hostname
  same "$code" 255
  has "$err" "--paced-fabric: error: the value is longer than 4095 characters"
}

# --- one job's flags are not another's ----------------------------------------------------------------------------

@test "a nested sbatch starts afresh: no flag, another key" {
  export PACED_FABRIC_FAKE_SAY=key
  id=$(submit -o outer.out --paced-fabric=observe --wrap 'srun true; sbatch -W -o inner.out --wrap "env | grep SLURM_.*FABRIC; srun true; srun --paced-fabric=pace true"; sbatch -W -o inner2.out --paced-fabric-order=ring --wrap "srun true"')
  same "$(wait_for_job "$id")" "COMPLETED 0:0"
  has "$(<outer.out)" "MODE='observe'"
  lacks "$(<inner.out)" "observe"
  lacks "$(<inner.out)" "SLURM_"
  same "$(grep -c fake: inner.out)" 2
  has "$(<inner.out)" "MODE='pace'"
  has "$(<inner2.out)" "tasks 1/1 ORDER='ring'"
  same "$(cat outer.out inner.out inner2.out | grep 'fake: key' | sort -u | wc -l)" 3
}

@test "a nested srun has the flags of its job and step" {
  both run_in ctl srun --paced-fabric=observe --paced-fabric-order=ring srun --overlap --paced-fabric-order=tree hostname
  same "$out" n1
  has "$err" "MODE='observe' ORDER='ring'"
  has "$err" "MODE='observe' ORDER='tree'"
}

@test "srun in a shell full of another job's variables takes none of them" {
  both run_in ctl env SLURM_PACED_FABRIC_MODE=pace SLURM_PACED_FABRIC_KEY=x \
    SLURM_SPANK__SLURM_SPANK_OPTION_paced_fabric_paced_fabric=pace srun env
  same "$err" ""
  lacks "$out" PACED
}

@test "all nodes of a step and all steps of a job have one key; no task sees it" {
  export PACED_FABRIC_FAKE_SAY=all,key
  id=$(submit -N3 -o job.out --paced-fabric=observe --wrap 'srun env; srun true')
  wait_for_job "$id"
  same "$(grep -c 'fake: key' job.out)" 6
  same "$(grep 'fake: key' job.out | sort -u | wc -l)" 1
  [[ $(grep -m1 'fake: key' job.out) =~ key\ [0-9a-f]{64}$ ]]
  lacks "$(<job.out)" SLURM_PACED_FABRIC_KEY
  has "$(<job.out)" SLURM_PACED_FABRIC_MODE=observe
}

# --- a helper that misbehaves ---------------------------------------------------------------------------------------

# expect KIND TEXT: the job is what it is without us, but for one line.
expect() {
  local plain
  PACED_FABRIC_FAKE=$1 both run_in ctl srun -N1 --paced-fabric=observe sh -c 'echo to out; env | grep -E "LD_PRELOAD|FABRIC_STEP"; exit 7'
  same "$code" 7
  same "$out" "to out"
  plain=$(grep -vE '^srun: error: n1: task 0: Exited with exit code 7' err.txt || true)
  same "$plain" "paced-fabric: n1: $2; this node's part of the step runs as it would without the plugin"
}

@test "helper crashes" { expect crash "the helper was ended by signal 11"; assert_nodes_unharmed; }
@test "helper fails" { expect fail "the helper exited with code 1"; }
@test "helper hangs" { expect hang "the helper did not answer within 2000 ms"; assert_nodes_unharmed; }
@test "helper hangs and so does its child" { expect hang_with_child "the helper did not answer within 2000 ms"; assert_nodes_unharmed; }
@test "helper ignores signals" { expect deaf "the helper did not answer within 2000 ms"; assert_nodes_unharmed; }
@test "helper spins" { expect busy "the helper did not answer within 2000 ms"; assert_nodes_unharmed; }
@test "helper floods" { expect flood "the helper answered too much"; assert_nodes_unharmed; }
@test "helper says nothing" { expect silent "the helper gave an answer that is not understood: not begun by \"paced-fabric-step 1\""; }
@test "helper stops in the middle" { expect cut "the helper gave an answer that is not understood: no last line \"end\""; }
@test "helper talks nonsense" { expect nonsense "the helper gave an answer that is not understood: not begun by \"paced-fabric-step 1\""; }
@test "helper is of another version" { expect future "the helper gave an answer that is not understood: not begun by \"paced-fabric-step 1\""; }

@test "helper is not there" {
  mv "$prefix/bin/paced-fabric-helper" "$prefix/bin/away"
  both run_in ctl srun --paced-fabric=observe hostname
  mv "$prefix/bin/away" "$prefix/bin/paced-fabric-helper"
  same "$out" n1
  same "$err" "paced-fabric: n1: there is no program paced-fabric-helper; this node's part of the step runs as it would without the plugin"
}

@test "helper fails on one node of three: that node says so, the step runs" {
  PACED_FABRIC_FAKE=crash@n2 both run_in ctl srun -N3 --paced-fabric=observe hostname
  same "$code" 0
  same "$(sort out.txt | xargs)" "n1 n2 n3"
  has "$err" "paced-fabric: n2: the helper was ended by signal 11"
  same "$(grep -c . err.txt)" 2
}

@test "a failing helper costs a batch job nothing" {
  for kind in crash hang flood; do
    id=$(PACED_FABRIC_FAKE=$kind submit -N2 -o job.out --paced-fabric=observe --wrap 'srun hostname; exit 3')
    same "$(wait_for_job "$id")" "FAILED 3:0"
    same "$(grep -c '^n[12]$' job.out)" 2
  done
  assert_nodes_unharmed
}

# --- what tasks get -------------------------------------------------------------------------------------------------

@test "batch script: no preload, no step variables; its steps have them" {
  export PACED_FABRIC_FAKE_LINES="preload $plugin_folder/libpaced_fabric.so"
  id=$(submit -o job.out --paced-fabric=observe --wrap 'env | grep -E "LD_PRELOAD|FABRIC_STEP"; echo ---; srun env | grep -E "^LD_PRELOAD|FABRIC_STEP" | sort')
  wait_for_job "$id"
  same "$(sed -n '0,/---/p' job.out)" "---"
  has "$(<job.out)" "LD_PRELOAD=$plugin_folder/libpaced_fabric.so"
  has "$(<job.out)" "PACED_FABRIC_STEP_MODE=observe"
}

@test "the user's LD_PRELOAD is kept, behind ours" {
  export PACED_FABRIC_FAKE_LINES="preload $plugin_folder/libpaced_fabric.so" PACED_FABRIC_FAKE_SAY=environment
  both run_in ctl env LD_PRELOAD="$work/libusers.so" srun --paced-fabric=observe sh -c 'echo $LD_PRELOAD; grep -c -E "libusers|libpaced_fabric" /proc/self/maps'
  same "$(head -1 out.txt)" "$plugin_folder/libpaced_fabric.so:$work/libusers.so"
  has "$err" "fake: has PACED_FABRIC_HELPER_USER_LD_PRELOAD=$work/libusers.so"
  lacks "$err" "fake: has LD_PRELOAD="
}

@test "no interposer where the task looks for it: one line, no preload" {
  export PACED_FABRIC_FAKE_LINES="preload /nowhere/libpaced_fabric.so"
  both run_in ctl srun -n2 -N1 --paced-fabric=observe sh -c 'echo "[$LD_PRELOAD]"'
  same "$out" "[]
[]"
  has "$err" "paced-fabric: n1: /nowhere/libpaced_fabric.so is not there for the tasks; nothing will be recorded"
  same "$(grep -c nowhere err.txt)" 1
}

@test "variables of one task, of all tasks, and of the user, who wins" {
  export PACED_FABRIC_FAKE_LINES="env UCX_NET_DEVICES=ours;env NEW=all;task 0 ONE=zero;task 1 ONE=one;env PACED_FABRIC_STEP_STAMP=right"
  export UCX_NET_DEVICES=users PACED_FABRIC_STEP_STAMP=stale
  both run_in ctl srun -n2 -N1 --paced-fabric=observe sh -c 'echo $SLURM_LOCALID $UCX_NET_DEVICES $NEW $ONE $PACED_FABRIC_STEP_STAMP'
  same "$(sort out.txt)" "0 users all zero right
1 users all one right"
}

@test "cores: narrowed to the helper's list, never widened" {
  cpus=$(nproc)
  ((cpus >= 2)) || skip "one core only"
  export PACED_FABRIC_FAKE_LINES="cpus 0 1;cpus 1 8000"
  both run_in ctl srun -n2 -N1 --paced-fabric=observe sh -c 'echo $SLURM_LOCALID $(grep Cpus_allowed_list /proc/self/status)'
  has "$out" "0 Cpus_allowed_list: 1"
  lacks "$(grep '^1' out.txt)" 8000
  has "$err" "paced-fabric: n1: task 1 keeps the cores that Slurm gave it; 8000 are not among them"
}

# What a step of mpirun's daemons says, wherever mpirun sends what its srun says.
left_alone="paced-fabric: mpirun's daemons are left alone: ranks started as 'mpirun … paced run -- PROGRAM' are recorded, others are not"

@test "under mpirun nothing is done but said: its daemons' step is left alone, so that no job has mixed ranks" {
  export PACED_FABRIC_FAKE_LINES="preload $plugin_folder/libpaced_fabric.so"
  for flavour in openmpi mpich; do
    program=$(command -v mpirun.$flavour) || skip "no mpirun.$flavour"
    id=$(submit -N2 -n2 -o job.out --paced-fabric=observe --wrap "$program -n 2 sh -c 'echo rank on \$(hostname); env | grep -E \"^(LD_PRELOAD|PACED_FABRIC_STEP)\"; true'")
    same "$(wait_for_job "$id")" "COMPLETED 0:0"
    same "$(grep -v '^$' job.out | sort)" "$left_alone
rank on n1
rank on n2"
  done
}

@test "under mpirun stdout is the ranks' own; nothing is said where nobody asked" {
  echo 'schema = 1' >"$policy_folder/policy.toml"
  for flavour in openmpi mpich; do
    program=$(command -v mpirun.$flavour) || skip "no mpirun.$flavour"
    # a pipe, a terminal, or a file that is appended to; any other file is not touched
    said=$(run_in ctl salloc -Q -N2 -n2 --paced-fabric=observe "$program" -n 2 hostname 2>&1 >out.txt | cat)
    same "$(sort out.txt | xargs)" "n1 n2"
    same "$(grep -v '^$' <<<"$said")" "$left_alone"
    id=$(submit -N2 -n2 -o job.out -e job.err --paced-fabric --wrap "$program -n 2 hostname")
    same "$(wait_for_job "$id")" "COMPLETED 0:0"
    same "$(sort job.out | xargs)" "n1 n2"
    same "$(grep -v '^$' job.err)" "$left_alone"
    for flag in --job-name=x --paced-fabric=off; do
      said=$(run_in ctl salloc -Q -N2 -n2 $flag "$program" -n 2 hostname 2>&1 | cat)
      same "$(sort <<<"$said" | xargs)" "n1 n2"
    done
  done
}

@test "explain and off from the helper change nothing" {
  export PACED_FABRIC_FAKE_LINES="preload $plugin_folder/libpaced_fabric.so;run-dir @RUN_DIR@;leader yes"
  for mode in explain off; do
    PACED_FABRIC_FAKE_MODE=$mode both run_in ctl srun --paced-fabric env
    has "$err" "fake: node n1"
    same "$(grep -c . err.txt)" 1
    lacks "$out" FABRIC_STEP
  done
}

@test "stdin, stdout, stderr and exit code are the task's own" {
  both run_in ctl bash -c 'x=$(echo input | srun --paced-fabric=observe sh -c "cat; echo oops >&2; exit 9"); echo "$? [$x]"'
  same "$out" "9 [input]"
  has "$err" oops
  plain=$(run_in ctl srun -N2 -n4 sh -c 'echo $SLURM_PROCID' | sort)
  both run_in ctl srun -N2 -n4 --paced-fabric=observe sh -c 'echo $SLURM_PROCID'
  same "$(sort out.txt)" "$plain"
  both run_in ctl srun --paced-fabric=observe sh -c 'kill -SEGV $$'
  same "$code" 139
}

# --- privilege ------------------------------------------------------------------------------------------------------

@test "the helper is the job's user, entirely" {
  export PACED_FABRIC_FAKE_SAY=privileges
  both run_in --user nobody ctl srun --paced-fabric=observe id -u
  same "$out" 65534
  has "$err" "fake: uid 65534,65534,65534,65534 gid 65534,65534,65534,65534 groups 65534 no-new-privileges 1"
}

@test "forged variables do not reach the helper" {
  export PACED_FABRIC_FAKE_SAY=environment
  both run_in ctl env PACED_FABRIC_HELPER_CONFIG=/tmp/evil PACED_FABRIC_HELPER_LIBRARY=/tmp/evil BASH_ENV=/tmp/evil HWLOC_XMLFILE=/tmp/evil \
    LD_LIBRARY_PATH=/tmp/evil GLIBC_TUNABLES=evil SLURM_PACED_FABRIC_WINDOW=evil NCCL_DEBUG=INFO srun --paced-fabric=observe true
  lacks "$err" evil
  has "$err" "fake: has PACED_FABRIC_HELPER_CONFIG=/run/paced-cluster/paced-fabric/policy.toml"
  has "$err" "fake: has NCCL_DEBUG=INFO"
}

# --- the node's snapshot ----------------------------------------------------------------------------------------------

@test "one snapshot for a boot, made by nobody and owned by root" {
  export PACED_FABRIC_FAKE_SAY=all,snapshot
  both run_in ctl srun -N2 --paced-fabric=observe true
  first=$(grep snapshot err.txt | sort)
  has "$first" "'/run/paced-fabric/snapshot-"
  has "$first" '"fake": "65534"'
  both run_in ctl srun -N2 --paced-fabric=observe true
  same "$(grep snapshot err.txt | sort)" "$first"
  same "$(run_in n1 stat -c '%U %a' /run/paced-fabric)" "root 755"
  same "$(run_in n1 sh -c 'stat -c "%U %a" /run/paced-fabric/*')" "root 644"
}

@test "node_topology= has a snapshot of its own, made anew when the file changes" {
  export PACED_FABRIC_FAKE_SAY=all,snapshot
  both run_in ctl srun -w n3 --paced-fabric=observe true
  has "$err" '"file": "{"recorded": "node"}"'
  same "$(run_in n3 sh -c 'ls /run/paced-fabric | wc -l')" 1
}

@test "probe hangs, fails or floods: tried once, said in slurmd's log, the step runs" {
  for kind in hang fail crash flood; do
    echo $kind >"$prefix/bin/probe-says"
    touch "$prefix/bin/paced-fabric-probe"
    run_in n2 rm -rf /run/paced-fabric
    PACED_FABRIC_FAKE_SAY=snapshot both run_in ctl srun -w n2 --paced-fabric=observe hostname
    rm "$prefix/bin/probe-says"
    same "$out" n2
    has "$err" "fake: snapshot ''"
    same "$(run_in n2 sh -c 'cat /run/paced-fabric/* | wc -c')" 0
    # the next step does not try again
    PACED_FABRIC_FAKE_SAY=snapshot both run_in ctl srun -w n2 --paced-fabric=observe hostname
    has "$err" "fake: snapshot ''"
  done
  has "$(cat "$(state_of spank)/log/slurmd.n2.log")" "no snapshot of the node's hardware: the probe did not answer within 1000 ms"
  run_in n2 rm -rf /run/paced-fabric
  assert_nodes_unharmed
}

@test "a /run/paced-fabric that is not root's is not believed" {
  run_in n2 sh -c 'rm -rf /run/paced-fabric; mkdir -m 755 /run/paced-fabric; chown nobody /run/paced-fabric'
  PACED_FABRIC_FAKE_SAY=snapshot both run_in ctl srun -w n2 --paced-fabric=observe hostname
  run_in n2 rm -rf /run/paced-fabric
  same "$out" n2
  has "$err" "fake: snapshot ''"
}

# --- the end of a step ------------------------------------------------------------------------------------------------

@test "the leader's node prints the report, each node clears its folder" {
  export PACED_FABRIC_FAKE_LINES="run-dir @RUN_DIR@;leader yes"
  both run_in ctl srun -N2 --ntasks-per-node=2 --paced-fabric=observe sh -c 'd=/dev/shm/paced-fabric-0/$SLURM_JOB_ID.$SLURM_STEP_ID; mkdir -p $d; : >$d/segment; : >$d/key; : >$d/node-n2.dump; hostname'
  same "$(sort out.txt | xargs)" "n1 n1 n2 n2"
  has "$err" "fake: finished"
  assert_nodes_unharmed
}

@test "the folder is cleared as the user, links and folders are not followed" {
  export PACED_FABRIC_FAKE_LINES="run-dir @RUN_DIR@;leader no"
  run_in n1 sh -c 'mkdir -p /dev/shm/roots; echo precious >/dev/shm/roots/segment; chmod 700 /dev/shm/roots'
  both run_in --user nobody ctl srun -w n1 --paced-fabric=observe sh -c 'p=/dev/shm/paced-fabric-65534; mkdir -p $p; ln -s /dev/shm/roots $p/$SLURM_JOB_ID.$SLURM_STEP_ID'
  same "$(run_in n1 cat /dev/shm/roots/segment)" precious
  run_in n1 sh -c 'rm -r /dev/shm/paced-fabric-65534'
  both run_in --user nobody ctl srun -w n1 --paced-fabric=observe sh -c 'd=/dev/shm/paced-fabric-65534/$SLURM_JOB_ID.$SLURM_STEP_ID; mkdir -p $d; ln -s /dev/shm/roots/segment $d/segment; mkdir $d/folder; : >$d/folder/users'
  same "$(run_in n1 cat /dev/shm/roots/segment)" precious
  same "$(run_in n1 sh -c 'cd /dev/shm/paced-fabric-65534/*/; find . -type f')" ./folder/users
  run_in n1 sh -c 'rm -rf /dev/shm/roots /dev/shm/paced-fabric-65534'
}

@test "nothing was recorded: one line where somebody asked" {
  export PACED_FABRIC_FAKE_LINES="run-dir @RUN_DIR@;leader yes"
  both run_in ctl srun --paced-fabric=observe hostname
  has "$err" "paced-fabric: n1: no rank of this step got through MPI_Init; nothing was recorded"
  echo 'schema = 1' >"$policy_folder/policy.toml"
  both run_in ctl srun hostname
  lacks "$err" "nothing was recorded"
}

@test "the report's helper hangs or crashes: one line, and the step has its exit code" {
  export PACED_FABRIC_FAKE_LINES="run-dir @RUN_DIR@;leader yes"
  for kind in hang crash nonsense flood; do
    PACED_FABRIC_FAKE_FINISH=$kind both run_in ctl srun -N1 --paced-fabric=observe sh -c 'd=/dev/shm/paced-fabric-0/$SLURM_JOB_ID.$SLURM_STEP_ID; mkdir -p $d; : >$d/segment; exit 5'
    same "$code" 5
    has "$err" "paced-fabric: n1: no report: the helper"
  done
  assert_nodes_unharmed
}

@test "a step that is killed still reports and clears" {
  export PACED_FABRIC_FAKE_LINES="run-dir @RUN_DIR@;leader yes" PACED_FABRIC_FAKE_TRACE=$work/trace
  id=$(submit -N2 -o job.out --paced-fabric=observe --wrap 'srun sh -c "d=/dev/shm/paced-fabric-0/\$SLURM_JOB_ID.\$SLURM_STEP_ID; mkdir -p \$d; : >\$d/segment; echo ready; sleep 100"')
  wait_until 10 grep -q ready job.out
  run_in ctl scancel "$id"
  wait_for_job "$id"
  # what it says may come too late: Slurm 22.05 can close a killed step's output first
  wait_until 10 grep -q finish "$work/trace"
  for node in n1 n2; do wait_until 10 run_in "$node" sh -c "! ls -d /dev/shm/paced-fabric-0/$id.* 2>/dev/null"; done
  assert_nodes_unharmed
}

# --- installation -----------------------------------------------------------------------------------------------------

@test "kill switch: the flag is still taken, nothing is done, who asked is told, no restart" {
  off="paced-fabric: off: /run/paced-cluster/paced-fabric/disabled exists"
  touch "$policy_folder/disabled"
  echo 'schema = 1' >"$policy_folder/policy.toml"
  both run_in ctl srun -N2 --paced-fabric=observe env
  same "$err" "$off"
  lacks "$out" PACED
  for quiet in "srun hostname" "srun --paced-fabric=off hostname" "salloc -Q srun hostname"; do
    both run_in ctl $quiet
    same "$out" n1
    same "$err" ""
  done
  PACED_FABRIC=observe both run_in ctl srun hostname
  same "$err" "$off"
  both run_in ctl salloc -Q --paced-fabric=observe hostname
  same "$err" "$off"
  both run_in ctl sbatch -W -o "$work/job.out" --paced-fabric=observe --wrap 'srun hostname'
  same "$err" "$off"
  same "$(sort job.out)" "n1
$off"
  if program=$(command -v mpirun.openmpi); then
    id=$(submit -N2 -n2 -o job.out --paced-fabric=observe --wrap "$program -n 2 hostname")
    wait_for_job "$id"
    same "$(sort job.out)" "n1
n2
$off"
  fi
  rm "$policy_folder/disabled"
  both run_in ctl srun --paced-fabric=observe hostname
  has "$err" "fake: node n1"
}

@test "a node without the plugin runs its part of the step" {
  both run_in ctl srun -N4 --paced-fabric=observe hostname
  same "$code" 0
  same "$(sort out.txt | xargs)" "n1 n2 n3 n4"
  has "$err" "fake: node n1 (0 of 4)"
}

# with_plugstack LINE CMD…: CMD with this plugstack.conf everywhere.
with_plugstack() {
  local file
  file=$(state_of spank)/plugstack.conf
  cp "$file" "$work/plugstack.saved"
  echo "$1" >"$file"
  shift
  both "$@"
  cat "$work/plugstack.saved" >"$file"
}

@test "a plugin built for another Slurm: the job runs" {
  install "$repository/build/release/tests/spank_paced_fabric_other_slurm.so" "$prefix/lib/"
  with_plugstack "optional $plugin_folder/spank_paced_fabric_other_slurm.so" run_in ctl srun -N2 hostname
  same "$code" 0
  same "$(sort out.txt | xargs)" "n1 n2"
  has "$err" "Incompatible"
}

@test "an argument that is not understood: one line, the job runs, flags are still taken" {
  with_plugstack "optional $plugin_folder/spank_paced_fabric.so colour=blue" run_in ctl srun --paced-fabric=observe hostname
  same "$code" 0
  same "$out" n1
  same "$err" 'paced-fabric: plugstack.conf: "colour=blue" is not understood; the plugin does nothing (it knows: config=PATH node_topology=FILE topology=FILE helper_dir=DIR deadline_ms=N)'
}

@test "deadline_ms= and helper_dir= are heeded" {
  export PACED_FABRIC_FAKE=hang
  with_plugstack "optional $plugin_folder/spank_paced_fabric.so deadline_ms=300" run_in ctl srun --paced-fabric=observe hostname
  has "$err" "the helper did not answer within 300 ms"
  with_plugstack "optional $plugin_folder/spank_paced_fabric.so helper_dir=/nowhere" run_in ctl srun --paced-fabric=observe hostname
  has "$err" "there is no program paced-fabric-helper"
}

@test "after all of this every node takes jobs" {
  assert_nodes_unharmed
  same "$(run_in ctl srun -N4 hostname | sort | xargs)" "n1 n2 n3 n4"
}
