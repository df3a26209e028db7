// SPDX-License-Identifier: BSD-3-Clause
#include "tests/helper/helper_run.h"

#include <cstdlib>
#include <fstream>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/doubles/paths.h"

namespace paced::test {

Said run(const std::vector<std::string>& command, const std::map<std::string, std::string>& environment, const std::filesystem::path& folder) {
    const Folder outputs;
    const std::string out = outputs.path() / "out", err = outputs.path() / "err";
    std::vector<std::string> variables;
    for (const auto& [name, value] : environment) variables.push_back(name + '=' + value);
    std::vector<char*> arguments, pairs;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    for (const std::string& variable : variables) pairs.push_back(const_cast<char*>(variable.c_str()));
    arguments.push_back(nullptr);
    pairs.push_back(nullptr);

    const pid_t pid = fork();
    if (pid == 0) {
        const int input = open("/dev/null", O_RDONLY);
        const int output = open(out.c_str(), O_WRONLY | O_CREAT, 0600), errors = open(err.c_str(), O_WRONLY | O_CREAT, 0600);
        dup2(input, 0);
        dup2(output, 1);
        dup2(errors, 2);
        if (chdir(folder.c_str()) == 0) execve(arguments[0], arguments.data(), pairs.data());
        _exit(127);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_file(out), read_file(err)};
}

Folder::Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "paced-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
}

Folder::~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path Folder::write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return path_ / name;
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) text.replace(at, what.size(), with);
    return text;
}

}  // namespace paced::test
