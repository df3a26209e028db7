// SPDX-License-Identifier: BSD-3-Clause
// paced-fabric-probe as the plugin starts it.
#include <array>
#include <csignal>
#include <cstdio>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "policy/io/snapshot.h"
#include "tests/doubles/paths.h"

namespace paced {
namespace {

struct Outcome {
    int exit_code = -1;  // 128 + signal where one ended it
    std::string out, err;
};

std::string read_all(FILE* file) {
    std::string text;
    std::rewind(file);
    std::array<char, 4096> buffer;
    for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), file)) > 0;) text.append(buffer.data(), got);
    std::fclose(file);
    return text;
}

// prepare runs in the child before exec.
template <class Prepare>
Outcome probe(std::vector<std::string> arguments, Prepare prepare) {
    FILE* out = std::tmpfile();
    FILE* err = std::tmpfile();
    const std::string program = (test::bin_dir() / "paced-fabric-probe").string();
    const pid_t child = fork();
    if (child == 0) {
        dup2(fileno(out), STDOUT_FILENO);
        dup2(fileno(err), STDERR_FILENO);
        prepare();
        std::vector<char*> argv{const_cast<char*>(program.c_str())};
        for (std::string& argument : arguments) argv.push_back(argument.data());
        argv.push_back(nullptr);
        execv(program.c_str(), argv.data());
        _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_all(out), read_all(err)};
}
Outcome probe(std::vector<std::string> arguments) {
    return probe(std::move(arguments), [] {});
}

TEST(Probe, PrintsThisMachine) {
    const Outcome outcome = probe({});
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.err, "");
    const auto node = io::read_snapshot(outcome.out);
    ASSERT_TRUE(node) << node.error().message;
    EXPECT_FALSE(node->cpus.empty());
}

TEST(Probe, PrintsTheMachineOfAFile) {
    const Outcome outcome = probe({test::data("topology/fake-8gpu-4nic.xml").string()});
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.err, "");
    const auto node = io::read_snapshot(outcome.out);
    ASSERT_TRUE(node) << node.error().message;
    EXPECT_EQ(node->gpus.size(), 8u);
}

TEST(Probe, InheritsNothing) {
    const auto hostile = [] {
        dup2(open("/dev/null", O_WRONLY), 100);
        signal(SIGALRM, SIG_IGN);
        sigset_t all;
        sigfillset(&all);
        sigprocmask(SIG_BLOCK, &all, nullptr);
        close(STDIN_FILENO);
        setenv("HWLOC_XMLFILE", "/nonexistent.xml", 1);
    };
    const Outcome outcome = probe({}, hostile);
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_TRUE(io::read_snapshot(outcome.out));
}

// Its output goes into a pipe that is full and that nobody reads, and SIGALRM is ignored and blocked when it starts.
TEST(Probe, EndsByItselfWhenItHangs) {
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
    while (write(ends[1], "x", 1) == 1) {
    }
    fcntl(ends[1], F_SETFL, 0);  // blocking
    const auto hang = [&] {
        dup2(ends[1], STDOUT_FILENO);
        signal(SIGALRM, SIG_IGN);
        sigset_t all;
        sigfillset(&all);
        sigprocmask(SIG_BLOCK, &all, nullptr);
    };
    EXPECT_EQ(probe({"--deadline=1"}, hang).exit_code, 128 + SIGALRM);
    close(ends[0]);
    close(ends[1]);
}

TEST(Probe, Mistakes) {
    const Outcome missing = probe({"/nonexistent/node.xml"});
    EXPECT_EQ(missing.exit_code, 1);
    EXPECT_EQ(missing.out, "");
    EXPECT_EQ(missing.err, "error: cannot read /nonexistent/node.xml: No such file or directory\n");

    for (const auto& arguments : std::vector<std::vector<std::string>>{{"--what"}, {"a", "b"}, {""}, {"--deadline=0"}, {"--deadline=1s"}}) {
        const Outcome usage = probe(arguments);
        EXPECT_EQ(usage.exit_code, 2);
        EXPECT_EQ(usage.out, "");
        EXPECT_EQ(usage.err, "usage: paced-fabric-probe [--deadline=SECONDS] [--with-plugins] [FILE]\n");
    }

    const Outcome full = probe({}, [] { dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO); });
    EXPECT_EQ(full.exit_code, 3);
    EXPECT_EQ(full.err, "paced-fabric-probe: cannot write the snapshot: No space left on device\n");
}

}  // namespace
}  // namespace paced
