# shellcheck shell=bash
# sbatch in ctl; prints the job id alone.

source "$tool/lib/exec.sh"

cluster_submit() {
  local name user rest shares as_user
  parse_enter_options "$@"
  select_cluster "$name"
  enter ctl sbatch --parsable "${rest[@]}"
}
