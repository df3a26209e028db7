// SPDX-License-Identifier: BSD-3-Clause
// Between what all nodes together say (Junction) and who decides (Conductor), at the leader; and what is left behind about it. One
// thread.
#pragma once

#include "plugin/interposer/exchange/conducting.h"
#include "plugin/interposer/exchange/junction.h"
#include "plugin/interposer/exchange/pacing_record.h"
#include "plugin/interposer/exchange/settings.h"

namespace paced::interposer {

class Decider {
public:
    Decider(const ExchangeSettings& settings, const Conducting& conducting, Junction& junction) : settings_(settings), conducting_(conducting), junction_(junction) {}

    // folder: the run folder, open; stays the caller's.
    void begin(int folder, std::uint64_t now_ns);
    // What has come goes to the conductor, what it says goes into the junction.
    void decide(std::uint64_t now_ns);
    // Everything off, for good, and a line in the report.
    void fault(const char* text, std::uint64_t now_ns);
    void set_depth(std::uint32_t depth) { depth_ = depth; }
    void end(std::uint64_t now_ns);

    const PacingRecord& record() const { return record_; }

private:
    void write(std::uint64_t now_ns, bool finished);

    const ExchangeSettings& settings_;
    const Conducting conducting_;
    Junction& junction_;
    PacingRecord record_;
    std::uint64_t decided_ns_ = 0, written_ns_ = 0;
    std::uint32_t most_nodes_ = 0, depth_ = 0;
    bool faulted_ = false;
};

}  // namespace paced::interposer
