# shellcheck shell=bash
# What is up: one cluster with --name, otherwise all of this state folder. Fails when nothing is.

source "$tool/lib/wiring.sh"

describe() {
  local nodes leaves placement host_rate uplink buffer congestion gpus plugin_dir no_plugin_on leaf pid
  # shellcheck source=/dev/null
  source "$state/settings"
  echo "cluster '$name': $nodes nodes on $leaves leaves ($placement), state in $state"
  for ((leaf = 1; leaf <= leaves; leaf++)); do
    echo "  leaf$leaf: $(nodes_of_leaf "$leaf")"
  done
  echo "  links: host ${host_rate:-unshaped}, uplink ${uplink:-unshaped}, queue of shaped switch ports $buffer bytes, $congestion"
  echo "  gpus per node: $gpus"
  echo "  plugin: ${plugin_dir:-none}${no_plugin_on:+ (not on ${no_plugin_on[*]})}"
  echo "  policy and kill switch: $state/paced-fabric/{policy.toml,disabled}"
  [[ ! -e $state/pids/guard ]] || echo "  lifeline: goes down with process $(<"$state/owner")"
  pid=$(process_of ctl) || fail "cluster '$name': ctl has crashed"
  SLURM_CONF=$inside/slurm.conf nsenter -t "$pid" -m -n -u -i -p -- sinfo -o '  %P %D nodes %t: %N' -h
}

cluster_status() {
  local name='' state state_base found='' folder
  while (($#)); do
    case $1 in
      --name) need_value "$@" && name=$2 && shift 2 ;;
      *) usage_error "status: unknown argument '$1'" ;;
    esac
  done
  if [[ -n $name ]]; then
    select_cluster "$name"
    is_up || { echo "cluster '$name' is not up" && return 1; }
    describe
    return
  fi
  select_cluster default
  for folder in "$state_base"/*/; do
    [[ -d $folder ]] || continue
    select_cluster "$(basename -- "$folder")"
    is_up || continue
    found=yes
    describe
  done
  [[ -n $found ]] || { echo "no cluster is up (state folder: $state_base)" && return 1; }
}
