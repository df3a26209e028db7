// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/step/mpi_default.h"

#include <vector>

#include "policy/io/slurm_conf.h"
#include "policy/io/text_file.h"

namespace paced::step {

std::optional<std::string> mpi_default(const Environment& environment) {
    std::vector<std::string> places{"/etc/slurm/slurm.conf", "/run/slurm/conf/slurm.conf"};
    if (const std::string path = environment.get_or("SLURM_CONF", ""); !path.empty()) places = {path};
    for (const std::string& path : places) {
        const auto text = io::read_text_file(path);
        if (!text) continue;
        Diagnostics ignored;  // slurmctld tells of them
        std::optional<std::string> found;
        bool includes = false;
        for (const io::SlurmConfLine& line : io::parse_slurm_conf(*text, path, ignored)) {
            for (const io::SlurmConfPair& pair : line) {
                if (io::same_key(pair.key, "MpiDefault")) found = pair.value;
                includes = includes || io::same_key(pair.key, "Include");
            }
        }
        if (found || includes) return found;
        return "none";
    }
    return std::nullopt;
}

}  // namespace paced::step
