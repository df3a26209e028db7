// SPDX-License-Identifier: BSD-3-Clause
// `paced report`
#include <gtest/gtest.h>

#include "tests/doubles/paths.h"
#include "tests/helper/helper_run.h"

namespace paced::test {
namespace {

const std::string paced = bin_dir() / "paced";
const std::string good = source_dir() / "tests/unit/report/golden/straggler.json";

TEST(ReportCommand, ShowsPlanAndMeasurement) {
    const Said said = run({paced, "report", good}, {});
    EXPECT_EQ(said.code, 0);
    EXPECT_EQ(said.err, "");
    EXPECT_TRUE(said.out.starts_with("paced-fabric: job 42.0, 8 tasks on 8 nodes n[1-8]: observe (flag --paced-fabric)\n")) << said.out;
    EXPECT_NE(said.out.find("\npaced-fabric: job 42.0, 8 ranks on 8 nodes, 5.09 s: what was measured\n"), std::string::npos) << said.out;
    EXPECT_NE(said.out.find("\n  straggler   rank 5 on n6 arrives last in 100% of the late collectives"), std::string::npos) << said.out;
}

TEST(ReportCommand, PrintsJsonAgain) {
    EXPECT_EQ(run({paced, "report", "--json", good}, {}).out, read_file(good));
    const std::string both = run({paced, "report", "--json", good, good}, {}).out;
    EXPECT_EQ(both, "[\n" + read_file(good) + ",\n" + read_file(good) + "]\n");
}

TEST(ReportCommand, WrongFilesAreTold) {
    const Folder folder;
    const std::string wrong = folder.write("wrong.json", "{\"schema\": \"paced-fabric-report/9\"}");
    const Said refused = run({paced, "report", wrong, good}, {});
    EXPECT_EQ(refused.code, 1);
    EXPECT_EQ(refused.err, wrong + ": error: schema 'paced-fabric-report/9' is not known here; this program reads 'paced-fabric-report/1'\n");
    EXPECT_NE(refused.out, "");
    const Said missing = run({paced, "report", "/nowhere.json"}, {});
    EXPECT_EQ(missing.code, 3);
    EXPECT_EQ(missing.err, "error: cannot read /nowhere.json: No such file or directory\n");
    EXPECT_EQ(run({paced, "report"}, {}).code, 2);
}

}  // namespace
}  // namespace paced::test
