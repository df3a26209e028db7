# shellcheck shell=bash
# Folders that have to be seen on all nodes at their own path. Only /tmp, /run and /dev/shm differ from node to
# node; everything else is the machine's own already.

# Prints the path with its links resolved when it lies where nodes differ; nothing otherwise.
share_path() {
  local path
  path=$(cd -P -- "$1" && pwd)
  [[ $path != *$'\n'* ]] || fail "a folder with a line break in its name cannot be shared: $path"
  case $path in
    /tmp/* | /run/* | /dev/shm/*) printf '%s\n' "$path" ;;
    # all of /tmp would take away what makes the nodes different
    /tmp | /run | /dev/shm) echo "cluster: note: $path is each node's own; nothing in it is shared" >&2 ;;
  esac
}

# share_now PATH: shows it on all nodes. Costs nothing where it is there already; compared are the folders themselves,
# since one that was deleted and made again is another folder under the same path.
share_now() {
  local path node pid lock
  path=$(share_path "$1")
  [[ -n $path ]] || return 0
  pid=$(process_of ctl) && [[ $path -ef /proc/$pid/root$path ]] && return
  exec {lock}>"$state/run/shares.lock"
  flock "$lock"
  for node in "$state"/pids/*; do
    node=${node##*/}
    [[ $node != holder && $node != guard ]] || continue
    pid=$(process_of "$node") || continue # a crashed node has no view
    [[ ! $path -ef /proc/$pid/root$path ]] || continue
    nsenter -t "$pid" -m -p -- "$inside/tool/inside/share" "$path" || fail "cannot show $path on $node"
  done
  exec {lock}>&-
}
