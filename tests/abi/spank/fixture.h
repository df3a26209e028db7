// SPDX-License-Identifier: BSD-3-Clause
// The plugin loaded into this process, with a folder of its own for policy and helper programs.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <slurm/spank.h>
#include <unistd.h>

#include "tests/doubles/fake_spank.h"
#include "tests/doubles/paths.h"

namespace paced::test {

class Spank : public testing::Test {
protected:
    void SetUp() override {
        char name[] = "/tmp/paced-spank-XXXXXX";
        ASSERT_NE(mkdtemp(name), nullptr);
        folder = name;
        std::filesystem::permissions(folder, std::filesystem::perms(0755));
        std::filesystem::copy(source_dir() / "tests/doubles/helper", folder / "bin");
        std::filesystem::remove_all(SNAPSHOT_FOLDER);
        for (char** variable = environ; *variable != nullptr; ++variable) {
            const std::string line = *variable;
            if (line.find("PACED_FABRIC") != std::string::npos || line.find("SLURM_") == 0) strays.push_back(line.substr(0, line.find('=')));
        }
        for (const std::string& stray : strays) unsetenv(stray.c_str());
        words = {"config=" + (folder / "policy.toml").string(), "helper_dir=" + (folder / "bin").string()};
        ASSERT_TRUE(fake_load(&plugin, TESTED_PLUGIN));
    }
    void TearDown() override {
        fake_unload(&plugin);
        std::filesystem::remove_all(folder);
        std::filesystem::remove_all(SNAPSHOT_FOLDER);
    }

    // A new process: the plugin has forgotten everything.
    void start(int context) {
        fake_unload(&plugin);
        ASSERT_TRUE(fake_load(&plugin, TESTED_PLUGIN));
        fake_reset(context);
    }
    int call(int (*callback)(void*, int, char**)) {
        std::vector<char*> pointers;
        for (std::string& word : words) pointers.push_back(word.data());
        return callback(nullptr, static_cast<int>(words.size()), pointers.data());
    }
    static int option(const std::string& name, const char* value, int remote) {
        for (int i = 0; i < fake.option_count; ++i) {
            if (fake.options[i]->name == name) return fake_option(i, value, remote);
        }
        ADD_FAILURE() << "no option " << name;
        return 0;
    }
    static std::string log() { return fake.log; }
    static std::map<std::string, std::string> job_environment() {
        std::map<std::string, std::string> all;
        for (char** variable = fake.environment; variable != nullptr && *variable != nullptr; ++variable) {
            const std::string line = *variable;
            all[line.substr(0, line.find('='))] = line.substr(line.find('=') + 1);
        }
        return all;
    }
    void write(const std::string& name, const std::string& text) const { std::ofstream(folder / name) << text; }

    fake_plugin plugin{};
    std::filesystem::path folder;
    std::vector<std::string> words, strays;
};

inline std::string variable(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "(unset)" : value;
}

}  // namespace paced::test
