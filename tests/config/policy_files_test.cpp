// SPDX-License-Identifier: BSD-3-Clause
// valid/*.toml and every policy below etc/ load without a word. invalid/*.toml give exactly the text of their .expected
// file, and so do files of valid/ that have one (warnings).
#include "policy/io/toml_policy.h"
#include "tests/config/said_of_files.h"

namespace paced {
namespace {

class PolicyFile : public testing::TestWithParam<std::filesystem::path> {
protected:
    // The diagnostics of the file, which is called by its plain name in them.
    Diagnostics diagnostics() const {
        Diagnostics found;
        const config::SitePolicy policy = io::parse_site_policy(test::read_file(GetParam()), GetParam().filename().string(), found);
        EXPECT_EQ(policy.file, GetParam().filename().string());
        return found;
    }
};

using ValidPolicyFile = PolicyFile;
using InvalidPolicyFile = PolicyFile;

TEST_P(ValidPolicyFile, LoadsAndSaysWhatIsExpected) {
    const Diagnostics found = diagnostics();
    EXPECT_FALSE(found.has_errors());
    test::expect_said(GetParam(), format(found));
}

TEST_P(InvalidPolicyFile, IsRefusedWithTheExpectedWords) {
    const Diagnostics found = diagnostics();
    EXPECT_TRUE(found.has_errors());
    test::expect_said(GetParam(), format(found));
}

INSTANTIATE_TEST_SUITE_P(Own, ValidPolicyFile, testing::ValuesIn(test::toml_files_in("tests/config/valid")), test::name_of_file);
INSTANTIATE_TEST_SUITE_P(Own, InvalidPolicyFile, testing::ValuesIn(test::toml_files_in("tests/config/invalid")), test::name_of_file);
INSTANTIATE_TEST_SUITE_P(Shipped, ValidPolicyFile, testing::ValuesIn(test::toml_files_in("etc")), test::name_of_file);
INSTANTIATE_TEST_SUITE_P(Example, ValidPolicyFile, testing::ValuesIn(test::toml_files_in("etc/policies")), test::name_of_file);

}  // namespace
}  // namespace paced
