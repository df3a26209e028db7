# shellcheck shell=bash
# What every command shares: messages, where a cluster's state lies, and which process is which.

repository=$(cd -P -- "$tool/../.." && pwd)
# Inside the cluster everything is found below this path, whatever the repository is called: slurm.conf knows no
# quoting, and the address of a unix socket has 107 bytes.
inside=/run/paced-cluster

fail() {
  echo "cluster: error: $*" >&2
  exit 1
}

usage_error() {
  echo "cluster: error: $*" >&2
  echo "cluster: hint: contrib/cluster/cluster --help" >&2
  exit 2
}

# Sets `name` and `state`.
select_cluster() {
  name=$1
  [[ $name =~ ^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$ ]] ||
    usage_error "bad cluster name '$name' (letters, digits, '.', '_' and '-', at most 64)"
  state_base=${PACED_FABRIC_CLUSTER_DIR:-$repository/build/cluster}
  [[ $state_base == /* ]] || state_base=$PWD/$state_base
  state=$state_base/$name
}

# Only one process at a time makes or ends a cluster of one name. take_lock fails when another one does so just now.
take_lock() {
  local file=$state_base/.$name.lock
  while [[ -z ${lock-} ]]; do
    exec {lock}>"$file"
    flock -n "$lock" || { exec {lock}>&- && lock= && return 1; }
    # whoever had it before may have removed the file meanwhile
    [[ /proc/self/fd/$lock -ef $file ]] || { exec {lock}>&- && lock=; }
  done
}

drop_lock() {
  rm -f -- "$state_base/.$name.lock"
  exec {lock}>&-
  lock=
}

# The argument of an option, or a usage error: need_value "$@" with the option first.
need_value() {
  (($# >= 2)) || usage_error "$1 needs a value"
}

# --- processes -------------------------------------------------------------------------------------------------
# A pid alone may be somebody else's by now. Pid and start time together name one process for ever, so every pid in
# the state folder stands with its start time, and none is entered or ended before both are compared.

# Prints the start time of a process, in clock ticks since boot; fails when there is no such process or it is dead.
start_time() {
  local stat fields
  # not $(<file): where the file is missing, bash runs the EXIT trap inside it
  { read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 1
  read -r -a fields <<<"${stat##*) }" # the program's name may hold spaces and brackets
  [[ ${fields[0]} != [ZX] ]] || return 1
  echo "${fields[19]}"
}

# remember_process ROLE PID
remember_process() {
  local start
  start=$(start_time "$2") || return 1
  echo "$2 $start" >"$state/pids/$1"
}

# Prints the pid of ROLE when that very process still lives.
process_of() {
  local pid start
  { read -r pid start <"$state/pids/$1"; } 2>/dev/null || return 1
  [[ $(start_time "$pid") == "$start" ]] || return 1
  echo "$pid"
}

is_up() {
  [[ -e $state/ready ]] && process_of holder >/dev/null
}

require_up() {
  is_up || fail "cluster '$name' is not up (contrib/cluster/cluster up --name $name)"
}

# Sleeps without starting a process: `sleep` in a poll loop would cost more than what is polled.
exec {never}<> <(:)
pause() {
  read -r -t "$1" -u "$never" || true
}
