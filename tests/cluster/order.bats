#!/usr/bin/env bats
# The order of ranks in a real Slurm: applied where the layout of a step is certain, and where it is not, srun does
# exactly what it does without us, and the job log says why.

bats_require_minimum_version 1.5.0
load jobs

setup_file() {
  export BATS_TEST_TIMEOUT=150
  make_prefix
  cp "$repository/tests/doubles/helper/paced-fabric-helper" "$prefix/fake-helper"
  cluster_up order --nodes 8 --leaves 2 --placement interleaved --gpus-per-node 2 --plugin-dir "$prefix/lib"
}

teardown_file() {
  cluster_down order
}

setup() {
  CLUSTER='order'
  cd "$work"
  rm -f ./*
  policy=$(state_of order)/paced-fabric/policy.toml
  # where a rank runs, and what an srun inside it would find
  printf '#!/bin/sh\necho "$SLURM_PROCID $(hostname) ${SLURM_HOSTFILE-}${SLURM_DISTRIBUTION-}"\n' >where
  chmod +x where
}

teardown() {
  rm -f "$policy" "${policy%/*}/disabled"
  [[ ! -e $prefix/real-helper ]] || mv "$prefix/real-helper" "$prefix/bin/paced-fabric-helper"
  [[ ${BATS_TEST_COMPLETED-} ]] || run_in ctl scancel --state=RUNNING --signal=KILL --partition=all
}

interleaved="n1 n2 n3 n4 n5 n6 n7 n8"
ring="n1 n3 n5 n7 n2 n4 n6 n8"
ask="--paced-fabric=observe --paced-fabric-order=ring"

# The nodes of ranks 0, 1, …, from what `where` printed.
nodes_by_rank() { sort -n | awk '{ print $2 }' | xargs; }
# A job log without its line breaks.
in_one_line() { tr -s ' \n' ' '; }

# in_job "SALLOC FLAGS" SCRIPT: the script in a job; $out, $err, $code.
in_job() { both run_in ctl salloc -Q $1 bash -c "$2"; }

use_fake_helper() {
  mv "$prefix/bin/paced-fabric-helper" "$prefix/real-helper"
  install "$prefix/fake-helper" "$prefix/bin/paced-fabric-helper"
}

# refused "SALLOC FLAGS" "SRUN FLAGS" REASON: the step is what it is without us, and the log says why.
refused() {
  in_job "$1" "srun --paced-fabric=off $2 ./where >plain.txt 2>plain.err; echo \$? >plain.code; srun $ask $2 ./where >asked.txt 2>asked.err; echo \$? >asked.code"
  same "$(<asked.code)" "$(<plain.code)" || { cat asked.err >&2; return 1; }
  same "$(sort -n asked.txt)" "$(sort -n plain.txt)"
  [[ -z $3 ]] || has "$(in_one_line <asked.err)" "is kept, $3"
}

# --- applied ---------------------------------------------------------------------------------------------------------

@test "sbatch: the ranks run in the order of the fabric, and the log says so" {
  for export in ALL NONE; do
    id=$(submit -N8 -o job.out --export=$export $ask --wrap '/usr/bin/srun ./where')
    same "$(wait_for_job "$id")" "COMPLETED 0:0"
    same "$(grep -E '^[0-9]+ n' job.out | nodes_by_rank)" "$ring"
    has "$(in_one_line <job.out)" "applied, nodes in the order n[1,3,5,7,2,4,6,8]"
    has "$(in_one_line <job.out)" "8 as submitted, 2 chosen, the fewest possible"
  done
}

@test "salloc, flags on srun's own line, and the environment" {
  in_job "-N8 $ask" 'srun ./where'
  same "$(nodes_by_rank <<<"$out")" "$ring"
  in_job "-N8" "srun $ask ./where"
  same "$(nodes_by_rank <<<"$out")" "$ring"
  in_job "-N8" "PACED_FABRIC=observe PACED_FABRIC_ORDER=ring srun ./where"
  same "$(nodes_by_rank <<<"$out")" "$ring"
  in_job "-N8 $ask" 'srun --paced-fabric-order=none ./where'
  same "$(nodes_by_rank <<<"$out")" "$interleaved"
}

@test "two tasks on a node, two CPUs for a task, options that say what the job says" {
  in_job "-N8 --ntasks-per-node=2 $ask" 'srun ./where; srun -n16 -N8 --ntasks-per-node=2 ./where >second.txt'
  same "$(nodes_by_rank <<<"$out")" "n1 n1 n3 n3 n5 n5 n7 n7 n2 n2 n4 n4 n6 n6 n8 n8"
  same "$(nodes_by_rank <second.txt)" "$(nodes_by_rank <<<"$out")"
  in_job "-N8 -n16 --exclusive $ask" 'srun ./where'
  same "$(nodes_by_rank <<<"$out")" "n1 n1 n3 n3 n5 n5 n7 n7 n2 n2 n4 n4 n6 n6 n8 n8"
  in_job "-N8 -n8 -c2 $ask" 'srun ./where; srun -c2 -n8 ./where >second.txt; srun ./where >third.txt'
  same "$(nodes_by_rank <<<"$out")" "$ring"
  same "$(nodes_by_rank <second.txt)" "$ring"
  same "$(nodes_by_rank <third.txt)" "$ring"
  in_job "-N8 -n16 --ntasks-per-node=2 -c2 $ask" 'srun -c2 ./where'
  same "$(nodes_by_rank <<<"$out")" "n1 n1 n3 n3 n5 n5 n7 n7 n2 n2 n4 n4 n6 n6 n8 n8"
  in_job "-N8 -n8 $ask" 'srun -N8 -n8 --ntasks-per-node=1 -l -Q --mpi=none --export=ALL ./where'
  same "$(sed 's/^[0-9]*: //' <<<"$out" | nodes_by_rank)" "$ring"
}

@test "steps one after another, beside one another, and one that waits: each as it should be" {
  in_job "-N8 $ask" 'for i in 1 2 3; do srun ./where >seq.$i; done
    srun ./where >par.1 & srun ./where >par.2 & wait
    start=$EPOCHREALTIME; srun --paced-fabric=off ./where >after; awk -v a=$start -v b=$EPOCHREALTIME "BEGIN { print b - a }" >took'
  for file in seq.1 seq.2 seq.3 par.1 par.2; do same "$(nodes_by_rank <$file)" "$ring"; done
  same "$(nodes_by_rank <after)" "$interleaved"
  awk '{ exit !($1 < 10) }' took
}

@test "an srun inside a re-ordered step works, and tasks see nothing of ours" {
  in_job "-N8 $ask" 'srun sh -c "[ \$SLURM_PROCID != 3 ] || srun --overlap -N2 -n2 hostname"; srun env >env.txt; srun --paced-fabric=off env >plain.txt'
  same "$code" 0
  same "$(sort <<<"$out" | xargs)" "n1 n2"
  lacks "$(<env.txt)" SLURM_HOSTFILE
  lacks "$(<env.txt)" SLURM_PACED_FABRIC_PLACED
  # of Slurm's variables, the same in all tasks together, whatever their order; but for what names the step
  slurms() { grep '^SLURM_' "$1" | grep -vE 'PACED|paced|SLURM_(STEP_?ID|TASK_PID|SRUN_COMM_PORT|STEP_LAUNCHER_PORT|TOPOLOGY_ADDR|PROCID|GTIDS|NODEID)=' | sort; }
  same "$(slurms env.txt)" "$(slurms plain.txt)"
}

@test "no file is left anywhere" {
  files() { for node in ctl n1 n2 n8; do run_in "$node" sh -c 'find /tmp /dev/shm -xdev -newer "$0" -type f 2>/dev/null' "$work/before" || true; done; }
  touch before
  in_job "-N8" 'touch /tmp/planted'
  has "$(files)" /tmp/planted # it would be seen
  run_in ctl rm /tmp/planted
  sleep 1.1
  touch before
  in_job "-N8 $ask" 'srun true; srun -w n1 -N1 -n1 true; srun no-such-program; srun --no-such-option true; (srun sleep 20 & sleep 0.3; kill -KILL $!; wait)' # srun has no time to clear up
  run_in ctl scancel --state=RUNNING --partition=all
  wait_until 15 nodes_idle 8
  same "$(files)" ""
}

@test "GPUs: every task has those that it has without us" {
  printf '#!/bin/sh\necho "$(hostname) $SLURM_LOCALID ${CUDA_VISIBLE_DEVICES-}"\n' >gpus
  chmod +x gpus
  for flags in "--gpus-per-node=2" "--gpus-per-task=1" "--gres=gpu:2 --gpu-bind=single:1"; do
    in_job "-N8 --ntasks-per-node=2 $flags" "srun --paced-fabric=off ./gpus >plain.txt; srun $ask ./gpus >ordered.txt; srun $ask ./where >where.txt"
    same "$(sort ordered.txt)" "$(sort plain.txt)"
    same "$(nodes_by_rank <where.txt)" "n1 n1 n3 n3 n5 n5 n7 n7 n2 n2 n4 n4 n6 n6 n8 n8"
  done
  refused "-N8 --ntasks-per-node=2 --gpus-per-node=2" "--gpus-per-task=1" "--gpus-per-task is not as the job has it"
}

# --- kept ----------------------------------------------------------------------------------------------------------

@test "wishes about places on srun's line: Slurm's order, and the log says why" {
  refused -N8 '-w n1,n2,n3,n4 -N4 -n4' '-w chooses the nodes'
  refused -N8 '-x n8 -N7 -n7' '-x chooses the nodes'
  refused -N8 '-m cyclic' '-m is an order of your own'
  refused '-N8 --ntasks-per-node=2' '-m plane=1' '-m is an order of your own'
  refused -N8 '-r 2 -N4 -n4' '-r chooses the nodes'
  refused -N8 '--overlap' '--overlap shares the job with other steps'
  refused -N8 '--exact' '--exact asks for a part of the job'
  printf '#!/bin/sh\nexec srun --overlap -n8 true\n' >"$work/nested"
  chmod 755 "$work/nested"
  refused -N8 "--prolog=$work/nested" '--prolog may start steps of its own'
  refused -N8 '-O -n16' '-O can change how many tasks a node gets'
}

@test "a line of srun's that is too long to read is said to be so" {
  refused -N8 '--comment=$(printf x%.0s {1..70000})' "srun's command line is too long to be sure of"
}

@test "steps that are not the whole job: Slurm's order, and the log says why" {
  refused '-N8 -n8' '-n4 -N4' "-N 4 is not all nodes of the job"
  refused '-N8 -n8' '-n4' "-n 4 is not the job's 8 tasks"
  refused '-N8 --exclusive' '-n16' "-n 16 is not the job's 8 tasks"
  refused '-N8 --ntasks-per-node=2' '-n8' "-n 8 is not the job's 16 tasks"
  refused '-N8 --ntasks-per-node=2' '-n8 --ntasks-per-node=1' "-n 8 is not the job's 16 tasks"
  refused '-N8 -n8 -c2' '-c1' "-c 1 is not as the job has it"
  refused '-N8 -n16' '' 'nodes get different numbers of tasks'
  refused '-N8 -n16 -O' '' 'SLURM_OVERCOMMIT can change how many tasks a node gets'
  refused '-N8 -n8 -m cyclic' '' 'SLURM_DISTRIBUTION is an order of your own'
  refused -N2 '' ''
}

@test "a host file of the user, programs by rank, other components" {
  printf 'n8\nn7\nn6\nn5\nn4\nn3\nn2\nn1\n' >hosts
  in_job -N8 "SLURM_HOSTFILE=$work/hosts srun -n8 $ask ./where"
  same "$(nodes_by_rank <<<"$out")" "n8 n7 n6 n5 n4 n3 n2 n1"
  has "$(in_one_line <<<"$err")" "is kept, SLURM_HOSTFILE is an order of your own"

  printf '0-3 ./where\n4-7 ./where\n' >programs
  in_job -N8 "srun $ask --multi-prog programs"
  same "$(nodes_by_rank <<<"$out")" "$interleaved"
  has "$(in_one_line <<<"$err")" "is kept, --multi-prog gives each rank a program"

  refused '-N4 : -N4' '--het-group=0,1' ''
  same "$(wc -l <asked.txt)" 8
}

@test "pmi2 keeps its map of processes, by which MPICH finds who shares memory" {
  cat >map.c <<'C'
#include <stdio.h>
int PMI2_Init(int *spawned, int *size, int *rank, int *number);
int PMI2_Info_GetJobAttr(const char name[], char value[], int room, int *found);
int PMI2_Finalize(void);
int main(void) {
  int spawned, size, rank, number, found = 0;
  char map[1024] = "";
  PMI2_Init(&spawned, &size, &rank, &number);
  PMI2_Info_GetJobAttr("PMI_process_mapping", map, sizeof map, &found);
  printf("%s\n", map);
  PMI2_Finalize();
}
C
  gcc -o map map.c -l:libpmi2.so.0
  in_job "-N8 --ntasks-per-node=2 $ask" 'srun --mpi=pmi2 ./map; SLURM_MPI_TYPE=pmi2 srun ./where >second.txt; SLURM_MPI_TYPE=pmi2 srun --mpi=none ./where >third.txt'
  same "$code" 0
  same "$(sort -u <<<"$out")" "(vector,(0,8,2))"
  has "$(in_one_line <<<"$err")" "is kept, pmi2 before Slurm 24.05"
  same "$(nodes_by_rank <second.txt)" "n1 n1 n2 n2 n3 n3 n4 n4 n5 n5 n6 n6 n7 n7 n8 n8"
  same "$(nodes_by_rank <third.txt)" "n1 n1 n3 n3 n5 n5 n7 n7 n2 n2 n4 n4 n6 n6 n8 n8"
}

@test "mpirun: as without us" {
  in_job "-N8" 'mpirun --allow-run-as-root sh -c "echo \$OMPI_COMM_WORLD_RANK \$(hostname)"'
  plain=$(nodes_by_rank <<<"$out")
  same "$(wc -w <<<"$plain")" 8
  in_job "-N8 $ask" 'mpirun --allow-run-as-root sh -c "echo \$OMPI_COMM_WORLD_RANK \$(hostname)"'
  same "$code" 0
  same "$(nodes_by_rank <<<"$out")" "$plain"
}

# --- who asks ------------------------------------------------------------------------------------------------------

@test "modes: observe does what the user asks for, pace what the site sets, explain and off nothing" {
  printf 'schema = 1\n[defaults]\norder = "ring"\n' >"$policy"
  in_job "-N8 --paced-fabric=observe" 'srun ./where'
  same "$(nodes_by_rank <<<"$out")" "$interleaved"
  has "$(in_one_line <<<"$err")" "observe changes only what you ask for"
  in_job "-N8 --paced-fabric=pace" 'srun ./where'
  same "$(nodes_by_rank <<<"$out")" "$ring"
  in_job "-N8 --paced-fabric=explain --paced-fabric-order=ring" 'srun ./where'
  same "$(nodes_by_rank <<<"$out")" "$interleaved"
  has "$(in_one_line <<<"$err")" "is kept, explain changes nothing"
  in_job "-N8" 'srun ./where'
  same "$(nodes_by_rank <<<"$out")" "$interleaved"
  same "$err" ""
  printf 'schema = 1\n[defaults]\nmode = "pace"\norder = "ring"\n' >"$policy"
  in_job "-N8" 'srun ./where'
  same "$(nodes_by_rank <<<"$out")" "$ring"
  in_job "-N8 --paced-fabric-order=none" 'srun ./where'
  same "$(nodes_by_rank <<<"$out")" "$interleaved"
  : >"${policy%/*}/disabled"
  in_job "-N8 $ask" 'srun ./where'
  same "$(nodes_by_rank <<<"$out")" "$interleaved"
}

@test "outside a job, and where nobody asks: srun starts no helper" {
  use_fake_helper
  export PACED_FABRIC_FAKE_TRACE=$work/trace
  in_job "-N8" 'srun ./where'
  same "$(nodes_by_rank <<<"$out")" "$interleaved"
  [[ ! -e trace ]]
  both run_in ctl srun -N8 $ask ./where
  same "$(nodes_by_rank <<<"$out")" "$interleaved"
  lacks "$(<trace)" "order of"
  in_job "-N8 $ask" 'srun -l ./where'
  has "$(<trace)" "order of srun -l ./where"
}

# --- a helper that is ill --------------------------------------------------------------------------------------------

@test "a helper that hangs, crashes, floods or lies: srun runs as without us" {
  use_fake_helper
  export PACED_FABRIC_FAKE_SAY=placed
  local all="placed ordered ring n1;order 1"
  for kind in hang deaf crash flood fail silent nonsense cut \
    "$all 0,2,4,6,1,3,5" "$all 0,2,4,6,1,3,5,8" "$all 0,2,4,6,1,3,5,5" "$all 2,0,4,6,1,3,5,7" "placed ordered ring n1;order 2 0,2,4,6,1,3,5,7"; do
    PACED_FABRIC_FAKE_ORDER=$kind in_job "-N8 $ask" 'srun ./where'
    same "$code" 0
    same "$(nodes_by_rank <<<"$out")" "$interleaved"
    has "$err" "fake: placed"
    has "$err" " kept the "
  done
  # and the same way there, with an answer that is good
  PACED_FABRIC_FAKE_ORDER="$all 0,2,4,6,1,3,5,7" in_job "-N8 $ask" 'srun ./where'
  same "$(nodes_by_rank <<<"$out")" "$ring"
}

@test "a helper that is ill on the nodes alone: the order holds, and an srun inside works" {
  use_fake_helper
  export PACED_FABRIC_FAKE_ORDER="placed ordered ring n[1,3,5,7,2,4,6,8];order 1 0,2,4,6,1,3,5,7"
  PACED_FABRIC_FAKE=crash in_job "-N8 $ask" 'srun sh -c "./where; [ \$SLURM_PROCID != 1 ] || srun --overlap -N2 -n2 hostname >inner.txt"'
  same "$code" 0
  same "$(nodes_by_rank <<<"$out")" "$ring"
  lacks "$out" arbitrary
  same "$(sort inner.txt | xargs)" "n1 n2"
}

# --- a whole job of Open MPI -----------------------------------------------------------------------------------------

@test "Open MPI: the order asked for is the order run, and the report counts 2 crossings instead of 8" {
  id=$(submit -N8 -o job.out $ask --paced-fabric-report="full,$work/report-%s.json" \
    --wrap "srun --mpi=pmix --paced-fabric-order=none $bsp --iterations 5 --warmup 1 --compute 1; srun --mpi=pmix $bsp --iterations 5 --warmup 1 --compute 1")
  same "$(wait_for_job "$id")" "COMPLETED 0:0"
  true_of report-0.json 'r["plan"]["fabric"]["ring_crossings"] == 8' '[x["node"] for x in r["ranks"]] == [f"n{i}" for i in range(1, 9)]'
  true_of report-1.json 'r["plan"]["fabric"]["ring_crossings"] == 2' 'r["plan"]["order"]["applied"]' \
    '[x["node"] for x in r["ranks"]] == r["plan"]["order"]["hosts"]' \
    'r["plan"]["order"]["hosts"] == "n1 n3 n5 n7 n2 n4 n6 n8".split()' \
    'r["plan"]["order"]["levels"][-1]["submitted"] == 8 and r["plan"]["order"]["levels"][-1]["chosen"] == 2'
  assert_unharmed 8
}
