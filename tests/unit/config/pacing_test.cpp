// SPDX-License-Identifier: BSD-3-Clause
#include "policy/config/pacing.h"

#include <cctype>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "policy/base/text.h"
#include "policy/config/site_policy.h"
#include "tests/doubles/paths.h"

namespace paced::config {
namespace {

// A default that no file could write would be a trap.
TEST(PacingConstants, DefaultsLieWithinTheirLimits) {
    std::set<std::string_view> names;
    for (const PacingConstant& constant : pacing_constants) {
        EXPECT_TRUE(names.insert(constant.name).second) << constant.name;
        EXPECT_LE(constant.least, constant.standard) << constant.name;
        EXPECT_LE(constant.standard, constant.most) << constant.name;
        EXPECT_EQ(pacing::Tuning{}.*constant.value, constant.standard) << constant.name;
        EXPECT_FALSE(constant.unit.empty() || constant.why.empty()) << constant.name;
    }
    for (const auto& [lower, upper] : pacing_orders) {
        ASSERT_NE(find_pacing_constant(lower), nullptr) << lower;
        ASSERT_NE(find_pacing_constant(upper), nullptr) << upper;
        EXPECT_LE(find_pacing_constant(lower)->standard, find_pacing_constant(upper)->standard);
    }
}

// What etc/policy.toml says of one constant: why, limits and unit, then its line, commented out.
std::string shown(const PacingConstant& constant) {
    std::string words(constant.why);
    words[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(words[0])));
    words += ". From " + number_text(constant.least) + " to " + number_text(constant.most) + " (" + std::string(constant.unit) + ").";
    std::string text = "#\n", line = "#";
    for (std::string_view word : split(words, ' ')) {
        if (line.size() + 1 + word.size() > 118) text += std::exchange(line, "#") + '\n';
        line.append(" ").append(word);
    }
    return text + line + "\n# " + std::string(constant.name) + " = " + number_text(constant.standard) + '\n';
}

// etc/policy.toml shows every constant in the order of tuning.h. UPDATE_GOLDEN=1 writes them there.
TEST(PacingConstants, TheShippedPolicyShowsEachOfThem) {
    const auto file = test::source_dir() / "etc/policy.toml";
    std::string text = test::read_file(file);
    const std::string before = "no delay passes [limits] window_max.\n", after = "#\n# For benchmarks alone:";
    const std::size_t begin = text.find(before), end = text.find(after);
    ASSERT_NE(begin, std::string::npos);
    ASSERT_NE(end, std::string::npos);
    const std::size_t from = begin + before.size();
    std::string wanted;
    for (const PacingConstant& constant : pacing_constants) wanted += shown(constant);
    EXPECT_EQ(text.substr(from, end - from), wanted);
    if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(file, std::ios::binary) << text.replace(from, end - from, wanted);
}

TEST(PacingText, HoldsWhatDiffersAlone) {
    Limits limits;
    limits.exploration_max_percent.value = 5;
    Pacing pacing;
    EXPECT_EQ(pacing_text(pacing, limits), "");
    pacing.tuning.method = pacing::Method::comparison;
    pacing.arms = "off,admit:1,rate:25mbit";
    pacing.tuning.least_pairs = 6;
    pacing.tuning.block_iterations = 16;
    pacing.tuning.disengage_percent = 0.1;
    EXPECT_EQ(pacing_text(pacing, limits), "method=comparison arms=off,admit:1,rate:25mbit block_iterations=16 disengage_percent=0.1 least_pairs=6");
    pacing.tuning.block_iterations = 8;  // as built in, though the file says so
    EXPECT_EQ(pacing_text(pacing, limits), "method=comparison arms=off,admit:1,rate:25mbit disengage_percent=0.1 least_pairs=6");
}

TEST(PacingText, TheFixedArmHasItsOwnName) {
    Pacing pacing;
    Limits limits;
    pacing.tuning.method = pacing::Method::fixed;
    pacing.arm = "admit:1";
    limits.exploration_max_percent.value = 100;
    EXPECT_EQ(pacing_text(pacing, limits), "method=fixed arm=admit:1");
}

// The other end of the text: the law's own parser.
TEST(PacingText, TheLawReadsWhatIsSent) {
    Pacing pacing;
    Limits limits;
    pacing.tuning.method = pacing::Method::comparison;
    pacing.arms = "off,admit:1,slots:10ms,rate:25mbit,fixed-delay:500us:300us,barrier,ours";
    for (const PacingConstant& constant : pacing_constants)  // each at another value than its own
        pacing.tuning.*constant.value = constant.standard == constant.most ? constant.least : constant.most;
    const std::string text = pacing_text(pacing, limits);
    EXPECT_LE(text.size(), pacing_text_longest);
    pacing::Tuning read;
    pacing::WrongToken wrong;
    ASSERT_TRUE(parse_tuning(text.data(), text.size(), read, wrong)) << text.substr(wrong.at, wrong.length) << ": " << wrong.why;
    const pacing::Tuning sent = tuning_within(pacing, limits);
    for (const PacingConstant& constant : pacing_constants) EXPECT_EQ(read.*constant.value, sent.*constant.value) << constant.name;
    EXPECT_EQ(read.method, pacing::Method::comparison);
    EXPECT_EQ(read.compared_count, 7u);
}

TEST(PacingText, ExperimentsCostNoMoreThanTheLimit) {
    Pacing pacing;
    Limits limits;
    limits.exploration_max_percent.value = 0;
    EXPECT_EQ(tuning_within(pacing, limits).exploration_percent, 0);
    EXPECT_EQ(pacing_text(pacing, limits), "exploration_percent=0");
    limits.exploration_max_percent.value = 0.25;
    pacing.tuning.exploration_percent = 0.125;
    EXPECT_EQ(pacing_text(pacing, limits), "exploration_percent=0.125");
}

TEST(PacingText, NumbersReadBackAsTheyWere) {
    for (double value : {0.1, 1.0 / 3, 65536.0, 1e-9, 0.25, std::numeric_limits<double>::max()}) EXPECT_EQ(std::stod(number_text(value)), value);
    EXPECT_EQ(number_text(0), "0");
    EXPECT_EQ(number_text(65536), "65536");
    EXPECT_EQ(number_text(1e6), "1000000");
}

TEST(PacingArms, OneArmIsOne) {
    EXPECT_EQ(parse_arm("slots:10ms").value(), "slots:10ms");
    EXPECT_FALSE(parse_arm("off,admit:1"));
    EXPECT_FALSE(parse_arm("ours")) << "a fixed setting is one that stands from the start";
}

TEST(PacingArms, EachWordIsKnown) {
    EXPECT_EQ(parse_arms("off,hold-local,hold-remote:1ms,admit:2,rate:25mbit,phase:3ms,fixed-delay:500us:300us,barrier,ours").value(),
              "off,hold-local,hold-remote:1ms,admit:2,rate:25mbit,phase:3ms,fixed-delay:500us:300us,barrier,ours");
    for (const char* wrong : {"", "off,", "of", "admit 1", "off;admit:1", "rate:25 mbit", "admit:1\n", "OFF"}) EXPECT_FALSE(parse_arms(wrong)) << wrong;
    EXPECT_EQ(parse_arms("barier").error().hints.front(), "did you mean 'barrier'?");
    EXPECT_FALSE(parse_arms(join(std::vector<std::string>(200, "off"), ",")));
}

}  // namespace
}  // namespace paced::config
