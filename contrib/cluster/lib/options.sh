# shellcheck shell=bash
# The flags of `up`, their defaults and their limits. Everything wrong is refused here, before anything is made.

number() { # OPTION VALUE LOWEST HIGHEST
  [[ $2 =~ ^[0-9]{1,9}$ ]] && ((10#$2 >= $3 && 10#$2 <= $4)) || usage_error "$1 must be a number from $3 to $4, not '$2'"
}

rate() { # OPTION VALUE
  [[ $2 =~ ^[1-9][0-9]*([kmg]?bit)$ ]] || usage_error "$1 must be a rate such as 200mbit, not '$2'"
}

one_of() { # OPTION VALUE VALID…
  local option=$1 value=$2 valid
  shift 2
  for valid; do [[ $value != "$valid" ]] || return 0; done
  usage_error "$option must be one of: $*; not '$value'"
}

readable() { # OPTION FILE
  [[ -f $2 && -r $2 ]] || usage_error "$1: cannot read '$2'"
}

# shellcheck disable=SC2034  # the variables are read by the other modules
parse_up_options() {
  name=default nodes=8 leaves=2 placement=block host_rate='' uplink='' buffer=60000 congestion=reno gpus=0
  policy='' node_topology='' plugin_dir='' owner=''
  declare -gA node_topology_of=()
  no_plugin_on=() shares=()
  local node no_plugin='' given_plugin_dir=''
  while (($#)); do
    case $1 in
      --no-plugin) no_plugin=yes && shift && continue ;;
      --*=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" && continue ;;
    esac
    need_value "$@"
    case $1 in
      --name) name=$2 ;;
      --nodes) number "$1" "$2" 1 200 && nodes=$((10#$2)) ;;
      --leaves) number "$1" "$2" 1 64 && leaves=$((10#$2)) ;;
      --placement) one_of "$1" "$2" block interleaved && placement=$2 ;;
      --host-rate) rate "$1" "$2" && host_rate=$2 ;;
      --uplink) rate "$1" "$2" && uplink=$2 ;;
      # smaller than one Ethernet frame, a queue lets nothing through
      --buffer) number "$1" "$2" 1600 100000000 && buffer=$((10#$2)) ;;
      --congestion) one_of "$1" "$2" reno bbr && congestion=$2 ;;
      --gpus-per-node) number "$1" "$2" 0 64 && gpus=$((10#$2)) ;;
      --node-topology)
        if [[ $2 =~ ^(n[0-9]+)=(.*)$ ]]; then
          readable "$1" "${BASH_REMATCH[2]}"
          node_topology_of[${BASH_REMATCH[1]}]=${BASH_REMATCH[2]}
        else
          readable "$1" "$2" && node_topology=$2
        fi
        ;;
      --policy) readable "$1" "$2" && policy=$2 ;;
      --plugin-dir)
        [[ -e $2/spank_paced_fabric.so ]] || usage_error "$1: no spank_paced_fabric.so in '$2'"
        given_plugin_dir=$2
        ;;
      --no-plugin-on) no_plugin_on+=("$2") ;;
      --owner)
        start_time "$2" >/dev/null || usage_error "$1: there is no process '$2'"
        owner=$2
        ;;
      --share)
        [[ -d $2 ]] || usage_error "$1: no folder '$2'"
        shares+=("$2")
        ;;
      *) usage_error "up: unknown option '$1'" ;;
    esac
    shift 2
  done
  ((leaves <= nodes)) || usage_error "--leaves $leaves is more than --nodes $nodes"
  if [[ $placement == block ]] && (($(leaf_of "$nodes") < leaves)); then
    usage_error "$nodes nodes in blocks fill only $(leaf_of "$nodes") of $leaves leaves; take other numbers or --placement interleaved"
  fi
  for node in "${no_plugin_on[@]}" "${!node_topology_of[@]}"; do
    [[ $node =~ ^n([1-9][0-9]*)$ ]] && ((BASH_REMATCH[1] <= nodes)) || usage_error "there is no node '$node' among n1 … n$nodes"
  done
  if [[ -z $no_plugin ]]; then
    plugin_dir=${given_plugin_dir:-$repository/build/release/lib}
    [[ -e $plugin_dir/spank_paced_fabric.so ]] || plugin_dir=
  fi
  [[ -z $plugin_dir ]] || plugin_dir=$(cd -P -- "$plugin_dir" && pwd)
  # what exec puts into PATH; the plugin too looks for its helper programs beside its own folder
  prefix=${plugin_dir%/*}
  [[ -n $prefix || ! -d $repository/build/release ]] || prefix=$repository/build/release
}

# What the programs inside and `status` need to know, as shell assignments.
write_settings() {
  local variable
  for variable in name nodes leaves placement host_rate uplink buffer congestion gpus plugin_dir; do
    printf '%s=%q\n' "$variable" "${!variable}"
  done >"$state/settings"
  printf 'no_plugin_on=(%s)\n' "${no_plugin_on[*]}" >>"$state/settings"
}
