// SPDX-License-Identifier: BSD-3-Clause
// The node's agent: the first rank of a program to claim a slot on it. It alone speaks to other nodes, in one thread of its
// own, over TCP and never over MPI, and at the end it collects.
#pragma once

#include "plugin/interposer/process.h"

namespace paced::interposer {

// After MPI_Init. With one node there is a thread under `pace` alone; with several and no leader there is none.
void start_agent(Process& process);
// After MPI_Finalize has returned. At most 1 s for the local ranks, 3 s for the other nodes, 5 s for the reporter.
void finish_agent(Process& process);

}  // namespace paced::interposer
