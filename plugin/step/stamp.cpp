// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/step/stamp.h"

#include <sys/socket.h>

#include "policy/base/text.h"
#include "policy/io/process.h"

namespace paced::step {

namespace {

constexpr int most_generations = 64;

bool is_self_or_ancestor(long long pid) {
    std::optional<pid_t> process = getpid();
    for (int i = 0; process && i < most_generations; ++i) {
        if (*process == pid) return true;
        process = io::parent_of(*process);
    }
    return false;
}

}  // namespace

pid_t pmi_proxy(const Environment& environment) {
    const auto descriptor = parse_integer(environment.get_or("PMI_FD", ""));
    if (!descriptor || *descriptor < 0 || *descriptor > 1 << 20) return 0;
    ucred peer{};
    socklen_t size = sizeof peer;
    if (getsockopt(static_cast<int>(*descriptor), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return 0;
    return peer.pid;
}

bool stamp_holds(std::string_view stamp, const Environment& environment) {
    const auto colon = stamp.find(':');
    if (colon == std::string_view::npos) return false;
    const std::string_view kind = stamp.substr(0, colon), id = stamp.substr(colon + 1);
    if (id.empty()) return false;
    if (kind == "slurm") {
        const auto job = environment.get("SLURM_JOB_ID"), step = environment.get("SLURM_STEP_ID");
        return job && step && id == *job + '.' + *step;
    }
    if (kind == "pmix") return id == environment.get_or("PMIX_NAMESPACE", "");
    if (kind == "torch") return id == environment.get_or("TORCHELASTIC_RUN_ID", "");
    if (kind == "pmi") {
        if (id == environment.get_or("PMI_ID", "")) return true;
        const pid_t proxy = pmi_proxy(environment);
        return proxy > 0 && id == std::to_string(proxy);
    }
    if (kind == "alone") return is_self_or_ancestor(parse_integer(id).value_or(-1));
    return false;
}

}  // namespace paced::step
