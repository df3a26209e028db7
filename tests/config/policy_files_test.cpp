// SPDX-License-Identifier: BSD-3-Clause
// valid/*.toml and everything below etc/ load without a word. invalid/*.toml give exactly the text of their .expected
// file, and so do files of valid/ that have one (warnings).
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include <gtest/gtest.h>

#include "policy/io/toml_policy.h"
#include "tests/doubles/paths.h"

namespace paced {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> policies_in(const char* folder) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(test::source_dir() / folder))
        if (entry.path().extension() == ".toml") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

class PolicyFile : public testing::TestWithParam<fs::path> {
protected:
    // The diagnostics of the file, which is called by its plain name in them.
    Diagnostics diagnostics() const {
        Diagnostics found;
        const config::SitePolicy policy = io::parse_site_policy(test::read_file(GetParam()), GetParam().filename().string(), found);
        EXPECT_EQ(policy.file, GetParam().filename().string());
        return found;
    }

    void expect(const std::string& text) const {
        const fs::path expected = fs::path(GetParam()).replace_extension(".expected");
        if (std::getenv("UPDATE_GOLDEN") != nullptr && (!text.empty() || fs::exists(expected))) std::ofstream(expected) << text;
        EXPECT_EQ(text, fs::exists(expected) ? test::read_file(expected) : "");
    }
};

using ValidPolicyFile = PolicyFile;
using InvalidPolicyFile = PolicyFile;

TEST_P(ValidPolicyFile, LoadsAndSaysWhatIsExpected) {
    const Diagnostics found = diagnostics();
    EXPECT_FALSE(found.has_errors());
    expect(format(found));
}

TEST_P(InvalidPolicyFile, IsRefusedWithTheExpectedWords) {
    const Diagnostics found = diagnostics();
    EXPECT_TRUE(found.has_errors());
    expect(format(found));
}

std::string name_of(const testing::TestParamInfo<fs::path>& info) {
    std::string name = info.param.stem().string();
    std::replace_if(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(Own, ValidPolicyFile, testing::ValuesIn(policies_in("tests/config/valid")), name_of);
INSTANTIATE_TEST_SUITE_P(Own, InvalidPolicyFile, testing::ValuesIn(policies_in("tests/config/invalid")), name_of);
INSTANTIATE_TEST_SUITE_P(Shipped, ValidPolicyFile, testing::ValuesIn(policies_in("etc")), name_of);
INSTANTIATE_TEST_SUITE_P(Example, ValidPolicyFile, testing::ValuesIn(policies_in("etc/policies")), name_of);

}  // namespace
}  // namespace paced
