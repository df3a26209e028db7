// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/plain_data.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace paced::io {

RegularFile::RegularFile(const std::string& path) : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)) {
    struct stat status {};
    if (descriptor_ < 0) {
        missing_ = errno == ENOENT;
        problem_ = std::strerror(errno);
    } else if (::fstat(descriptor_, &status) != 0) {
        problem_ = std::strerror(errno);
    } else if (!S_ISREG(status.st_mode)) {
        problem_ = "not a regular file";
    } else {
        size_ = static_cast<std::uint64_t>(status.st_size);
    }
}

RegularFile::~RegularFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

void RegularFile::read(std::uint64_t offset, std::uint64_t count, std::vector<std::byte>& to) const {
    const std::size_t before = to.size();
    to.resize(before + count);
    std::size_t have = 0;
    while (have < count) {
        const ssize_t got = ::pread(descriptor_, to.data() + before + have, count - have, static_cast<off_t>(offset + have));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        have += static_cast<std::size_t>(got);
    }
    to.resize(before + have);
}

}  // namespace paced::io
