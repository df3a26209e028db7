// SPDX-License-Identifier: BSD-3-Clause
// Slurm's own header, given C linkage: parts of it forget to.
#pragma once

extern "C" {
#include <slurm/spank.h>
}
