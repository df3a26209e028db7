// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/run_folder.h"

#include <csignal>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/doubles/paths.h"
#include "tests/doubles/temporary_folder.h"

namespace paced::io {
namespace {

namespace fs = std::filesystem;

// "first", "joined", or why not.
std::string outcome(const Result<RunFolder>& folder) { return !folder ? folder.error().message : folder->first ? "first" : "joined"; }

class RunFolderTest : public testing::Test {
protected:
    RunFolderRequest request(std::string session, int local_rank = whole_step, std::string key = {}) const {
        return {folder_.path(), std::move(session), local_rank, getpid(), std::move(key)};
    }
    std::string user_folder() const { return folder_ / ("paced-fabric-" + std::to_string(geteuid())); }
    std::string in(const std::string& session) const { return user_folder() + '/' + session; }

    static ProcessIdentity dead() { return {999'999'999, 1, identify(getpid()).pid_namespace}; }

    // A folder as a launch left it, `age` seconds ago.
    std::string leave(const std::string& session, const std::string& owners, int age_s) const {
        const std::string path = in(session);
        fs::create_directories(path);
        fs::permissions(user_folder(), fs::perms::owner_all);
        fs::permissions(path, fs::perms::owner_all);
        if (!owners.empty()) std::ofstream(path + "/owners") << owners;
        age(path, age_s);
        return path;
    }
    static void age(const std::string& path, int age_s) {
        const timespec then[2] = {{time(nullptr) - age_s, 0}, {time(nullptr) - age_s, 0}};
        utimensat(AT_FDCWD, path.c_str(), then, 0);
    }

    test::TemporaryFolder folder_;
};

// A full file system: nothing is left of the try, least of all a key.
TEST_F(RunFolderTest, AFolderThatCannotBeFilledGoesAgain) {
    const pid_t child = fork();
    if (child == 0) {
        const rlimit none{0, 0};
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &none);
        const auto folder = join_run_folder(request("s", 0, "k1"));
        _exit(!folder && folder.error().message == "cannot write " + in("s/key") + ": File too large" ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_FALSE(fs::exists(in("s")));
}

TEST_F(RunFolderTest, TheFirstMakesItAndTheOthersJoin) {
    const auto first = join_run_folder(request("s", 0, "k1"));
    ASSERT_TRUE(first) << first.error().message;
    EXPECT_EQ(first->path, in("s"));
    EXPECT_EQ(first->key_file, in("s/key"));
    EXPECT_TRUE(first->first);
    const auto second = join_run_folder(request("s", 1, "k2"));
    ASSERT_TRUE(second) << second.error().message;
    EXPECT_EQ(second->path, first->path);
    EXPECT_FALSE(second->first);
    EXPECT_EQ(test::read_file(in("s/key")), "k1");
    const std::string self = to_string(identify(getpid()));
    EXPECT_EQ(test::read_file(in("s/owners")), "0 " + self + "\n1 " + self + "\n");
}

TEST_F(RunFolderTest, WithoutAKeyThereIsNoKeyFile) {
    const auto joined = join_run_folder(request("s"));
    ASSERT_TRUE(joined);
    EXPECT_EQ(joined->key_file, "");
    EXPECT_FALSE(fs::exists(in("s/key")));
}

TEST_F(RunFolderTest, ALiveRankOfTheSameNumberKeepsIt) {
    ASSERT_TRUE(join_run_folder(request("s", 0)));
    EXPECT_EQ(outcome(join_run_folder(request("s", 0))), "another launch uses " + in("s"));
}

TEST_F(RunFolderTest, WhatAnEarlierLaunchLeftIsPutAside) {
    leave("rank", "0 " + to_string(dead()) + "\n1 " + to_string(dead()) + "\n", 0);
    EXPECT_EQ(outcome(join_run_folder(request("rank", 1))), "first");

    leave("other", "0 " + to_string(dead()) + "\n", 5);
    EXPECT_EQ(outcome(join_run_folder(request("other", 1))), "joined") << "rank 0 may have been quick";

    leave("old", "0 " + to_string(dead()) + "\n", 60);
    EXPECT_EQ(outcome(join_run_folder(request("old", 1))), "first");

    leave("whole", "-1 " + to_string(dead()) + "\n", 0);
    EXPECT_EQ(outcome(join_run_folder(request("whole"))), "first");

    leave("unreadable", "what is this\n", 0);
    EXPECT_EQ(outcome(join_run_folder(request("unreadable", 1))), "first");
}

TEST_F(RunFolderTest, RefusesWhatIsNotTheUsersAlone) {
    fs::create_directory(folder_ / "elsewhere");
    fs::create_directory_symlink(folder_ / "elsewhere", user_folder());
    EXPECT_EQ(outcome(join_run_folder(request("s"))), "cannot open " + user_folder() + ": Not a directory");
    fs::remove(user_folder());

    fs::create_directory(user_folder());
    fs::permissions(user_folder(), fs::perms::owner_all | fs::perms::group_read);
    EXPECT_EQ(outcome(join_run_folder(request("s"))), user_folder() + " is not a folder of this user alone");
    fs::permissions(user_folder(), fs::perms::owner_all);

    if (geteuid() == 0) {
        ASSERT_EQ(chown(user_folder().c_str(), 12345, 0), 0);
        EXPECT_EQ(outcome(join_run_folder(request("s"))), user_folder() + " is not a folder of this user alone");
        ASSERT_EQ(chown(user_folder().c_str(), 0, 0), 0);
    }
    // a link in place of the session's folder is put aside, never followed
    fs::create_directory_symlink(folder_ / "elsewhere", in("s"));
    EXPECT_EQ(outcome(join_run_folder(request("s", 0, "k"))), "first");
    EXPECT_FALSE(fs::is_symlink(in("s")));
    EXPECT_TRUE(fs::is_empty(folder_ / "elsewhere"));
}

TEST_F(RunFolderTest, SessionNamesCannotLeadOut) {
    for (const char* name : {"", ".", "..", "a/b", "../x", ".hidden", "a b"}) {
        EXPECT_EQ(outcome(join_run_folder(request(name))), "'" + std::string(name) + "' cannot name a run folder");
    }
}

TEST_F(RunFolderTest, AFailingFolderIsSaidPlainly) {
    RunFolderRequest nowhere = request("s");
    nowhere.base = folder_ / "missing";
    EXPECT_EQ(outcome(join_run_folder(nowhere)), "cannot open " + (folder_ / "missing") + ": No such file or directory");
}

TEST_F(RunFolderTest, AStuckLaunchIsNotWaitedForLong) {
    ASSERT_TRUE(join_run_folder(request("s")));
    const int descriptor = open(user_folder().c_str(), O_RDONLY | O_DIRECTORY);
    ASSERT_EQ(flock(descriptor, LOCK_EX), 0);
    EXPECT_EQ(outcome(join_run_folder(request("t"))), "another launch does not let go of " + user_folder());
    EXPECT_EQ(sweep_dead_run_folders(folder_.path()), 0);
    close(descriptor);
    EXPECT_TRUE(join_run_folder(request("t")));
}

TEST_F(RunFolderTest, ManyRanksAtOnceAgree) {
    std::vector<pid_t> ranks;
    for (int rank = 0; rank < 16; ++rank) {
        const pid_t child = fork();
        if (child == 0) {
            const auto joined = join_run_folder(request("s", rank, std::to_string(rank)));
            _exit(!joined ? 2 : joined->first ? 1 : 0);
        }
        ranks.push_back(child);
    }
    int first = 0;
    for (const pid_t rank : ranks) {
        int status = 0;
        waitpid(rank, &status, 0);
        ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) < 2);
        first += WEXITSTATUS(status);
    }
    EXPECT_EQ(first, 1);
}

TEST_F(RunFolderTest, SweepsTheDeadAndNothingElse) {
    const std::string gone = to_string(dead()), self = to_string(identify(getpid()));
    leave("dead", "0 " + gone + "\n1 " + gone + "\n", 60);
    std::ofstream(in("dead/segment")) << "x";
    age(in("dead"), 60);
    leave("young", "0 " + gone + "\n", 5);
    leave("half", "0 " + gone + "\n1 " + self + "\n", 60);
    ProcessIdentity elsewhere = dead();
    elsewhere.pid_namespace += 1;
    leave("elsewhere", "0 " + to_string(elsewhere) + "\n", 60);
    leave("empty", "", 60);
    const std::string full = leave("no-owners", "", 0);
    std::ofstream(full + "/a") << "x";
    std::ofstream(full + "/b") << "x";
    age(full, 60);
    leave("unreadable", "hm\n", 60);
    fs::create_directory(leave("deep", "0 " + gone + "\n", 0) + "/folder");
    age(in("deep"), 60);
    fs::create_directory(folder_ / "target");
    std::ofstream(folder_ / "target/file") << "x";
    leave("links", "0 " + gone + "\n", 0);
    fs::create_symlink(folder_ / "target/file", in("links/segment"));
    age(in("links"), 60);

    EXPECT_EQ(sweep_dead_run_folders(folder_.path()), 3);
    EXPECT_FALSE(fs::exists(in("dead")));
    EXPECT_FALSE(fs::exists(in("empty")));
    EXPECT_FALSE(fs::exists(in("links")));
    EXPECT_TRUE(fs::exists(folder_ / "target/file"));
    for (const char* kept : {"young", "half", "elsewhere", "no-owners", "unreadable", "deep"}) EXPECT_TRUE(fs::exists(in(kept))) << kept;
}

TEST_F(RunFolderTest, ASweepIsBounded) {
    for (int i = 0; i < 10; ++i) leave("dead-" + std::to_string(i), "0 " + to_string(dead()) + "\n", 60);
    EXPECT_EQ(sweep_dead_run_folders(folder_.path(), {.folders = 4}), 4);
    EXPECT_EQ(sweep_dead_run_folders(folder_.path(), {.files = 0}), 0);
    EXPECT_EQ(sweep_dead_run_folders(folder_.path()), 6);
    EXPECT_EQ(sweep_dead_run_folders(folder_ / "missing"), 0);
}

TEST(SessionName, KeepsWhatCanStayAndHashesTheRest) {
    EXPECT_EQ(session_name("12.0"), "12.0");
    EXPECT_EQ(session_name("ompi-948305921"), "ompi-948305921");
    EXPECT_EQ(session_name("prterun-host-77@1"), "prterun-host-77-1-" + session_name("prterun-host-77@1").substr(18));
    for (const std::string& text : std::vector<std::string>{"prterun-host-77@1", "a b", "", ".", "../../etc", std::string(64, 'a'), "\xff\xfe"}) {
        const std::string name = session_name(text);
        EXPECT_TRUE(is_session_name(name)) << name;
        EXPECT_EQ(session_name(text), name);
    }
    EXPECT_NE(session_name("a@1"), session_name("a#1"));
    EXPECT_NE(session_name(std::string(70, 'a')), session_name(std::string(71, 'a')));
}

TEST(Key, IsAlwaysSixtyFourDigitsOrNone) {
    const std::string key = random_key();
    EXPECT_EQ(key.size(), 64u);
    EXPECT_EQ(key.find_first_not_of("0123456789abcdef"), std::string::npos);
    EXPECT_NE(random_key(), key);
    EXPECT_EQ(key_from_secret(key), key);
    EXPECT_EQ(key_from_secret("D6ad0134738eb9c2-934be850d7ce6d8a"), "d6ad0134738eb9c2934be850d7ce6d8ad6ad0134738eb9c2934be850d7ce6d8a");
    EXPECT_EQ(key_from_secret(""), "");
    EXPECT_EQ(key_from_secret("0123456789abcdef"), "");
}

}  // namespace
}  // namespace paced::io
