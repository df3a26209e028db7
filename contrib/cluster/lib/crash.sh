# shellcheck shell=bash
# A node that loses power: its pid 1 is killed, and with it slurmd, the steps and the node's network.

source "$tool/lib/down.sh"

cluster_crash() {
  local name=default state state_base node=''
  while (($#)); do
    case $1 in
      --name) need_value "$@" && name=$2 && shift 2 ;;
      *) [[ -z $node ]] || usage_error "crash: one node at a time" && node=$1 && shift ;;
    esac
  done
  select_cluster "$name"
  require_up
  [[ $node =~ ^n[0-9]+$ && -e $state/pids/$node ]] || fail "cluster '$name' has no node '$node'"
  end_process "$node"
}
