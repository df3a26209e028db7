# shellcheck shell=bash
# Shared by the files that run whole jobs: the plugin, helper, interposer and workload as they are installed, in a
# prefix of their own so that a test may take one away.

load lib

# make_prefix: sets and fills $prefix, $work, $bsp (work is the folder that tests run in).
make_prefix() {
  export work=$BATS_FILE_TMPDIR/work prefix=$BATS_FILE_TMPDIR/prefix
  mkdir -p "$work" "$prefix"/{lib,bin}
  chmod 777 "$work"
  chmod 755 "$BATS_FILE_TMPDIR"
  install "$repository"/build/release/lib/{libpaced_fabric,spank_paced_fabric}.so "$prefix/lib/"
  install "$repository"/build/release/bin/{paced,paced-fabric-helper,paced-fabric-probe,bsp,bsp_mpich} "$prefix/bin/"
  export bsp=/run/paced-cluster/prefix/bin/bsp
}

# json FILE EXPRESSION…: what Python makes of each expression, a line each. r is the report, trouble its warnings but for
# that of the clocks, which a busy machine brings about.
json() {
  python3 - "$@" <<'PYTHON'
import json, sys
r = json.load(open(sys.argv[1]))
trouble = [w for w in r["warnings"] if not w.startswith("clocks of two nodes may differ")]
for expression in sys.argv[2:]:
    print(eval(expression))
PYTHON
}

# true_of FILE EXPRESSION…: each holds of the report.
true_of() {
  local file=$1 expression
  shift
  for expression; do
    [[ $(json "$file" "$expression") == True ]] || { echo "not true of $file: $expression" >&2; json "$file" 'r["warnings"]' r >&2; return 1; }
  done
}

# Lines of ours in a text: each begins a message, continuation lines are indented.
ours() { grep -c '^paced-fabric' <<<"$1" || true; }
ours_are() { same "$(ours "$1")" "$2" || { printf '%s\n' "$1" >&2; return 1; }; }

# nothing_of_ours NODE…: no helper, no zombie, no run folder, no program of a job.
nothing_of_ours() {
  local node left
  for node; do
    # the brackets keep grep from finding itself
    left=$(run_in "$node" sh -c 'cat /proc/[0-9]*/cmdline 2>/dev/null | tr "\\0" "\\n" | grep -E "[p]aced-fabric-[hp]|[b]in/(bsp|ending)";
      grep -h "^State:.*Z" /proc/[0-9]*/status; ls -d /dev/shm/*paced*/* /dev/shm/*paced*/.[!.]*' 2>/dev/null || true)
    [[ -z $left ]] || { echo "left on $node: $left" >&2; return 1; }
  done
}

nodes_idle() { [[ $(run_in ctl sinfo -h -p all -t idle -o %D) == "$1" ]]; }

# assert_unharmed COUNT: every node takes jobs again and nothing of a step is left.
assert_unharmed() {
  local i nodes=()
  for ((i = 1; i <= $1; i++)); do nodes+=("n$i"); done
  wait_until 15 nodes_idle "$1"
  wait_until 10 nothing_of_ours "${nodes[@]}"
}
