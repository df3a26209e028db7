# shellcheck shell=bash
# Slurm's files. All their paths begin with $inside; none is changed after `up`, because a node that reads a
# half-written file at the end of a job is drained.

ctl_address=10.77.0.250

slurm_conf() {
  local i gres=''
  ((gpus == 0)) || gres="Gres=gpu:fake:$gpus"
  cat <<TEXT
ClusterName=paced
SlurmctldHost=ctl($ctl_address)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CryptoType=crypto/munge
CredType=cred/munge
# one munged serves all nodes: a unix socket belongs to no network namespace
AuthInfo=socket=$inside/run/munge.sock
StateSaveLocation=$inside/spool/ctl
SlurmdSpoolDir=$inside/spool/%n
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
SlurmctldLogFile=$inside/log/slurmctld.log
SlurmdLogFile=$inside/log/slurmd.%n.log
SlurmctldDebug=info
SlurmdDebug=info
SlurmctldPort=6817
SlurmdPort=6818
SwitchType=switch/none
MpiDefault=none
# no cgroups (they would outlive the cluster) and no CPU binding (a node claims more cores than the machine has)
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmdParameters=config_overrides
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,sched_min_interval=0,batch_sched_delay=0,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
TopologyPlugin=topology/tree
${gres:+GresTypes=gpu}
# a job that lost its node ends; run again in silence it would hide the loss
JobRequeue=0
ReturnToService=2
# Where TreeWidth (default 50) is more than a step's nodes, the tree fence of Slurm 22.05's PMIx waits for nobody on
# other nodes, and now and then a rank is sent to before it is ready for it, and crashes in MPI_Init.
TreeWidth=2
KillWait=2
MessageTimeout=20
InactiveLimit=0
Waittime=0
SlurmdTimeout=30
UnkillableStepTimeout=60
MailProg=/bin/true
PlugStackConfig=$inside/plugstack.conf
TEXT
  for ((i = 1; i <= nodes; i++)); do
    echo "NodeName=n$i NodeAddr=10.77.0.$i CPUs=8 Boards=1 SocketsPerBoard=2 CoresPerSocket=4 ThreadsPerCore=1" \
      "RealMemory=4000 $gres State=UNKNOWN"
  done
  echo "PartitionName=all Nodes=n[1-$nodes] Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES:4"
  # a second partition, so that a policy has something to match
  echo "PartitionName=debug Nodes=n[1-$nodes] MaxTime=INFINITE State=UP OverSubscribe=YES:4"
}

gres_conf() {
  ((gpus == 0)) || echo "NodeName=n[1-$nodes] Name=gpu Type=fake File=$inside/dev/gpu[0-$((gpus - 1))]"
}

hosts_file() {
  local i
  echo "127.0.0.1 localhost fabric"
  echo "$ctl_address ctl"
  for ((i = 1; i <= nodes; i++)); do
    echo "10.77.0.$i n$i"
    echo "10.88.0.$i n$i-fab"
  done
}

# `optional`: with `required` a plugin that fails would drain nodes. config= is always there, even without a
# policy file: the plugin looks for its kill switch, the file `disabled`, in the folder that config= names.
plugstack_conf() {
  echo "optional $inside/prefix/$1/spank_paced_fabric.so config=$inside/paced-fabric/policy.toml${2:+ node_topology=$2}"
}

# Fills the state folder. Reads the variables that lib/options.sh sets.
write_configuration() {
  local i node file
  mkdir -p "$state"/{pids,run,log,spool/ctl,dev,paced-fabric,overlay,tool,prefix,ucx,host}
  slurm_conf >"$state/slurm.conf"
  gres_conf >"$state/gres.conf"
  topology_conf >"$state/topology.conf"
  hosts_file >"$state/hosts"
  # With ring fences about one PMIx start in ten hangs, with direct connections one in a hundred.
  printf 'PMIxCollFence=tree\nPMIxDirectConn=false\n' >"$state/mpi.conf"
  # MPICH's traffic on the fabric; a file, because UCX_NET_DEVICES in the environment would look like the user's own. Where
  # other NICs are declared, the plugin binds to them, and the site has no list that would stand against it.
  echo UCX_TLS=tcp,self >"$state/ucx/ucx.conf"
  [[ -n $node_topology || ${#node_topology_of[@]} -gt 0 ]] || echo UCX_NET_DEVICES=fab0 >>"$state/ucx/ucx.conf"
  for ((i = 1; i <= nodes; i++)); do mkdir "$state/spool/n$i"; done
  # Slurm takes only device files for GPUs; a link to /dev/null is one.
  for ((i = 0; i < gpus; i++)); do ln -s /dev/null "$state/dev/gpu$i"; done

  [[ -z $policy ]] || install -m 644 -- "$policy" "$state/paced-fabric/policy.toml"
  [[ -z $node_topology ]] || install -m 644 -- "$node_topology" "$state/node-topology"
  for node in "${!node_topology_of[@]}"; do
    mkdir -p "$state/overlay/$node"
    install -m 644 -- "${node_topology_of[$node]}" "$state/overlay/$node/node-topology"
    [[ -e $state/node-topology ]] || : >"$state/node-topology" # the place that the node's own one is mounted on
  done
  : >"$state/plugstack.conf"
  if [[ -n $plugin_dir ]]; then
    file=
    [[ -z $node_topology ]] || file=$inside/node-topology
    plugstack_conf "${plugin_dir##*/}" "$file" >"$state/plugstack.conf"
    for node in "${!node_topology_of[@]}"; do
      plugstack_conf "${plugin_dir##*/}" "$inside/node-topology" >"$state/overlay/$node/plugstack.conf"
    done
  fi
  for node in "${no_plugin_on[@]}"; do
    mkdir -p "$state/overlay/$node"
    : >"$state/overlay/$node/plugstack.conf"
  done
}
