#!/usr/bin/env bats
# --paced-fabric=pace in whole jobs: the law on a fabric that drops and on one that does not, each kind of delay over a real
# network, and ends that nobody wanted while calls are being delayed. No test asks for a gain: that is a benchmark's business.

bats_require_minimum_version 1.5.0
load jobs

setup_file() {
  export BATS_TEST_TIMEOUT=180 COMMAND_TIMEOUT=120
  make_prefix
  mpicc.openmpi -O2 -o "$prefix/bin/ending" "$repository/tests/cluster/ending.c"
  # where four groups together overrun a switch port, and where nothing is lost
  cluster_up cliff --nodes 8 --leaves 2 --host-rate 200mbit --uplink 100mbit --buffer 16000 --congestion reno --plugin-dir "$prefix/lib"
  cluster_up even --nodes 8 --leaves 2 --plugin-dir "$prefix/lib"
  export SLURM_MPI_TYPE=pmix
  export groups="$bsp --mode groups --groups 4 --synchronous --compute 5 --bytes 32768 --buckets 1 --iterations 250 --warmup 1 --quiet-times"
  export plain
  plain=$(run_in ctl srun -Q -N8 --paced-fabric=off $groups)
  [[ $plain =~ ^ranks=8\ iterations=250\ checksum=[0-9a-f]{16}$ ]]
  # An iteration takes 100 ms on the cliff and 6 on the even fabric, where a setting begins after 1 to 2 s, and later on a busy machine.
  export long=${groups/--iterations 250/--iterations 2000}
}

teardown_file() {
  cluster_down cliff
  cluster_down even
}

setup() {
  CLUSTER=even
  cd "$work"
  rm -f ./*
}

teardown() {
  rm -f "$(state_of cliff)/paced-fabric/policy.toml" "$(state_of even)/paced-fabric/policy.toml"
  # what a test that failed has left must not fail the next
  [[ ${BATS_TEST_COMPLETED-} ]] || for CLUSTER in cliff even; do run_in ctl scancel --state=RUNNING --signal=KILL --partition=all; done
}

# always ARM: the site has every job run under it, whether it helps or not.
always() { printf 'schema = 1\n[pacing]\nmethod = "fixed"\narm = "%s"\n' "$1" >"$(state_of "$CLUSTER")/paced-fabric/policy.toml"; }

# paced FLAG… -- PROGRAM…: a job step that has to come to the same as without us.
paced() {
  both run_in ctl srun --paced-fabric=pace --paced-fabric-report="full,$work/report.json" "$@"
  same "$code" 0
}

# The class whose calls carry the data, and how long its ranks were held (ms of an iteration, the mean) under the last setting.
of_groups='[c for c in r["pacing"]["classes"] if c["communicators"] == 4 and c["size"] == 2]'
groups_arms='[a for a in r["arms"] if a["class"].startswith("4 communicators of 2 ranks")]'
held() { json report.json "max(a['held_ms'] for a in $groups_arms)"; }
no_fault='not any(w.startswith("pacing") for w in r["warnings"])'

# Datagrams that a node has received: permits and nothing else, here.
datagrams() { run_in "$1" awk '/^Udp: [0-9]/ { print $2 }' /proc/net/snmp; }

# --- the law -----------------------------------------------------------------------------------------------------------

@test "a cliff: something is tried for the class of groups, the account is whole, the results stay" {
  CLUSTER=cliff
  paced -N8 $groups
  same "$out" "$plain"
  true_of report.json 'r["pacing"]["finished"]' "$no_fault" "len($of_groups) == 1" "$of_groups[0]['across_leaves']" \
    "any(a['pairs'] > 0 and a['held_ms'] > 0 for a in $groups_arms)" 'r["attribution"]["pacing"] > 0' \
    'r["pacing"]["exchange"]["most_nodes"] == 8' 'r["pacing"]["retransmissions"] > 0'
  has "$(tr -s ' \n' ' ' <<<"$err")" "pacing 4 communicators of 2 ranks, allreduce 32 KiB, across leaves: "
}

@test "nothing to gain: nothing is delayed, and the job log says so" {
  paced -N8 "$bsp" --compute 5 --bytes 4096 --buckets 1 --iterations 2000 --quiet-times
  true_of report.json 'r["pacing"]["finished"]' "$no_fault" 'r["arms"] == [] and r["attribution"]["pacing"] == 0' \
    'len(r["pacing"]["classes"]) > 0 and all(c["engaged"] is None for c in r["pacing"]["classes"])'
  [[ $(tr -s ' \n' ' ' <<<"$err") =~ allreduce\ 4\ KiB,\ across\ leaves:\ not\ paced:\ nothing\ to\ be\ gained\ showed\ in\ [0-9]+\ blocks\ of\ iterations ]]
}

@test "off and observe pace nothing" {
  always slots:11ms
  few=(${groups/--iterations 250/--iterations 60})
  for mode in off observe; do
    both run_in ctl srun -N8 --paced-fabric=$mode --paced-fabric-report="full,$work/$mode.json" "${few[@]}"
    same "$code" 0
    cp out.txt $mode.out
  done
  same "$(<observe.out)" "$(<off.out)"
  [[ ! -e off.json ]]
  true_of observe.json 'r.get("pacing") is None and r["arms"] == [] and r["attribution"]["pacing"] == 0'
}

# --- each kind of delay ------------------------------------------------------------------------------------------------

@test "slots: calls are held, the results stay" {
  CLUSTER=cliff
  always slots:11ms
  paced -N8 $groups
  same "$out" "$plain"
  true_of report.json 'r["pacing"]["finished"]' "$no_fault" "[a['setting'] for a in $groups_arms] == ['slots:11ms']" \
    "$groups_arms[0]['blocks'] > 0" 'r["attribution"]["pacing"] > 0'
  # the four wait for 0, 11, 22 and 33 ms; one of two data calls in a row may go at once
  true_of report.json "5 < $groups_arms[0]['held_ms'] < 40"
}

@test "admit: permits travel over the fabric, and nearly all arrive" {
  CLUSTER=cliff
  always admit:1
  before=$(datagrams n2)
  paced -N8 $groups
  same "$out" "$plain"
  true_of report.json 'r["pacing"]["finished"]' "$no_fault" "[a['setting'] for a in $groups_arms] == ['admit:1']" \
    "$groups_arms[0]['held_ms'] > 0" 'r["attribution"]["pacing"] > 0'
  # One grant for each call of the node's one communicator. After three waits in a row that only their deadline ended nobody
  # asks any more until the next block.
  grants=$(($(datagrams n2) - before))
  calls=$(json report.json "250 - $groups_arms[0]['first_iteration']")
  ((grants * 10 >= calls * 8)) || { echo "$grants grants for $calls calls" >&2; return 1; }
}

@test "rate: the fabric's sockets are slowed down while the job runs, and no others" {
  CLUSTER=cliff
  always rate:25mbit
  sockets_paced() { run_in n2 ss -tinHO state established >sockets.txt && grep -qE '10\.88\..*pacing_rate [^ ]*/25(000000|\.?0*M)bps' sockets.txt; }
  run_in ctl srun --paced-fabric=pace --paced-fabric-report="full,$work/report.json" -N8 $groups >out.txt 2>err.txt 3>&- &
  job=$!
  wait_until 60 sockets_paced
  # those of the exchange, of Slurm and of PMIx are there, and as they were
  run ! grep -E 'pacing_rate [^ ]*/' <(grep -vE '10\.88\.[0-9.]+:[0-9]+ +10\.88\.' sockets.txt)
  (($(grep -cE '^[0-9]+ +[0-9]+ +10\.77\.' sockets.txt) > 0))
  wait $job
  same "$(<out.txt)" "$plain"
  true_of report.json "$no_fault" "[a['setting'] for a in $groups_arms] == ['rate:25mbit']" "$groups_arms[0]['blocks'] > 0"
}

@test "hold-local: eight polling ranks on one node" {
  always hold-local
  polling=("$bsp" --work --buckets 1 --compute 1 --bytes 1024 --iterations 60 --quiet-times)
  plain=$(run_in ctl srun -Q -w n1 -N1 -n8 --paced-fabric=off "${polling[@]}")
  OMPI_MCA_mpi_yield_when_idle=0 paced -w n1 -N1 -n8 "${polling[@]}"
  same "$out" "$plain"
  true_of report.json 'r["pacing"]["finished"]' "$no_fault" 'any(a["setting"] == "hold-local" and a["held_ms"] > 0 for a in r["arms"])'
  assert_unharmed 8
}

# --- the user's word ---------------------------------------------------------------------------------------------------

@test "window 0: nothing is delayed" {
  always slots:11ms
  plain=$(run_in ctl srun -Q -N8 --paced-fabric=off $long)
  paced -N8 --paced-fabric-window=0 $long
  same "$out" "$plain"
  true_of report.json 'r["attribution"]["pacing"] == 0' 'r["arms"] == []' 'all(c["engaged"] is None for c in r["pacing"]["classes"])'
  has "$(tr -s ' \n' ' ' <<<"$err")" "no delay is allowed"
}

@test "a window of 500 us: no call is held longer" {
  always slots:11ms
  plain=$(run_in ctl srun -Q -N8 --paced-fabric=off $long)
  paced -N8 --paced-fabric-window=500us $long
  same "$out" "$plain"
  # One call of an iteration is held. A sleeper that the busy machine wakes late is held longer than was meant, but not
  # by the 16 ms that the setting alone would be.
  true_of report.json "0 < $groups_arms[0]['held_ms'] < 5" 'r["attribution"]["pacing"] > 0'
}

# --- ends that nobody wanted, each beside the same job without us ------------------------------------------------------

nodes_off=n3,n4,n7,n8 nodes_pace=n1,n2,n5,n6

both_begin() {
  local mode nodes before
  always admit:1
  before=$(datagrams n2)
  for mode in off pace; do
    nodes=nodes_$mode
    submit -N4 -w "${!nodes}" --no-requeue -o $mode.out --paced-fabric=$mode --paced-fabric-report="summary,$work/$mode.json" \
      --wrap "srun --mpi=pmix --kill-on-bad-exit=1 ${bsp%bsp}ending" >$mode.id
  done
  for mode in off pace; do wait_until 45 grep -q begun $mode.out; done
  wait_until 45 permits_since "$before"
}
permits_since() { (($(datagrams n2) > $1 + 20)); }

# both_get SIGNAL NODE NODE: the rank on the first is of the job without us.
both_get() {
  run_in "$2" pkill "-$1" -x ending
  run_in "$3" pkill "-$1" -x ending
}

end_of() { date -d "$(run_in ctl scontrol -o show job "$1" | sed -E 's/.* EndTime=([^ ]+) .*/\1/')" +%s; }

# Both jobs are gone with the same state and exit code, ours hardly later.
both_end() {
  local mode late
  for mode in off pace; do wait_for_job "$(<$mode.id)" 60 >$mode.state; done
  same "$(<pace.state)" "$(<off.state)"
  late=$(($(end_of "$(<pace.id)") - $(end_of "$(<off.id)")))
  ((late <= 8)) || { echo "ended $late s later than without us" >&2; return 1; }
}

killed_report() {
  wait_until 15 test -s pace.json
  true_of pace.json 'r["job"]["finished"] == False' 'any("no rank reached MPI_Finalize" in w for w in r["warnings"])'
}

@test "MPI_Abort in a rank: ends as without us" {
  both_begin
  both_get USR1 n4 n2
  both_end
  same "$(<off.state)" "FAILED 5:0"
  assert_unharmed 8
}

@test "exit(3) in the middle: ends as without us" {
  both_begin
  both_get USR2 n4 n2
  both_end
  assert_unharmed 8
}

@test "kill -9 of a rank: ends as without us" {
  both_begin
  both_get KILL n8 n6
  both_end
  killed_report
  assert_unharmed 8
}

@test "kill -9 of the rank that hands out permits: ends as without us" {
  both_begin
  both_get KILL n3 n1
  both_end
  killed_report
  assert_unharmed 8
}

@test "a rank is stopped for 3 s: the job goes on, with the same results" {
  both_begin
  both_get STOP n4 n2
  sleep 3
  both_get CONT n4 n2
  both_end
  same "$(<off.state)" "COMPLETED 0:0"
  for mode in off pace; do same "$(grep -E '^(all right|wrong)' $mode.out)" "all right"; done
  true_of pace.json 'r["job"]["finished"] and r["pacing"]["finished"]' "$no_fault"
  assert_unharmed 8
}

@test "scancel: ends as without us" {
  both_begin
  run_in ctl scancel "$(<off.id)" "$(<pace.id)"
  both_end
  same "$(cut -d ' ' -f 1 off.state)" CANCELLED
  killed_report
  assert_unharmed 8
}

# The last one, since two nodes are gone after it.
@test "a node loses power: ends as without us" {
  both_begin
  for node in n8 n6; do "$cluster_program" crash --name "$(full_name even)" $node; done
  sleep 2
  # slurmctld would find out by itself, after half a minute and at a different time for each
  run_in ctl scontrol update NodeName=n6,n8 State=DOWN Reason=power
  both_end
  same "$(cut -d ' ' -f 1 off.state)" NODE_FAIL
  wait_until 15 nothing_of_ours n1 n2 n3 n4 n5 n7
}
