// SPDX-License-Identifier: BSD-3-Clause
// Runs a program with an environment of its own and keeps what it says.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace paced::test {

struct Said {
    int code = -1;
    std::string out, err;
};

// stdout and stderr of a program; environment is all that it gets.
Said run(const std::vector<std::string>& command, const std::map<std::string, std::string>& environment,
         const std::filesystem::path& folder = "/");

// A folder below the system's for temporary files, gone at the end.
class Folder {
public:
    Folder();
    ~Folder();
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    const std::filesystem::path& path() const { return path_; }
    std::filesystem::path write(const std::string& name, const std::string& text) const;

private:
    std::filesystem::path path_;
};

// Every `what` in text becomes `with`: paths that differ between runs.
std::string replaced(std::string text, const std::string& what, const std::string& with);

}  // namespace paced::test
