// SPDX-License-Identifier: BSD-3-Clause
#include "tests/mpi/job.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "policy/base/environment.h"
#include "policy/io/segment_reader.h"

namespace paced::test {
namespace {

namespace fs = std::filesystem;

std::string read_all(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::string make_root() {
    std::string name = "/dev/shm/paced-test.XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder in /dev/shm");
    return name;
}

}  // namespace

std::string name_of(Mpi mpi) { return mpi == Mpi::open_mpi ? "openmpi" : "mpich"; }

bool is_installed(Mpi mpi) { return fs::exists(PACED_FABRIC_BUILD_DIR "/tests/mpi/calls_" + name_of(mpi)); }

bool ended_alike(Mpi mpi, int exit_code, int other) { return exit_code == other || (mpi == Mpi::mpich && exit_code != 0 && other != 0); }

Outcome execute(const std::vector<std::string>& command, const std::map<std::string, std::string>& environment) {
    Environment all = Environment::capture();
    for (const auto& [name, value] : environment) all.set(name, value);
    std::vector<std::string> variables;
    for (const auto& [name, value] : all.values()) variables.push_back(name + "=" + value);
    std::vector<char*> argv, envp;
    for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
    for (std::string& variable : variables) envp.push_back(variable.data());
    argv.push_back(nullptr);
    envp.push_back(nullptr);

    const std::string folder = make_root();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, (folder + "/out").c_str(), O_WRONLY | O_CREAT, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, (folder + "/err").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    const auto start = std::chrono::steady_clock::now();
    pid_t child = 0;
    Outcome outcome;
    if (::posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), envp.data()) == 0) {
        int status = 0;
        ::waitpid(child, &status, 0);
        outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    posix_spawn_file_actions_destroy(&actions);
    outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    outcome.out = read_all(folder + "/out");
    outcome.err = read_all(folder + "/err");
    fs::remove_all(folder);
    return outcome;
}

Job::Job(Mpi mpi, int ranks, int nodes) : mpi_(mpi), ranks_(ranks), root_(make_root()) {
    environment_ = {{"TEST_ROOT", root_}, {"TEST_NODES", std::to_string(nodes)}, {"TEST_SESSION", fs::path(root_).filename().string()},
                    {"TEST_LIBRARY", library()},
                    {"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}, {"OMPI_MCA_mpi_yield_when_idle", "1"},
                    {"OMPI_MCA_btl", "self,vader,tcp"}, {"OMPI_MCA_btl_vader_single_copy_mechanism", "none"}};
    fs::create_symlink(PACED_FABRIC_LIB_DIR "/libpaced_fabric.so", library());
    for (int node = 0; node < nodes; ++node) {
        fs::create_directory(folder(node));
        fs::permissions(folder(node), fs::perms::owner_all);
        std::ofstream(folder(node) + "/key") << "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n";
        fs::permissions(folder(node) + "/key", fs::perms::owner_read | fs::perms::owner_write);
        std::ofstream(folder(node) + "/plan.json") << "{\"node\": \"n" << node << "\"}\n";
    }
}

Job::~Job() {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
}

std::vector<std::string> Job::launcher() const {
    if (mpi_ == Mpi::open_mpi) return {"mpirun.openmpi", "--oversubscribe", "-n", std::to_string(ranks_)};
    return {"mpiexec.mpich", "-n", std::to_string(ranks_)};
}

std::string Job::path_of(const std::string& program) const {
    return program.front() == '/' ? program : PACED_FABRIC_BUILD_DIR "/tests/mpi/" + program + "_" + name_of(mpi_);
}

Outcome Job::run(const std::string& program, const std::vector<std::string>& arguments) {
    auto command = launcher();
    command.push_back(PACED_FABRIC_SOURCE_DIR "/tests/mpi/as_rank");
    command.push_back(path_of(program));
    command.insert(command.end(), arguments.begin(), arguments.end());
    return execute(command, environment_);
}

Outcome Job::run_without(const std::string& program, const std::vector<std::string>& arguments) {
    auto command = launcher();
    command.push_back(path_of(program));
    command.insert(command.end(), arguments.begin(), arguments.end());
    return execute(command, environment_);
}

report::Trace Job::trace() const {
    auto trace = io::read_run_folder(folder());
    if (!trace) {
        ADD_FAILURE() << trace.error().message;
        return {};
    }
    return *trace;
}

std::vector<report::RankTrace> ranks_of(const report::Trace& trace) {
    std::vector<report::RankTrace> ranks;
    for (const auto& node : trace.nodes) ranks.insert(ranks.end(), node.ranks.begin(), node.ranks.end());
    std::ranges::sort(ranks, {}, &report::RankTrace::rank);
    return ranks;
}

}  // namespace paced::test
