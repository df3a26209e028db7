#!/usr/bin/env bats
# `paced run` in front of a real mpirun, on a fabric where neighbours in number hang on different leaves: the ranks follow the
# fabric, and the report says so from where they really ran.

bats_require_minimum_version 1.5.0
load jobs

setup_file() {
  export BATS_TEST_TIMEOUT=120
  make_prefix
  cluster_up run --nodes 8 --leaves 2 --placement interleaved --plugin-dir "$prefix/lib"
}

teardown_file() {
  cluster_down run
}

setup() {
  CLUSTER='run'
  cd "$work"
  rm -f ./*
  short=("$bsp" --iterations 5 --warmup 1 --compute 1 --buckets 2 --bytes 1024 --quiet-times)
  ring=(--paced-fabric=pace --paced-fabric-order=ring --paced-fabric-report="summary,$work/report.json")
}

teardown() {
  [[ ${BATS_TEST_COMPLETED-} ]] || run_in ctl scancel --state=RUNNING --signal=KILL --partition=all
}

# in_a_job SBATCH FLAGS…: the command of $line in a batch job; $log is what it said.
in_a_job() {
  id=$(submit -o job.out "$@" --wrap "$line")
  state=$(wait_for_job "$id")
  log=$(<job.out)
  same "$state" "COMPLETED 0:0" || { printf '%s\n' "$log" >&2; return 1; }
}

nodes_of() { json report.json 'list(dict.fromkeys(x["node"] for x in r["ranks"]))'; }
in_fabric_order="['n1', 'n3', 'n5', 'n7', 'n2', 'n4', 'n6', 'n8']"
as_submitted="['n1', 'n2', 'n3', 'n4', 'n5', 'n6', 'n7', 'n8']"

@test "mpirun's ranks follow the fabric, and the report has seen it" {
  line="paced run ${ring[*]} -- mpirun ${short[*]}"
  in_a_job -N8 -n8
  has "$log" "paced-fabric: order for ring handed to mpirun: n[1,3,5,7,2,4,6,8]"
  same "$(nodes_of)" "$in_fabric_order"
  true_of report.json 'r["plan"]["order"]["applied"]' 'r["plan"]["order"]["as_asked"]' 'r["plan"]["order"]["run_crossings"] == 2' \
    'r["plan"]["order"]["levels"][-1]["submitted"] == 8' 'len(r["ranks"]) == 8'
  has "$log" "ran as asked for: a ring over the ranks changed leaves 2 times, 8 in the"
}

@test "several ranks on a node stay together" {
  line="paced run ${ring[*]} -- mpirun -np 16 ${short[*]}"
  in_a_job -N8 --ntasks-per-node=2
  same "$(nodes_of)" "$in_fabric_order"
  true_of report.json '[x["node"] for x in r["ranks"]][:4] == ["n1", "n1", "n3", "n3"]' 'r["plan"]["order"]["run_crossings"] == 2'
}

# An order of hosts takes mpirun's own binding away, so the ranks bind themselves.
@test "ranks are bound to the cores that mpirun would have given them" {
  cores="sh -c 'grep Cpus_allowed_list /proc/self/status'"
  for ranks in "" "-np 16"; do
    line="mpirun $ranks $cores"
    in_a_job -N8 --ntasks-per-node=2
    plain=$(sort job.out)
    line="paced run ${ring[*]} -- mpirun $ranks $cores"
    in_a_job -N8 --ntasks-per-node=2
    has "$log" "paced-fabric: order for ring handed to mpirun"
    same "$(grep Cpus job.out | sort)" "$plain"
  done
}

@test "who places ranks himself is left alone" {
  line="paced run ${ring[*]} -- mpirun --map-by node ${short[*]}"
  in_a_job -N8 -n8
  has "$log" "paced-fabric: the submitted order is kept: mpirun's option --map-by may place ranks"
  line="mpirun --map-by node paced run ${ring[*]} -- ${short[*]}"
  in_a_job -N8 -n8
  same "$(nodes_of)" "$as_submitted"
  true_of report.json 'not r["plan"]["order"]["applied"]' 'r["plan"]["order"]["run_crossings"] == 8' \
    '"start mpirun or torchrun by `paced run`" in r["plan"]["order"]["kept_because"]'
}

@test "an mpirun that a rank starts is its own affair" {
  line="paced run ${ring[*]} -- mpirun sh -c 'env | grep -cE \"^(OMPI_MCA_rmaps|OMPI_MCA_orte_default_hostfile|PACED_FABRIC_STEP_ORDER)=\"; true'"
  in_a_job -N8 -n8
  same "$(grep -c '^0$' job.out)" 8
}

# A stand-in, since there is no PyTorch here: it prints the words that it was given.
@test "torchrun under srun: its node rank becomes the node's place in the order" {
  printf '#!/bin/sh\necho "$SLURMD_NODENAME $* ${PET_NODE_RANK-}"\n' >torchrun
  chmod 755 torchrun
  line="srun --mpi=none --ntasks-per-node=1 sh -c 'paced run ${ring[*]} -- ./torchrun --nnodes=8 --node-rank=\$SLURM_NODEID train.py'"
  in_a_job -N8 --ntasks-per-node=1
  same "$(grep -o '^n[0-9] --nnodes=8 --node-rank=[0-9]' job.out | sort -t= -k3 | cut -d' ' -f1 | xargs)" "n1 n3 n5 n7 n2 n4 n6 n8"
  line="srun --mpi=none --ntasks-per-node=1 paced run ${ring[*]} -- ./torchrun --nnodes=8 --rdzv-backend=c10d train.py"
  in_a_job -N8 --ntasks-per-node=1
  has "$log" "the submitted order is kept: torchrun's rendezvous c10d numbers the nodes by itself"
}
