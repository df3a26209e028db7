# shellcheck shell=bash
# Shared by all bats files that need a cluster. Load it with: load ../cluster/lib
#
#   setup_file() { cluster_up shaped --host-rate 200mbit --uplink 50mbit; }
#   teardown_file() { cluster_down shaped; }
#   @test "…" { run_in ctl srun -N8 hostname; }
#
# A cluster that is brought up in setup_file lives for the file, one that is brought up in a test for the test, and both
# go down with the bats process whatever happens to it.

repository=$(cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
cluster_program=$repository/contrib/cluster/cluster

# The longest that one command may take (seconds); a test may set it.
: "${COMMAND_TIMEOUT:=45}"

# full_name NAME: the name in the state folder. Runs beside one another must not meet there; the first process of a
# run settles the number, and the later ones (each test is one) inherit it.
export CLUSTER_TEST_RUN=${CLUSTER_TEST_RUN:-$$}
full_name() { echo "bats-$CLUSTER_TEST_RUN-$1"; }

state_of() { echo "${PACED_FABRIC_CLUSTER_DIR:-$repository/build/cluster}/$(full_name "$1")"; }

# cluster_up NAME [UP FLAGS…]; the cluster becomes the one that run_in and submit_to use.
cluster_up() {
  CLUSTER=$1
  export CLUSTER
  shift
  timeout 60 "$cluster_program" up --name "$(full_name "$CLUSTER")" --owner $$ "$@"
}

cluster_down() {
  timeout 20 "$cluster_program" down --name "$(full_name "$1")"
}

# run_in NODE CMD…
run_in() {
  timeout "$COMMAND_TIMEOUT" "$cluster_program" exec --name "$(full_name "$CLUSTER")" "$@"
}

# submit SBATCH ARG…: prints the job id.
submit() {
  timeout "$COMMAND_TIMEOUT" "$cluster_program" submit --name "$(full_name "$CLUSTER")" "$@"
}

# wait_until SECONDS CMD…: fails when CMD has not succeeded by then.
wait_until() {
  local end=$((SECONDS + $1)) said
  shift
  until said=$("$@" 2>&1); do
    if ((SECONDS >= end)); then
      echo "still not true: $*: $said" >&2
      return 1
    fi
    sleep 0.1
  done
}

# wait_for_job ID [SECONDS]: until it has left the queue; prints its state and exit code, as "COMPLETED 0:0".
wait_for_job() {
  wait_until "${2:-45}" job_ended "$1"
  run_in ctl scontrol -o show job "$1" | sed -E 's/.* JobState=([A-Z_]+) .* ExitCode=([0-9:]+) .*/\1 \2/'
}

job_ended() {
  [[ $(run_in ctl squeue -h -j "$1" -o %t 2>/dev/null) == '' ]]
}

# --- what a command said ------------------------------------------------------------------------------------------

# Both streams of a command, apart: $out and $err, and its exit code.
both() {
  code=0
  "$@" >out.txt 2>err.txt || code=$?
  out=$(<out.txt) err=$(<err.txt)
}

# both_mpich SRUN ARG…: the same for an srun of ranks of MPICH. On a busy machine MPI_Finalize of MPICH's over UCX hangs now and then, with
# nothing of ours in it too (1 in 20 to 150): one rank waits in PMI-2's barrier, where it answers UCX's flush of the other's no more
# (UCX's issue 2254). Such a run is begun again, twice at most.
both_mpich() {
  local attempt
  for attempt in 1 2 3; do
    COMMAND_TIMEOUT=15 both run_in ctl srun --mpi=pmi2 "$@"
    ((code == 124)) || break
    echo "# MPICH hung, attempt $attempt" >&3
  done
}

# What the last command run by `both` said and how it ended, for whoever reads of a failure.
what_was_said() { [[ -z ${code-} ]] || printf 'exit code %s, standard error:\n%s\n' "$code" "$(tail -n 30 <<<"${err-}")" >&2; }
same() { [[ $1 == "$2" ]] || { printf 'is:        %q\nshould be: %q\n' "$1" "$2" >&2; what_was_said; return 1; }; }
has() { [[ $1 == *"$2"* ]] || { printf 'is:          %s\nshould hold: %s\n' "$1" "$2" >&2; return 1; }; }
lacks() { [[ $1 != *"$2"* ]] || { printf 'is:              %s\nshould not hold: %s\n' "$1" "$2" >&2; return 1; }; }

# --- leftovers -------------------------------------------------------------------------------------------------

# All namespaces that a cluster consists of, as "net:[4026532…]"; call it while the cluster is up.
namespaces_of() {
  local holder _
  read -r holder _ <"$(state_of "$1")/pids/holder"
  # the holder's own /proc lists every process of the cluster and no other; time, user and cgroup are the machine's
  readlink "/proc/$holder/root/proc/"[0-9]*/ns/{mnt,net,pid,uts,ipc} | sort -u
}

# Prints what is there of a cluster that should be gone: nothing when all is well.
#   leftovers NAME NAMESPACES
leftovers() {
  local state
  state=$(state_of "$1")
  [[ ! -e $state ]] || echo "state folder $state"
  readlink /proc/[0-9]*/ns/{mnt,net,pid,uts,ipc} 2>/dev/null | sort -u | grep -xF -- "$2" || true
  # a namespace can also be kept by a mount
  grep -E 'nsfs|paced-' /proc/self/mountinfo || true
  # the pattern comes from a file, or grep would find itself
  grep -alFf <(full_name "$1") /proc/[0-9]*/cmdline 2>/dev/null || true
  [[ ! -d /sys/fs/cgroup ]] || find /sys/fs/cgroup -maxdepth 3 -type d -name 'slurm*'
}

nothing_left_of() { [[ -z $(leftovers "$@") ]]; }

# assert_nothing_left NAME NAMESPACES: within some seconds, for the kernel frees networks in its own time.
assert_nothing_left() {
  wait_until 10 nothing_left_of "$@" 2>/dev/null && return
  echo "left of cluster '$1':" >&2
  leftovers "$@" >&2
  return 1
}
