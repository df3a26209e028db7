// SPDX-License-Identifier: BSD-3-Clause
// Where tests find files. Others' recordings may be missing: a test that reads them then skips by name,
//   const auto file = paced::test::others_data("topologies/hwloc/x.xml");
//   if (!file) GTEST_SKIP() << "topologies/hwloc/x.xml is not there";
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

namespace paced::test {

inline std::filesystem::path source_dir() { return PACED_FABRIC_SOURCE_DIR; }
inline std::filesystem::path bin_dir() { return PACED_FABRIC_BIN_DIR; }
inline std::filesystem::path lib_dir() { return PACED_FABRIC_LIB_DIR; }
// our own small fixtures
inline std::filesystem::path data(std::string_view name) { return source_dir() / "tests/data" / name; }

// The environment wins over what the build was configured with.
inline std::optional<std::filesystem::path> others_data(std::string_view name) {
    const char* root = std::getenv("PACED_FABRIC_TEST_DATA");
    const std::filesystem::path file = std::filesystem::path(root != nullptr ? root : PACED_FABRIC_TEST_DATA) / name;
    if (!std::filesystem::exists(file)) return std::nullopt;
    return file;
}

inline std::string read_file(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace paced::test
