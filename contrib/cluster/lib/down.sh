# shellcheck shell=bash
# Taking a cluster down. Every process, namespace and mount of it hangs on the holder, which is pid 1 of the pid
# namespace that all the others are in: the kernel ends them with it, whatever state they are in.

# end_process ROLE: kills it if it is ours and alive, and waits for its end.
end_process() {
  local pid i
  pid=$(process_of "$1") || return 0
  [[ $pid != "$$" ]] || return 0 # the guard takes the cluster down itself
  kill -KILL "$pid" 2>/dev/null || true
  for ((i = 0; i < 400; i++)); do
    process_of "$1" >/dev/null || return 0
    pause 0.02
  done
  echo "cluster: error: process $pid ($1) does not end; its state stays in $state" >&2
  return 1
}

take_down() {
  [[ -d $state ]] || return 0
  rm -f "$state/ready"
  end_process holder || return 1
  end_process guard || return 1
  # One file system: were anything still mounted below, it is not ours to delete.
  rm -rf --one-file-system -- "$state"
  # When `up` has the lock, it has just lost its holder, and clears up itself.
  if take_lock; then drop_lock; fi
}

cluster_down() {
  local name=default state state_base
  while (($#)); do
    case $1 in
      --name) need_value "$@" && name=$2 && shift 2 ;;
      *) usage_error "down: unknown argument '$1'" ;;
    esac
  done
  select_cluster "$name"
  take_down
}
