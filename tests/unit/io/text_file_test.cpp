// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/text_file.h"

#include <sys/stat.h>

#include <gtest/gtest.h>

#include "tests/doubles/temporary_folder.h"

namespace paced::io {
namespace {

TEST(TextFile, ReadsWhatIsThere) {
    const test::TemporaryFolder folder;
    EXPECT_EQ(*read_text_file(folder.write("empty", "")), "");
    const std::string large(100'000, 'x');
    EXPECT_EQ(*read_text_file(folder.write("large", large)), large);
    EXPECT_EQ(*read_text_file(folder.write("nul", std::string_view("a\0b", 3))), std::string("a\0b", 3));
    EXPECT_NE(read_text_file("/proc/self/status")->find("Name:"), std::string::npos);  // its size is said to be 0
}

TEST(TextFile, SaysWhyNot) {
    const test::TemporaryFolder folder;
    const auto message = [](const std::string& path, std::size_t most) {
        const auto text = read_text_file(path, most);
        return text ? std::string("read") : text.error().message;
    };
    const std::string path = folder.path().string();
    EXPECT_EQ(message(path + "/none", 100), "cannot read " + path + "/none: No such file or directory");
    EXPECT_EQ(message(path, 100), "cannot read " + path + ": Is a directory");
    ASSERT_EQ(mkfifo((path + "/fifo").c_str(), 0600), 0);
    EXPECT_EQ(message(path + "/fifo", 100), "cannot read " + path + "/fifo: it is not a regular file");  // and does not wait for a writer
    const std::string large = folder.write("large", std::string((1 << 20) + 1, 'x'));
    EXPECT_EQ(message(large, 1 << 20), "cannot read " + large + ": it is larger than 1 MiB");
}

}  // namespace
}  // namespace paced::io
