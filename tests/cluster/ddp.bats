#!/usr/bin/env bats
# PyTorch on Gloo under a real Slurm: ranks without MPI, whose communicators are Gloo's contexts. 8 interpreters on two
# cores take their time, so there are few jobs here.

bats_require_minimum_version 1.5.0
load jobs

setup_file() {
  export BATS_TEST_TIMEOUT=120 COMMAND_TIMEOUT=90
  /usr/bin/python3 -c 'import torch.distributed as d; exit(not d.is_gloo_available())' 2>/dev/null ||
    skip "PyTorch with Gloo is not installed (contrib/deps --torch)"
  make_prefix
  cluster_up ddp --nodes 8 --leaves 2 --plugin-dir "$prefix/lib"
}

teardown_file() {
  [[ ! -e $(state_of ddp) ]] || cluster_down ddp
}

setup() {
  CLUSTER='ddp'
  cd "$work"
  rm -f ./*
  export SLURM_MPI_TYPE=none
  ddp=("$repository/contrib/workloads/ddp.py" --iterations 20 --warmup 2 --compute-ms 1)
}

teardown() {
  [[ ${BATS_TEST_COMPLETED-} ]] || run_in ctl scancel --state=RUNNING --signal=KILL --partition=all
}

# A rank's program that leaves the step dies in its own way on each run; what the job is to Slurm does not.
ends_alike() {
  local how=$1 flag plain
  for flag in off observe; do
    both run_in ctl srun -N2 --paced-fabric=$flag "${ddp[@]}" --timeout 20 --fail "rank=1,iteration=8,how=$how"
    if [[ $flag == off ]]; then plain=$code; else same "$code" "$plain"; fi
    same "$out" ""
  done
  [[ $plain != 0 ]]
}

@test "two groups across the leaves: the same weights as without us, and a report of all ranks and contexts" {
  both run_in ctl srun -Q -N8 --paced-fabric=off "${ddp[@]}" --groups 2 --quiet-times
  same "$code" 0
  same "$err" ""
  plain=$out
  [[ $plain =~ ^ranks=8\ iterations=20\ checksum=[0-9a-f]{16}$ ]]
  for node in n1 n8; do run ! run_in $node sh -c 'ls -d /dev/shm/*paced*'; done

  both run_in ctl srun -N8 --paced-fabric=observe --paced-fabric-report="summary,$work/report.json" "${ddp[@]}" --groups 2 --quiet-times
  same "$code" 0
  same "$out" "$plain"
  has "$err" "Gloo (libgloo.so.0), 8 ranks"
  true_of report.json '[(x["rank"], x["node"]) for x in r["ranks"]] == [(i, f"n{i + 1}") for i in range(8)]' \
    'sorted(c["ranks"] for c in r["communicators"]) == sorted([[0, 2, 4, 6], [1, 3, 5, 7], list(range(8))])' \
    'all(c["calls"] >= 22 for c in r["communicators"] if c["size"] == 4)' \
    'r["job"]["finished"] == True' 'trouble == []'
  assert_unharmed 8
}

@test "a rank that exits, fails or is killed in the middle: the step ends as without us" {
  for how in exit raise kill; do ends_alike $how; done
  assert_unharmed 8
}
