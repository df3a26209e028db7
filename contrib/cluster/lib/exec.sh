# shellcheck shell=bash
# Running a command on a node, as if it had been typed there.

source "$tool/lib/share.sh"

# Flags that exec and submit share; sets `name`, `user`, `rest`.
parse_enter_options() {
  name=default user='' rest=() shares=()
  while (($#)); do
    case $1 in
      --name) need_value "$@" && name=$2 && shift 2 ;;
      --name=*) name=${1#*=} && shift ;;
      --user) need_value "$@" && user=$2 && shift 2 ;;
      --user=*) user=${1#*=} && shift ;;
      --share)
        need_value "$@"
        [[ -d $2 ]] || usage_error "--share: no folder '$2'"
        shares+=("$2") && shift 2
        ;;
      *) break ;;
    esac
  done
  rest=("$@")
}

# Everything that differs from the caller's environment. A variable that the caller has set, even to nothing,
# stays as it is, apart from SLURM_CONF and the way to folders that exist only outside.
set_environment() {
  local variable
  export SLURM_CONF=$inside/slurm.conf
  export PATH=$inside/prefix/bin:$PATH:/usr/sbin:/sbin
  # Open MPI 4: the fabric's TCP, and a core given up while waiting (8 polling ranks on 2 cores are 40 times slower)
  default OMPI_MCA_pml ob1
  default OMPI_MCA_btl tcp,self
  default OMPI_MCA_btl_tcp_if_include fab0
  default OMPI_MCA_mpi_yield_when_idle 1
  # exec's user is root unless told otherwise, and mpirun refuses root
  default OMPI_ALLOW_RUN_AS_ROOT 1
  default OMPI_ALLOW_RUN_AS_ROOT_CONFIRM 1
  for variable in TMPDIR XDG_RUNTIME_DIR; do
    case ${!variable-} in
      /tmp/* | /run/* | /dev/shm/*) unset "$variable" ;;
    esac
  done
}

default() {
  [[ -v $1 ]] || export "$1=$2"
}

# become USER: sets the array `as_user` for setpriv, and the variables that login would set.
become() {
  local entry home shell uid gid _
  as_user=()
  [[ -n $1 && $1 != root ]] || return 0
  entry=$(getent passwd -- "$1") || usage_error "there is no user '$1'"
  IFS=: read -r _ _ uid gid _ home shell <<<"$entry"
  as_user=(--reuid "$uid" --regid "$gid" --init-groups)
  export USER=$1 LOGNAME=$1 HOME=$home SHELL=$shell
}

has_terminal() {
  { : </dev/tty; } 2>/dev/null
}

# ignored SIGNAL: was it so when this program began?
ignored() {
  local key mask
  while read -r key mask; do
    [[ $key == SigIgn: ]] && break
  done </proc/$$/status
  ((0x$mask >> ($(kill -l "$1") - 1) & 1))
}

# enter NODE CMD…: does not return.
enter() {
  local node=$1 pid folder dir
  shift
  require_up
  [[ -e $state/pids/$node && $node =~ ^(ctl|n[0-9]+)$ ]] || fail "cluster '$name' has no node '$node'"
  pid=$(process_of "$node") || fail "node '$node' of cluster '$name' has crashed"
  folder=$(pwd -P)
  for dir in "$folder" "${shares[@]}"; do share_now "$dir"; done
  become "$user"
  set_environment
  # nsenter forks to get into the pid namespace, and what it forked would outlive it: hence the death signal. Ctrl-C
  # of a terminal reaches both; then CMD alone decides what to do about it.
  if has_terminal && ! ignored INT; then
    trap '' INT QUIT
    as_user+=(--pdeathsig TERM -- env '--default-signal=INT,QUIT')
  else
    as_user+=(--pdeathsig TERM --)
  fi
  exec nsenter -t "$pid" -m -n -u -i -p --wdns="$folder" -- setpriv "${as_user[@]}" "$@" {never}>&-
}

cluster_exec() {
  local name user rest shares as_user
  parse_enter_options "$@"
  [[ ${rest[0]-} != -* ]] || usage_error "exec: unknown option '${rest[0]}'"
  ((${#rest[@]} >= 2)) || usage_error "exec needs a node and a command"
  select_cluster "$name"
  enter "${rest[@]}"
}
