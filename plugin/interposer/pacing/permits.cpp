// SPDX-License-Identifier: BSD-3-Clause
// No permits yet: nobody is asked, nobody waits.
#include "plugin/interposer/pacing/permits.h"

namespace paced::interposer {

void prepare_permits() {}
bool permit_request(segment::Header&, const PermitCall&) { return false; }
bool wait_for_grant(segment::Header&, const PermitCall&, std::uint64_t) { return false; }
void permit_done(segment::Header&, const PermitCall&) {}

}  // namespace paced::interposer
