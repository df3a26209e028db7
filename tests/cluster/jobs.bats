#!/usr/bin/env bats
# Whole jobs: the real plugin, helper and interposer under a real Slurm and two MPI libraries. What a user sees in the
# job log, and what he must not see: that anything of his job has changed.

bats_require_minimum_version 1.5.0
load jobs

setup_file() {
  export BATS_TEST_TIMEOUT=90
  make_prefix
  local data=$repository/tests/data/topology
  cluster_up jobs --nodes 8 --leaves 2 --host-rate 200mbit --uplink 100mbit --plugin-dir "$prefix/lib" \
    --node-topology "$data/fake-8gpu-4nic.xml" --node-topology "n3=$data/fake-no-gpu.xml"
}

teardown_file() {
  cluster_down jobs
}

setup() {
  CLUSTER='jobs'
  cd "$work"
  rm -f ./*
  policy=$(state_of jobs)/paced-fabric/policy.toml
  export SLURM_MPI_TYPE=pmix
  # short, and the same on every rank in every run
  short=("$bsp" --iterations 5 --warmup 1 --compute 1 --buckets 2 --bytes 1024 --quiet-times)
}

teardown() {
  rm -f "$policy"
  # what a test that failed has left must not fail the next
  [[ ${BATS_TEST_COMPLETED-} ]] || run_in ctl scancel --state=RUNNING --signal=KILL --partition=all
}

# The first line of the head, or of the end, of a step's report.
head_line() { echo "paced-fabric: job $1, $2: observe (flag --paced-fabric)"; }
has_report() { grep -qE "^paced-fabric: job $2, $3, .*: what was measured$" <<<"$1" || { printf 'no report of job %s, %s in: %s\n' "$2" "$3" "$1" >&2; return 1; }; }

# paced run has nobody to clear up after the last rank: the user's next launch on the node does, 30 s later or more.
next_launch_sweeps() {
  local node nodes=$*
  for node; do run_in "$node" sh -c 'touch -d "1 hour ago" /dev/shm/paced-fabric-0/*/'; done
  run_in ctl srun -w "${nodes// /,}" --mpi=none --paced-fabric=observe true
  nothing_of_ours "$@"
}

# The report of a step that was killed: as a file, since srun hangs up before the last lines of such a step have come.
assert_killed_report() {
  wait_until 10 test -s "$1"
  true_of "$1" 'r["job"]["finished"] == False' 'any("no rank reached MPI_Finalize" in w for w in r["warnings"])'
}

# --- not asked -----------------------------------------------------------------------------------------------------

# The first test, since it looks for what later ones leave: the snapshot of a boot stays.
@test "off, or nothing asked: the same output, and nothing of ours is started or made" {
  both run_in ctl srun -Q -N8 "${short[@]}"
  same "$code" 0
  same "$err" ""
  plain=$out
  [[ $plain =~ ^ranks=8\ iterations=5\ checksum=[0-9a-f]{16}$ ]]
  lacks "$plain" checksum=0000000000000000

  # any start of the helper would now be seen in the job's log
  mv "$prefix/bin/paced-fabric-helper" "$prefix/bin/away"
  both run_in ctl srun -Q -N8 --paced-fabric=off "${short[@]}"
  PACED_FABRIC=off run_in ctl srun -Q -N8 "${short[@]}" >third.txt 2>>err.txt
  mv "$prefix/bin/away" "$prefix/bin/paced-fabric-helper"
  same "$code" 0
  same "$(<err.txt)" ""
  same "$out" "$plain"
  same "$(<third.txt)" "$plain"
  for node in n1 n5 n8; do run ! run_in $node sh -c 'ls -d /run/paced-fabric /dev/shm/*paced*'; done

  both run_in ctl srun -N8 --paced-fabric=observe "${short[@]}"
  same "$code" 0
  same "$out" "$plain"
  has_report "$err" '[0-9]+\.0' '8 ranks on 8 nodes'
}

# --- what a job log tells --------------------------------------------------------------------------------------------

@test "observe: both reports, their figures those of the job itself, and the same as JSON" {
  id=$(submit -N8 -o job.out --paced-fabric=observe --paced-fabric-report="full,$work/report-%j.json" \
    --wrap "srun --mpi=pmix $bsp --iterations 60 --warmup 1 --compute 10 --buckets 2 --bytes 4096")
  same "$(wait_for_job "$id")" "COMPLETED 0:0"
  log=$(<job.out)
  has "$log" "$(head_line "$id.0" '8 tasks on 8 nodes n[1-8]')"
  has "$log" "leaf1 n[1-4]; leaf2 n[5-8]"
  has "$log" "n1: 8 GPUs (H100 SXM5 80GB), 1 task"
  has "$log" "GPU  PCI           NUMA  CPUs        NIC     relation"
  has "$log" "4  0000:93:00.0     1  8-15,24-31  mlx5_2  PIX"
  has_report "$log" "$id.0" "8 ranks on 8 nodes"
  has "$log" "$work/report-$id.json"
  ours_are "$log" 2

  report=$work/report-$id.json
  true_of "$report" 'r["schema"] == "paced-fabric-report/1"' \
    '{"job", "policy", "plan", "ranks", "communicators", "iterations", "attribution", "arms", "overhead", "coverage", "warnings"} <= set(r)' \
    '[(x["rank"], x["node"]) for x in r["ranks"]] == [(i, f"n{i + 1}") for i in range(8)]' \
    'all({"rank", "node", "last_share", "earliness_ms"} <= set(x) for x in r["ranks"])' \
    '{"count", "mean_ms", "cv", "p50_ms", "p99_ms"} <= set(r["iterations"])' \
    '{"compute", "persistent_straggler", "transient_straggler", "contention", "locality", "pacing"} <= set(r["attribution"])' \
    'r["arms"] == [] and trouble == []'

  # 61 iterations of two buckets and the loss; the checksum at the end
  same "$(json "$report" 'sorted(c["calls"] for c in r["communicators"] if c["size"] == 8)')" "[62, 122]"
  same "$(json "$report" 'sum(c["calls"] for c in r["coverage"])')" "$((8 * (62 + 122)))"
  own=$(sed -nE 's/^mean=([0-9.]+) ms .*/\1/p' job.out)
  true_of "$report" "r['iterations']['count'] + r['iterations']['startup'] == 60" "abs(r['iterations']['mean_ms'] / $own - 1) < .02"

  # no GPUs on n3, and the log says which node that is
  grep -E '^ +nodes +n3: no GPUs, nothing to bind$' <<<"$log"

  # `paced report` shows the same, but for the line that names the file
  both run_in ctl paced report "$report"
  same "$code" 0
  same "$(sed -n '/what was measured/,$p' <<<"$out")" "$(sed -n '/what was measured/,$p' job.out | grep -vE '^ +json ')"
  has "$out" "$(grep -m1 'leaf1 n\[1-4\]; leaf2' job.out)"
}

@test "an injected straggler is named, with its node" {
  both run_in ctl srun -N8 --paced-fabric=observe --paced-fabric-report="summary,$work/report.json" \
    "$bsp" --iterations 40 --warmup 1 --compute 10 --buckets 1 --bytes 4096 --straggler rank=5,ms=20
  same "$code" 0
  true_of report.json 'r["ranks"][5]["node"] == "n6"' 'r["ranks"][5]["last_share"] > .9' \
    '[x["rank"] for x in r["stragglers"]] == [5]' 'r["attribution"]["persistent_straggler"] > r["attribution"]["transient_straggler"]'
  has "$err" "rank 5 on n6 arrives last in"
  has "$err" "Look at n6"
}

@test "pace says what it will do, and what came of it" {
  both run_in ctl srun -N2 --paced-fabric=pace --paced-fabric-report="summary,$work/report.json" "${short[@]}"
  has "$err" "paces where it measurably helps, else steps aside"
  has_report "$err" '[0-9]+\.0' '2 ranks on 2 nodes'
  has "$(tr -s " \n" " " <<<"$err")" " pacing "
  true_of report.json 'r["policy"]["mode_run"] == "pace"' 'r["policy"]["longest_delay"] == "100ms"' 'r["pacing"]["finished"]'
}

@test "explain prints the plan, and the task finds nothing changed" {
  # what differs from one step to the next is left out
  own_variables() { grep -vE '^SLURM_(STEP_ID|STEPID|JOBID|JOB_ID|.*PORT|.*HOST|SRUN_COMM.*|TASK_PID|LAUNCH_NODE.*|JOB_(START|END)_TIME)=|^(PMIX|OMPI|PMI)_?|^_=' | sort; }
  both run_in ctl srun -N1 sh -c 'env; grep Cpus_allowed /proc/self/status; ls /dev/shm'
  own_variables <out.txt >plain.txt
  both run_in ctl srun -N1 --paced-fabric=explain sh -c 'env; grep Cpus_allowed /proc/self/status; ls /dev/shm'
  same "$code" 0
  # the flag itself travels, for an srun inside
  diff plain.txt <(own_variables <out.txt | grep -vE '^SLURM_(PACED_FABRIC_|SPANK_)')
  has "$err" "explain (flag --paced-fabric)"
  has "$err" "0000:13:00.0"
  has "$err" "explain: nothing of this step was changed"
}

# --- results stay ------------------------------------------------------------------------------------------------------

@test "exit codes stay: of a program, of a signal, of MPI_Abort" {
  mpicc.openmpi -x c -o abort - <<<'#include <mpi.h>
int main(void) { int r; MPI_Init(0, 0); MPI_Comm_rank(MPI_COMM_WORLD, &r); MPI_Barrier(MPI_COMM_WORLD); if (r == 1) MPI_Abort(MPI_COMM_WORLD, 5); MPI_Barrier(MPI_COMM_WORLD); return 0; }'
  for command in "sh -c 'exit 7'" "sh -c 'kill -SEGV \$\$'" ./abort; do
    both run_in ctl sh -c "srun -N2 --mpi=pmix $command"
    plain=$code
    [[ $plain != 0 ]]
    both run_in ctl sh -c "srun -N2 --mpi=pmix --paced-fabric=observe $command"
    same "$code" "$plain"
    id=$(submit -N2 -o job.out --paced-fabric=observe --paced-fabric-report="summary,$work/%j.json" --wrap "srun --mpi=pmix $command")
    same "$(wait_for_job "$id" | cut -d ' ' -f 1)" FAILED
  done
  assert_killed_report "$id.json"
  assert_unharmed 8
}

# --- the ways to launch --------------------------------------------------------------------------------------------------

@test "sbatch --export=NONE, NIL and one variable: recorded all the same" {
  for export in NONE NIL NOTHING; do
    id=$(submit -N2 -o "$export.out" --export=$export --paced-fabric=observe --wrap "/usr/bin/srun --mpi=pmix ${short[*]}")
    same "$(wait_for_job "$id")" "COMPLETED 0:0"
    has_report "$(<$export.out)" "$id.0" '2 ranks on 2 nodes'
    ours_are "$(<$export.out)" 2
  done
}

@test "a job array: each task has its own reports" {
  id=$(submit --array=1-3 -N2 -o 'array.%a.out' --paced-fabric=observe --paced-fabric-report="summary,$work/array-%j.json" --wrap "srun --mpi=pmix ${short[*]}")
  wait_for_job "$id"
  for i in 1 2 3; do has_report "$(<array.$i.out)" '[0-9]+\.0' '2 ranks on 2 nodes'; done
  same "$(cat array.*.out | grep -c 'what was measured')" 3
  for i in array-*.json; do true_of "$i" 'len(r["ranks"]) == 2' 'trouble == []'; done
}

# For us the components of a step are steps of their own: what one that spans both does is only half seen. No MPI in that one,
# since Slurm 22.05's PMIx now and then hangs there, without us too.
@test "a heterogeneous job: a component is reported, and a step over both runs as without us" {
  for flag in off observe; do
    id=$(submit -N1 -o $flag.out --paced-fabric=$flag : -N2 <<<$'#!/bin/bash\n'"srun --mpi=none --het-group=0,1 sh -c 'echo task; exit 3'; echo code \$?; srun --mpi=pmix --het-group=1 ${short[*]}")
    same "$(wait_for_job "$id" | sort -u)" "COMPLETED 0:0"
  done
  for flag in off observe; do same "$(grep -E '^(task|code|ranks)' $flag.out | cut -d = -f 1-2 | xargs)" "task task task code 3 ranks=2 iterations"; done
  has_report "$(<observe.out)" '[0-9]+\.1' '2 ranks on 2 nodes'
  assert_unharmed 8
}

@test "salloc and srun" {
  both run_in ctl salloc -Q -N2 --paced-fabric=observe srun "${short[@]}"
  same "$code" 0
  has_report "$err" '[0-9]+\.0' '2 ranks on 2 nodes'
}

@test "srun in sbatch: its own flag wins" {
  id=$(submit -N2 -o job.out --paced-fabric=observe --wrap "srun --mpi=pmix --paced-fabric=off ${short[*]}; srun --mpi=pmix --paced-fabric-report=none ${short[*]}; srun --mpi=pmix ${short[*]}")
  same "$(wait_for_job "$id")" "COMPLETED 0:0"
  log=$(<job.out)
  same "$(grep -c ^ranks=2 job.out)" 3
  lacks "$log" "job $id.0"
  lacks "$log" "job $id.1"
  has_report "$log" "$id.2" '2 ranks on 2 nodes'
  ours_are "$log" 2
}

@test "several steps of one job at once" {
  id=$(submit -N2 -n4 -o job.out --paced-fabric=observe --paced-fabric-report="summary,$work/%j.%s.json" \
    --wrap "for i in 1 2; do srun --mpi=pmix --exact -N2 -n2 ${short[*]} & done; wait")
  same "$(wait_for_job "$id")" "COMPLETED 0:0"
  for step in 0 1; do
    has_report "$(<job.out)" "$id.$step" '2 ranks on 2 nodes'
    true_of "$id.$step.json" 'len(r["ranks"]) == 2 and trouble == []' 'r["coverage"][0]["calls"] == 2 * 19'
  done
}

@test "srun inside a task: a step and a report of its own" {
  id=$(submit -N2 -n2 -o job.out --paced-fabric=observe --wrap "srun --mpi=none -n1 -N1 sh -c 'srun --overlap --mpi=pmix -N2 -n2 ${short[*]}'")
  same "$(wait_for_job "$id")" "COMPLETED 0:0"
  has_report "$(<job.out)" "$id.1" '2 ranks on 2 nodes'
}

@test "several ranks a node" {
  both run_in ctl srun -N2 --ntasks-per-node=4 --paced-fabric=observe --paced-fabric-report="summary,$work/report.json" "${short[@]}"
  same "$code" 0
  has_report "$err" '[0-9]+\.0' '8 ranks on 2 nodes'
  true_of report.json '[x["node"] for x in r["ranks"]] == ["n1"] * 4 + ["n2"] * 4' 'trouble == []'
}

@test "a user who is not root" {
  both run_in --user nobody ctl srun -N2 --paced-fabric=observe --paced-fabric-report="summary,$work/nobody.json" "${short[@]}"
  same "$code" 0
  has_report "$err" '[0-9]+\.0' '2 ranks on 2 nodes'
  same "$(stat -c %U nobody.json)" nobody
  assert_unharmed 8
}

@test "MPICH" {
  both_mpich -N2 "${short[@]/%bsp/bsp_mpich}"
  same "$code" 0
  plain=$out
  both_mpich -N2 --paced-fabric=observe --paced-fabric-report="summary,$work/report.json" "${short[@]/%bsp/bsp_mpich}"
  same "$code" 0
  same "$out" "$plain"
  has_report "$err" '[0-9]+\.0' '2 ranks on 2 nodes'
  true_of report.json 'r["coverage"][0]["library"].startswith("MPICH")' 'trouble == []'
}

@test "mpirun paced run: all ranks are heard" {
  id=$(submit -N8 -n8 -o job.out --wrap "mpirun paced run --paced-fabric=observe --paced-fabric-report=summary,$work/report.json -- ${short[*]}")
  same "$(wait_for_job "$id")" "COMPLETED 0:0"
  has "$(<job.out)" "8 ranks on 8 nodes"
  true_of report.json 'len(r["ranks"]) == 8 and trouble == []'
  next_launch_sweeps n1 n2 n3 n4 n5 n6 n7 n8
}

@test "mpirun paced run inside an observed job: one report" {
  id=$(submit -N4 -n4 -o job.out --paced-fabric=observe --wrap "mpirun paced run -- ${short[*]}")
  same "$(wait_for_job "$id")" "COMPLETED 0:0"
  same "$(grep -c 'what was measured' job.out)" 1
  has "$(<job.out)" "4 ranks on 4 nodes"
  next_launch_sweeps n1 n2 n3 n4
}

@test "plain mpirun inside an observed job: as it would be without us, and said so" {
  id=$(submit -N2 -n2 -o job.out --paced-fabric=observe --wrap "mpirun ${short[*]}")
  same "$(wait_for_job "$id")" "COMPLETED 0:0"
  same "$(grep -c ^ranks=2 job.out)" 1
  lacks "$(<job.out)" "what was measured"
  has "$(<job.out)" "paced-fabric: mpirun's daemons are left alone"
  ours_are "$(<job.out)" 1
}

@test "paced run alone" {
  both run_in n1 "${short[@]}"
  plain=$out
  both run_in n1 paced run --paced-fabric=observe -- "${short[@]}"
  same "$code" 0
  same "$out" "$plain"
  has "$err" "1 rank on 1 node"
  both run_in n1 paced run --paced-fabric=observe -- sh -c 'exit 7'
  same "$code" 7
  next_launch_sweeps n1
}

@test "paced run by torchrun's variables" {
  cat >torchrun.sh <<'SH'
export TORCHELASTIC_RUN_ID=none TORCHELASTIC_RESTART_COUNT=0 WORLD_SIZE=2 LOCAL_WORLD_SIZE=2 GROUP_WORLD_SIZE=1 MASTER_ADDR=n1 MASTER_PORT=29500
for rank in 0 1; do RANK=$rank LOCAL_RANK=$rank paced run --paced-fabric=observe -- sh -c 'echo "$RANK [${LD_PRELOAD##*/}] $PACED_FABRIC_STEP_STAMP"; exit $((RANK * 3))' & jobs="$jobs $!"; done
for job in $jobs; do wait $job || code=$?; done; exit $code
SH
  both run_in n1 sh torchrun.sh
  same "$code" 3
  same "$(sort out.txt)" "0 [libpaced_fabric.so] torch:none
1 [libpaced_fabric.so] torch:none"
  next_launch_sweeps n1
}

# --- the site's word ---------------------------------------------------------------------------------------------------

@test "site policy: defaults, rules, named policies, and the user's flag over all" {
  cat >"$policy" <<'TOML'
schema = 1
[defaults]
mode = "off"
[[rule]]
match = { partition = "debug", min_nodes = 2 }
set = { mode = "observe" }
[policy.training]
mode = "observe"
order = "ring"
TOML
  run_in ctl paced policy check /etc/paced-fabric/policy.toml
  # nobody asked for anything: the rule speaks, for its partition alone
  both run_in ctl srun -p debug -N2 "${short[@]}"
  same "$code" 0
  has "$(tr -s " \n" " " <<<"$err")" "observe (/run/paced-cluster/paced-fabric/policy.toml:6)"
  has_report "$err" '[0-9]+\.0' '2 ranks on 2 nodes'
  both run_in ctl srun -Q -p all -N2 "${short[@]}"
  same "$err" ""
  both run_in ctl srun -Q -p debug -N1 "${short[@]}"
  same "$err" ""
  both run_in ctl srun -Q -p debug -N2 --paced-fabric=off "${short[@]}"
  same "$err" ""
  both run_in ctl srun -N2 --paced-fabric=training "${short[@]}"
  has "$err" "named policy training"
  has "$err" "order ring"
  both run_in ctl srun -N2 --paced-fabric=trainign "${short[@]}"
  same "$code" 255
  same "$out" ""
  has "$err" "did you mean 'training'?"
  both run_in ctl sbatch -N2 --paced-fabric=trainign --wrap true
  same "$code" 255
  has "$err" "did you mean 'training'?"
  # what the policy would give, and what it gave, have the same source
  both run_in ctl paced policy explain --file /run/paced-cluster/paced-fabric/policy.toml --partition debug --nodes 2
  has "$out" "policy.toml:6"
  sed -i 's/^mode = "off"/mode = "observe"/' "$policy"
  both run_in ctl srun -N1 "${short[@]}"
  has "$(tr -s " \n" " " <<<"$err")" "observe (/run/paced-cluster/paced-fabric/policy.toml:3)"
}

# --- ends that nobody wanted -----------------------------------------------------------------------------------------------

long_job() { echo "srun --mpi=pmix --kill-on-bad-exit=1 $bsp --iterations 100000 --compute 1 --buckets 1 --bytes 1024 --warmup 50"; }
has_ranks() { run_in "$1" pgrep -f 'bin/bsp --iterations 100000' >/dev/null && run_in "$1" test -e /dev/shm/paced-fabric-0/"$2"/segment; }

@test "kill -9 of a rank: the job ends as without us, with what was recorded" {
  for flag in off observe; do
    id=$(submit -N3 -o $flag.out --paced-fabric=$flag --paced-fabric-report="summary,$work/%j.json" --wrap "$(long_job)")
    if [[ $flag == observe ]]; then wait_until 20 has_ranks n2 "$id.0"; else wait_until 20 run_in n2 pgrep -f 'bin/bsp --iterations 100000'; sleep 1; fi
    sleep 0.5
    run_in n2 pkill -KILL -f 'bin/bsp --iterations 100000'
    wait_for_job "$id" >$flag.state
  done
  same "$(<observe.state)" "$(<off.state)"
  assert_killed_report "$id.json"
  assert_unharmed 8
}

@test "scancel in the middle: ended as without us, what is there is reported" {
  id=$(submit -N3 -o job.out --paced-fabric=observe --paced-fabric-report="summary,$work/%j.json" --wrap "$(long_job)")
  wait_until 20 has_ranks n3 "$id.0"
  sleep 0.5
  run_in ctl scancel "$id"
  same "$(wait_for_job "$id" | cut -d ' ' -f 1)" CANCELLED
  assert_killed_report "$id.json"
  assert_unharmed 8
}

@test "srun killed by -9: nothing is left on any node" {
  id=$(submit -N2 -o job.out --paced-fabric=observe --wrap "$(long_job) & wait_for=\$!; while [ ! -e $work/now ]; do sleep .1; done; kill -KILL \$wait_for; wait \$wait_for; exit 9")
  wait_until 20 has_ranks n2 "$id.0"
  touch now
  same "$(wait_for_job "$id")" "FAILED 9:0"
  assert_unharmed 8
}

@test "a run folder that a crash left is swept by the next launch" {
  run_in n1 sh -c 'd=/dev/shm/paced-fabric-0/4711.0; mkdir -p -m 700 /dev/shm/paced-fabric-0 && mkdir -m 700 $d && echo "-1 4194000 1 $(stat -L -c %i /proc/self/ns/pid)" >$d/owners && echo x >$d/segment && touch -d "1 hour ago" $d $d/*'
  both run_in ctl srun -w n1 --paced-fabric=observe "${short[@]}"
  same "$code" 0
  run ! run_in n1 test -e /dev/shm/paced-fabric-0/4711.0
  assert_unharmed 8
}
