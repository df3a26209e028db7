// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/interposer/exchange/pacing_record.h"

#include <cstdio>

#include <fcntl.h>
#include <unistd.h>

#include "plugin/interposer/exchange/socket.h"

namespace paced::interposer {
namespace {

constexpr char temporary[] = ".pacing.tmp";
constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;

int make(int folder, const char* name) {
    unlinkat(folder, name, 0);
    return high_descriptor(openat(folder, name, flags, 0600));
}

bool append(int file, const void* data, std::size_t size) { return write(file, data, size) == static_cast<ssize_t>(size); }

}  // namespace

void PacingRecord::begin(int folder, std::uint64_t now_ns) {
    folder_ = folder;
    began_ns_ = now_ns;
}

void PacingRecord::end() {
    if (blocks_ >= 0) close(blocks_);
    blocks_ = -1;
}

void PacingRecord::add_fault(const char* text, std::uint64_t now_ns) {
    if (all_faults_ < segment::pacing_fault_limit) {
        segment::PacingFault& fault = faults_[all_faults_];
        fault.at_ns = now_ns - began_ns_;
        std::snprintf(fault.text, sizeof fault.text, "%s", text);
        for (char& c : fault.text)
            if (c != '\0' && (c < ' ' || c > '~')) c = '?';
    }
    ++all_faults_;
}

void PacingRecord::add_lines(const pacing::BlockLine* lines, std::uint32_t count) {
    const std::uint64_t room = lines_ < segment::pacing_line_limit ? segment::pacing_line_limit - lines_ : 0;
    const std::uint64_t kept = count < room ? count : room;
    if (lines_ == 0 && kept > 0) {
        const segment::BlocksHeader header{segment::pacing_blocks_magic, segment::pacing_version, sizeof(pacing::BlockLine)};
        blocks_ = make(folder_, segment::pacing_blocks_file);
        if (blocks_ >= 0 && !append(blocks_, &header, sizeof header)) end();
    }
    lines_ += count;
    // a full disk: what is there stays, and whole lines stay whole lines
    if (blocks_ >= 0 && kept > 0 && !append(blocks_, lines, kept * sizeof *lines)) end();
}

void PacingRecord::write(segment::PacingHeader head, const Conducting& conducting, std::uint64_t now_ns) {
    head.magic = segment::pacing_magic;
    head.version = segment::pacing_version;
    head.header_bytes = sizeof head;
    head.class_bytes = sizeof(pacing::Conductor::ClassAccount);
    head.classes = conducting.classes(conducting.conductor);
    head.fault_bytes = sizeof(segment::PacingFault);
    head.faults = all_faults_ < segment::pacing_fault_limit ? all_faults_ : segment::pacing_fault_limit;
    head.all_faults = all_faults_;
    head.elapsed_ns = now_ns - began_ns_;
    head.lines = lines_;
    const int file = make(folder_, temporary);
    if (file < 0) return;
    bool whole = append(file, &head, sizeof head);
    for (std::uint32_t i = 0; i < head.classes && whole; ++i) {
        const pacing::Conductor::ClassAccount& account = conducting.account(conducting.conductor, i);
        whole = append(file, &account, sizeof account);
    }
    whole = whole && append(file, faults_, head.faults * sizeof faults_[0]);
    close(file);
    if (!whole || renameat(folder_, temporary, folder_, segment::pacing_file) != 0) unlinkat(folder_, temporary, 0);
}

}  // namespace paced::interposer
