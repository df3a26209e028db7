// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/interposer/node_segment.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin/interposer/shared.h"

namespace paced::interposer {
namespace {

// Writing into a hole of a full /dev/shm is SIGBUS, and it would be the host's. So every page that we touch is
// allocated first. Past the file-size limit the kernel sends SIGXFSZ instead of an error: stay below it.
int allocate(int file, std::uint64_t from, std::uint64_t bytes) {
    int error;
    int attempts = 0;
    do error = posix_fallocate(file, static_cast<off_t>(from), static_cast<off_t>(bytes));
    while (error == EINTR && ++attempts < 100);
    return error;
}

bool above_file_limit() {
    rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < segment::total_bytes);
}

// A complete segment under a name of its own, then linked to the real one: whoever sees `segment` sees all of it.
// 0 also where another rank was faster.
int make(int folder, const char* node) {
    char name[48];
    std::snprintf(name, sizeof name, "segment.%d.tmp", getpid());
    unlinkat(folder, name, 0);
    const int file = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) return errno;
    segment::Header header{};
    header.magic = segment::segment_magic;
    header.version = segment::version;
    header.header_bytes = sizeof header;
    header.slot_bytes = sizeof(segment::Slot);
    header.slots = segment::slot_limit;
    header.total_bytes = segment::total_bytes;
    header.created_ns = now_ns();
    std::snprintf(header.node, sizeof header.node, "%s", node);
    int error = ftruncate(file, static_cast<off_t>(segment::total_bytes)) == 0 ? 0 : errno;
    if (error == 0) error = allocate(file, 0, sizeof header);
    if (error == 0 && pwrite(file, &header, sizeof header, 0) != static_cast<ssize_t>(sizeof header)) error = EIO;
    if (error == 0 && linkat(folder, name, folder, "segment", 0) != 0 && errno != EEXIST) error = errno;
    unlinkat(folder, name, 0);
    close(file);
    return error;
}

template <class T>
T* map(int file, std::uint64_t from, std::size_t bytes) {
    void* const place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, static_cast<off_t>(from));
    return place == MAP_FAILED ? nullptr : static_cast<T*>(place);
}

// A slot that nobody has filled in yet counts as alive: its rank is about to.
bool is_alive(const segment::Rank& rank) {
    if (rank.state == segment::State::finished) return false;
    return rank.state == segment::State::empty || kill(static_cast<pid_t>(rank.pid), 0) == 0 || errno != ESRCH;
}

bool has_living_predecessor(int file, std::uint32_t index) {
    segment::Rank rank;
    for (std::uint32_t i = index; i-- > 0;) {
        const auto from = static_cast<off_t>(sizeof(segment::Header) + i * sizeof(segment::Slot));
        if (pread(file, &rank, sizeof rank, from) != static_cast<ssize_t>(sizeof rank) || is_alive(rank)) return true;
    }
    return false;
}

// Ours, of this version and whole: anything else in that place is not touched.
bool is_segment(int file) {
    struct stat status;
    segment::Header header;
    return fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid()
        && status.st_size == static_cast<off_t>(segment::total_bytes) && pread(file, &header, sizeof header, 0) == static_cast<ssize_t>(sizeof header)
        && header.magic == segment::segment_magic && header.version == segment::version && header.slot_bytes == sizeof(segment::Slot)
        && header.slots == segment::slot_limit;
}

void claim(int file, NodeSegment& joined, char (&reason)[256]) {
    joined.header = map<segment::Header>(file, 0, sizeof(segment::Header));
    if (joined.header == nullptr) {
        std::snprintf(reason, sizeof reason, "cannot map the node's segment (%s), nothing is recorded", strerrordesc_np(errno));
        return;
    }
    joined.index = fetch_add(joined.header->claimed, 1u);
    if (joined.index >= segment::slot_limit) {
        std::snprintf(reason, sizeof reason, "more than %u ranks on this node, the others are not recorded", segment::slot_limit);
        return;
    }
    const std::uint64_t from = sizeof(segment::Header) + joined.index * sizeof(segment::Slot);
    if (const int error = allocate(file, from, sizeof(segment::Slot)); error != 0) {
        std::snprintf(reason, sizeof reason, "no room for the records of a rank (%s), it is not recorded", strerrordesc_np(error));
        return;
    }
    joined.slot = map<segment::Slot>(file, from, sizeof(segment::Slot));
    if (joined.slot != nullptr) joined.first = !has_living_predecessor(file, joined.index);
    if (joined.slot == nullptr) std::snprintf(reason, sizeof reason, "cannot map the records of a rank (%s), it is not recorded", strerrordesc_np(errno));
}

}  // namespace

NodeSegment join_segment(const char* folder, const char* node, char (&reason)[256]) {
    NodeSegment joined;
    reason[0] = '\0';
    if (above_file_limit()) {
        std::snprintf(reason, sizeof reason, "the file size limit (ulimit -f) leaves no room for records, nothing is recorded");
        return joined;
    }
    const int directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) {
        std::snprintf(reason, sizeof reason, "cannot open the run folder %.120s (%s), nothing is recorded", folder, strerrordesc_np(errno));
        return joined;
    }
    constexpr int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW;
    int file = openat(directory, "segment", flags);
    int error = file < 0 ? errno : 0;
    if (error == ENOENT) {
        error = make(directory, node);
        if (error == 0 && (file = openat(directory, "segment", flags)) < 0) error = errno;
    }
    close(directory);
    if (file < 0) {
        std::snprintf(reason, sizeof reason, "cannot make the segment in %.120s (%s), nothing is recorded", folder, strerrordesc_np(error));
        return joined;
    }
    if (is_segment(file)) {
        claim(file, joined, reason);
    } else {
        std::snprintf(reason, sizeof reason, "%.120s/segment is not a segment of this version, nothing is recorded", folder);
    }
    close(file);
    return joined;
}

}  // namespace paced::interposer
