// SPDX-License-Identifier: BSD-3-Clause
// The helper's answer (plugin/helper/PROTOCOL.md). The helper runs as the user, so every byte of its answer is
// checked before any of it is used: one bad line and the whole answer is refused. Pure: no Slurm in it.
#pragma once

#include "plugin/spank/text.h"

namespace paced::spank {

inline constexpr std::size_t answer_limit = 64 * 1024;

struct AnswerLine {
    enum class Kind { log, environment, task_environment, cpus, sees, gpu, gpu_cpus, preload, other };
    Kind kind = Kind::other;
    std::string_view tasks;       // of task_environment and cpus: a list of local ids, 0-3,8
    Name variable;                // of gpu and gpu_cpus: which of those that `sees` names
    std::string_view entry;       // of gpu and gpu_cpus: one device in it
    Name name;                    // of the environments and of sees; of gpu too, empty: the device is known, and that is all
    const char* text = nullptr;   // the rest: log text, value, cpu list or path; of sees nullptr: the variable is unset
};

class Answer {
public:
    enum class Form { step, finish };

    // Checks `size` bytes of text, of which it keeps hold and in which line ends become NULs (text[size] must be
    // writable). nullptr, or why the answer is refused; a refused answer has no lines.
    const char* parse(char* text, std::size_t size, Form form) noexcept;

    // The lines in order. Start with position 0; false after the last.
    bool next(std::size_t& position, AnswerLine& line) const noexcept;

    bool engages() const noexcept { return engages_; }  // mode observe or pace: tasks are to be touched
    bool leader() const noexcept { return leader_; }
    const Path& run_dir() const noexcept { return run_dir_; }

private:
    const char* take(char* line, Form form) noexcept;

    const char* text_ = nullptr;
    std::size_t size_ = 0;
    bool has_mode_ = false, has_leader_ = false, has_preload_ = false;
    bool engages_ = false, leader_ = false;
    Path run_dir_;
};

// Reads one line; false where it is none that PROTOCOL.md knows.
bool parse_line(const char* text, AnswerLine& line) noexcept;

}  // namespace paced::spank
