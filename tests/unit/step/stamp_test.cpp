// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/step_stamp.h"

#include <map>
#include <string>

#include <gtest/gtest.h>

namespace paced::step {
namespace {

std::map<std::string, std::string> variables;
const char* from_variables(const char* name) {
    const auto found = variables.find(name);
    return found != variables.end() ? found->second.c_str() : nullptr;
}

struct Case {
    std::string stamp;
    std::map<std::string, std::string> environment;
    bool holds;
};

TEST(Stamp, HoldsForItsOwnStepAlone) {
    const std::string own = std::to_string(getpid()), parent = std::to_string(getppid());
    int sockets[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    const Case cases[] = {
        {"slurm:12.0", {{"SLURM_JOB_ID", "12"}, {"SLURM_STEP_ID", "0"}}, true},
        {"slurm:12.0", {{"SLURM_JOB_ID", "12"}, {"SLURM_STEP_ID", "1"}}, false},   // a nested srun
        {"slurm:12.0", {{"SLURM_JOB_ID", "1"}, {"SLURM_STEP_ID", "0"}}, false},    // a prefix
        {"slurm:12.0", {{"SLURM_JOB_ID", "120"}, {"SLURM_STEP_ID", "0"}}, false},
        {"slurm:12.0", {{"SLURM_JOB_ID", "12"}}, false},                           // a job script
        {"slurm:12.0", {{"SLURM_JOB_ID", "12.0"}, {"SLURM_STEP_ID", ""}}, false},
        {"slurm:", {{"SLURM_JOB_ID", ""}, {"SLURM_STEP_ID", ""}}, false},
        {"slurm:12", {{"SLURM_JOB_ID", "12"}, {"SLURM_STEP_ID", ""}}, false},
        {"pmix:77", {{"PMIX_NAMESPACE", "77"}}, true},
        {"pmix:77", {{"PMIX_NAMESPACE", "78"}}, false},
        {"pmix:77", {}, false},
        {"pmix:", {{"PMIX_NAMESPACE", ""}}, false},
        {"torch:run", {{"TORCHELASTIC_RUN_ID", "run"}}, true},
        {"torch:run", {{"TORCHELASTIC_RUN_ID", "other"}}, false},
        {"pmi:job.1", {{"PMI_JOBID", "job.1"}}, true},
        {"pmi:job.1", {{"PMI_JOBID", "other"}}, false},
        {"pmi:" + own, {{"PMI_FD", std::to_string(sockets[0])}}, true},      // who made the socket pair is Hydra's proxy
        {"pmi:" + parent, {{"PMI_FD", std::to_string(sockets[0])}}, false},  // an mpiexec around this one
        {"pmi:" + parent, {{"PMI_FD", "9999"}}, true},                       // closed meanwhile: the parent
        {"pmi:" + parent, {}, false},                                        // not a rank of Hydra's
        {"pmi:999999999", {{"PMI_FD", "9999"}}, false},
        {"pmi:", {{"PMI_FD", "9999"}}, false},
        {"alone:" + own, {}, true},
        {"alone:" + parent, {}, true},                       // a child
        {"alone:999999999", {}, false},
        {"alone:1", {}, false},
        {"alone:", {}, false},
        {"", {}, false},
        {"slurm", {{"SLURM_JOB_ID", "12"}, {"SLURM_STEP_ID", "0"}}, false},
        {"other:12", {}, false},
    };
    for (const Case& c : cases) {
        variables = c.environment;
        EXPECT_EQ(stamp_holds(c.stamp.c_str(), from_variables), c.holds) << c.stamp;
    }
    EXPECT_FALSE(stamp_holds(nullptr, from_variables));
}

}  // namespace
}  // namespace paced::step
