#!/usr/bin/env bats
# Whatever is wrong around us costs a job one clear line in its log and nothing else: its output and its exit code are
# those that it has without us.

bats_require_minimum_version 1.5.0
load jobs

setup_file() {
  export BATS_TEST_TIMEOUT=90
  make_prefix
  cluster_up bad --nodes 4 --plugin-dir "$prefix/lib" --no-plugin-on n4 --node-topology "$repository/tests/data/topology/fake-8gpu-4nic.xml"
}

teardown_file() {
  cluster_down bad
}

setup() {
  CLUSTER='bad'
  cd "$work"
  rm -f ./*
  state=$(state_of bad)
  policy=$state/paced-fabric/policy.toml
  plugin_folder=/run/paced-cluster/prefix/lib
  export SLURM_MPI_TYPE=pmix
  short=("$bsp" --iterations 5 --warmup 1 --compute 1 --buckets 2 --bytes 1024 --quiet-times)
  # an MPI job with a result, an error and an exit code of its own
  program=(sh -c "${short[*]} && { [ \$SLURM_PROCID != 0 ] || echo 'to stderr' >&2; exit 7; }")
}

teardown() {
  rm -f "$policy"
  for node in n1 n2; do run_in $node sh -c 'umount /dev/shm/paced-fabric-0 /run/paced-fabric; [ ! -e /tmp/shm-is-full ] || umount /dev/shm; rm -rf /tmp/shm-is-full /run/paced-fabric /dev/shm/paced-fabric-0' 2>/dev/null || true; done
}

# without_us: $plain_out, $plain_err and $plain_code of the program on n1 and n2, by the same command line but for us.
without_us() {
  both run_in ctl srun -w n1,n2 -N2 --paced-fabric=off "${program[@]}"
  plain_out=$out plain_err=$(grep -v '^srun: ' err.txt | sort) plain_code=$code
}

# same_as_without_us SRUN ARG…: the job's own is the same. $said is what we said in a job log (head and report are no
# complaints and left out: they are the messages with indented lines, which go too).
same_as_without_us() {
  local with_out with_code
  without_us
  both run_in ctl srun -w n1,n2 -N2 --paced-fabric=observe "$@" "${program[@]}"
  with_out=$out with_code=$code
  same "$with_out" "$plain_out"
  same "$with_code" "$plain_code"
  same "$(grep -vE '^srun: |^paced-fabric|^  ' err.txt | sort)" "$plain_err"
  said=$(grep '^paced-fabric' err.txt | grep -vE 'tasks? on [0-9]+ nodes? .*: observe|: what was measured$' || true)
}

# one_line TEXT: that, and nothing more.
one_line() {
  same "$said" "paced-fabric: $1"
}

# each_node_says TEXT: the same trouble on two nodes is two lines, each with its node.
each_node_says() {
  same "$(sort <<<"$said")" "paced-fabric: n1: $1
paced-fabric: n2: $1"
}

recorded() { grep -q ': what was measured$' err.txt; }

# with_file FILE TEXT COMMAND…: the cluster's FILE holds TEXT for as long.
with_file() {
  local file=$1 saved code_of_command=0
  saved=$(<"$file")
  echo "$2" >"$file"
  shift 2
  "$@" || code_of_command=$?
  echo "$saved" >"$file"
  return "$code_of_command"
}

@test "nothing wrong: no line, or the tests below could not fail" {
  same_as_without_us
  same "$said" ""
  same "$code" 7
  recorded
  [[ $plain_out == ranks=2* && $plain_err == "to stderr" ]]
}

# --- flags and policy ------------------------------------------------------------------------------------------------

@test "unknown value of each of the five flags: refused at submission by srun, sbatch and salloc" {
  refused() { # FLAG VALUE TEXT
    local launcher words
    for launcher in "srun" "sbatch --wrap" "salloc -Q"; do
      read -ra words <<<"$launcher"
      both run_in ctl "${words[0]}" "$1=$2" "${words[@]:1}" true
      same "$code" 255
      same "$out" ""
      same "$(grep -c "^$1: error: " err.txt)" 1
      has "$err" "$3"
    done
  }
  refused --paced-fabric obsrve "did you mean 'observe'?"
  refused --paced-fabric-order rnig "did you mean 'ring'?"
  refused --paced-fabric-bind gpu-nik "did you mean 'gpu-nic'?"
  refused --paced-fabric-window 5 "hint: "
  refused --paced-fabric-report sumary "did you mean 'summary'?"
}

@test "unknown value in the environment: a line, the job runs" {
  PACED_FABRIC_WINDOW=soon same_as_without_us
  [[ $said == "paced-fabric: PACED_FABRIC_WINDOW is ignored: "* ]]
  same "$(ours "$said")" 1
  recorded
}

@test "malformed policy: off, with the line of the mistake" {
  printf 'schema = 1\n[defaults]\nmode = "obsrve"\n[limits]\nwindow_max = 5\n' >"$policy"
  same_as_without_us
  [[ $said == "paced-fabric: off: /run/paced-cluster/paced-fabric/policy.toml:3:"*"(and 1 more mistake)" ]]
  same "$(ours "$said")" 1
  # nobody asked, nobody is told
  both run_in ctl srun -w n1,n2 -N2 "${program[@]}"
  same "$out" "$plain_out"
  lacks "$err" paced-fabric
  echo 'schema = ' >"$policy"
  same_as_without_us
  [[ $said == "paced-fabric: off: /run/paced-cluster/paced-fabric/policy.toml:1:"* ]]
}

@test "a policy that others can write: off, said" {
  echo 'schema = 1' >"$policy"
  chmod 666 "$policy"
  same_as_without_us
  one_line "off: the site policy cannot be trusted, /run/paced-cluster/paced-fabric/policy.toml can be written by everybody"
}

@test "a policy that cannot be read: off, said" {
  mkdir "$policy"
  same_as_without_us
  rmdir "$policy"
  [[ $said == "paced-fabric: off: "*policy.toml* ]]
  same "$(ours "$said")" 1
}

# --- files that are missing -------------------------------------------------------------------------------------------

@test "topology.conf missing, unreadable or malformed: one line in the head, recorded all the same" {
  local plugin="optional $plugin_folder/spank_paced_fabric.so config=/run/paced-cluster/paced-fabric/policy.toml topology=/run/paced-cluster"
  with_file "$state/plugstack.conf" "$plugin/nowhere.conf" same_as_without_us
  same "$said" ""
  recorded
  same "$(grep -c '^  fabric ' err.txt)" 1
  has "$err" "switches are not known: there is no /run/paced-cluster/nowhere.conf"

  with_file "$state/plugstack.conf" "$plugin/run" same_as_without_us
  recorded
  has "$err" "  fabric      switches are not known: "

  echo 'SwitchName=leaf1 Nods=n1' >"$state/paced-fabric/broken.conf"
  with_file "$state/plugstack.conf" "$plugin/paced-fabric/broken.conf" same_as_without_us
  recorded
  has "$err" "  fabric      switches are not known: /run/paced-cluster/paced-fabric/broken.conf:1:"
}

@test "node_topology= missing or corrupt: the table is unknown, recorded all the same" {
  local plugin="optional $plugin_folder/spank_paced_fabric.so config=/run/paced-cluster/paced-fabric/policy.toml node_topology=/run/paced-cluster"
  with_file "$state/plugstack.conf" "$plugin/nowhere.xml" same_as_without_us
  recorded
  # the first node in its head, the other by itself
  has "$err" "  node        n1: topology unknown: "
  [[ $said == "paced-fabric: n2: topology unknown: "*nowhere.xml* ]]
  same "$(ours "$said")" 1
  echo '<?xml version="1.0"?><topology version="2.0"><object type="Mach' >"$state/paced-fabric/broken.xml"
  with_file "$state/plugstack.conf" "$plugin/paced-fabric/broken.xml" same_as_without_us
  recorded
  [[ $said == "paced-fabric: n2: topology unknown: "*broken.xml* ]]
  same "$(ours "$said")" 1
}

@test "interposer missing" {
  mv "$prefix/lib/libpaced_fabric.so" "$prefix/lib/away.so"
  same_as_without_us
  mv "$prefix/lib/away.so" "$prefix/lib/libpaced_fabric.so"
  [[ $(sort <<<"$said") == "paced-fabric: n1: nothing is recorded: "*libpaced_fabric.so*" is missing
paced-fabric: n2: nothing is recorded: "*libpaced_fabric.so*" is missing" ]]
}

# The dynamic linker has words of its own about that, in each program.
@test "interposer that is no library" {
  mv "$prefix/lib/libpaced_fabric.so" "$prefix/lib/away.so"
  echo nonsense >"$prefix/lib/libpaced_fabric.so"
  without_us
  both run_in ctl srun -w n1,n2 -N2 --paced-fabric=observe "${program[@]}"
  mv "$prefix/lib/away.so" "$prefix/lib/libpaced_fabric.so"
  same "$out" "$plain_out"
  same "$code" "$plain_code"
}

@test "helper missing" {
  mv "$prefix/bin/paced-fabric-helper" "$prefix/bin/away"
  same_as_without_us
  mv "$prefix/bin/away" "$prefix/bin/paced-fabric-helper"
  each_node_says "there is no program paced-fabric-helper; this node's part of the step runs as it would without the plugin"
}

@test "a plugin built for another Slurm" {
  install "$repository/build/release/tests/spank_paced_fabric_other_slurm.so" "$prefix/lib/"
  both run_in ctl srun -w n1,n2 -N2 "${program[@]}"
  plain=$out
  with_file "$state/plugstack.conf" "optional $plugin_folder/spank_paced_fabric_other_slurm.so" both run_in ctl srun -w n1,n2 -N2 "${program[@]}"
  same "$out" "$plain"
  same "$code" 7
  # Slurm's own line, since it does not let us in
  same "$(grep -vE 'Incompatible|Exited with exit code 7' err.txt)" "to stderr"
}

# --- no room, no right ---------------------------------------------------------------------------------------------------

@test "/dev/shm full: one line a node, nothing recorded there, no signal to a rank" {
  for node in n1 n2; do run_in $node sh -c 'touch /tmp/shm-is-full; mount -t tmpfs -o size=64k,mode=1777 none /dev/shm; dd if=/dev/zero of=/dev/shm/filler bs=4k 2>/dev/null || true'; done
  same_as_without_us
  same "$(ours "$said")" 2
  has "$said" "paced-fabric: n1: nothing is recorded: cannot "
  has "$said" "paced-fabric: n2: nothing is recorded: cannot "
  has "$said" "No space left on device"
}

@test "/dev/shm with room for the run folder, not for the segment" {
  for node in n1 n2; do run_in $node sh -c 'touch /tmp/shm-is-full; mount -t tmpfs -o size=128k,mode=1777 none /dev/shm'; done
  same_as_without_us
  same "$(grep -c 'no room for the records of a rank (No space left on device), it is not recorded' <<<"$said")" 2
  same "$(ours "$said")" 3
  has "$said" ": nothing was recorded"
  lacks "$err" "no task has used MPI"
}

@test "the user's run folder is read-only, somebody else's, or a file" {
  for node in n1 n2; do run_in $node sh -c 'mkdir -m 700 -p /dev/shm/paced-fabric-0; mount --bind /dev/shm/paced-fabric-0 /dev/shm/paced-fabric-0; mount -o remount,bind,ro /dev/shm/paced-fabric-0'; done
  same_as_without_us
  same "$(ours "$said")" 2
  has "$said" "Read-only file system"
  for node in n1 n2; do run_in $node sh -c 'umount /dev/shm/paced-fabric-0; chown nobody /dev/shm/paced-fabric-0'; done
  same_as_without_us
  each_node_says "nothing is recorded: /dev/shm/paced-fabric-0 is not a folder of this user alone"
  for node in n1 n2; do run_in $node sh -c 'rmdir /dev/shm/paced-fabric-0; echo mine >/dev/shm/paced-fabric-0'; done
  same_as_without_us
  each_node_says "nothing is recorded: cannot open /dev/shm/paced-fabric-0: Not a directory"
  same "$(run_in n1 cat /dev/shm/paced-fabric-0)" mine
}

@test "/run/paced-fabric is read-only: said in slurmd's log, the job has its table" {
  for node in n1 n2; do run_in $node sh -c 'mkdir -p /run/paced-fabric; rm -f /run/paced-fabric/*; mount --bind /run/paced-fabric /run/paced-fabric; mount -o remount,bind,ro /run/paced-fabric'; done
  same_as_without_us
  same "$said" ""
  recorded
  has "$err" "0000:13:00.0"
  grep -q 'no snapshot of the node.s hardware: .*Read-only file system' "$state/log/slurmd.n1.log"
}

@test "the JSON report cannot be written: said, and the text is there" {
  same_as_without_us --paced-fabric-report=summary,/nowhere/report.json
  recorded
  one_line "cannot write /nowhere/report.json: No such file or directory"
}

# --- what the user brings along --------------------------------------------------------------------------------------------

@test "the user's own LD_PRELOAD works, ours too" {
  gcc -shared -fPIC -x c - -o "$work/libusers.so" <<<'#include <stdio.h>
#include <stdlib.h>
__attribute__((constructor)) static void here(void) { if (getenv("PMIX_RANK")) fputs("users library\n", stderr); }'
  export LD_PRELOAD=$work/libusers.so
  same_as_without_us
  unset LD_PRELOAD
  same "$said" ""
  recorded
  has "$plain_err" "users library"
  has "$(tr -s " \n" " " <<<"$err")" "your LD_PRELOAD stays, behind our library: $work/libusers.so"
}

@test "an option lost by --export: it is not lost" {
  id=$(submit -w n1,n2 -N2 -o job.out --export=NONE --paced-fabric=observe --wrap "/usr/bin/srun --mpi=pmix ${short[*]}; exit 7")
  same "$(wait_for_job "$id")" "FAILED 7:0"
  same "$(grep -c 'what was measured' job.out)" 1
}

@test "a node without the plugin: its ranks run, the report lacks them and says so" {
  both run_in ctl srun -w n1,n4 -N2 "${program[@]}"
  plain=$out
  both run_in ctl srun -w n1,n4 -N2 --paced-fabric=observe "${program[@]}"
  same "$out" "$plain"
  same "$code" 7
  recorded
  has "$(tr -s ' \n' ' ' <<<"$err")" "no records came from node n4"
  said=$(grep '^paced-fabric' err.txt | grep -vE 'tasks? on [0-9]+ nodes? .*: observe|: what was measured$' || true)
  one_line "the records of 1 of 2 nodes did not arrive, the report lacks them"
}

# --- the exchange between nodes ---------------------------------------------------------------------------------------------

@test "all ports of the exchange are taken: said, the report is of the first node" {
  printf 'schema = 1\n[limits]\nexchange_ports = "61500-61500"\n' >"$policy"
  run_in n1 python3 -c 'import socket, time; s = socket.socket(); s.bind(("", 61500)); s.listen(); time.sleep(60)' 3>&- &
  wait_until 10 run_in n1 sh -c 'grep -q :F03C /proc/net/tcp'
  same_as_without_us
  run_in n1 pkill -f 's.bind..., 61500' || true
  recorded
  same "$(sort <<<"$said")" "paced-fabric: no port of 61500-61500 is free, the report shows this node alone
paced-fabric: node n2 could not hand its records to the leader, the report lacks them"
}

# Slurm and MPI need the way from n2 to n1 themselves; what n2 is told of the leader's name leads elsewhere.
@test "the leader cannot be reached: said by both sides, within the time that the exchange allows itself" {
  run_in n2 sh -c 'sed "s/^10.77.0.1 n1$/10.77.0.99 n1/" /etc/hosts >/tmp/hosts; mount --bind /tmp/hosts /etc/hosts'
  SECONDS=0
  same_as_without_us
  run_in n2 umount /etc/hosts
  ((SECONDS < 20))
  recorded
  same "$(sort <<<"$said")" "paced-fabric: node n2 could not hand its records to the leader, the report lacks them
paced-fabric: the records of 1 of 2 nodes did not arrive, the report lacks them"
}

@test "the name of the leader cannot be resolved: said, its records stay out" {
  run_in n2 sh -c 'grep -v " n1$" /etc/hosts >/tmp/hosts; mount --bind /tmp/hosts /etc/hosts'
  same_as_without_us
  run_in n2 umount /etc/hosts
  recorded
  same "$(sort <<<"$said")" "paced-fabric: n2: its records stay out of the report: the address of n1 is not known
paced-fabric: the records of 1 of 2 nodes did not arrive, the report lacks them"
}

@test "after all of this every node takes jobs, and nothing is left" {
  wait_until 15 nodes_idle 4
  nothing_of_ours n1 n2 n3 n4
}
