// SPDX-License-Identifier: BSD-3-Clause
// paced-fabric-probe [--deadline=SECONDS] [--with-plugins] [FILE]: prints the snapshot of this machine, or of the one that FILE describes,
// on standard output (PROTOCOL.md). The plugin starts it once per boot as an unprivileged user; it trusts nothing that it inherited and
// ends by itself after a while, since reading hardware can hang. Exit codes: 0 the snapshot is written; 1 FILE is wrong; 2 usage; 3 this
// machine cannot be read. Ended by SIGALRM: too slow.
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include "policy/base/text.h"
#include "policy/io/hwloc_reader.h"
#include "policy/io/node_file.h"
#include "policy/io/snapshot.h"

namespace {

constexpr unsigned deadline_default_s = 20;  // the plugin's own deadline is shorter; this one holds where the plugin is gone

// Ignored and blocked signals pass through exec, and with them the alarm would never come.
void set_deadline(unsigned deadline_s) {
    std::signal(SIGALRM, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    alarm(deadline_s);
}

void close_inherited() {
    close_range(3, ~0u, 0);
    const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null >= 0) dup2(null, STDIN_FILENO);
}

int print(const paced::topology::NodeTopology& node) {
    const std::string text = paced::io::write_snapshot(node);
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    if (!written) std::perror("paced-fabric-probe: cannot write the snapshot");
    return written ? 0 : 3;
}

}  // namespace

int main(int argc, char** argv) {
    set_deadline(deadline_default_s);
    close_inherited();
    paced::io::LiveOptions options;
    const char* file = nullptr;
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        if (argument == "--with-plugins") {
            options.with_plugins = true;
        } else if (const auto seconds = argument.starts_with("--deadline=") ? paced::parse_integer(argument.substr(11)) : std::nullopt;
                   seconds && *seconds > 0 && *seconds <= 3600) {
            set_deadline(static_cast<unsigned>(*seconds));
        } else if (file == nullptr && !argument.empty() && !argument.starts_with('-')) {
            file = argv[i];
        } else {
            std::fprintf(stderr, "usage: paced-fabric-probe [--deadline=SECONDS] [--with-plugins] [FILE]\n");
            return 2;
        }
    }
    if (file != nullptr) {
        paced::Diagnostics diagnostics;
        const auto node = paced::io::read_node_file(file, diagnostics);
        std::fputs(paced::format(diagnostics).c_str(), stderr);
        return node ? print(*node) : 1;
    }
    const auto node = paced::io::read_this_machine(options);
    if (node) return print(*node);
    std::fprintf(stderr, "paced-fabric-probe: %s\n", node.error().message.c_str());
    return 3;
}
