#!/usr/bin/env bats
# What tasks are bound to, under a real Slurm with fake GPUs: the variables and cores that they really have. n1 says that it
# has 8 GPUs and 4 NICs; n2 that it has 2 GPUs, each beside one of the CPUs that this machine really has.

bats_require_minimum_version 1.5.0
load jobs

setup_file() {
  export BATS_TEST_TIMEOUT=90
  make_prefix
  local data=$repository/tests/data/topology
  cluster_up bind --nodes 2 --gpus-per-node 8 --plugin-dir "$prefix/lib" \
    --node-topology "n1=$data/fake-8gpu-4nic.xml" --node-topology "n2=$data/fake-two-cpus.xml"
  # the interfaces that carry TCP on a node of the testbed, by name
  export tcp=eth0,fab0
}

teardown_file() {
  cluster_down bind
}

setup() {
  CLUSTER='bind'
  cd "$work"
  rm -f ./*
  policy=$(state_of bind)/paced-fabric/policy.toml
  unset UCX_NET_DEVICES
}

teardown() {
  rm -f "$policy"
  run_in n1 sed -i /UCX_NET_DEVICES/d /etc/ucx/ucx.conf # the nodes share one /etc
}

# bound NODE FLAG…: a line for each task, "ID GPUS UCX NVSHMEM MPICH CPUS", sorted; what else was said is in err.txt.
bound() {
  local node=$1
  shift
  # shellcheck disable=SC2016  # expanded by the task
  run_in ctl srun -w "$node" "$@" sh -c \
    'echo "$SLURM_LOCALID $CUDA_VISIBLE_DEVICES ${UCX_NET_DEVICES-} ${NVSHMEM_HCA_LIST-} ${MPIR_CVAR_CH4_OFI_PREF_NIC-} $(grep Cpus_allowed_list /proc/self/status | tr -cd 0-9,-)"' \
    2>err.txt | sort -n
}
# The same without the cores.
variables() { bound "$@" | sed 's/ [^ ]*$//'; }

@test "as many tasks as GPUs: each has the NIC of the GPU that has its number" {
  same "$(variables n1 -n8 --gpus-per-node=8 --paced-fabric=pace)" "$(
    for i in 0 1 2 3 4 5 6 7; do
      echo "$i 0,1,2,3,4,5,6,7 mlx5_$((i / 2)):1,$tcp mlx5_$((i / 2)):1 $((i / 2))"
    done
  )"
  lacks "$(<err.txt)" 'a task is bound only'
}

@test "Slurm gives each task a GPU of its own: it has that one's NIC" {
  same "$(variables n1 -n4 --gpus-per-task=1 --paced-fabric=pace)" "$(
    for i in 0 1 2 3; do echo "$i $i mlx5_$((i / 2)):1,$tcp mlx5_$((i / 2)):1 $((i / 2))"; done
  )"
  same "$(variables n1 -n4 --gpus-per-node=8 --gpu-bind=map_gpu:7,0,5,2 --paced-fabric=pace)" "0 7 mlx5_3:1,$tcp mlx5_3:1 3
1 0 mlx5_0:1,$tcp mlx5_0:1 0
2 5 mlx5_2:1,$tcp mlx5_2:1 2
3 2 mlx5_1:1,$tcp mlx5_1:1 1"
}

@test "several GPUs in one task: the NIC of the first" {
  same "$(variables n1 -n2 --gpus-per-task=4 --paced-fabric=pace)" "0 0,1,2,3 mlx5_0:1,$tcp mlx5_0:1 0
1 4,5,6,7 mlx5_2:1,$tcp mlx5_2:1 2"
}

@test "less than all GPUs: those of the step alone count" {
  same "$(variables n1 -n2 --gpus-per-node=2 --paced-fabric=pace)" "0 0,1 mlx5_0:1,$tcp mlx5_0:1 0
1 0,1 mlx5_0:1,$tcp mlx5_0:1 0"
}

@test "fewer tasks than GPUs that all of them see: nothing is bound, and said" {
  same "$(bound n1 -n1 --gpus-per-node=8 --paced-fabric=pace --paced-fabric-bind=gpu-nic-cpu)" "0 0,1,2,3,4,5,6,7    $(own_cpus)"
  has "$(<err.txt)" '1 task for 8 GPUs'
}

@test "a step without GPUs is left alone" {
  same "$(variables n1 -n2 --paced-fabric=pace)" "0    
1    "
  has "$(<err.txt)" 'Slurm gave this step no GPU'
}

@test "the user's own list stays, and is told" {
  export UCX_NET_DEVICES=mlx5_9:1
  same "$(variables n1 -n2 --gpus-per-node=2 --paced-fabric=pace)" "0 0,1 mlx5_9:1 mlx5_0:1 0
1 0,1 mlx5_9:1 mlx5_0:1 0"
  has "$(<err.txt)" 'your UCX_NET_DEVICES stays as it is'
}

@test "the site's own list in ucx.conf stays, and is told" {
  run_in n1 sh -c 'echo UCX_NET_DEVICES=fab0 >>/etc/ucx/ucx.conf'
  same "$(variables n1 -n2 --gpus-per-node=2 --paced-fabric=pace)" "0 0,1  mlx5_0:1 0
1 0,1  mlx5_0:1 0"
  has "$(<err.txt)" 'UCX_NET_DEVICES stays as /etc/ucx/ucx.conf has it'
}

own_cpus() { run_in n2 grep Cpus_allowed_list /proc/self/status | tr -cd 0-9,-; }

@test "bind=none touches nothing" {
  same "$(bound n2 -n2 --gpus-per-node=2 --paced-fabric=pace --paced-fabric-bind=none)" "0 0,1    $(own_cpus)
1 0,1    $(own_cpus)"
}

@test "gpu-nic leaves the cores, gpu-nic-cpu narrows them within what the task has" {
  [[ $(own_cpus) == 0-1 ]] || skip "needs the CPUs 0 and 1, and no others"
  same "$(bound n2 -n2 --gpus-per-node=2 --paced-fabric=pace)" "0 0,1 mlx5_0:1,$tcp mlx5_0:1 0 0-1
1 0,1 mlx5_1:1,$tcp mlx5_1:1 1 0-1"
  same "$(bound n2 -n2 --gpus-per-node=2 --paced-fabric=pace --paced-fabric-bind=gpu-nic-cpu)" "0 0,1 mlx5_0:1,$tcp mlx5_0:1 0 0
1 0,1 mlx5_1:1,$tcp mlx5_1:1 1 1"
  same "$(bound n2 -n2 --gpus-per-node=2 --gpu-bind=map_gpu:1,0 --paced-fabric=pace --paced-fabric-bind=gpu-nic-cpu)" "0 1 mlx5_1:1,$tcp mlx5_1:1 1 1
1 0 mlx5_0:1,$tcp mlx5_0:1 0 0"
}

# A node here claims 8 CPUs and has fewer, so a step of 4 looks to the plugin as one whose tasks are bound already.
@test "cores that are bound already stay, and it is told once" {
  (($(nproc) < 4)) || skip "needs a machine with fewer CPUs than a node of the testbed claims"
  same "$(bound n2 -n4 --gpus-per-node=2 --paced-fabric=pace --paced-fabric-bind=gpu-nic-cpu | awk '{print $NF}' | sort -u)" "$(own_cpus)"
  same "$(grep -c 'bound already' err.txt)" 1
}

@test "the user's --cpu-bind wins, and so do his OpenMP places" {
  local flags=(-n2 --gpus-per-node=2 --paced-fabric=pace --paced-fabric-bind=gpu-nic-cpu)
  same "$(bound n2 "${flags[@]}" --cpu-bind=none | awk '{print $NF}' | sort -u)" "$(own_cpus)"
  has "$(<err.txt)" 'bound by --cpu-bind'
  OMP_PLACES=cores bound n2 "${flags[@]}" >out.txt
  same "$(awk '{print $NF}' out.txt | sort -u)" "$(own_cpus)"
  has "$(<err.txt)" 'bound by OMP_PLACES'
}

@test "observe applies what the user asked for, and shows the rest" {
  same "$(variables n1 -n2 --gpus-per-node=2 --paced-fabric=observe)" "0 0,1   
1 0,1   "
  has "$(<err.txt)" 'mlx5_0'
  same "$(variables n1 -n2 --gpus-per-node=2 --paced-fabric=observe --paced-fabric-bind=gpu-nic)" "0 0,1 mlx5_0:1,$tcp mlx5_0:1 0
1 0,1 mlx5_0:1,$tcp mlx5_0:1 0"
  printf 'schema = 1\n[defaults]\nbind = "gpu-nic-cpu"\n' >"$policy"
  same "$(variables n1 -n2 --gpus-per-node=2 --paced-fabric=observe)" "0 0,1   
1 0,1   "
  same "$(variables n1 -n2 --gpus-per-node=2 --paced-fabric=explain --paced-fabric-bind=gpu-nic)" "0 0,1   
1 0,1   "
}

@test "off is what it is without the plugin, down to the last byte" {
  local with without
  # shellcheck disable=SC2016  # expanded by the task
  with=$(run_in ctl srun -w n1 -n2 --gpus-per-node=2 --paced-fabric=off --paced-fabric-bind=gpu-nic-cpu sh -c 'echo "$SLURM_LOCALID"; env | grep -vE "^(SLURM_|HOSTNAME|PWD|_)" | sort; grep Cpus_allowed_list /proc/self/status' 2>&1 | sort)
  # shellcheck disable=SC2016
  without=$(run_in ctl srun -w n1 -n2 --gpus-per-node=2 sh -c 'echo "$SLURM_LOCALID"; env | grep -vE "^(SLURM_|HOSTNAME|PWD|_)" | sort; grep Cpus_allowed_list /proc/self/status' 2>&1 | sort)
  same "$with" "$without"
}

@test "nodes that differ have plans of their own" {
  same "$(run_in ctl srun -N2 -n4 --ntasks-per-node=2 --gpus-per-node=2 --paced-fabric=pace sh -c 'echo "$SLURM_NODEID $SLURM_LOCALID $NVSHMEM_HCA_LIST"' 2>/dev/null | sort)" "0 0 mlx5_0:1
0 1 mlx5_0:1
1 0 mlx5_0:1
1 1 mlx5_1:1"
}
