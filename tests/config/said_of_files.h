// SPDX-License-Identifier: BSD-3-Clause
// What a reader says of each *.toml of a folder, held against the .expected file beside it; no such file: it says nothing.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/doubles/paths.h"

namespace paced::test {

inline std::vector<std::filesystem::path> toml_files_in(const char* folder) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(source_dir() / folder))
        if (entry.path().extension() == ".toml") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

inline void expect_said(const std::filesystem::path& file, const std::string& text) {
    const auto expected = std::filesystem::path(file).replace_extension(".expected");
    if (std::getenv("UPDATE_GOLDEN") != nullptr && (!text.empty() || std::filesystem::exists(expected))) std::ofstream(expected) << text;
    EXPECT_EQ(text, std::filesystem::exists(expected) ? read_file(expected) : "");
}

inline std::string name_of_file(const testing::TestParamInfo<std::filesystem::path>& info) {
    std::string name = info.param.stem().string();
    std::replace_if(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
    return name;
}

}  // namespace paced::test
