// SPDX-License-Identifier: BSD-3-Clause
// The variables through which a launch (the SPANK helper, or `paced run`) speaks to the interposer in each rank.
// They are ours alone: users set PACED_FABRIC, PACED_FABRIC_ORDER and so on (policy/config/settings.h), never these.
// Documented in paced-fabric(7). No libstdc++ in this header: the interposer includes it.
#pragma once

namespace paced::step {

// Whose step this is, so that an inherited variable (a nested srun, mpirun or sbatch) is ignored. One of
//   slurm:JOB.STEP   set by the SPANK plugin; holds while SLURM_JOB_ID and SLURM_STEP_ID say the same
//   pmix:NAMESPACE   set by `paced run` under mpirun or prterun; holds while PMIX_NAMESPACE says the same
//   pmi:ID           `paced run` under Hydra; ID is PMI_ID's job part or, where it has none, PMI_FD's owner
//   torch:RUN_ID     `paced run` under torchrun; holds while TORCHELASTIC_RUN_ID says the same
//   alone:PID        `paced run` without any of these; holds in that process and its children
inline constexpr char stamp[] = "PACED_FABRIC_STEP_STAMP";
// off | observe | pace | explain
inline constexpr char mode[] = "PACED_FABRIC_STEP_MODE";
// The longest delay of one call: nanoseconds, cut to the site's window_max; or "auto", the law's own caps, under pace with that
// window_max behind it, "auto:100000000", which the gate in each rank holds
inline constexpr char window[] = "PACED_FABRIC_STEP_WINDOW";
// Folder of this step on this node, mode 0700, owned by the user: /dev/shm/paced-fabric-UID/SESSION. It holds
//   segment        the node's shared segment (policy/io/segment.h), made by the first rank at its first use
//   key            the job key, 64 hexadecimal digits, mode 0600
//   plan.json      what was decided for this node (written by the launch)
//   node-NAME.dump the records of another node, written by the leader at the end
//   pacing, pacing-blocks   under pace, by the leader: policy/io/pacing_file.h
//   merged         empty; there once the leader has written all dumps that it will write
inline constexpr char run_dir[] = "PACED_FABRIC_STEP_RUN_DIR";
// Path of plan.json
inline constexpr char plan[] = "PACED_FABRIC_STEP_PLAN";
// Numeric address of the node that merges, or "self" on that node; empty: this node reports alone
inline constexpr char leader[] = "PACED_FABRIC_STEP_LEADER";
// "61000-61999"
inline constexpr char ports[] = "PACED_FABRIC_STEP_PORTS";
// Path of the key file
inline constexpr char key_file[] = "PACED_FABRIC_STEP_KEY_FILE";
// The same on all nodes of the step and on no other step: [A-Za-z0-9._-]{1,63}; picks the port
inline constexpr char session[] = "PACED_FABRIC_STEP_SESSION";
// This node's name, and how many nodes the step has
inline constexpr char node[] = "PACED_FABRIC_STEP_NODE";
inline constexpr char node_count[] = "PACED_FABRIC_STEP_NODE_COUNT";
// Under pace: constants of the law that the site has set, "name=value name=value" (policy/pacing/tuning.h), at most 1,023
// characters; empty: all as built in. Read on the node that merges; the others may have it
inline constexpr char pacing[] = "PACED_FABRIC_STEP_PACING";
// Under pace: name of the switch that this node hangs from, as the fabric file has it; empty: not known
inline constexpr char leaf[] = "PACED_FABRIC_STEP_LEAF";
// Where `paced run` started mpirun: the hosts in the order that it was handed, "n[1,3,2,4]", or "kept: " and why not
inline constexpr char order[] = "PACED_FABRIC_STEP_ORDER";
// How mpirun would have bound its ranks without that order, which takes its own binding away: core | numa; each rank does it
inline constexpr char rank_binding[] = "PACED_FABRIC_STEP_RANK_BINDING";
// Program that rank 0's node starts at the end to print the report ("PROGRAM finish"); set by `paced run` alone:
// under Slurm the plugin does it in slurmstepd and no rank ever starts a process
inline constexpr char reporter[] = "PACED_FABRIC_STEP_REPORTER";

}  // namespace paced::step
