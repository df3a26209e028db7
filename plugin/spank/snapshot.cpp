// SPDX-License-Identifier: BSD-3-Clause
// One snapshot of the node's hardware for all steps of a boot, in /run/paced-fabric. Probing can hang (drivers, sysfs)
// and is not root's business, so a child that is nobody does it, with a deadline; root writes down what it said. The
// file's name holds what the snapshot depends on: the boot, the probing program, and the file that stands in for the hardware.
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin/spank/programs.h"
#include "plugin/spank/state.h"
#include "plugin/spank/step.h"

namespace paced::spank {
namespace {

#ifndef PACED_FABRIC_RUN_DIR
#define PACED_FABRIC_RUN_DIR "/run/paced-fabric"
#endif

constexpr char run_folder[] = PACED_FABRIC_RUN_DIR;
constexpr std::size_t snapshot_limit = std::size_t{4} << 20;
constexpr int probe_deadline_ms = 1000;
constexpr long retry_after_s = 600;  // after a probe that failed; an empty file marks it

// FNV-1a: names must differ where their causes do, nothing more.
struct Hash {
    std::uint64_t value = 0xcbf29ce484222325;
    void add(const void* data, std::size_t size) noexcept {
        for (std::size_t i = 0; i < size; ++i) value = (value ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3;
    }
    void add_file(const Path& path) noexcept {
        struct stat found{};
        add(path.c_str(), path.view().size());
        if (path.empty() || stat(path.c_str(), &found) != 0) return;
        add(&found.st_mtim, sizeof found.st_mtim);
        add(&found.st_size, sizeof found.st_size);
    }
};

bool name_snapshot(const Path& probe, Name& name) noexcept {
    char boot[40] = {};
    const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    const ssize_t got = read(fd, boot, 36);
    close(fd);
    if (got != 36) return false;
    Hash hash;
    hash.add_file(probe);
    hash.add_file(state.arguments.node_topology);
    std::snprintf(name.raw(), Name::room(), "snapshot-%s-%016llx.json", boot, static_cast<unsigned long long>(hash.value));
    name.measure();
    return true;
}

// Root's, and nobody else's to write to.
bool is_roots(const struct stat& found) noexcept { return found.st_uid == geteuid() && (found.st_mode & 022) == 0; }

int open_folder() noexcept {
    const bool made = mkdir(run_folder, 0755) == 0;
    const int folder = open(run_folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) return -1;
    struct stat found{};
    if ((made && fchmod(folder, 0755) != 0) || fstat(folder, &found) != 0 || !is_roots(found)) {
        close(folder);
        errno = EPERM;
        return -1;
    }
    return folder;
}

enum class Present { no, usable, failed_lately };

Present look(int folder, const Name& name) noexcept {
    struct stat found{};
    if (fstatat(folder, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) return Present::no;
    if (!S_ISREG(found.st_mode) || !is_roots(found)) return Present::failed_lately;
    if (found.st_size > 0) return Present::usable;
    return std::time(nullptr) - found.st_mtim.tv_sec < retry_after_s ? Present::failed_lately : Present::no;
}

Outcome probe_node(const Path& probe, const Identity& user, char* output) noexcept {
    // 65534 is nobody and nogroup wherever it matters, and asking the name service could hang. Where the number
    // cannot be had (in a user namespace), the job's user looks.
    constexpr Identity nobody{65534, 65534, nullptr, 0};
    const char* const program[] = {probe.c_str(), state.arguments.node_topology.empty() ? nullptr : state.arguments.node_topology.c_str(), nullptr};
    char* const nothing[] = {nullptr};
    Child child;
    child.program = program;
    child.environment = nothing;
    child.identity = &nobody;
    child.folder = "/";
    child.deadline_ms = probe_deadline_ms;
    child.output = output;
    child.room = snapshot_limit;
    Outcome outcome = run(child);
    if (outcome.ending == Ending::not_started && outcome.code == EPERM) {
        child.identity = &user;
        outcome = run(child);
    }
    return outcome;
}

bool write_down(int folder, const Name& name, const char* data, std::size_t size) noexcept {
    Name draft;
    char process[16];
    std::snprintf(process, sizeof process, ".%d", static_cast<int>(getpid()));
    if (!draft.assign(".") || !draft.append(name.view()) || !draft.append(process)) return false;
    const int fd = openat(folder, draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0) return false;
    bool good = fchmod(fd, 0644) == 0;
    while (good && size > 0) {
        const ssize_t wrote = write(fd, data, size);
        if (wrote < 0 && errno == EINTR) continue;
        good = wrote > 0;
        data += good ? wrote : 0;
        size -= good ? static_cast<std::size_t>(wrote) : 0;
    }
    good = close(fd) == 0 && good;
    good = good && renameat(folder, draft.c_str(), folder, name.c_str()) == 0;
    if (!good) unlinkat(folder, draft.c_str(), 0);
    return good;
}

bool make_snapshot(int folder, const Path& probe, const Name& name, const Identity& user) noexcept {
    void* const memory = mmap(nullptr, snapshot_limit, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return false;
    auto* const output = static_cast<char*>(memory);
    const Outcome outcome = probe_node(probe, user, output);
    const bool probed = outcome.good() && outcome.size > 0;
    Words words;
    describe(outcome, probe_deadline_ms, words);
    if (!probed) tell("no snapshot of the node's hardware: the probe %s", outcome.good() ? "said nothing" : words.c_str());
    const bool written = write_down(folder, name, output, probed ? outcome.size : 0);
    if (!written) tell("no snapshot of the node's hardware: %s/%s: %s", run_folder, name.c_str(), std::strerror(errno));
    munmap(memory, snapshot_limit);
    return probed && written;
}

}  // namespace

bool ensure_snapshot(const Identity& user, Path& snapshot) noexcept {
    Path probe;
    Name name;
    if (!find_program("paced-fabric-probe", probe) || !name_snapshot(probe, name)) return false;
    const int folder = open_folder();
    if (folder < 0) {
        tell("no snapshot of the node's hardware: %s: %s", run_folder, errno == EPERM ? "others than root can write there" : std::strerror(errno));
        return false;
    }
    const Present present = look(folder, name);
    const bool usable = present == Present::usable || (present == Present::no && make_snapshot(folder, probe, name, user));
    close(folder);
    return usable && snapshot.assign(run_folder) && snapshot.append("/") && snapshot.append(name.view());
}

}  // namespace paced::spank
