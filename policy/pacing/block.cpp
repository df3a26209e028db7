// SPDX-License-Identifier: BSD-3-Clause
#include "policy/pacing/block.h"

namespace paced::pacing {
namespace {

template <class T> T smaller(T a, T b) { return a < b ? a : b; }
template <class T> T larger(T a, T b) { return a > b ? a : b; }

}  // namespace

BlockSummary summary_of(const RankBlock& block, std::uint64_t communicator, std::uint32_t size, std::uint32_t member) {
    BlockSummary sum;
    sum.communicator = communicator;
    sum.epoch = block.epoch;
    sum.size = size;
    sum.members = 1;
    sum.calls = block.calls;
    sum.late = block.late;
    sum.held = block.held;
    sum.timeouts = block.timeouts;
    if (member == 0) {
        sum.iterations = block.iterations;
        sum.iterations_ns = block.iterations_ns;
        sum.iterations_ns2 = block.iterations_ns2;
        sum.longest_ns = block.longest_ns;
    }
    const std::uint64_t calls = block.calls > 0 ? block.calls : 1;
    sum.least_wait_ns = sum.most_wait_ns = sum.wait_ns = block.wait_ns / calls;
    sum.least_longest_wait_ns = block.longest_wait_ns;
    sum.shortest_wait_ns = block.shortest_wait_ns;
    sum.second_shortest_wait_ns = ~std::uint64_t{0};
    sum.late_member = sum.shortest_member = member;
    sum.least_service_ns = block.service_ns / calls;
    sum.longest_service_ns = block.longest_service_ns;
    sum.held_ns = block.held_ns;
    return sum;
}

void join(BlockSummary& into, const BlockSummary& other) {
    into.members += other.members;
    into.late += other.late;
    into.held += other.held;
    into.timeouts += other.timeouts;
    into.calls = larger(into.calls, other.calls);
    // one of the two at most holds rank 0's
    into.iterations += other.iterations;
    into.iterations_ns += other.iterations_ns;
    into.iterations_ns2 += other.iterations_ns2;
    into.longest_ns = larger(into.longest_ns, other.longest_ns);
    into.least_wait_ns = smaller(into.least_wait_ns, other.least_wait_ns);
    into.most_wait_ns = larger(into.most_wait_ns, other.most_wait_ns);
    into.wait_ns += other.wait_ns;
    // ties by the lower member, so that the order of joining does not matter
    if (other.least_longest_wait_ns < into.least_longest_wait_ns || (other.least_longest_wait_ns == into.least_longest_wait_ns && other.late_member < into.late_member)) {
        into.least_longest_wait_ns = other.least_longest_wait_ns;
        into.late_member = other.late_member;
    }
    const bool others_first = other.shortest_wait_ns < into.shortest_wait_ns || (other.shortest_wait_ns == into.shortest_wait_ns && other.shortest_member < into.shortest_member);
    if (others_first) {
        into.second_shortest_wait_ns = smaller(into.shortest_wait_ns, other.second_shortest_wait_ns);
        into.shortest_wait_ns = other.shortest_wait_ns;
        into.shortest_member = other.shortest_member;
    } else {
        into.second_shortest_wait_ns = smaller(into.second_shortest_wait_ns, other.shortest_wait_ns);
    }
    into.least_service_ns = smaller(into.least_service_ns, other.least_service_ns);
    into.longest_service_ns = larger(into.longest_service_ns, other.longest_service_ns);
    into.held_ns += other.held_ns;
}

}  // namespace paced::pacing
