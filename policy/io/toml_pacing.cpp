// SPDX-License-Identifier: BSD-3-Clause
#include "policy/io/toml_pacing.h"

#include <utility>

namespace paced::io {

using namespace config;

namespace {

// Of two constants that contradict each other the one that the file sets is wrong, and of two such the second.
void check_pacing_orders(TomlReader& reader, const Pacing& pacing) {
    for (const auto& [lower, upper] : pacing_orders) {
        const PacingConstant &low = *find_pacing_constant(lower), &high = *find_pacing_constant(upper);
        const double least = pacing.tuning.*low.value, most = pacing.tuning.*high.value;
        if (least <= most) continue;
        const auto place = pacing.where.contains(upper) ? pacing.where.find(upper) : pacing.where.find(lower);
        const std::string message = std::string(lower) + ' ' + number_text(least) + " is more than " + std::string(upper) + ' ' + number_text(most);
        reader.error(place->second, message).hints.push_back("built in: " + std::string(lower) + ' ' + number_text(low.standard) + ", " + std::string(upper) + ' ' +
                                                             number_text(high.standard));
    }
}

// Each method of a benchmark needs its arms, and no other one takes them.
void check_arms_of_method(TomlReader& reader, const TomlNode& source, const Pacing& pacing) {
    struct Needs {
        pacing::Method method;
        const char *key, *example;
    };
    for (const auto& [method, key, example] : {Needs{pacing::Method::fixed, "arm", "admit:1"}, Needs{pacing::Method::comparison, "arms", "off,admit:1"}}) {
        const bool named = pacing.tuning.method == method;
        if (named && source.find(key) == nullptr)
            reader.error(pacing.where.at("method"), "method " + in_quotes(to_string(method)) + " without " + in_quotes(key))
                .hints.push_back("such as " + std::string(key) + " = \"" + example + '"');
        const auto place = pacing.where.find(key);
        if (named || place == pacing.where.end()) continue;
        if (source.find("method") != nullptr && !pacing.where.contains("method")) continue;  // which one was meant is not known
        reader.error(place->second, in_quotes(key) + " beside method " + in_quotes(to_string(pacing.tuning.method)))
            .hints.push_back(in_quotes(key) + " is for method " + in_quotes(to_string(method)));
    }
}

}  // namespace

Pacing read_pacing(TomlReader& reader, const TomlNode& source, std::string title) {
    Pacing pacing;
    TomlTable table(reader, source, std::move(title));
    const auto take = [&](std::string_view key, auto parse, auto& to) {
        auto value = table.take_text(key, parse);
        if (!value) return;
        to = *std::move(value);
        pacing.where.emplace(key, table.place(key));
    };
    take("method", parse_method, pacing.tuning.method);
    take("arm", parse_arm, pacing.arm);
    take("arms", parse_arms, pacing.arms);
    take("without", parse_without, pacing.without);
    bool good = true;
    for (const PacingConstant& constant : pacing_constants) {
        const auto value = table.take_number(constant.name, constant.least, constant.most, constant.unit, constant.is_whole());
        good = good && (value || !table.has(constant.name));
        if (!value) continue;
        pacing.tuning.*constant.value = *value;
        pacing.where.emplace(constant.name, table.place(constant.name));
    }
    table.refuse_the_rest("valid: 'method', 'arm', 'arms', 'without' and the constants that etc/policy.toml of the source shows");
    if (good) check_pacing_orders(reader, pacing);

    check_arms_of_method(reader, source, pacing);
    return pacing;
}

}  // namespace paced::io
