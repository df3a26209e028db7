// SPDX-License-Identifier: BSD-3-Clause
// The hosts of `paced plan --hosts`.
#include "launcher/plan.h"
#include "policy/base/text.h"
#include "policy/io/text_file.h"
#include "policy/topology/host_list.h"

namespace paced::launcher {

namespace {

void add_list(std::string_view text, const std::string& origin, int line, std::vector<std::string>& hosts, Diagnostics& diagnostics) {
    topology::HostList list = topology::expand_hosts(text);
    for (const topology::HostListError& error : list.errors)
        diagnostics.error({origin, line, static_cast<int>(error.position) + 1}, error.message).hints.emplace_back("a list is written as Slurm does: n[1-4,7],login");
    if (hosts.size() + list.hosts.size() > topology::host_list_limit) {
        diagnostics.error({origin, line, 1}, "more than " + std::to_string(topology::host_list_limit) + " hosts");
        return;
    }
    hosts.insert(hosts.end(), std::make_move_iterator(list.hosts.begin()), std::make_move_iterator(list.hosts.end()));
}

}  // namespace

std::vector<std::string> hosts_of(const std::vector<std::string>& lists, Diagnostics& diagnostics) {
    std::vector<std::string> hosts;
    for (const std::string& list : lists) {
        if (!list.starts_with('@')) {
            add_list(list, "--hosts", 1, hosts, diagnostics);
            continue;
        }
        const std::string path = list.substr(1);
        const auto text = io::read_text_file(path);
        if (!text) {
            diagnostics.error({"--hosts", 0, 0}, text.error().message);
            continue;
        }
        int number = 0;
        for (std::string_view line : split(*text, '\n')) {
            ++number;
            line = line.substr(0, line.find('#'));
            if (!trim(line).empty()) add_list(line, path, number, hosts, diagnostics);
        }
    }
    if (hosts.empty() && !diagnostics.has_errors())
        diagnostics.error({"--hosts", 0, 0}, "the list of hosts is empty").hints.emplace_back("such as --hosts n[1-4,7], or --hosts @FILE with a list a line");
    return hosts;
}

}  // namespace paced::launcher
