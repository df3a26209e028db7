// SPDX-License-Identifier: BSD-3-Clause
// The order of ranks: what srun gets to see, what is left of it afterwards, and what a task sees.
#include <fcntl.h>
#include <unistd.h>

#include "tests/abi/spank/fixture.h"

namespace paced::test {
namespace {

constexpr const char* ring = "placed ordered ring n[1,3,2,4];order 1 0,2,1,3";

class Order : public Spank {
protected:
    void SetUp() override {
        Spank::SetUp();
        trace = folder / "trace";
        set("SLURM_JOB_ID", "7");
        set("SLURM_JOB_NODELIST", "n[1-4]");
        set("SLURM_JOB_NUM_NODES", "4");
        set("SLURM_NTASKS", "4");
        set("PACED_FABRIC_FAKE_TRACE", trace.c_str());
        set("PACED_FABRIC_FAKE_ORDER", ring);
        set("SLURM_PACED_FABRIC_ORDER", "ring");
        set("SLURM_PACED_FABRIC_MODE", "pace");
    }
    void TearDown() override {
        for (const char* name : {"SLURM_PACED_FABRIC_KEY", "SLURM_PACED_FABRIC_PLACED", "SLURM_HOSTFILE"}) unsetenv(name);
        for (const std::string& name : names) unsetenv(name.c_str());
        Spank::TearDown();
    }
    void set(const std::string& name, const char* value) {
        setenv(name.c_str(), value, 1);
        names.push_back(name);
    }
    // What srun finds when it reads its options; "(unset)" where it keeps its own order.
    std::string host_file() {
        unsetenv("SLURM_HOSTFILE");  // of the run before
        start(S_CTX_LOCAL);
        EXPECT_EQ(call(plugin.init), 0);
        const std::string path = variable("SLURM_HOSTFILE");
        if (path == "(unset)") return path;
        std::ifstream in(path);
        std::string text, line;
        while (std::getline(in, line)) text += (text.empty() ? "" : " ") + line;
        return text;
    }
    std::string placed() { return variable("SLURM_PACED_FABRIC_PLACED"); }
    bool helper_ran() { return std::filesystem::exists(trace); }
    static int descriptors() {
        int count = 0;
        for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) count += entry.exists() ? 1 : 1;
        return count;
    }

    std::filesystem::path trace;
    std::vector<std::string> names;
};

TEST_F(Order, srun_finds_a_host_file_and_nobody_else_does) {
    const int before = descriptors();
    EXPECT_EQ(host_file(), "n1 n3 n2 n4");
    EXPECT_EQ(placed(), "7 ordered ring n[1,3,2,4]");
    EXPECT_EQ(log(), "");
    const std::string path = variable("SLURM_HOSTFILE");
    EXPECT_EQ(path.find("/proc/self/fd/"), 0U) << path;
    EXPECT_NE(fcntl(std::stoi(path.substr(14)), F_GETFD) & FD_CLOEXEC, 0);

    EXPECT_EQ(call(plugin.init_post_opt), 0);
    EXPECT_EQ(variable("SLURM_HOSTFILE"), "(unset)");
    EXPECT_EQ(placed(), "7 ordered ring n[1,3,2,4]");
    EXPECT_EQ(descriptors(), before);
    call(plugin.init_post_opt);  // of another component, were there one
    EXPECT_EQ(descriptors(), before);
}

TEST_F(Order, the_helper_is_given_the_command_line) {
    host_file();
    std::ifstream in(trace);
    std::string line, text;
    while (std::getline(in, line)) text += line + '\n';
    EXPECT_NE(text.find("order of "), std::string::npos);
    EXPECT_NE(text.find("test_spank_callbacks"), std::string::npos) << text;
}

TEST_F(Order, several_tasks_on_a_node) {
    set("SLURM_NTASKS", "8");
    set("PACED_FABRIC_FAKE_ORDER", "placed ordered ring n[1,3,2,4];order 2 0,2,1,3");
    EXPECT_EQ(host_file(), "n1 n1 n3 n3 n2 n2 n4 n4");
}

TEST_F(Order, without_a_count_of_tasks_there_is_one_on_each_node) {
    unsetenv("SLURM_NTASKS");
    EXPECT_EQ(host_file(), "n1 n3 n2 n4");
    set("PACED_FABRIC_FAKE_ORDER", "placed ordered ring n[1,3,2,4];order 2 0,2,1,3");
    EXPECT_EQ(host_file(), "(unset)");
}

TEST_F(Order, a_long_list) {
    std::string order = "placed ordered ring #0123456789abcdef;order 1 0-4999,9999";
    for (int i = 9998; i >= 5000; --i) order += ',' + std::to_string(i);
    set("SLURM_JOB_NODELIST", "node[00001-10000]");
    set("SLURM_JOB_NUM_NODES", "10000");
    set("SLURM_NTASKS", "10000");
    set("PACED_FABRIC_FAKE_ORDER", order.c_str());
    const std::string hosts = host_file();
    EXPECT_EQ(hosts.substr(0, 24), "node00001 node00002 node");
    EXPECT_EQ(hosts.size(), 10'000U * 10 - 1);
    EXPECT_EQ(hosts.substr(hosts.size() - 9), "node05001");
    EXPECT_EQ(placed(), "7 ordered ring #0123456789abcdef");
}

TEST_F(Order, slurms_order_stays_with_a_reason) {
    set("PACED_FABRIC_FAKE_ORDER", "placed kept -w chooses the nodes");
    EXPECT_EQ(host_file(), "(unset)");
    EXPECT_EQ(placed(), "7 kept -w chooses the nodes");
    set("PACED_FABRIC_FAKE_ORDER", "");
    EXPECT_EQ(host_file(), "(unset)");
    EXPECT_EQ(placed(), "(unset)");
}

TEST_F(Order, a_helper_that_lies_about_hosts_changes_nothing) {
    const char* const not_all = "7 kept the order does not have every node of the job once, the first one first";
    for (const char* positions : {"0,2,1", "0,2,1,4", "0,2,1,1", "0,2,1,3,3", "2,0,1,3", "0-4", "0,2,1,n4", "0,2,1,3,", "3-0"}) {
        set("PACED_FABRIC_FAKE_ORDER", (std::string("placed ordered ring n1;order 1 ") + positions).c_str());
        EXPECT_EQ(host_file(), "(unset)") << positions;
        EXPECT_EQ(placed(), not_all) << positions;
    }
    for (const char* tasks : {"2", "3", "4", "999999999"}) {
        set("PACED_FABRIC_FAKE_ORDER", (std::string("placed ordered ring n1;order ") + tasks + " 0,2,1,3").c_str());
        EXPECT_EQ(host_file(), "(unset)") << tasks;
        EXPECT_EQ(placed(), "7 kept the order is for another number of tasks") << tasks;
    }
    set("PACED_FABRIC_FAKE_ORDER", ring);
    set("SLURM_JOB_NUM_NODES", "5");
    EXPECT_EQ(host_file(), "(unset)");
    EXPECT_EQ(placed(), "7 kept the job's list and number of nodes differ");
    set("SLURM_JOB_NUM_NODES", "4");
    set("SLURM_JOB_NODELIST", "n[1-");
    EXPECT_EQ(host_file(), "(unset)");
    EXPECT_EQ(placed(), "7 kept the nodes of the job are not known");
    EXPECT_EQ(log(), "");
}

TEST_F(Order, a_helper_that_is_ill_changes_nothing) {
    words.push_back("deadline_ms=500");
    const std::pair<const char*, const char*> kinds[] = {
        {"hang", "did not answer within 500 ms"},
        {"deaf", "did not answer within 500 ms"},
        {"crash", "was ended by signal 11"},
        {"fail", "exited with code 1"},
        {"flood", "answered too much"},
        {"silent", "gave an answer that is not understood: not begun by \"paced-fabric-order 1\""},
        {"nonsense", "gave an answer that is not understood: not begun by \"paced-fabric-order 1\""},
        {"env PATH=x", "gave an answer that is not understood: a line that the protocol does not know"},
    };
    for (const auto& [kind, why] : kinds) {
        set("PACED_FABRIC_FAKE_ORDER", kind);
        EXPECT_EQ(host_file(), "(unset)") << kind;
        EXPECT_EQ(placed(), std::string("7 kept the helper ") + why);
        EXPECT_EQ(log(), "");
    }
    std::filesystem::remove_all(folder / "bin");
    EXPECT_EQ(host_file(), "(unset)");
    EXPECT_EQ(placed(), "7 kept there is no program paced-fabric-helper");
}

TEST_F(Order, the_users_own_host_file_stays) {
    set("SLURM_HOSTFILE", "/the/users/own");
    start(S_CTX_LOCAL);
    call(plugin.init);
    EXPECT_EQ(variable("SLURM_HOSTFILE"), "/the/users/own");
    EXPECT_EQ(placed(), "7 kept SLURM_HOSTFILE is set");
    call(plugin.init_post_opt);
    EXPECT_EQ(variable("SLURM_HOSTFILE"), "/the/users/own");
}

TEST_F(Order, no_helper_where_nothing_can_come_of_it) {
    const auto silent = [this] {
        EXPECT_EQ(host_file(), "(unset)");
        EXPECT_EQ(placed(), "(unset)");
        return !helper_ran();
    };
    set("SLURM_PACED_FABRIC_PLACED", "7 ordered ring n[1,3,2,4]");  // inherited
    set("SLURM_STEP_ID", "0");
    EXPECT_TRUE(silent()) << "inside a task";
    unsetenv("SLURM_STEP_ID");
    set("SLURM_JOB_NUM_NODES", "2");
    EXPECT_TRUE(silent()) << "two nodes";
    set("SLURM_JOB_NUM_NODES", "4");
    unsetenv("SLURM_PACED_FABRIC_ORDER");
    unsetenv("SLURM_PACED_FABRIC_MODE");
    EXPECT_TRUE(silent()) << "nobody asks, and there is no policy";
    set("PACED_FABRIC", "off");
    write("policy.toml", "schema = 1\n");
    EXPECT_TRUE(silent()) << "off";
    unsetenv("PACED_FABRIC");
    write("disabled", "");
    EXPECT_TRUE(silent()) << "the kill switch";
    std::filesystem::remove(folder / "disabled");
    setenv("SLURM_PACED_FABRIC_ORDER", "ring", 1);
    unsetenv("SLURM_JOB_ID");
    EXPECT_TRUE(silent()) << "outside a job";
    set("SLURM_JOB_ID", "7");
    EXPECT_EQ(host_file(), "n1 n3 n2 n4");
    EXPECT_TRUE(helper_ran());
}

TEST_F(Order, who_asks) {
    unsetenv("SLURM_PACED_FABRIC_ORDER");
    unsetenv("SLURM_PACED_FABRIC_MODE");
    set("PACED_FABRIC_ORDER", "ring");
    EXPECT_EQ(host_file(), "n1 n3 n2 n4");
    unsetenv("PACED_FABRIC_ORDER");
    set("SLURM_SPANK__SLURM_SPANK_OPTION_paced_fabric_paced_fabric", "(null)");
    EXPECT_EQ(host_file(), "n1 n3 n2 n4");
    unsetenv("SLURM_SPANK__SLURM_SPANK_OPTION_paced_fabric_paced_fabric");
    EXPECT_EQ(host_file(), "(unset)");
    write("policy.toml", "schema = 1\n");
    EXPECT_EQ(host_file(), "n1 n3 n2 n4");
    set("SLURM_STEP_ID", "4294967290");  // the shell of salloc
    EXPECT_EQ(host_file(), "n1 n3 n2 n4");
    // Who asked for nothing does not hear of a helper that is ill.
    set("PACED_FABRIC_FAKE_ORDER", "fail");
    EXPECT_EQ(host_file(), "(unset)");
    EXPECT_EQ(placed(), "(unset)");
}

// --- the task ---

class OrderInTask : public Order {
protected:
    std::map<std::string, std::string> task(const char* placed_text, bool active = true) {
        if (!active) write("disabled", "");
        start(S_CTX_REMOTE);
        fake.task = 0;
        fake_setenv("SLURM_DISTRIBUTION", "arbitrary");
        fake_setenv("SLURM_HOSTFILE", "f");
        if (placed_text != nullptr) fake_setenv("SLURM_PACED_FABRIC_PLACED", placed_text);
        call(plugin.init);
        call(plugin.task_init);
        return job_environment();
    }
};

TEST_F(OrderInTask, an_srun_inside_finds_nothing_of_ours) {
    const std::string long_list = "7 ordered ring " + std::string(10'000, 'n');
    for (const char* placed_text : {"7 ordered ring n[1,3,2,4]", long_list.c_str()}) {
        for (const bool active : {true, false}) {
            const auto environment = task(placed_text, active);
            EXPECT_EQ(environment.at("SLURM_DISTRIBUTION"), "cyclic");  // as srun says without a host file
            EXPECT_EQ(environment.count("SLURM_HOSTFILE"), 0U);
            EXPECT_EQ(environment.count("SLURM_PACED_FABRIC_PLACED"), 0U);
        }
    }
}

TEST_F(OrderInTask, several_tasks_on_a_node_are_a_block) {
    start(S_CTX_REMOTE);
    fake.task = 0;
    fake.tasks = 8;
    fake.nodes = 4;
    fake_setenv("SLURM_DISTRIBUTION", "arbitrary");
    fake_setenv("SLURM_PACED_FABRIC_PLACED", "7 ordered ring n[1,3,2,4]");
    call(plugin.init);
    call(plugin.task_init);
    EXPECT_EQ(job_environment().at("SLURM_DISTRIBUTION"), "block");
}

TEST_F(OrderInTask, what_is_the_users_stays) {
    for (const char* placed_text : {static_cast<const char*>(nullptr), "", "7 kept -m is an order of your own", "8 ordered ring n1", "71 ordered ring n1", "7 orderedring"}) {
        const auto environment = task(placed_text);
        EXPECT_EQ(environment.at("SLURM_DISTRIBUTION"), "arbitrary");
        EXPECT_EQ(environment.at("SLURM_HOSTFILE"), "f");
        EXPECT_EQ(environment.count("SLURM_PACED_FABRIC_PLACED"), 0U);
    }
}

TEST_F(OrderInTask, the_helper_on_the_node_is_told) {
    start(S_CTX_REMOTE);
    fake_setenv("PACED_FABRIC", "observe");
    fake_setenv("SLURM_PACED_FABRIC_PLACED", "7 ordered ring n[1,3,2,4]");
    fake_setenv("PACED_FABRIC_FAKE_SAY", "placed");
    call(plugin.init);
    call(plugin.init_post_opt);
    call(plugin.user_init);
    EXPECT_NE(log().find("fake: placed 7 ordered ring n[1,3,2,4]"), std::string::npos) << log();
}

}  // namespace
}  // namespace paced::test
