// SPDX-License-Identifier: BSD-3-Clause
// Until policy/pacing/law.cpp is there: a conductor that never says anything, so that the library links.
#include "policy/pacing/conductor.h"

namespace paced::pacing {

Law::Law(const Tuning&, const Facts&, std::uint64_t) {}
Conductor::Conductor(const Tuning& tuning, std::uint64_t window_ns, std::uint64_t seed) : tuning_(tuning), window_ns_(window_ns), seed_(seed) {}
void Conductor::progress(const Progress&, std::uint64_t) {}
void Conductor::block(const BlockSummary&) {}
void Conductor::retransmissions(std::uint64_t) {}
void Conductor::surroundings(bool, bool) {}
void Conductor::fault() {}
std::uint32_t Conductor::directives(std::uint64_t, Directive*, std::uint32_t) { return 0; }
std::uint32_t Conductor::lines(BlockLine*, std::uint32_t) { return 0; }
const Conductor::ClassAccount& Conductor::account(std::uint32_t index) { return classes_[index].account; }

}  // namespace paced::pacing
