// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/process.h"

#include <csignal>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace paced::io {
namespace {

TEST(Process, KnowsItselfAndItsParent) {
    const ProcessIdentity self = identify(getpid());
    EXPECT_EQ(self.pid, getpid());
    EXPECT_GT(self.start_time, 0u);
    EXPECT_GT(self.pid_namespace, 0u);
    EXPECT_EQ(identify(getpid()), self);
    EXPECT_FALSE(is_gone(self));
    EXPECT_EQ(parent_of(getpid()), getppid());
    EXPECT_EQ(parent_of(999'999'999), std::nullopt);
}

TEST(Process, AZombieAndWhatFollowsAreGone) {
    const pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    const ProcessIdentity identity = identify(child);
    EXPECT_FALSE(is_gone(identity));
    ASSERT_EQ(kill(child, SIGKILL), 0);
    siginfo_t info{};
    ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
    EXPECT_TRUE(is_gone(identity)) << "a zombie";
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    EXPECT_TRUE(is_gone(identity));
}

TEST(Process, APidUsedAgainIsAnotherProcess) {
    ProcessIdentity self = identify(getpid());
    self.start_time += 1;
    EXPECT_TRUE(is_gone(self));
}

TEST(Process, WhatCannotBeToldIsNotGone) {
    ProcessIdentity elsewhere{999'999'999, 1, identify(getpid()).pid_namespace + 1};
    EXPECT_FALSE(is_gone(elsewhere)) << "another pid namespace";
    EXPECT_FALSE(is_gone({0, 0, 0}));
    ProcessIdentity unread = identify(getpid());
    unread.start_time = 0;
    EXPECT_FALSE(is_gone(unread));
}

TEST(Process, AnIdentityReadsBack) {
    EXPECT_EQ(to_string(ProcessIdentity{12, 34, 56}), "12 34 56");
    EXPECT_EQ(parse_identity("12 34 56"), (ProcessIdentity{12, 34, 56}));
    for (const char* text : {"", "12", "12 34", "12 34 56 78", "a 34 56", "-1 34 56", "0 1 1", "12  34"}) EXPECT_EQ(parse_identity(text), std::nullopt) << text;
}

}  // namespace
}  // namespace paced::io
