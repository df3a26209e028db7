# shellcheck shell=bash
# Bringing a cluster up: check, write the state folder, start the holder, let inside/build do the rest in there.
# Whatever goes wrong or interrupts, everything made so far goes down with the holder.

source "$tool/lib/wiring.sh"
source "$tool/lib/options.sh"
source "$tool/lib/slurm-conf.sh"
source "$tool/lib/share.sh"
source "$tool/lib/down.sh"

check_machine() {
  local program missing=()
  for program in slurmctld slurmd sinfo munged ip tc ethtool unshare nsenter setpriv setsid ps flock; do
    PATH=$PATH:/usr/sbin:/sbin command -v "$program" >/dev/null || missing+=("$program")
  done
  ((${#missing[@]} == 0)) || fail "not on this machine: ${missing[*]} (contrib/deps installs them)"
  ((EUID == 0)) || fail "the cluster needs root: it makes namespaces, bridges and mounts"
}

# Says which kind of namespace this machine refuses, when starting the holder has failed.
missing_namespaces() {
  local kind refused=()
  for kind in mount net pid uts ipc; do
    unshare "--$kind" --fork true 2>/dev/null || refused+=("$kind")
  done
  ((${#refused[@]} == 0)) || echo "this machine refuses namespaces of kind: ${refused[*]} (inside a container? it needs CAP_SYS_ADMIN and CAP_NET_ADMIN)"
}

# Prints the reason and the end of the log that tells it, then takes everything down. Never returns.
give_up() {
  trap '' INT TERM HUP
  trap - EXIT
  {
    echo "cluster: error: '$name' did not come up: $1"
    if [[ -s ${2-} ]]; then
      echo "cluster: the end of ${2##*/}:"
      tail -n 15 -- "$2" | sed 's/^/  /'
    fi
  } >&2
  if [[ -n ${builder-} ]]; then
    kill -KILL "$builder" 2>/dev/null || true
    wait "$builder" 2>/dev/null || true # or bash tells of its death
  fi
  take_down || true
  exit "${3:-1}"
}

start_holder() {
  local parent i
  # No file descriptor of the caller may stay open in there: whoever waits for the end of a pipe (bats, `| tee`)
  # would wait as long as the cluster lives. setsid: no Ctrl-C of any terminal reaches it.
  (
    close_descriptors
    cd /
    exec env -i --default-signal PATH="$PATH:/usr/sbin:/sbin" \
      setsid unshare --pid --fork --kill-child=KILL --mount --propagation private --mount-proc --net --uts --ipc \
      -- "$tool/inside/holder" "$state" "$tool" "$prefix" </dev/null >"$state/log/holder.log" 2>&1
  ) &
  parent=$!
  for ((i = 0; i < 1000; i++)); do
    if [[ -e $state/run/holder.ready ]]; then
      # seen from here the holder is the only child of `unshare`
      remember_process holder "$(ps -o pid= --ppid "$parent" | tr -d ' ')" && return
      break
    fi
    start_time "$parent" >/dev/null || break
    pause 0.01
  done
  kill -KILL "$parent" 2>/dev/null || true
  missing_namespaces >>"$state/log/holder.log"
  give_up "its namespaces could not be made" "$state/log/holder.log"
}

close_descriptors() {
  local fd
  for fd in /proc/self/fd/*; do
    fd=${fd##*/}
    ((fd <= 2)) || eval "exec $fd>&-"
  done
}

start_guard() {
  [[ -n $owner ]] || return 0
  echo "$owner" >"$state/owner"
  (
    close_descriptors
    cd /
    export PACED_FABRIC_CLUSTER_DIR=$state_base
    exec setsid "$tool/lib/guard" "$name" "$owner" "$(start_time "$owner")" </dev/null >"$state/log/guard.log" 2>&1
  ) &
  remember_process guard "$!" || give_up "the guard ended at once" "$state/log/guard.log"
}

# The processes that `exec` enters: pid 1 of each node, as seen from here. They are the children of the
# `unshare` processes that inside/build left to the holder.
remember_nodes() {
  local parents pid node _
  parents=$(ps -o pid= --ppid "$(process_of holder)" | tr -d ' ' | paste -s -d ,)
  # shellcheck disable=SC2009  # pgrep does not print arguments apart from the name
  while read -r pid _ _ node _; do
    remember_process "$node" "$pid" || return 1
  done < <(ps -o pid=,args= --ppid "$parents" | grep -F " $inside/tool/inside/node-init ")
  [[ -e $state/pids/ctl && -e $state/pids/n$nodes ]]
}

cluster_up() {
  local started=$EPOCHREALTIME builder='' rc=0 took dir
  umask 022
  parse_up_options "$@"
  select_cluster "$name"
  check_machine
  mkdir -p -- "$state_base"
  take_lock || fail "cluster '$name' is just being brought up by another process"
  ! is_up || fail "cluster '$name' is up already (contrib/cluster/cluster down --name $name)"
  take_down || exit 1 # what a crash may have left
  take_lock || fail "cluster '$name' is just being brought up by another process"

  trap 'give_up interrupted "" 130' INT
  trap 'give_up interrupted "" 143' TERM HUP
  trap 'give_up "a step failed" "$state/log/up.log"' EXIT
  mkdir -p -- "$state_base"
  write_configuration
  write_settings
  for dir in "$repository" "${shares[@]}"; do share_path "$dir"; done >"$state/shares"
  start_holder
  start_guard
  # In the background and waited for, so that Ctrl-C ends `up` at once and not after the step.
  nsenter -t "$(process_of holder)" -m -n -u -i -p -- setsid --wait "$inside/tool/inside/build" \
    </dev/null >"$state/log/up.log" 2>&1 {lock}>&- {never}>&- &
  builder=$!
  wait "$builder" || rc=$?
  builder=
  ((rc == 0)) || give_up "$(tail -n 1 "$state/log/up.log" 2>/dev/null)" "$(log_that_matters)"
  remember_nodes || give_up "a node ended at once" "$state/log/up.log"
  : >"$state/ready"
  trap - EXIT INT TERM HUP
  took=$(((${EPOCHREALTIME//[.,]/} - ${started//[.,]/}) / 10000))
  printf "cluster '%s' is up: %d nodes on %d leaves (%s), %s, in %d.%02d s\n" "$name" "$nodes" "$leaves" "$placement" \
    "$(if [[ -n $plugin_dir ]]; then echo "with the plugin"; else echo "without the plugin"; fi)" $((took / 100)) $((took % 100))
}

# inside/build names the log that tells more than its own.
log_that_matters() {
  local log=
  [[ ! -s $state/run/failed-log ]] || log=$(<"$state/run/failed-log")
  [[ -f $state/log/$log && -s $state/log/$log ]] || log=up.log # it did not get as far as writing one
  echo "$state/log/$log"
}
