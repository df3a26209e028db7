// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/interposer/exchange/settings.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin/interposer/hash.h"
#include "plugin/step_environment.h"

namespace paced::interposer {
namespace {

template <std::size_t N>
bool copy(const char* name, char (&to)[N]) {
    const char* const value = std::getenv(name);
    return std::snprintf(to, N, "%s", value != nullptr ? value : "") < static_cast<int>(N);
}

int digit(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1; }

// 64 hexadecimal digits in a file that is ours alone: a key that others could read proves nothing.
bool read_key(const char* path, std::uint8_t (&key)[32]) {
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) return false;
    struct stat status;
    char text[65];
    const bool usable = fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() && (status.st_mode & 077) == 0
        && read(file, text, sizeof text) >= 64;
    close(file);
    for (int i = 0; usable && i < 32; ++i) {
        const int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
        if (high < 0 || low < 0) return false;
        key[i] = static_cast<std::uint8_t>(high * 16 + low);
    }
    return usable;
}

// A tuning or window that cannot be read is none: the law's own.
void read_pacing_settings(ExchangeSettings& settings) {
    const char* const mode = std::getenv(step::mode);
    settings.pace = mode != nullptr && std::strcmp(mode, "pace") == 0;
    settings.arity = ExchangeSettings::tree_arity;
    settings.silence_limit_ns = ExchangeSettings::long_silence_ns;
    if (!copy(step::pacing, settings.tuning)) settings.tuning[0] = '\0';
    const char* const window = std::getenv(step::window);
    settings.window_ns = window != nullptr && digit(*window) >= 0 && *window <= '9' ? std::strtoull(window, nullptr, 10) : ~std::uint64_t{0};
    const char* const leaf = std::getenv(step::leaf);
    settings.leaf = 0;
    if (leaf != nullptr && *leaf != '\0') {
        Hash hash;
        hash.add_text(leaf);
        settings.leaf = hash.value();
    }
}

}  // namespace

bool read_exchange_settings(ExchangeSettings& settings, const char** problem) {
    *problem = nullptr;
    const char* const nodes = std::getenv(step::node_count);
    settings.nodes = nodes != nullptr ? static_cast<std::uint32_t>(std::strtoul(nodes, nullptr, 10)) : 1;
    if (!copy(step::run_dir, settings.run_folder) || !copy(step::plan, settings.plan) || !copy(step::leader, settings.leader)
        || !copy(step::ports, settings.ports) || !copy(step::session, settings.session) || !copy(step::node, settings.node)) {
        *problem = "a step variable is too long, nodes do not exchange";
        return false;
    }
    read_pacing_settings(settings);
    if (settings.nodes < 2) return settings.pace;
    if (settings.leader[0] == '\0') return false;
    const char* const key_file = std::getenv(step::key_file);
    std::uint8_t key[32];
    if (settings.session[0] == '\0' || candidate_port(settings.ports, settings.session, 0) == 0) {
        *problem = "no session or port range, nodes do not exchange";
    } else if (settings.nodes > 4096) {
        *problem = "more than 4096 nodes, they do not exchange";
    } else if (key_file == nullptr || !read_key(key_file, key)) {
        *problem = "no usable job key, nodes do not exchange";
    } else {
        settings.secrets = Secrets(key, settings.session);
        explicit_bzero(key, sizeof key);
        return true;
    }
    return false;
}

}  // namespace paced::interposer
