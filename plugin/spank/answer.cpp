// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/spank/answer.h"

#include "plugin/spank/environment.h"

namespace paced::spank {
namespace {

bool is_name(std::string_view name) noexcept {
    if (name.empty() || (name.front() >= '0' && name.front() <= '9')) return false;
    for (const char c : name) {
        if (!((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_')) return false;
    }
    return true;
}

bool parse_assignment(std::string_view text, AnswerLine& line) noexcept {
    if (text.find('=') == std::string_view::npos) return false;
    const std::string_view name = cut_until(text, '=');
    line.text = text.data();
    // LD_PRELOAD has a line of its own, which keeps the user's value; nothing else of the dynamic linker is ours to set.
    std::string_view rest = name;
    return is_name(name) && !cut_prefix(rest, "LD_") && line.name.assign(name);
}

bool parse_cpu_list(std::string_view text, AnswerLine& line) noexcept {
    line.text = text.data();
    return is_number_list(text);
}

// "0-3,8 REST": the local ids; rest keeps what stands behind.
bool parse_tasks(std::string_view& rest, AnswerLine& line) noexcept {
    line.tasks = cut_until(rest, ' ');
    return is_number_list(line.tasks);
}

// "NAME=ENTRY" or "NAME=ENTRY REST"
bool parse_device(std::string_view& rest, AnswerLine& line) noexcept {
    std::string_view device = cut_until(rest, ' ');
    if (device.find('=') == std::string_view::npos) return false;
    const std::string_view name = cut_until(device, '=');
    line.entry = device;
    return is_name(name) && line.variable.assign(name) && !device.empty() && device.find(',') == std::string_view::npos;
}

bool is_plain_path(std::string_view path, std::string_view below) noexcept {
    if (path.size() >= Path::room() || !cut_prefix(path, below)) return false;
    while (!path.empty()) {
        const std::string_view part = cut_until(path, '/');
        if (part == "." || part == "..") return false;
    }
    return true;
}

// A terminal must not be steered from a job log.
void blank_controls(char* text) noexcept {
    for (; *text != '\0'; ++text) {
        if (static_cast<unsigned char>(*text) < 0x20 && *text != '\t') *text = '?';
    }
}

}  // namespace

bool parse_line(const char* text, AnswerLine& line) noexcept {
    using Kind = AnswerLine::Kind;
    std::string_view rest = text;
    line.kind = Kind::other;
    line.text = nullptr;
    line.name.clear();
    if (rest == "log") rest = "log ";  // an empty log line, its blank trimmed
    if (cut_prefix(rest, "log ")) {
        line.kind = Kind::log;
        line.text = rest.data();
        return true;
    }
    if (cut_prefix(rest, "env ")) {
        line.kind = Kind::environment;
        return parse_assignment(rest, line);
    }
    if (cut_prefix(rest, "task ")) {
        line.kind = Kind::task_environment;
        return parse_tasks(rest, line) && parse_assignment(rest, line);
    }
    if (cut_prefix(rest, "cpus ")) {
        line.kind = Kind::cpus;
        return parse_tasks(rest, line) && parse_cpu_list(rest, line);
    }
    if (cut_prefix(rest, "sees ")) {
        line.kind = Kind::sees;
        const bool set = rest.find('=') != std::string_view::npos;
        const std::string_view name = cut_until(rest, '=');
        if (set) line.text = rest.data();
        return is_name(name) && line.name.assign(name);
    }
    if (cut_prefix(rest, "gpu ")) {
        line.kind = Kind::gpu;
        return parse_device(rest, line) && (rest.empty() || parse_assignment(rest, line));
    }
    if (cut_prefix(rest, "gpu-cpus ")) {
        line.kind = Kind::gpu_cpus;
        return parse_device(rest, line) && parse_cpu_list(rest, line);
    }
    if (cut_prefix(rest, "preload ")) {
        line.kind = Kind::preload;
        line.text = rest.data();
        // ld.so splits its list at blanks and colons.
        return is_plain_path(rest, "/") && rest.find(' ') == rest.npos && rest.find(':') == rest.npos;
    }
    return cut_prefix(rest, "mode ") || cut_prefix(rest, "run-dir ") || cut_prefix(rest, "leader ");
}

const char* Answer::take(char* text, Form form) noexcept {
    AnswerLine line;
    if (!parse_line(text, line)) return "a line that the protocol does not know";
    if (line.kind == AnswerLine::Kind::log) {
        blank_controls(text);
        return nullptr;
    }
    if (form == Form::finish) return "a line that has no place at the end of a step";
    if (line.kind == AnswerLine::Kind::preload) {
        if (has_preload_) return "two preload lines";
        has_preload_ = true;
    }
    if (line.kind != AnswerLine::Kind::other) return nullptr;

    std::string_view rest = text;
    if (cut_prefix(rest, "mode ")) {
        if (has_mode_) return "two mode lines";
        has_mode_ = true;
        engages_ = rest == "observe" || rest == "pace";
        return engages_ || rest == "off" || rest == "explain" ? nullptr : "an unknown mode";
    }
    if (cut_prefix(rest, "leader ")) {
        if (has_leader_) return "two leader lines";
        has_leader_ = true;
        leader_ = rest == "yes";
        return leader_ || rest == "no" ? nullptr : "a leader that is neither yes nor no";
    }
    cut_prefix(rest, "run-dir ");
    if (!run_dir_.empty()) return "two run folders";
    return is_plain_path(rest, "/dev/shm/paced-fabric-") && run_dir_.assign(rest) ? nullptr : "a run folder outside /dev/shm/paced-fabric-*";
}

const char* Answer::parse(char* text, std::size_t size, Form form) noexcept {
    *this = Answer{};
    if (size > answer_limit) return "more than 64 KiB";
    if (std::string_view{text, size}.find('\0') != std::string_view::npos) return "a NUL byte";
    text[size] = '\0';

    std::string_view left{text, size};
    if (form == Form::step && !cut_prefix(left, "paced-fabric-step 1\n")) return "not begun by \"paced-fabric-step 1\"";
    char* const first = text + (size - left.size());
    const char* wrong = nullptr;
    while (true) {
        if (left.find('\n') == std::string_view::npos) {
            wrong = "no last line \"end\"";
            break;
        }
        char* const line = text + (left.data() - text);
        const std::string_view content = cut_until(left, '\n');
        if (content == "end") {
            if (!left.empty()) wrong = "something behind its last line";
            else if (form == Form::step && !has_mode_) wrong = "no mode";
            size_ = static_cast<std::size_t>(line - first);
            break;
        }
        line[content.size()] = '\0';
        wrong = take(line, form);
        if (wrong != nullptr) break;
    }
    if (wrong != nullptr) {
        *this = Answer{};
        return wrong;
    }
    text_ = first;
    return nullptr;
}

bool Answer::next(std::size_t& position, AnswerLine& line) const noexcept {
    if (position >= size_) return false;
    const char* const text = text_ + position;
    position += std::strlen(text) + 1;
    return parse_line(text, line);
}

}  // namespace paced::spank
