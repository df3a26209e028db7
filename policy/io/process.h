// SPDX-License-Identifier: BSD-3-Clause
// Which process, exactly: a pid alone may be another process tomorrow, a pid with its start time never is.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace paced::io {

struct ProcessIdentity {
    pid_t pid = 0;
    unsigned long long start_time = 0;    // clock ticks since boot; 0: could not be read
    unsigned long long pid_namespace = 0;  // its inode; a pid says nothing in another one; 0: could not be read

    friend bool operator==(const ProcessIdentity&, const ProcessIdentity&) = default;
};

ProcessIdentity identify(pid_t pid);

// Gone for certain: no such process, another one under its pid, or a zombie. What cannot be told (another pid
// namespace, hidden /proc) counts as not gone.
bool is_gone(const ProcessIdentity& process);

// The parent as /proc tells it; nullopt where there is none or it cannot be read.
std::optional<pid_t> parent_of(pid_t pid);

// "PID START NAMESPACE"
std::string to_string(const ProcessIdentity& process);
std::optional<ProcessIdentity> parse_identity(std::string_view text);

}  // namespace paced::io
