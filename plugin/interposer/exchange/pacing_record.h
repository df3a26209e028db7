// SPDX-License-Identifier: BSD-3-Clause
// The leader's files about pacing in the run folder (layout: policy/io/pacing_file.h). What cannot be written is missing in the report, no
// more.
#pragma once

#include "plugin/interposer/exchange/conducting.h"
#include "policy/io/pacing_file.h"

namespace paced::interposer {

class PacingRecord {
public:
    PacingRecord() = default;
    // folder: the run folder, open; stays the caller's.
    void begin(int folder, std::uint64_t now_ns);
    void end();

    void add_fault(const char* text, std::uint64_t now_ns);
    void add_lines(const pacing::BlockLine* lines, std::uint32_t count);
    // All of `pacing` anew, under another name, then renamed. head: all but what this class counts itself.
    void write(segment::PacingHeader head, const Conducting& conducting, std::uint64_t now_ns);

    std::uint32_t faults() const { return all_faults_; }
    const char* first_fault() const { return faults_[0].text; }

private:
    int folder_ = -1, blocks_ = -1;
    std::uint64_t began_ns_ = 0;
    std::uint64_t lines_ = 0;
    std::uint32_t all_faults_ = 0;
    segment::PacingFault faults_[segment::pacing_fault_limit] = {};
};

}  // namespace paced::interposer
