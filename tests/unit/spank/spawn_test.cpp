// SPDX-License-Identifier: BSD-3-Clause
// The spawner alone: children that end in every way there is. What it does with privileges is tested in tests/abi.
#include <chrono>
#include <csignal>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plugin/spank/spawn.h"

namespace paced::spank {
namespace {

struct Ran {
    std::string output;
    Outcome outcome;
    std::string words;
    std::chrono::milliseconds took{};

    explicit Ran(const char* script, std::size_t room = 4096, int captured_fd = 1, int deadline_ms = 300, const char* needed_file = nullptr) {
        const char* const program[] = {"/bin/bash", "-c", script, nullptr};
        char variable[] = "ONLY=this";
        char* const environment[] = {variable, nullptr};
        output.resize(room);
        Child child;
        child.program = program;
        child.environment = environment;
        child.output = output.data();
        child.room = room;
        child.captured_fd = captured_fd;
        child.deadline_ms = deadline_ms;
        child.needed_file = needed_file;
        child.folder = "/usr";
        const auto start = std::chrono::steady_clock::now();
        outcome = run(child);
        took = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
        output.resize(outcome.size);
        Words text;
        describe(outcome, deadline_ms, text);
        words = text.c_str();
    }
};

TEST(spawn, output_environment_and_folder) {
    const Ran ran("echo $ONLY $HOME; pwd; echo lost >&2");
    EXPECT_TRUE(ran.outcome.good());
    EXPECT_EQ(ran.output, "this\n/usr\n");
    EXPECT_EQ(Ran("echo lost; echo kept >&2", 4096, 2).output, "kept\n");
    EXPECT_EQ(Ran("read x; echo \"[$x]\"").output, "[]\n");
}

TEST(spawn, ways_to_end) {
    EXPECT_EQ(Ran("exit 3").words, "exited with code 3");
    EXPECT_EQ(Ran("kill -SEGV $$").words, "was ended by signal 11");
    EXPECT_EQ(Ran("while :; do :; done").words, "did not answer within 300 ms");
    EXPECT_EQ(Ran("trap '' TERM; exec >&-; while :; do :; done").words, "did not answer within 300 ms");
    EXPECT_EQ(Ran("while :; do echo y; done").words, "answered too much");
    EXPECT_EQ(Ran("exit 0", 16, 1, 300, "/nowhere").outcome.ending, Ending::not_needed);
    EXPECT_TRUE(Ran("exit 0", 16, 1, 300, "/").outcome.good());

    const char* const program[] = {"/nowhere/program", nullptr};
    char* const environment[] = {nullptr};
    Child child;
    child.program = program;
    child.environment = environment;
    const Outcome outcome = run(child);
    Words words;
    describe(outcome, 1, words);
    EXPECT_STREQ(words.c_str(), "could not be started (No such file or directory)");
}

TEST(spawn, exactly_the_room_is_not_too_much) {
    EXPECT_EQ(Ran("printf 1234", 4).output, "1234");
    EXPECT_EQ(Ran("printf 12345", 4).outcome.ending, Ending::too_much);
    EXPECT_TRUE(Ran("exit 0", 0).outcome.good());
}

TEST(spawn, a_grandchild_with_the_pipe_is_ended_too) {
    const Ran ran("(while :; do :; done) & echo $!; while :; do :; done");
    EXPECT_EQ(ran.outcome.ending, Ending::too_slow);
    EXPECT_LT(ran.took.count(), 1500);
    // gone, or a zombie that init has yet to reap
    const std::string stat = "/proc/" + ran.output.substr(0, ran.output.find('\n')) + "/cmdline";
    for (int i = 0; i < 100 && access(stat.c_str(), F_OK) == 0; ++i) {
        char byte;
        const int fd = open(stat.c_str(), O_RDONLY);
        const bool running = fd >= 0 && read(fd, &byte, 1) == 1;
        close(fd);
        if (!running) break;
        ASSERT_LT(i, 99);
        usleep(10'000);
    }
}

TEST(spawn, no_descriptors_no_children_stay) {
    const int before = dup(0);
    close(before);
    for (const char* script : {"exit 0", "kill -SEGV $$", "while :; do echo y; done"}) Ran ran(script);
    const int after = dup(0);
    close(after);
    EXPECT_EQ(before, after);
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
}

TEST(spawn, the_child_has_three_descriptors) {
    const int extra = dup(0);  // not close-on-exec
    EXPECT_EQ(Ran("for fd in /proc/self/fd/*; do n=${fd##*/}; ((n > 2)) && [[ -e $fd ]] && readlink $fd; done; true").output, "");
    close(extra);
}

TEST(spawn, signals_of_this_process_do_not_matter) {
    sigset_t all, old;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &old);
    EXPECT_EQ(Ran("kill -TERM $$; echo still here").words, "was ended by signal 15");
    sigprocmask(SIG_SETMASK, &old, nullptr);

    const auto chld = std::signal(SIGCHLD, SIG_IGN);
    const auto pipe = std::signal(SIGPIPE, SIG_IGN);
    EXPECT_EQ(Ran("echo output").output, "output\n");
    EXPECT_EQ(Ran("kill -PIPE $$; echo still here").output, "");
    std::signal(SIGPIPE, pipe);
    std::signal(SIGCHLD, chld);
}

TEST(spawn, works_without_standard_descriptors) {
    const pid_t pid = fork();
    if (pid == 0) {
        for (int fd = 0; fd <= 2; ++fd) close(fd);
        _exit(Ran("echo out").output == "out\n" && Ran("echo err >&2", 64, 2).output == "err\n" ? 0 : 1);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
}

TEST(spawn, limits) {
    EXPECT_EQ(Ran("ulimit -c; ulimit -t").output, "0\n2\n");
    EXPECT_EQ(Ran("while IFS=: read k v; do [[ $k == NoNewPrivs ]] && echo $v; done </proc/self/status").output, "1\n");
}

}  // namespace
}  // namespace paced::spank
