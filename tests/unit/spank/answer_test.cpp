// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plugin/spank/answer.h"

namespace paced::spank {
namespace {

struct Parsed {
    std::string text;
    Answer answer;
    const char* refusal = nullptr;

    explicit Parsed(std::string whole, Answer::Form form = Answer::Form::step) : text(std::move(whole)) {
        const std::size_t size = text.size();
        text.push_back('x');  // the byte behind the answer is the parser's to write
        refusal = answer.parse(text.data(), size, form);
    }
    std::vector<std::string> lines() const {
        std::vector<std::string> all;
        AnswerLine line;
        for (std::size_t position = 0; answer.next(position, line);) {
            using Kind = AnswerLine::Kind;
            const std::string name = line.name.c_str(), text_of_line = line.text == nullptr ? "" : line.text, task(line.tasks);
            const std::string device = std::string(line.variable.c_str()) + "=" + std::string(line.entry);
            switch (line.kind) {
                case Kind::log: all.push_back("log:" + text_of_line); break;
                case Kind::environment: all.push_back("env:" + name + ":" + text_of_line); break;
                case Kind::task_environment: all.push_back("task" + task + ":" + name + ":" + text_of_line); break;
                case Kind::cpus: all.push_back("cpus" + task + ":" + text_of_line); break;
                case Kind::sees: all.push_back("sees:" + name + (line.text == nullptr ? "" : "=" + text_of_line)); break;
                case Kind::gpu: all.push_back("gpu:" + device + ":" + name + ":" + text_of_line); break;
                case Kind::gpu_cpus: all.push_back("gpu-cpus:" + device + ":" + text_of_line); break;
                case Kind::preload: all.push_back("preload:" + text_of_line); break;
                case Kind::other: break;
            }
        }
        return all;
    }
};

std::string framed(const std::string& lines) { return "paced-fabric-step 1\nmode observe\n" + lines + "end\n"; }

TEST(answer, everything_of_the_protocol) {
    const Parsed parsed(
        "paced-fabric-step 1\nmode pace\nlog a line  with blanks \nlog\nlog \nenv NAME=VALUE\nenv EMPTY=\nenv WITH=a=b c\n"
        "task 3 NAME=of three\ntask 0-2,9 NAME=\ncpus 3 0-3,8\nsees A=0,1\nsees B=\nsees C\ngpu A=1 NAME=x y\ngpu A=MIG-1/2\ngpu-cpus A=1 0-3\npreload /usr/lib/libpaced_fabric.so\nrun-dir /dev/shm/paced-fabric-1000/7.0\nleader yes\nend\n");
    ASSERT_EQ(parsed.refusal, nullptr);
    EXPECT_TRUE(parsed.answer.engages());
    EXPECT_TRUE(parsed.answer.leader());
    EXPECT_STREQ(parsed.answer.run_dir().c_str(), "/dev/shm/paced-fabric-1000/7.0");
    const std::vector<std::string> expected = {"log:a line  with blanks ", "log:", "log:", "env:NAME:VALUE", "env:EMPTY:", "env:WITH:a=b c",
                                               "task3:NAME:of three", "task0-2,9:NAME:", "cpus3:0-3,8", "sees:A=0,1", "sees:B=", "sees:C",
                                               "gpu:A=1:NAME:x y", "gpu:A=MIG-1/2::", "gpu-cpus:A=1:0-3", "preload:/usr/lib/libpaced_fabric.so"};
    EXPECT_EQ(parsed.lines(), expected);
}

TEST(answer, observe_and_pace_engage_off_and_explain_do_not) {
    for (const char* mode : {"observe", "pace"}) EXPECT_TRUE(Parsed("paced-fabric-step 1\nmode " + std::string(mode) + "\nend\n").answer.engages());
    for (const char* mode : {"off", "explain"}) {
        const Parsed parsed("paced-fabric-step 1\nmode " + std::string(mode) + "\nlog why\nend\n");
        EXPECT_EQ(parsed.refusal, nullptr);
        EXPECT_FALSE(parsed.answer.engages());
        EXPECT_EQ(parsed.lines(), std::vector<std::string>{"log:why"});
    }
}

TEST(answer, refusals) {
    using namespace std::string_literals;
    const struct {
        std::string text;
        const char* refusal;
    } table[] = {
        {"", "not begun by \"paced-fabric-step 1\""},
        {"paced-fabric-step 1", "not begun by \"paced-fabric-step 1\""},
        {"paced-fabric-step 2\nmode observe\nend\n", "not begun by \"paced-fabric-step 1\""},
        {"paced-fabric-step 10\nmode observe\nend\n", "not begun by \"paced-fabric-step 1\""},
        {" paced-fabric-step 1\nmode observe\nend\n", "not begun by \"paced-fabric-step 1\""},
        {"paced-fabric-step 1\r\nmode observe\r\nend\r\n", "not begun by \"paced-fabric-step 1\""},
        {"paced-fabric-step 1\n", "no last line \"end\""},
        {"paced-fabric-step 1\nmode observe\nend", "no last line \"end\""},
        {"paced-fabric-step 1\nmode observe\n", "no last line \"end\""},
        {"paced-fabric-step 1\nend\n", "no mode"},
        {"paced-fabric-step 1\nmode observe\nend\nend\n", "something behind its last line"},
        {"paced-fabric-step 1\nmode observe\nend\n\n", "something behind its last line"},
        {"paced-fabric-step 1\nmode observe\nenv A=b\0c\nend\n"s, "a NUL byte"},
        {"paced-fabric-step 1\nmode observe\nend\n\0"s, "a NUL byte"},
        {"paced-fabric-step 1\nmode \nend\n", "an unknown mode"},
        {"paced-fabric-step 1\nmode Observe\nend\n", "an unknown mode"},
        {"paced-fabric-step 1\nmode observe \nend\n", "an unknown mode"},
        {framed("mode observe\n"), "two mode lines"},
        {framed("leader yes\nleader no\n"), "two leader lines"},
        {framed("leader maybe\n"), "a leader that is neither yes nor no"},
        {framed("preload /a\npreload /b\n"), "two preload lines"},
        {framed("run-dir /dev/shm/paced-fabric-1/a\nrun-dir /dev/shm/paced-fabric-1/b\n"), "two run folders"},
        {framed("run-dir /tmp/x\n"), "a run folder outside /dev/shm/paced-fabric-*"},
        {framed("run-dir /dev/shm/paced-fabric-1/../../../etc\n"), "a run folder outside /dev/shm/paced-fabric-*"},
        {framed("run-dir /dev/shm/paced-fabric-1/" + std::string(5000, 'x') + "\n"), "a run folder outside /dev/shm/paced-fabric-*"},
        {framed("\n"), "a line that the protocol does not know"},
        {framed("End\n"), "a line that the protocol does not know"},
        {framed("logging x\n"), "a line that the protocol does not know"},
        {framed("env\n"), "a line that the protocol does not know"},
        {framed("env NAME\n"), "a line that the protocol does not know"},
        {framed("env =x\n"), "a line that the protocol does not know"},
        {framed("env 1A=x\n"), "a line that the protocol does not know"},
        {framed("env A B=x\n"), "a line that the protocol does not know"},
        {framed("env " + std::string(300, 'A') + "=x\n"), "a line that the protocol does not know"},
        {framed("env LD_PRELOAD=/x\n"), "a line that the protocol does not know"},
        {framed("env LD_AUDIT=/x\n"), "a line that the protocol does not know"},
        {framed("task A=x\n"), "a line that the protocol does not know"},
        {framed("task -1 A=x\n"), "a line that the protocol does not know"},
        {framed("task 9999999999 A=x\n"), "a line that the protocol does not know"},
        {framed("task 0 LD_LIBRARY_PATH=x\n"), "a line that the protocol does not know"},
        {framed("task 0, A=x\n"), "a line that the protocol does not know"},
        {framed("task 3-0 A=x\n"), "a line that the protocol does not know"},
        {framed("cpus 0 0-3,\n"), "a line that the protocol does not know"},
        {framed("cpus 0 nonsense\n"), "a line that the protocol does not know"},
        {framed("sees \n"), "a line that the protocol does not know"},
        {framed("sees A B=x\n"), "a line that the protocol does not know"},
        {framed("gpu A=\n"), "a line that the protocol does not know"},
        {framed("gpu A=1,2 B=x\n"), "a line that the protocol does not know"},
        {framed("gpu A=1 LD_PRELOAD=x\n"), "a line that the protocol does not know"},
        {framed("gpu 1 B=x\n"), "a line that the protocol does not know"},
        {framed("gpu-cpus A=1\n"), "a line that the protocol does not know"},
        {framed("gpu-cpus A=1 x\n"), "a line that the protocol does not know"},
        {framed("cpus 0\n"), "a line that the protocol does not know"},
        {framed("cpus x 0-3\n"), "a line that the protocol does not know"},
        {framed("preload libpaced_fabric.so\n"), "a line that the protocol does not know"},
        {framed("preload /a:/b\n"), "a line that the protocol does not know"},
        {framed("preload /a b\n"), "a line that the protocol does not know"},
        {framed("preload /a/../b\n"), "a line that the protocol does not know"},
        {framed("log " + std::string(answer_limit, 'x') + "\n"), "more than 64 KiB"},
    };
    for (const auto& [text, refusal] : table) {
        const Parsed parsed(text);
        ASSERT_NE(parsed.refusal, nullptr) << text;
        EXPECT_STREQ(parsed.refusal, refusal) << text;
        EXPECT_TRUE(parsed.lines().empty()) << text;
        EXPECT_FALSE(parsed.answer.engages() || parsed.answer.leader()) << text;
        EXPECT_TRUE(parsed.answer.run_dir().empty()) << text;
    }
}

TEST(answer, as_long_as_it_may_be) {
    const std::string frame = framed("log \n");
    const Parsed parsed(framed("log " + std::string(answer_limit - frame.size(), 'x') + "\n"));
    ASSERT_EQ(parsed.refusal, nullptr);
    EXPECT_EQ(parsed.lines().front().size(), 4 + answer_limit - frame.size());
}

TEST(answer, a_terminal_is_not_steered_from_the_log) {
    EXPECT_EQ(Parsed(framed("log a\x1b[2Jb\rc\td\n")).lines(), std::vector<std::string>{"log:a?[2Jb?c\td"});
    EXPECT_EQ(Parsed(framed("env A=\x1b\n")).lines(), std::vector<std::string>{"env:A:\x1b"});
}

TEST(answer, end_of_a_step) {
    const Parsed parsed("log one\nlog two\nend\n", Answer::Form::finish);
    ASSERT_EQ(parsed.refusal, nullptr);
    EXPECT_EQ(parsed.lines(), (std::vector<std::string>{"log:one", "log:two"}));
    EXPECT_EQ(Parsed("end\n", Answer::Form::finish).refusal, nullptr);
    EXPECT_STREQ(Parsed("", Answer::Form::finish).refusal, "no last line \"end\"");
    EXPECT_STREQ(Parsed("env A=b\nend\n", Answer::Form::finish).refusal, "a line that has no place at the end of a step");
    EXPECT_STREQ(Parsed("mode observe\nend\n", Answer::Form::finish).refusal, "a line that has no place at the end of a step");
}

}  // namespace
}  // namespace paced::spank
