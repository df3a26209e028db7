#!/usr/bin/env bats
# Clusters come and go: every way of ending one leaves nothing behind.

bats_require_minimum_version 1.5.0
load lib

setup_file() { export BATS_TEST_TIMEOUT=60; }

teardown() {
  cluster_program=$repository/contrib/cluster/cluster
  for name in one two; do cluster_down "$name"; done
}

not() { ! "$@"; }

@test "down ends what runs, leaves nothing, and may be said twice" {
  cluster_up one --nodes 4 --no-plugin
  submit -N4 -o /dev/null --wrap 'srun sleep 1000'
  wait_until 10 run_in n2 pgrep -f 'sleep 1000$'
  namespaces=$(namespaces_of one)
  [[ $(wc -l <<<"$namespaces") -ge 20 ]] # holder, ctl, 4 nodes; five kinds each
  [[ -n $(leftovers one "$namespaces") ]] # or this test could not fail
  read -r holder _ <"$(state_of one)/pids/holder"
  begin=$SECONDS
  cluster_down one
  run ! grep '^State:.[^ZX]' "/proc/$holder/status" # at once, not some time later
  ((SECONDS - begin < 10))
  assert_nothing_left one "$namespaces"
  cluster_down one
}

@test "up refuses a name that is up, and repairs what a crash left" {
  cluster_up one --nodes 2 --no-plugin
  run cluster_up one --nodes 2 --no-plugin
  [[ $status -eq 1 && $output == *"is up already"* ]]
  run_in n2 true
  read -r holder _ <"$(state_of one)/pids/holder"
  kill -KILL "$holder"
  wait_until 5 not "$cluster_program" status --name "$(full_name one)"
  cluster_up one --nodes 3 --no-plugin
  [[ $(run_in ctl srun -N3 hostname | wc -l) -eq 3 ]]
}

@test "wrong flags are refused before anything is made" {
  expect() { # MESSAGE FLAG…
    local message=$1
    shift
    run cluster_up one "$@"
    echo "$output"
    [[ $status -eq 2 && $output == *"$message"* ]]
    [[ ! -e $(state_of one) ]]
  }
  expect "--nodes must be a number from 1 to 200, not 'many'" --nodes many
  expect "--nodes needs a value" --nodes
  expect "must be a rate such as 200mbit, not '200 MB'" --uplink '200 MB'
  expect "--congestion must be one of: reno bbr; not 'cubic'" --congestion cubic
  expect "--leaves 4 is more than --nodes 2" --nodes 2 --leaves 4
  expect "fill only 3 of 4 leaves" --nodes 9 --leaves 4 --nodes 6
  expect "there is no node 'n5'" --nodes 4 --no-plugin-on n5
  expect "cannot read '/nosuch'" --policy /nosuch
  expect "unknown option '--fast'" --fast yes
}

@test "a start that fails says why and leaves nothing" {
  mkdir "$BATS_TEST_TMPDIR/bin"
  printf '#!/bin/sh\necho "no munge today" >&2\nexit 1\n' >"$BATS_TEST_TMPDIR/bin/munged"
  chmod 755 "$BATS_TEST_TMPDIR/bin/munged"
  PATH=$BATS_TEST_TMPDIR/bin:$PATH run cluster_up one --nodes 2 --no-plugin
  [[ $status -eq 1 && $output == *"munged did not start"* && $output == *"no munge today"* ]]
  assert_nothing_left one none
}

@test "Ctrl-C in the middle of up leaves nothing" {
  # bash starts background jobs with SIGINT ignored; env takes that back
  env --default-signal=INT "$cluster_program" up --name "$(full_name one)" --nodes 16 --no-plugin >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
  pid=$!
  wait_until 10 test -e "$(state_of one)/run/ready.n1"
  namespaces=$(namespaces_of one)
  kill -INT $pid
  code=0
  wait $pid || code=$?
  cat "$BATS_TEST_TMPDIR/out"
  [[ $code -eq 130 ]]
  grep -q 'did not come up: interrupted' "$BATS_TEST_TMPDIR/out"
  assert_nothing_left one "$namespaces"
}

@test "the owner's death takes the cluster down, even by kill -9" {
  sleep 1000 3>&- &
  owner=$!
  cluster_up one --nodes 4 --no-plugin --owner $owner
  namespaces=$(namespaces_of one)
  run_in n4 true
  kill -KILL $owner
  assert_nothing_left one "$namespaces"
}

@test "the owner's death in the middle of up takes everything down" {
  sleep 1000 3>&- &
  owner=$!
  "$cluster_program" up --name "$(full_name one)" --nodes 16 --no-plugin --owner $owner >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
  pid=$!
  wait_until 10 test -e "$(state_of one)/run/ready.n1"
  namespaces=$(namespaces_of one)
  kill -KILL $owner
  wait $pid || true
  assert_nothing_left one "$namespaces"
}

@test "two clusters stand side by side" {
  cluster_up two --nodes 2 --leaves 1 --no-plugin
  cluster_up one --nodes 3 --placement interleaved --no-plugin
  [[ $(run_in ctl srun -N3 hostname | wc -l) -eq 3 ]]
  # neighbours in number sit on different leaves
  [[ $(run_in ctl srun -N3 printenv SLURM_TOPOLOGY_ADDR | sort | xargs) == "spine.leaf1.n1 spine.leaf1.n3 spine.leaf2.n2" ]]
  run_in ctl touch /run/paced-cluster/paced-fabric/disabled
  CLUSTER=two
  [[ $(run_in ctl srun -N2 printenv SLURM_TOPOLOGY_ADDR | sort | xargs) == "leaf1.n1 leaf1.n2" ]]
  run ! run_in ctl test -e /run/paced-cluster/paced-fabric/disabled
  cluster_down one
  [[ $(run_in ctl srun -N2 hostname | wc -l) -eq 2 ]]
}

@test "a crashed node takes its processes along and leaves the others alone" {
  cluster_up one --nodes 3 --no-plugin
  run_in ctl srun -w n2 -n1 sleep 1000 3>&- &
  wait_until 10 run_in n2 pgrep -f 'sleep 1000$'
  "$cluster_program" crash --name "$(full_name one)" n2
  run run_in n2 true
  [[ $status -eq 1 && $output == *"has crashed"* ]]
  [[ $(run_in ctl srun -w n1,n3 hostname | sort | xargs) == "n1 n3" ]]
}

@test "a checkout under /tmp, with a space in its path, works and is seen on the nodes" {
  local checkout cluster_program
  checkout=$(mktemp -d "/tmp/paced check out.XXXXXX")
  mkdir -p "$checkout/contrib"
  cp -r "$repository/contrib/cluster" "$checkout/contrib/"
  cluster_program=$checkout/contrib/cluster/cluster
  # the state folder of that checkout, not of this one
  export PACED_FABRIC_CLUSTER_DIR=$checkout/build/cluster
  cluster_up one --nodes 2
  namespaces=$(namespaces_of one)
  cd /
  [[ $(run_in ctl srun -N2 cat "$checkout/contrib/cluster/cluster" | grep -c 'usage: cluster COMMAND') -eq 2 ]]
  cluster_down one
  assert_nothing_left one "$namespaces"
  rm -r -- "$checkout" # only when all went well; otherwise it is there to be looked at
}

@test "32 nodes come up on four leaves" {
  cluster_up one --nodes 32 --leaves 4 --host-rate 200mbit --uplink 100mbit --no-plugin
  [[ $(run_in ctl srun -N32 printenv SLURM_TOPOLOGY_ADDR | cut -d . -f 2 | sort | uniq -c | xargs) == "8 leaf1 8 leaf2 8 leaf3 8 leaf4" ]]
  [[ $(run_in n1 cat /etc/ucx/ucx.conf | xargs) == "UCX_TLS=tcp,self UCX_NET_DEVICES=fab0" ]]
}
