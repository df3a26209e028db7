// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/text_file.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace paced::io {

namespace {

tl::unexpected<Error> cannot_read(const std::string& path, const std::string& why) {
    return fail("cannot read " + path + ": " + why);
}

}  // namespace

Result<std::string> read_text_file(const std::string& path, std::size_t most_bytes) {
    // O_NONBLOCK: a FIFO in its place must not hold us
    const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0) return cannot_read(path, std::strerror(errno));
    struct Closer {
        int descriptor;
        ~Closer() { close(descriptor); }
    } const closer{descriptor};

    struct stat status {};
    if (fstat(descriptor, &status) != 0) return cannot_read(path, std::strerror(errno));
    if (S_ISDIR(status.st_mode)) return cannot_read(path, std::strerror(EISDIR));
    if (!S_ISREG(status.st_mode)) return cannot_read(path, "it is not a regular file");
    if (static_cast<std::size_t>(status.st_size) > most_bytes)
        return cannot_read(path, "it is larger than " + std::to_string(most_bytes >> 20) + " MiB");

    // Files of /sys say 4096 bytes and hold fewer; files of /proc say 0 and hold more.
    std::string text(static_cast<std::size_t>(status.st_size) + 1, '\0');
    std::size_t length = 0;
    for (;;) {
        const ssize_t got = read(descriptor, text.data() + length, text.size() - length);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return cannot_read(path, std::strerror(errno));
        if (got == 0) break;
        length += static_cast<std::size_t>(got);
        if (length > most_bytes) return cannot_read(path, "it is larger than " + std::to_string(most_bytes >> 20) + " MiB");
        if (length == text.size()) text.resize(2 * length);
    }
    text.resize(length);
    return text;
}

bool write_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = write(descriptor, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

}  // namespace paced::io
