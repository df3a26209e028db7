// SPDX-License-Identifier: BSD-3-Clause
#include "policy/pacing/tuning.h"

#include <cstring>

namespace paced::pacing {
namespace {

struct Text {
    const char* begin;
    const char* end;

    std::size_t size() const { return static_cast<std::size_t>(end - begin); }
    bool is(const char* other) const { return size() == std::strlen(other) && std::memcmp(begin, other, size()) == 0; }
    // What lies before the separator; the rest, without it, stays here.
    Text cut(char separator) {
        const char* at = begin;
        while (at != end && *at != separator) ++at;
        const Text head{begin, at};
        begin = at != end ? at + 1 : end;
        return head;
    }
};

// Digits with at most one point; what follows stays in `text`. Not strtod: its point depends on the host's locale.
bool take_number(Text& text, double& value) {
    value = 0;
    double place = 1;
    bool digits = false, point = false;
    for (; text.begin != text.end; ++text.begin) {
        const char c = *text.begin;
        if (c >= '0' && c <= '9') {
            digits = true;
            value = value * 10 + (c - '0');
            if (point) place *= 10;
            if (value > 1e18) return false;
        } else if (c == '.' && !point) {
            point = true;
        } else {
            break;
        }
    }
    value /= place;
    return digits;
}

struct Unit {
    const char* name;
    double factor;
};
constexpr Unit times[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
constexpr Unit rates[] = {{"bit", 1.0 / 8}, {"kbit", 1e3 / 8}, {"mbit", 1e6 / 8}, {"gbit", 1e9 / 8}};

template <std::size_t N>
bool quantity(Text text, const Unit (&units)[N], double most, std::uint64_t& value) {
    double number = 0;
    if (!take_number(text, number)) return false;
    for (const Unit& unit : units) {
        if (!text.is(unit.name)) continue;
        number = number * unit.factor + 0.5;
        if (!(number < most)) return false;
        value = static_cast<std::uint64_t>(number);
        return true;
    }
    return false;
}

bool time_of(Text text, std::uint64_t& value) { return quantity(text, times, 1e12, value); }
bool rate_of(Text text, std::uint64_t& value) { return quantity(text, rates, 1e12, value) && value > 0; }

bool width_of(Text text, std::uint32_t& value) {
    double number = 0;
    if (!take_number(text, number) || text.size() != 0 || number < 1 || number > 65535 || number != static_cast<std::uint32_t>(number)) return false;
    value = static_cast<std::uint32_t>(number);
    return true;
}

bool arm_name(Text text, Arm& arm) {
    for (std::uint32_t i = 0; i < arm_count; ++i) {
        if (!text.is(name_of(static_cast<Arm>(i)))) continue;
        arm = static_cast<Arm>(i);
        return true;
    }
    return false;
}

// Is all there that the arm cannot do without?
bool is_whole(const Setting& setting) {
    switch (setting.arm) {
        case Arm::admit: return setting.width > 0;
        case Arm::rate: return setting.rate_bytes_s > 0;
        case Arm::slots:
        case Arm::phase:
        case Arm::fixed_delay: return setting.delay_ns > 0;
        default: return true;
    }
}

bool arm_with_arguments(Text text, Setting& setting) {
    setting = {};
    if (!arm_name(text.cut(':'), setting.arm)) return false;
    for (std::uint32_t argument = 0; text.size() > 0; ++argument) {
        const Text word = text.cut(':');
        bool good = false;
        if (argument == 0 && setting.arm == Arm::admit) good = width_of(word, setting.width);
        if (argument == 0 && setting.arm == Arm::rate) good = rate_of(word, setting.rate_bytes_s);
        if (argument == 0 && (setting.arm == Arm::slots || setting.arm == Arm::phase || setting.arm == Arm::hold_remote || setting.arm == Arm::fixed_delay))
            good = time_of(word, setting.delay_ns);
        if (argument == 1 && setting.arm == Arm::fixed_delay) good = time_of(word, setting.threshold_ns);
        if (!good) return false;
    }
    return true;
}

const char* set_arms(Text list, Tuning& tuning) {
    tuning.compared_count = 0;
    if (list.size() == 0) return "a list of arms is missing";
    while (list.size() > 0) {
        if (tuning.compared_count == compared_limit) return "more than 12 arms";
        const Text word = list.cut(',');
        Compared entry;
        entry.ours = word.is("ours");
        if (!entry.ours && !(arm_with_arguments(word, entry.setting) && is_whole(entry.setting))) return "not an arm";
        tuning.compared[tuning.compared_count++] = entry;
    }
    return nullptr;
}

const char* set_without(Text list, Tuning& tuning) {
    tuning.without = 0;
    if (list.size() == 0) return "a list of arms is missing";
    while (list.size() > 0) {
        Arm arm = Arm::off;
        if (!arm_name(list.cut(','), arm) || arm == Arm::off) return "not an arm that could be tried";
        tuning.without |= 1u << static_cast<std::uint32_t>(arm);
    }
    return nullptr;
}

// nullptr: good
const char* set(Text name, Text value, Tuning& tuning) {
    if (name.is("method")) {
        constexpr Method methods[] = {Method::ours, Method::fixed, Method::comparison};
        for (const Method method : methods) {
            if (!value.is(name_of(method))) continue;
            tuning.method = method;
            return nullptr;
        }
        return "not one of ours, fixed, comparison";
    }
    if (name.is("without")) return set_without(value, tuning);
    if (name.is("arms")) return set_arms(value, tuning);
    if (name.is("arm")) return arm_with_arguments(value, tuning.fixed) ? nullptr : "not an arm";
    if (name.is("width")) return width_of(value, tuning.fixed.width) ? nullptr : "not a width (1 to 65535)";
    if (name.is("rate")) return rate_of(value, tuning.fixed.rate_bytes_s) ? nullptr : "not a rate (such as 25mbit)";
    if (name.is("delay")) return time_of(value, tuning.fixed.delay_ns) ? nullptr : "not a time (such as 500us)";
    if (name.is("threshold")) return time_of(value, tuning.fixed.threshold_ns) ? nullptr : "not a time (such as 500us)";
    if (name.is("cap")) return time_of(value, tuning.fixed.cap_ns) ? nullptr : "not a time (such as 500us)";
    double number = 0;
#define PACED_PACING_SET(constant, initial, least, most, unit, why)                                              \
    if (name.is(#constant)) {                                                                                    \
        if (!take_number(value, number) || value.size() != 0) return "not a number";                             \
        if (number < least || number > most) return "outside its limits (" #least " to " #most " " unit ")";   \
        tuning.constant = number;                                                                                \
        return nullptr;                                                                                          \
    }
    PACED_PACING_CONSTANTS(PACED_PACING_SET)
#undef PACED_PACING_SET
    return "no such setting";
}

}  // namespace

const char* name_of(Method method) {
    switch (method) {
        case Method::ours: return "ours";
        case Method::fixed: return "fixed";
        case Method::comparison: return "comparison";
    }
    return "unknown";
}

bool parse_tuning(const char* text, std::size_t length, Tuning& tuning, WrongToken& wrong) {
    wrong = {};
    Tuning made = tuning;
    const Text all{text, text + length};
    Text rest = all;
    const auto refuse = [&](const Text& token, const char* why) {
        wrong = {static_cast<std::size_t>(token.begin - all.begin), token.size(), why};
        return false;
    };
    while (rest.size() > 0) {
        const Text token = rest.cut(' ');
        if (token.size() == 0) continue;
        Text value = token;
        const Text name = value.cut('=');
        if (name.end == token.end) return refuse(token, "no value");
        if (const char* why = set(name, value, made)) return refuse(token, why);
    }
    const Text whole{all.begin, all.end};
    if (made.method == Method::fixed && !is_whole(made.fixed)) return refuse(whole, "the arm needs a width, rate or delay");
    if (made.method == Method::comparison && made.compared_count == 0) return refuse(whole, "method=comparison needs arms=");
    tuning = made;
    return true;
}

}  // namespace paced::pacing
