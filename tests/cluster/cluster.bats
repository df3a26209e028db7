#!/usr/bin/env bats
# The testbed itself: a real Slurm on namespaces. One shaped cluster serves most tests; the others make their own.

bats_require_minimum_version 1.5.0
load lib

setup_file() {
  export BATS_TEST_TIMEOUT=60
  export programs=$BATS_FILE_TMPDIR/"programs with a space"
  mkdir -p "$programs/plugins/lib"
  mpicc.openmpi -o "$programs/probe" "$repository/tests/cluster/probe.c"
  mpicc.mpich -o "$programs/probe.mpich" "$repository/tests/cluster/probe.c"
  read -r -a pmix < <(pkg-config --cflags --libs pmix)
  gcc -o "$programs/fence" "$repository/tests/cluster/fence.c" "${pmix[@]}"
  gcc -shared -fPIC -o "$programs/plugins/lib/spank_paced_fabric.so" "$repository/tests/cluster/probe_plugin.c"
  echo 'schema = 1' >"$programs/site policy.toml"
  echo 'all nodes' >"$programs/node a"
  echo 'node three' >"$programs/node b"
  cluster_up shaped --nodes 8 --host-rate 200mbit --uplink 50mbit --gpus-per-node 4 \
    --plugin-dir "$programs/plugins/lib" --policy "$programs/site policy.toml" \
    --node-topology "$programs/node a" --node-topology "n3=$programs/node b" --no-plugin-on n4
}

teardown_file() {
  cluster_down shaped
}

setup() {
  CLUSTER=shaped
  cd "$programs"
}

not() { ! "$@"; }

# between LOW VALUE HIGH
between() {
  awk -v low="$1" -v value="$2" -v high="$3" 'BEGIN { exit !(low <= value && value <= high) }' && return
  echo "$2 is not between $1 and $3" >&2
  return 1
}

@test "all nodes are idle and each task finds its node's own name" {
  [[ $(run_in ctl sinfo -h -p all -t idle -o %D) == 8 ]]
  [[ $(run_in ctl srun -N8 hostname | sort | xargs) == "n1 n2 n3 n4 n5 n6 n7 n8" ]]
  [[ $(run_in ctl srun -p debug -w n5 hostname) == n5 ]]
}

@test "status tells what is up, and fails for a name that is not" {
  run "$cluster_program" status --name "$(full_name shaped)"
  [[ $status -eq 0 && $output == *"leaf2: n5,n6,n7,n8"* && $output == *"uplink 50mbit"* && $output == *"all* 8 nodes"* ]]
  run "$cluster_program" status --name "$(full_name nosuch)"
  [[ $status -eq 1 && $output == *"is not up"* ]]
}

@test "the default placement puts neighbours in number under one leaf" {
  [[ $(run_in ctl srun -w n4 printenv SLURM_TOPOLOGY_ADDR) == spine.leaf1.n4 ]]
  [[ $(run_in ctl srun -w n5 printenv SLURM_TOPOLOGY_ADDR) == spine.leaf2.n5 ]]
}

@test "a link within a leaf carries the host rate, one across the uplink's" {
  rate=$(run_in ctl srun -w n1,n2 -n2 --mpi=pmix ./probe rate 8000000)
  between 140 "$rate" 205
  rate=$(run_in ctl srun -w n1,n5 -n2 --mpi=pmix ./probe rate 3000000)
  between 35 "$rate" 51
}

@test "8 ranks all-reduce: srun with pmix, mpirun in sbatch, mpirun in salloc" {
  [[ $(run_in ctl srun -N8 --mpi=pmix ./probe sum) == "sum 8 of 8" ]]
  [[ $(run_in ctl salloc -Q -N8 mpirun.openmpi ./probe sum) == "sum 8 of 8" ]]
  printf '#!/bin/sh\nmpirun.openmpi ./probe sum\n' >job.sh
  id=$(submit -N8 -o from-mpirun.txt job.sh)
  [[ $(wait_for_job "$id") == "COMPLETED 0:0" ]]
  [[ $(<from-mpirun.txt) == "sum 8 of 8" ]]
}

@test "a PMIx fence lets nobody go before the last one has come, on one rank a node and on more" {
  for shape in "-N2 -n2" "-N3 -n3" "-N8 -n8" "-N4 -n8 --ntasks-per-node=2"; do
    # shellcheck disable=SC2086  # several arguments
    run_in ctl srun $shape --mpi=pmix ./fence >fences.txt
    run awk '{ if ($2 > entered[$1]) entered[$1] = $2
               if (!($1 in left) || $3 < left[$1]) left[$1] = $3 }
             END { for (f in left) if (left[f] < entered[f]) print "fence " f " was left early"
                   print length(left) " fences" }' fences.txt
    echo "$shape: $output"
    [[ $output == "4 fences" ]]
  done
}

@test "MPICH's two ranks meet on the fabric" {
  # nodes with a declared topology have no list of UCX's own (lifecycle.bats looks at one that has)
  both_mpich --export=ALL,UCX_NET_DEVICES=fab0,UCX_LOG_LEVEL=info -N2 ./probe.mpich sum
  said=$out$err
  [[ $said == *"sum 2 of 2"* && $said == *tcp/fab0* && $said != *tcp/eth0* ]] || { echo "$said"; return 1; }
}

@test "traffic stays on the fabric and offloads are off there" {
  before=$(run_in n5 cat /sys/class/net/fab0/statistics/rx_bytes)
  run_in ctl srun -w n1,n5 -n2 --mpi=pmix ./probe rate 1000000
  after=$(run_in n5 cat /sys/class/net/fab0/statistics/rx_bytes)
  between 1000000 $((after - before)) 1300000
  run run_in n5 ethtool -k fab0
  [[ $output == *"tcp-segmentation-offload: off"* && $output == *"generic-segmentation-offload: off"* &&
    $output == *"generic-receive-offload: off"* ]]
  run run_in n5 tc qdisc show dev fab0
  [[ $output == *"tbf"*"rate 200Mbit burst 16Kb"* ]]
}

@test "GPUs reach the tasks" {
  [[ $(run_in ctl srun -N1 --gpus-per-node=4 printenv CUDA_VISIBLE_DEVICES) == 0,1,2,3 ]]
  [[ $(run_in ctl srun -N1 -n2 --gpus-per-task=1 printenv CUDA_VISIBLE_DEVICES | sort | xargs) == "0 1" ]]
}

@test "each node has its own /tmp, /dev/shm, /run and network" {
  for folder in /tmp /dev/shm /run; do
    run_in n1 touch "$folder/mine.$$"
    run_in n1 test -e "$folder/mine.$$"
    run ! run_in n2 test -e "$folder/mine.$$"
    [[ ! -e $folder/mine.$$ ]]
  done
  [[ $(run_in n2 ls /sys/class/net | xargs) == "eth0 fab0 lo" ]]
  [[ $(run_in n2 pgrep -c slurmd) == 1 ]]
}

@test "the current folder is seen on all nodes, even under /tmp and with a space in its name" {
  run_in ctl srun -N8 sh -c 'touch "seen by $(hostname)"'
  [[ $(find . -name 'seen by n*' | wc -l) -eq 8 ]]
  [[ $(run_in n7 pwd) == "$programs" ]]
}

@test "a folder that was deleted and made again, or one above it, is seen anew" {
  for path in again/below again again/below; do
    rm -rf "$BATS_TEST_TMPDIR/again"
    mkdir -p "$BATS_TEST_TMPDIR/$path"
    cd "$BATS_TEST_TMPDIR/$path"
    run_in n7 touch "made on n7"
    [[ -e "made on n7" ]]
    cd "$programs"
  done
}

@test "exec hands on arguments, input, exit code and environment exactly" {
  [[ $(run_in n1 printf '<%s>' 'a b' '' '*' '"q"' $'line\nbreak') == $'<a b><><*><"q"><line\nbreak>' ]]
  [[ $(echo hello | run_in n2 cat) == hello ]]
  run run_in n1 sh -c 'exit 7'
  [[ $status -eq 7 ]]
  [[ $(MINE='1 2' run_in n1 printenv MINE) == '1 2' ]]
  [[ $(run_in n1 printenv OMPI_MCA_pml OMPI_MCA_btl OMPI_MCA_btl_tcp_if_include OMPI_MCA_mpi_yield_when_idle | xargs) == "ob1 tcp,self fab0 1" ]]
  [[ $(OMPI_MCA_btl=vader,self run_in n1 printenv OMPI_MCA_btl) == vader,self ]]
  run run_in n9 true
  [[ $status -eq 1 && $output == *"no node 'n9'"* ]]
}

@test "ending exec ends the command" {
  "$cluster_program" exec --name "$(full_name shaped)" n6 sleep 4711 3>&- &
  pid=$!
  wait_until 5 run_in n6 pgrep -fx 'sleep 4711'
  kill -TERM $pid
  code=0
  wait $pid || code=$?
  [[ $code -eq 143 ]]
  wait_until 5 not run_in n6 pgrep -fx 'sleep 4711'
}

@test "another user can work there" {
  mkdir -m 777 "$BATS_TEST_TMPDIR/open"
  chmod 755 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_TEST_TMPDIR" "$(dirname "$BATS_TEST_TMPDIR")"
  cd "$BATS_TEST_TMPDIR/open"
  [[ $(run_in --user nobody ctl srun -N2 id -un) == $'nobody\nnobody' ]]
  printf '#!/bin/sh\nid -un; echo $HOME; srun -n1 id -un\n' >job.sh
  id=$(submit --user nobody -N1 -o out.txt job.sh)
  [[ $(wait_for_job "$id") == "COMPLETED 0:0" ]]
  [[ $(xargs <out.txt) == "nobody /nonexistent nobody" ]]
}

@test "the plugin gets its policy and its node's topology as arguments" {
  arguments='cat ${PROBE_ARGUMENT_0#config=} ${PROBE_ARGUMENT_1#node_topology=}'
  [[ $(run_in ctl srun -w n1 sh -c "$arguments") == $'schema = 1\nall nodes' ]]
  [[ $(run_in ctl srun -w n3 sh -c "$arguments") == $'schema = 1\nnode three' ]]
  [[ $(run_in ctl srun -w n4 sh -c 'echo "$PROBE_ARGUMENT_0"') == "" ]]
}

@test "the site folder is the cluster's own" {
  run_in n2 touch /etc/paced-fabric/disabled
  run_in n8 test -e /run/paced-cluster/paced-fabric/disabled
  run_in n8 rm /etc/paced-fabric/disabled
  [[ $(run_in n8 cat /etc/paced-fabric/policy.toml) == 'schema = 1' ]]
  # Slurm's own default place leads to this cluster too
  [[ $(run_in ctl env -i PATH="$PATH" srun -N2 hostname | wc -l) -eq 2 ]]
}

@test "orphans are reaped" {
  run_in n1 sh -c 'for i in 1 2 3 4 5; do (sleep 0.1 &) ; done'
  sleep 0.5
  run run_in n1 sh -c 'grep -l "^State:.Z" /proc/[0-9]*/status'
  [[ $output == "" ]]
}
