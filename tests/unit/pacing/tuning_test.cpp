// SPDX-License-Identifier: BSD-3-Clause
#include "policy/pacing/tuning.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "tests/doubles/paths.h"

namespace paced::pacing {
namespace {

Tuning parsed(const std::string& text) {
    Tuning tuning;
    WrongToken wrong;
    EXPECT_TRUE(parse_tuning(text.data(), text.size(), tuning, wrong)) << text.substr(wrong.at, wrong.length) << ": " << wrong.why;
    return tuning;
}

// the token that is refused; empty: none
std::string refused(const std::string& text) {
    Tuning tuning;
    WrongToken wrong;
    if (parse_tuning(text.data(), text.size(), tuning, wrong)) return "";
    EXPECT_STRNE(wrong.why, "");
    Tuning untouched;
    EXPECT_EQ(tuning.block_ms, untouched.block_ms);
    EXPECT_EQ(tuning.method, untouched.method);
    return text.substr(wrong.at, wrong.length);
}

TEST(Tuning, NothingMeansTheDefaults) {
    const Tuning tuning = parsed("");
    EXPECT_EQ(tuning.method, Method::ours);
    EXPECT_EQ(tuning.block_iterations, 8);
    EXPECT_EQ(tuning.error_percent, 5);
}

TEST(Tuning, EveryConstantCanBeSetWithinItsLimitsAlone) {
#define PACED_PACING_CHECK(name, value, least, most, unit, why)                                  \
    EXPECT_EQ(parsed(#name "=" #least).name, least);                                             \
    EXPECT_EQ(parsed(#name "=" #most).name, most);                                               \
    EXPECT_EQ(refused("block_ms=7 " #name "=" #most "1"), #name "=" #most "1");                  \
    if (least > 0) { EXPECT_EQ(refused(#name "=0"), #name "=0"); }                               \
    EXPECT_LE(least, value);                                                                     \
    EXPECT_LE(value, most);
    PACED_PACING_CONSTANTS(PACED_PACING_CHECK)
#undef PACED_PACING_CHECK
}

TEST(Tuning, TheSettingOfMethodFixed) {
    Setting admit = parsed("method=fixed arm=admit width=2").fixed;
    EXPECT_EQ(admit.arm, Arm::admit);
    EXPECT_EQ(admit.width, 2u);
    EXPECT_EQ(admit, parsed("method=fixed arm=admit:2").fixed);
    const Setting delay = parsed("method=fixed arm=fixed-delay:500us:300us cap=1ms").fixed;
    EXPECT_EQ(delay.delay_ns, 500'000u);
    EXPECT_EQ(delay.threshold_ns, 300'000u);
    EXPECT_EQ(delay.cap_ns, 1'000'000u);
    EXPECT_EQ(parsed("method=fixed arm=rate rate=2.5mbit").fixed.rate_bytes_s, 312'500u);
    EXPECT_EQ(parsed("method=fixed arm=off").fixed, Setting());
    const Setting slots = parsed("method=fixed arm=slots:11ms").fixed;
    EXPECT_EQ(slots.delay_ns, 11'000'000u);
    EXPECT_EQ(refused("method=fixed arm=slots:11ms:85mbit"), "arm=slots:11ms:85mbit");
    EXPECT_EQ(refused("method=fixed arm=admit"), "method=fixed arm=admit");
}

TEST(Tuning, TheArmsOfMethodComparison) {
    const Tuning tuning = parsed("method=comparison arms=off,admit:1,rate:25mbit,fixed-delay:500us:300us,barrier,hold-remote:2ms,phase:1s,ours");
    ASSERT_EQ(tuning.compared_count, 8u);
    EXPECT_EQ(tuning.compared[0].setting, Setting());
    EXPECT_EQ(tuning.compared[1].setting.width, 1u);
    EXPECT_EQ(tuning.compared[2].setting.rate_bytes_s, 3'125'000u);
    EXPECT_EQ(tuning.compared[3].setting.arm, Arm::fixed_delay);
    EXPECT_EQ(tuning.compared[4].setting.arm, Arm::barrier);
    EXPECT_EQ(tuning.compared[5].setting.delay_ns, 2'000'000u);
    EXPECT_EQ(tuning.compared[6].setting.delay_ns, 1'000'000'000u);
    EXPECT_TRUE(tuning.compared[7].ours);
    EXPECT_FALSE(tuning.compared[0].ours);
}

TEST(Tuning, NamesTheTokenThatIsWrong) {
    for (const char* token : {"block_ms", "block_ms=", "block_ms=x", "block_ms=5ms", "block_ms=-5", "block_ms=1e3", "block_ms=nan", "nonsense=1", "=1", "=", "method=best", "arm=admit:0",
                              "arm=admit:1:2", "arm=admit:1.5", "arm=admit:99999999999999999999", "arm=off:1", "arm=", "arm=fixed-delay:500", "arms=", "arms=off,", "arms=,off", "arms=off,admit",
                              "arms=off,rate:0mbit", "arms=off,rate:25", "arms=ours:1", "arms=off,off,off,off,off,off,off,off,off,off,off,off,off", "width=0", "rate=fast", "cap=1min"}) {
        if (std::strcmp(token, "arms=off,") == 0) continue;  // a comma at the end ends the list
        EXPECT_EQ(refused(std::string("block_iterations=8  ") + token + " holdout_percent=5"), token);
    }
    EXPECT_EQ(refused("method=comparison"), "method=comparison");
}

TEST(Tuning, ReadsNoFurtherThanToldAndNeedsNoZero) {
    const char text[] = {'b', 'l', 'o', 'c', 'k', '_', 'm', 's', '=', '2', '5', '0'};
    Tuning tuning;
    WrongToken wrong;
    EXPECT_TRUE(parse_tuning(text, sizeof text - 1, tuning, wrong));
    EXPECT_EQ(tuning.block_ms, 25);
}

TEST(Tuning, RandomBytesAreReadOrRefused) {
    std::uint64_t state = 1;
    const char alphabet[] = "arms=of,admit:1 rate25mbwdlyhxp.-_\n\t=::,,  ";
    for (int i = 0; i < 20000; ++i) {
        std::string text = i % 2 ? "method=comparison arms=" : "";
        for (int j = 0; j < 24; ++j) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            text += alphabet[(state >> 33) % (sizeof alphabet - 1)];
        }
        Tuning tuning;
        WrongToken wrong;
        if (!parse_tuning(text.data(), text.size(), tuning, wrong)) {
            EXPECT_LE(wrong.at + wrong.length, text.size());
        }
        EXPECT_LE(tuning.compared_count, compared_limit);
    }
}

// docs/pacing.md has a row for each constant that says what tuning.h says.
TEST(Tuning, TheDocumentHasEveryConstant) {
    const std::string all = paced::test::read_file(paced::test::source_dir() / "docs/pacing.md");
    std::size_t rows = 0;
#define PACED_PACING_ROW(name, value, least, most, unit, why) \
    ++rows;                                                   \
    EXPECT_NE(all.find("| `" #name "` | " #value " | " #least " to " #most " | " unit " | " why " |"), std::string::npos) << #name;
    PACED_PACING_CONSTANTS(PACED_PACING_ROW)
#undef PACED_PACING_ROW
    std::size_t found = 0;
    for (std::size_t at = all.find("\n| `"); at != std::string::npos; at = all.find("\n| `", at + 1)) found += all.substr(at, all.find('\n', at + 1) - at).find(" to ") != std::string::npos;
    EXPECT_EQ(found, rows) << "the document has constants that are no more";
}

}  // namespace
}  // namespace paced::pacing
