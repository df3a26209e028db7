// SPDX-License-Identifier: BSD-3-Clause
// Starting the program that prints the report, out of a host that must not notice.
#pragma once

#include <cstdint>

namespace paced::interposer {

// "PROGRAM finish --stderr", waited for at most limit_ns, then killed. false: could not be started or did not end in time.
bool run_reporter(const char* program, std::uint64_t limit_ns);

}  // namespace paced::interposer
