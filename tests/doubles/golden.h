// SPDX-License-Identifier: BSD-3-Clause
// Golden files: what a program is known to print. UPDATE_GOLDEN=1 rewrites them; a person then looks at the difference.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "tests/doubles/paths.h"

namespace paced::test {

inline void expect_golden(const std::string& text, const std::filesystem::path& file) {
    const char* update = std::getenv("UPDATE_GOLDEN");
    if (update != nullptr && std::string(update) == "1") std::ofstream(file, std::ios::binary) << text;
    ASSERT_TRUE(std::filesystem::exists(file)) << file << " is missing; UPDATE_GOLDEN=1 writes it";
    EXPECT_EQ(text, read_file(file)) << "where this is meant, UPDATE_GOLDEN=1 rewrites " << file;
}

}  // namespace paced::test
