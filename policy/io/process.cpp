// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/process.h"

#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/base/text.h"

namespace paced::io {

namespace {

struct ProcessState {
    char state = '?';
    pid_t parent = 0;
    unsigned long long start_time = 0;
};

// /proc/PID/stat: "PID (NAME) S PPID ...", the start time being field 22. NAME may hold blanks and parentheses.
std::optional<ProcessState> read_state(pid_t pid) {
    const std::string path = "/proc/" + std::to_string(pid) + "/stat";
    const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return std::nullopt;
    char buffer[1024];
    const ssize_t length = read(descriptor, buffer, sizeof buffer);
    close(descriptor);
    if (length <= 0) return std::nullopt;
    const std::string_view text(buffer, static_cast<std::size_t>(length));
    const auto name_end = text.rfind(')');
    if (name_end == std::string_view::npos || name_end + 2 >= text.size()) return std::nullopt;
    const auto fields = split(text.substr(name_end + 2), ' ');  // from field 3 on
    if (fields.size() < 20) return std::nullopt;
    const auto parent = parse_integer(fields[1]);
    const auto start = parse_integer(fields[19]);
    if (fields[0].empty() || !parent || !start) return std::nullopt;
    return ProcessState{fields[0].front(), static_cast<pid_t>(*parent), static_cast<unsigned long long>(*start)};
}

// The inode of a pid namespace.
unsigned long long own_pid_namespace() {
    struct stat status {};
    return stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

}  // namespace

ProcessIdentity identify(pid_t pid) {
    const auto state = read_state(pid);
    return {pid, state ? state->start_time : 0, own_pid_namespace()};
}

bool is_gone(const ProcessIdentity& process) {
    if (process.pid <= 0 || process.pid_namespace != own_pid_namespace()) return false;
    if (kill(process.pid, 0) != 0 && errno == ESRCH) return true;
    const auto state = read_state(process.pid);
    if (!state) return false;
    if (process.start_time != 0 && state->start_time != process.start_time) return true;
    return state->state == 'Z' || state->state == 'X';
}

std::optional<pid_t> parent_of(pid_t pid) {
    const auto state = read_state(pid);
    if (!state || state->parent <= 0) return std::nullopt;
    return state->parent;
}

std::string to_string(const ProcessIdentity& process) {
    return std::to_string(process.pid) + ' ' + std::to_string(process.start_time) + ' ' + std::to_string(process.pid_namespace);
}

std::optional<ProcessIdentity> parse_identity(std::string_view text) {
    const auto fields = split(text, ' ');
    if (fields.size() != 3) return std::nullopt;
    const auto pid = parse_integer(fields[0]), start = parse_integer(fields[1]), space = parse_integer(fields[2]);
    if (!pid || !start || !space || *pid <= 0 || *start < 0 || *space < 0) return std::nullopt;
    return ProcessIdentity{static_cast<pid_t>(*pid), static_cast<unsigned long long>(*start), static_cast<unsigned long long>(*space)};
}

}  // namespace paced::io
