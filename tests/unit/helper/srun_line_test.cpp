// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/helper/srun_line.h"

#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace paced::helper {
namespace {

std::vector<std::string> words_of(const std::string& line) {
    std::istringstream in(line);
    std::vector<std::string> words{"srun"};
    for (std::string word; in >> word;) words.push_back(word);
    return words;
}

// "nodes=4 label | prog", "! problem", "… : " behind the program of a heterogeneous step
std::string read(const std::string& line) {
    const SrunLine parsed = parse_srun_line(words_of(line));
    if (!parsed.problem.empty()) return "! " + parsed.problem;
    std::string text;
    for (const SrunLine::Given& given : parsed.options) {
        text += given.option->name;
        if (given.value) text += '=' + *given.value;
        text += ' ';
    }
    return text + "| " + parsed.program + (parsed.heterogeneous ? " :" : "");
}

struct Row {
    const char* line;
    const char* read;
};

TEST(srun_line, is_read_as_srun_reads_it) {
    const Row rows[] = {
        {"", "| "},
        {"prog", "| prog"},
        {"./prog -n 4 --nodes=2", "| ./prog"},
        {"-n8 prog", "ntasks=8 | prog"},
        {"-n 8 prog", "ntasks=8 | prog"},
        {"--ntasks=8 prog", "ntasks=8 | prog"},
        {"--ntasks 8 prog", "ntasks=8 | prog"},
        {"-lN4 prog", "label nodes=4 | prog"},
        {"-lN 4 prog", "label nodes=4 | prog"},
        {"-lQu prog", "label quiet unbuffered | prog"},
        {"-N4 -n8 -c2 prog", "nodes=4 ntasks=8 cpus-per-task=2 | prog"},
        {"-n=8 prog", "ntasks==8 | prog"},  // srun takes "=8" too, and then says that it is no number
        {"-I prog", "immediate | prog"},
        {"-I10 prog", "immediate=10 | prog"},
        {"-K prog", "kill-on-bad-exit | prog"},
        {"-K1 prog", "kill-on-bad-exit=1 | prog"},
        {"-lK prog", "label kill-on-bad-exit | prog"},
        {"--kill-on-bad-exit prog", "kill-on-bad-exit | prog"},
        {"--kill-on-bad-exit=1 prog", "kill-on-bad-exit=1 | prog"},
        {"--exclusive prog", "exclusive | prog"},
        {"--mpi=pmix prog", "mpi=pmix | prog"},
        {"--mpi pmix prog", "mpi=pmix | prog"},
        {"--paced-fabric prog", "paced-fabric | prog"},
        {"--paced-fabric pace", "paced-fabric | pace"},
        {"--paced-fabric=pace prog", "paced-fabric=pace | prog"},
        {"--paced-fabric-order ring prog", "paced-fabric-order=ring | prog"},
        {"--paced-fabric-o ring prog", "paced-fabric-order=ring | prog"},
        {"--ntasks-per-n 2 prog", "ntasks-per-node=2 | prog"},
        {"--dist=cyclic prog", "distribution=cyclic | prog"},
        {"--nodel n1 prog", "nodelist=n1 | prog"},
        {"--lab prog", "label | prog"},
        {"-- -prog", "| -prog"},
        {"-n4 -- --nodes=4", "ntasks=4 | --nodes=4"},
        {"- -n4", "| -"},
        {"-o out.txt -e err.txt -i none prog x", "output=out.txt error=err.txt input=none | prog"},
        {"--output=a=b prog", "output=a=b | prog"},
        {"-w n1,n2 prog", "nodelist=n1,n2 | prog"},
        {"-n 4 prog : -n 2 other", "ntasks=4 | prog :"},
        {"prog a : b", "| prog :"},
        {"prog a:b", "| prog"},
        {"--export=ALL,A=1 prog", "export=ALL,A=1 | prog"},
        {"--container-image=a:b --container-mounts /x prog", "container-image=a:b container-mounts=/x | prog"},
        {"-vvv -n2 prog", "verbose verbose verbose ntasks=2 | prog"},
        {"--pty bash", "pty | bash"},
        {"-n", "! -n lacks its value"},
        {"-ln", "! -n lacks its value"},
        {"--ntasks", "! --ntasks lacks its value"},
        {"--label=1 prog", "! --label takes no value"},
        {"--no-such prog", "! --no-such is an option not known here"},
        {"--no-such=1 prog", "! --no-such is an option not known here"},
        {"--ntasks-per prog", "! --ntasks-per can mean several options"},
        {"--n=4 prog", "! --n can mean several options"},
        {"-y prog", "! -y is an option not known here"},
        {"-ly prog", "! -y is an option not known here"},
    };
    for (const Row& row : rows) EXPECT_EQ(read(row.line), row.read) << row.line;
}

TEST(srun_line, no_option_stands_twice_in_the_table) {
    std::set<std::string_view> names;
    std::set<char> letters;
    for (const SrunOption& option : srun_options()) {
        EXPECT_TRUE(names.insert(option.name).second) << option.name;
        EXPECT_TRUE(option.letter == 0 || letters.insert(option.letter).second) << option.name;
        const bool says_more = option.role == SrunOption::Role::refused || option.role == SrunOption::Role::as_in_job;
        EXPECT_EQ(option.about.empty(), !says_more) << option.name;
    }
}

}  // namespace
}  // namespace paced::helper
