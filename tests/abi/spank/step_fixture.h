// SPDX-License-Identifier: BSD-3-Clause
// The plugin inside slurmstepd: the start of a step, its tasks, its end.
#pragma once

#include <sys/wait.h>

#include "tests/abi/spank/fixture.h"

namespace paced::test {

using Variables = std::map<std::string, std::string>;

class Step : public Spank {
protected:
    void SetUp() override {
        Spank::SetUp();
        begin();
    }
    void begin() {
        start(S_CTX_REMOTE);
        fake_setenv("SLURM_TOPOLOGY_ADDR", "spine.leaf1.n3");
    }
    // From init to user_init, with this flag where it is not nullptr.
    void launch(const char* mode = "observe") {
        EXPECT_EQ(call(plugin.init), 0);
        if (mode != nullptr) {
            EXPECT_EQ(option("paced-fabric", mode, 1), 0);
        }
        EXPECT_EQ(call(plugin.init_post_opt), 0);
        EXPECT_EQ(call(plugin.user_init), 0);
    }
    // One task, in a process of its own as in Slurm; what its environment has become.
    Variables task(int id) {
        int ends[2];
        EXPECT_EQ(pipe(ends), 0);
        const pid_t pid = fork();
        if (pid == 0) {
            fake.task = id;
            fake.log[0] = '\0';
            bool good = call(plugin.task_init) == 0;
            for (char** line = fake.environment; *line != nullptr; ++line) good = good && dprintf(ends[1], "%s", *line) >= 0 && ::write(ends[1], "", 1) == 1;
            dprintf(ends[1], "LOG=%s", fake.log);
            good = ::write(ends[1], "", 1) == 1 && good;
            _exit(good ? 0 : 1);
        }
        close(ends[1]);
        std::string text;
        char buffer[4096];
        for (ssize_t got; (got = read(ends[0], buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(got));
        close(ends[0]);
        int status = -1;
        waitpid(pid, &status, 0);
        EXPECT_EQ(status, 0);
        Variables all;
        for (std::size_t at = 0; at < text.size();) {
            const std::string line = text.c_str() + at;
            all[line.substr(0, line.find('='))] = line.substr(line.find('=') + 1);
            at += line.size() + 1;
        }
        return all;
    }
    void finish() {
        for (std::uint32_t i = 0; i < fake.local_tasks; ++i) EXPECT_EQ(call(plugin.task_exit), 0);
        EXPECT_EQ(call(plugin.exit), 0);
    }
    std::string first_line() const { return log().substr(0, log().find('\n')); }
};

}  // namespace paced::test
