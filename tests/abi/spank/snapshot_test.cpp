// SPDX-License-Identifier: BSD-3-Clause
// The node's snapshot: made once, by nobody, believed only where it is root's.
#include <fcntl.h>
#include <sys/stat.h>

#include "tests/abi/spank/fixture.h"

namespace paced::test {
namespace {

class Snapshot : public Spank {
protected:
    // One step; the path that the helper was given, and what was in it.
    std::string step() {
        start(S_CTX_REMOTE);
        fake_setenv("PACED_FABRIC_FAKE_SAY", "snapshot");
        call(plugin.init);
        option("paced-fabric", "observe", 1);
        call(plugin.init_post_opt);
        said = log();
        fake.log[0] = '\0';
        call(plugin.user_init);
        const std::string all = log(), mark = "log fake: snapshot ";
        const std::size_t at = all.find(mark);
        return at == std::string::npos ? all : all.substr(at + mark.size(), all.find('\n', at) - at - mark.size());
    }
    static std::vector<std::filesystem::path> files() {
        std::vector<std::filesystem::path> all;
        for (const auto& entry : std::filesystem::directory_iterator(SNAPSHOT_FOLDER)) all.push_back(entry.path());
        return all;
    }
    std::string said;  // in init_post_opt
};

TEST_F(Snapshot, once_for_all_steps) {
    const std::string first = step();
    ASSERT_EQ(files().size(), 1U);
    EXPECT_EQ(first.find("'" + files()[0].string() + "' {\"fake\": \"" + (geteuid() == 0 ? "65534" : std::to_string(geteuid()))), 0U) << first;
    EXPECT_EQ(step(), first);
    EXPECT_EQ(said, "");
    struct stat found{};
    stat(files()[0].c_str(), &found);
    EXPECT_EQ(found.st_mode & 0777, 0644U);
    stat(SNAPSHOT_FOLDER, &found);
    EXPECT_EQ(found.st_mode & 0777, 0755U);
}

TEST_F(Snapshot, the_masks_of_slurmstepd_do_not_matter) {
    const mode_t old = umask(0);
    step();
    umask(0777);
    std::filesystem::remove_all(SNAPSHOT_FOLDER);
    const std::string path = step();
    umask(old);
    EXPECT_NE(path.find("snapshot-"), std::string::npos) << path;
    struct stat found{};
    stat(files()[0].c_str(), &found);
    EXPECT_EQ(found.st_mode & 0777, 0644U);
}

TEST_F(Snapshot, another_topology_another_snapshot) {
    step();
    write("node.xml", "one");
    words.push_back("node_topology=" + (folder / "node.xml").string());
    const std::string one = step();
    EXPECT_NE(one.find("\"file\": \"one\""), std::string::npos) << one;
    write("node.xml", "two and more");
    const std::string two = step();
    EXPECT_NE(two.find("\"file\": \"two and more\""), std::string::npos) << two;
    std::ofstream(folder / "bin/paced-fabric-probe", std::ios::app) << "# a new version\n";
    step();
    EXPECT_EQ(files().size(), 4U);
}

TEST_F(Snapshot, a_probe_that_fails_is_tried_once_and_again_later) {
    const struct {
        const char *kind, *words;
    } table[] = {{"hang", "the probe did not answer within 1000 ms"}, {"fail", "the probe exited with code 1"}, {"crash", "the probe was ended by signal 11"},
                 {"flood", "the probe answered too much"}};
    for (const auto& [kind, words_of_it] : table) {
        std::filesystem::remove_all(SNAPSHOT_FOLDER);
        write("bin/probe-says", kind);
        EXPECT_EQ(step(), "'' ");
        EXPECT_NE(said.find(words_of_it), std::string::npos) << said;
        std::filesystem::remove(folder / "bin/probe-says");
        EXPECT_EQ(step(), "'' ");
        EXPECT_EQ(said, "");
        const timespec long_ago[2] = {{0, 0}, {0, 0}};
        ASSERT_EQ(utimensat(AT_FDCWD, files()[0].c_str(), long_ago, 0), 0);
        EXPECT_NE(step(), "'' ");
    }
}

TEST_F(Snapshot, no_place_for_it) {
    write("file", "");
    std::filesystem::create_symlink(folder, SNAPSHOT_FOLDER);
    EXPECT_EQ(step(), "'' ");
    EXPECT_NE(said.find("no snapshot of the node's hardware: " SNAPSHOT_FOLDER ": "), std::string::npos) << said;
    std::filesystem::remove(SNAPSHOT_FOLDER);
    std::filesystem::copy_file(folder / "file", SNAPSHOT_FOLDER);
    EXPECT_EQ(step(), "'' ");
}

TEST_F(Snapshot, writable_by_others_is_not_believed) {
    step();
    const std::filesystem::path file = files()[0];
    chmod(file.c_str(), 0666);
    EXPECT_EQ(step(), "'' ");
    chmod(file.c_str(), 0644);
    EXPECT_NE(step(), "'' ");
    std::filesystem::rename(file, folder / "elsewhere");
    std::filesystem::create_symlink(folder / "elsewhere", file);
    EXPECT_EQ(step(), "'' ");
    std::filesystem::remove(file);
    chmod(SNAPSHOT_FOLDER, 0777);
    EXPECT_EQ(step(), "'' ");
    EXPECT_TRUE(files().empty());
}

TEST_F(Snapshot, no_probe_no_snapshot) {
    std::filesystem::remove(folder / "bin/paced-fabric-probe");
    EXPECT_EQ(step(), "'' ");
    EXPECT_EQ(said, "");
}

}  // namespace
}  // namespace paced::test
