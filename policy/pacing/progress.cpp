// SPDX-License-Identifier: BSD-3-Clause
#include "policy/pacing/progress.h"

namespace paced::pacing {

void join(Progress& into, const Progress& other) {
    const bool alike = into.signature == other.signature && into.period == other.period && into.size == other.size;
    if (!alike) into.signature = into.period = 0;
    if (other.size > into.size) into.size = other.size;
    if (other.calls > into.calls) into.calls = other.calls;
    if (other.bytes > into.bytes) into.bytes = other.bytes;
    if (other.socket_bytes > into.socket_bytes) into.socket_bytes = other.socket_bytes;
    into.local += other.local;
    into.members += other.members;
    if (other.most_local > into.most_local) into.most_local = other.most_local;
    into.leaf_set |= other.leaf_set;
    if (into.leaf == 0 && into.leaves == 1) {
        into.leaf = other.leaf;
        into.leaves = other.leaves;
    } else if (other.leaves > 1 || (other.leaf != 0 && other.leaf != into.leaf)) {
        into.leaf = 0;
        into.leaves = 2;
    }
}

}  // namespace paced::pacing
