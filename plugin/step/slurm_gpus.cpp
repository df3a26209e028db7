// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/step/slurm_gpus.h"

#include "policy/base/text.h"
#include "policy/io/slurm_conf.h"
#include "policy/io/text_file.h"

namespace paced::step {

namespace {

constexpr std::size_t conf_bytes_max = 4u << 20;

// The file has a line for each node, so it is not parsed as a whole.
bool names_gpu(std::string_view text) {
    for (std::string_view line : split(text, '\n')) {
        line = trim(line);
        const std::size_t equals = line.find('=');
        if (equals == std::string_view::npos || !io::same_key(trim(line.substr(0, equals)), "GresTypes")) continue;
        std::string_view value = line.substr(equals + 1);
        value = value.substr(0, value.find('#'));
        for (std::string_view type : split(value, ','))
            if (trim(type) == "gpu") return true;
    }
    return false;
}

}  // namespace

bool slurm_gives_gpus(const Environment& environment) {
    std::vector<std::string> paths;
    if (const auto conf = environment.get("SLURM_CONF")) paths.push_back(*conf);
    else if (environment.get("SLURM_JOB_ID")) paths = {"/etc/slurm/slurm.conf", "/run/slurm/conf/slurm.conf"};
    for (const std::string& path : paths)
        if (const auto text = io::read_text_file(path, conf_bytes_max)) return names_gpu(*text);
    return false;
}

}  // namespace paced::step
