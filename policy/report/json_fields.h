// SPDX-License-Identifier: BSD-3-Clause
// JSON of the types that plan.json and the report share. Internal to policy/report: only its *_json.cpp include it.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "policy/report/job_plan.h"

namespace paced::report::fields {

using Json = nlohmann::ordered_json;

inline double rounded(double value, int decimals) {
    const double scale = std::pow(10.0, decimals);
    return std::round(value * scale) / scale;
}

// A missing key or null leaves value as it is; a wrong type throws, and the parser at the top catches.
template <class T>
void read(const Json& object, const char* key, T& value) {
    const auto found = object.find(key);
    if (found != object.end() && !found->is_null()) found->get_to(value);
}

template <class T>
void read(const Json& object, const char* key, std::optional<T>& value) {
    const auto found = object.find(key);
    if (found != object.end() && !found->is_null()) value = found->template get<T>();
}

template <class T>
Json or_null(const std::optional<T>& value) {
    return value ? Json(*value) : Json(nullptr);
}

inline Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

// A name may be any bytes (a job's, a host's): what is no UTF-8 is replaced, never thrown at.
inline std::string dump(const Json& json) { return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n'; }

template <class T, class Make>
Json array_of(const std::vector<T>& items, Make make) {
    Json array = Json::array();
    for (const T& item : items) array.push_back(make(item));
    return array;
}

template <class T, class Make>
void read_array(const Json& object, const char* key, std::vector<T>& items, Make make) {
    const auto found = object.find(key);
    if (found == object.end() || found->is_null()) return;
    if (!found->is_array()) throw Json::type_error::create(302, std::string("'") + key + "' must be an array", &*found);
    for (const Json& item : *found) items.push_back(make(item));
}

Json job(const JobInfo& job);
JobInfo job(const Json& json);
Json policy(const PolicyValues& policy);
PolicyValues policy(const Json& json);
Json fabric(const FabricView& fabric);
FabricView fabric(const Json& json);
Json order(const OrderView& order);
OrderView order(const Json& json);
Json node(const NodePlan& node);
NodePlan node(const Json& json);

}  // namespace paced::report::fields
