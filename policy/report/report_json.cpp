// SPDX-License-Identifier: BSD-3-Clause
#include "policy/report/json_fields.h"
#include "policy/report/report.h"

namespace paced::report {

namespace {

using namespace fields;

double ms(double value) { return rounded(value, 6); }       // to the nanosecond
double seconds(double value) { return rounded(value, 6); }  // to the microsecond
double share(double value) { return rounded(value, 4); }

Json distribution(const Distribution& d) {
    return {{"count", d.count},       {"sum_ms", ms(d.sum_ms)}, {"mean_ms", ms(d.mean_ms)}, {"p50_ms", ms(d.p50_ms)},
            {"p95_ms", ms(d.p95_ms)}, {"p99_ms", ms(d.p99_ms)}, {"max_ms", ms(d.max_ms)}};
}

void read_distribution(const Json& json, const char* key, Distribution& d) {
    const auto found = json.find(key);
    if (found == json.end()) return;
    read(*found, "count", d.count);
    read(*found, "sum_ms", d.sum_ms);
    read(*found, "mean_ms", d.mean_ms);
    read(*found, "p50_ms", d.p50_ms);
    read(*found, "p95_ms", d.p95_ms);
    read(*found, "p99_ms", d.p99_ms);
    read(*found, "max_ms", d.max_ms);
}

Json plan(const Report& report) {
    Json order_json = order(report.plan.order);
    order_json["asked"] = report.policy.order.value;
    const OrderRun& run = report.plan.order_run;
    order_json["run"] = run.hosts.empty() ? report.job.hosts : run.hosts;
    order_json["run_crossings"] = or_null(run.crossings);
    order_json["as_asked"] = or_null(run.as_asked);
    return {{"order", std::move(order_json)},
            {"fabric", fabric(report.plan.fabric)},
            {"nodes", array_of(report.plan.nodes, [](const NodePlan& one) { return node(one); })},
            {"kept", report.plan.kept},
            {"notes", report.plan.notes}};
}

Json rank(const RankReport& r) {
    return {{"rank", r.rank},
            {"node", r.node},
            {"last_share", share(r.last_share)},
            {"earliness_ms", ms(r.earliness_ms)},
            {"late_collectives", r.late},
            {"lateness_share", share(r.lateness_share)},
            {"cost_s", seconds(r.cost_s)},
            {"elapsed_s", seconds(r.elapsed_s)},
            {"collectives_s", seconds(r.collectives_s)},
            {"calls", r.calls},
            {"finished", r.finished}};
}

RankReport rank(const Json& json) {
    RankReport r;
    read(json, "rank", r.rank);
    read(json, "node", r.node);
    read(json, "last_share", r.last_share);
    read(json, "earliness_ms", r.earliness_ms);
    read(json, "late_collectives", r.late);
    read(json, "lateness_share", r.lateness_share);
    read(json, "cost_s", r.cost_s);
    read(json, "elapsed_s", r.elapsed_s);
    read(json, "collectives_s", r.collectives_s);
    read(json, "calls", r.calls);
    read(json, "finished", r.finished);
    return r;
}

Json straggler(const Straggler& s) {
    return {{"rank", s.rank},
            {"node", s.node},
            {"last_share", share(s.last_share)},
            {"lateness_share", share(s.lateness_share)},
            {"cost_s", seconds(s.cost_s)},
            {"cost_share", share(s.cost_share)},
            {"cost_ms_per_iteration", s.cost_ms_per_iteration ? Json(ms(*s.cost_ms_per_iteration)) : Json(nullptr)}};
}

Straggler straggler(const Json& json) {
    Straggler s;
    read(json, "rank", s.rank);
    read(json, "node", s.node);
    read(json, "last_share", s.last_share);
    read(json, "lateness_share", s.lateness_share);
    read(json, "cost_s", s.cost_s);
    read(json, "cost_share", s.cost_share);
    read(json, "cost_ms_per_iteration", s.cost_ms_per_iteration);
    return s;
}

Json communicator(const CommunicatorReport& c) {
    return {{"id", c.id},
            {"size", c.size},
            {"ranks", c.ranks},
            {"calls", c.calls},
            {"bytes", c.bytes},
            {"operations", c.operations},
            {"kept", c.kept},
            {"matched", c.matched},
            {"late", c.late},
            {"tied", c.tied},
            {"on_time", c.on_time},
            {"inherited", c.inherited},
            {"contended", c.contended},
            {"first", c.first},
            {"wait", distribution(c.wait)},
            {"service", distribution(c.service)}};
}

CommunicatorReport communicator(const Json& json) {
    CommunicatorReport c;
    read(json, "id", c.id);
    read(json, "size", c.size);
    read(json, "ranks", c.ranks);
    read(json, "calls", c.calls);
    read(json, "bytes", c.bytes);
    read(json, "operations", c.operations);
    read(json, "kept", c.kept);
    read(json, "matched", c.matched);
    read(json, "late", c.late);
    read(json, "tied", c.tied);
    read(json, "on_time", c.on_time);
    read(json, "inherited", c.inherited);
    read(json, "contended", c.contended);
    read(json, "first", c.first);
    read_distribution(json, "wait", c.wait);
    read_distribution(json, "service", c.service);
    return c;
}

Json iterations(const Iterations& i) {
    const bool any = i.count > 0;
    const auto figure = [&](double value) { return any ? Json(value) : Json(nullptr); };
    return {{"count", i.count},
            {"mean_ms", figure(ms(i.mean_ms))},
            {"cv", figure(share(i.cv))},
            {"p50_ms", figure(ms(i.p50_ms))},
            {"p99_ms", figure(ms(i.p99_ms))},
            {"collectives", i.collectives},
            {"startup", i.startup},
            {"startup_ms", ms(i.startup_ms)},
            {"rank", i.rank},
            {"remark", text_or_null(i.remark)}};
}

Iterations iterations(const Json& json) {
    Iterations i;
    read(json, "count", i.count);
    read(json, "mean_ms", i.mean_ms);
    read(json, "cv", i.cv);
    read(json, "p50_ms", i.p50_ms);
    read(json, "p99_ms", i.p99_ms);
    read(json, "collectives", i.collectives);
    read(json, "startup", i.startup);
    read(json, "startup_ms", i.startup_ms);
    read(json, "rank", i.rank);
    read(json, "remark", i.remark);
    return i;
}

Json attribution(const Attribution& a) {
    return {{"compute", seconds(a.compute)},
            {"persistent_straggler", seconds(a.persistent_straggler)},
            {"transient_straggler", seconds(a.transient_straggler)},
            {"contention", seconds(a.contention)},
            {"locality", seconds(a.locality)},
            {"pacing", seconds(a.pacing)},
            {"service", seconds(a.service)},
            {"startup", seconds(a.startup)},
            {"unattributed", seconds(a.unattributed)},
            {"elapsed", seconds(a.elapsed)},
            {"not_measured", a.not_measured}};
}

Attribution attribution(const Json& json) {
    Attribution a;
    read(json, "compute", a.compute);
    read(json, "persistent_straggler", a.persistent_straggler);
    read(json, "transient_straggler", a.transient_straggler);
    read(json, "contention", a.contention);
    read(json, "locality", a.locality);
    read(json, "pacing", a.pacing);
    read(json, "service", a.service);
    read(json, "startup", a.startup);
    read(json, "unattributed", a.unattributed);
    read(json, "elapsed", a.elapsed);
    read(json, "not_measured", a.not_measured);
    return a;
}

Json gain_percent(const std::optional<Gain>& gain) { return gain ? Json(share(gain->percent)) : Json(nullptr); }
Json gain_ci95(const std::optional<Gain>& gain) { return gain ? Json{share(gain->low), share(gain->high)} : Json(nullptr); }

void read_gain(const Json& json, const char* percent_key, const char* interval_key, std::optional<Gain>& gain) {
    const auto percent = json.find(percent_key), interval = json.find(interval_key);
    if (percent == json.end() || percent->is_null() || interval == json.end() || interval->is_null()) return;
    gain = Gain{percent->get<double>(), interval->at(0).get<double>(), interval->at(1).get<double>()};
}

Json arm(const Arm& a) {
    return {{"class", a.label},
            {"arm", a.arm},
            {"setting", a.setting},
            {"meaning", a.meaning},
            {"pairs", a.pairs},
            {"blocks", a.blocks},
            {"first_iteration", a.first_iteration},
            {"decided_at_iteration", a.decided_at_iteration},
            {"engaged_at_iteration", or_null(a.engaged_at_iteration)},
            {"probe_gain_percent", gain_percent(a.probe)},
            {"probe_ci95", gain_ci95(a.probe)},
            {"gain_percent", gain_percent(a.gain)},
            {"gain_ci95", gain_ci95(a.gain)},
            {"holdout_blocks", a.holdout_blocks},
            {"mean_ms", ms(a.mean_ms)},
            {"cv", share(a.cv)},
            {"off_mean_ms", ms(a.off_mean_ms)},
            {"off_cv", share(a.off_cv)},
            {"held_ms", ms(a.held_ms)},
            {"held_calls", a.held_calls},
            {"timeouts", a.timeouts},
            {"ended", text_or_null(a.ended)}};
}

Arm arm(const Json& json) {
    Arm a;
    read(json, "class", a.label);
    read(json, "arm", a.arm);
    read(json, "setting", a.setting);
    read(json, "meaning", a.meaning);
    read(json, "pairs", a.pairs);
    read(json, "blocks", a.blocks);
    read(json, "first_iteration", a.first_iteration);
    read(json, "decided_at_iteration", a.decided_at_iteration);
    read(json, "engaged_at_iteration", a.engaged_at_iteration);
    read_gain(json, "probe_gain_percent", "probe_ci95", a.probe);
    read_gain(json, "gain_percent", "gain_ci95", a.gain);
    read(json, "holdout_blocks", a.holdout_blocks);
    read(json, "mean_ms", a.mean_ms);
    read(json, "cv", a.cv);
    read(json, "off_mean_ms", a.off_mean_ms);
    read(json, "off_cv", a.off_cv);
    read(json, "held_ms", a.held_ms);
    read(json, "held_calls", a.held_calls);
    read(json, "timeouts", a.timeouts);
    read(json, "ended", a.ended);
    return a;
}

Json paced_class(const PacedClass& c) {
    return {{"class", c.label},
            {"communicators", c.communicators},
            {"size", c.size},
            {"operation", text_or_null(c.operation)},
            {"bytes", c.bytes},
            {"across_leaves", c.across_leaves},
            {"iterations", c.iterations},
            {"blocks", c.blocks},
            {"void_blocks", c.void_blocks},
            {"resumed", c.resumed},
            {"state", c.state},
            {"engaged", text_or_null(c.engaged)},
            {"cost_ms", ms(c.cost_ms)},
            {"total_ms", ms(c.total_ms)}};
}

PacedClass paced_class(const Json& json) {
    PacedClass c;
    read(json, "class", c.label);
    read(json, "communicators", c.communicators);
    read(json, "size", c.size);
    read(json, "operation", c.operation);
    read(json, "bytes", c.bytes);
    read(json, "across_leaves", c.across_leaves);
    read(json, "iterations", c.iterations);
    read(json, "blocks", c.blocks);
    read(json, "void_blocks", c.void_blocks);
    read(json, "resumed", c.resumed);
    read(json, "state", c.state);
    read(json, "engaged", c.engaged);
    read(json, "cost_ms", c.cost_ms);
    read(json, "total_ms", c.total_ms);
    return c;
}

Json pacing(const Pacing& p) {
    return {{"finished", p.finished},
            {"classes", array_of(p.classes, [](const PacedClass& one) { return paced_class(one); })},
            {"exchange", {{"nodes", p.nodes}, {"most_nodes", p.most_nodes}, {"messages", p.messages}, {"bytes", p.bytes}}},
            {"retransmissions", p.retransmissions}};
}

Pacing pacing(const Json& json) {
    Pacing p;
    read(json, "finished", p.finished);
    read_array(json, "classes", p.classes, [](const Json& one) { return paced_class(one); });
    if (const auto exchange = json.find("exchange"); exchange != json.end()) {
        read(*exchange, "nodes", p.nodes);
        read(*exchange, "most_nodes", p.most_nodes);
        read(*exchange, "messages", p.messages);
        read(*exchange, "bytes", p.bytes);
    }
    read(json, "retransmissions", p.retransmissions);
    return p;
}

Json block(const PacedBlock& b) {
    return {{"class", b.label},          {"arm", b.arm},           {"round", b.round}, {"iterations", b.iterations},
            {"mean_ms", ms(b.mean_ms)},  {"log_mean", rounded(b.log_mean, 9)}, {"cv", share(b.cv)}, {"valid", b.valid}};
}

PacedBlock block(const Json& json) {
    PacedBlock b;
    read(json, "class", b.label);
    read(json, "arm", b.arm);
    read(json, "round", b.round);
    read(json, "iterations", b.iterations);
    read(json, "mean_ms", b.mean_ms);
    read(json, "log_mean", b.log_mean);
    read(json, "cv", b.cv);
    read(json, "valid", b.valid);
    return b;
}

Json coverage(const Coverage& c) {
    return {{"library", c.library}, {"ranks", c.ranks},     {"calls", c.calls},
            {"recorded", c.kept},   {"dropped", c.dropped}, {"not_recorded", c.not_recorded}};
}

Coverage coverage(const Json& json) {
    Coverage c;
    read(json, "library", c.library);
    read(json, "ranks", c.ranks);
    read(json, "calls", c.calls);
    read(json, "recorded", c.kept);
    read(json, "dropped", c.dropped);
    read(json, "not_recorded", c.not_recorded);
    return c;
}

// An iteration a line: thousands of numbers with a line each are read by nobody.
constexpr std::string_view rows_go_here = "\"ms\": \"rows\"";  // in no string of ours: its quotes would be escaped there

std::string rows_of(const Compute& c) {
    std::string text = "\"ms\": [";
    for (std::size_t i = 0; i < c.ms.size(); i += c.ranks.size()) {
        Json row = Json::array();
        for (std::size_t rank = 0; rank < c.ranks.size(); ++rank) row.push_back(rounded(c.ms[i + rank], 3));
        text += (i > 0 ? ",\n   " : "\n   ") + row.dump();
    }
    return text + "\n  ]";
}

Compute compute(const Json& json) {
    Compute c;
    read(json, "ranks", c.ranks);
    std::vector<std::vector<double>> rows;
    read(json, "ms", rows);
    for (const std::vector<double>& row : rows) {
        if (row.size() != c.ranks.size()) throw Json::other_error::create(599, "a line of compute.ms has another length than compute.ranks", &json);
        c.ms.insert(c.ms.end(), row.begin(), row.end());
    }
    return c;
}

}  // namespace

std::string to_json(const Report& report) {
    Json job_json = job(report.job);
    job_json["elapsed_s"] = seconds(report.elapsed_s);
    job_json["finished"] = report.finished;
    Json all{{"schema", schema},
             {"job", std::move(job_json)},
             {"policy", policy(report.policy)},
             {"plan", plan(report)},
             {"ranks", array_of(report.ranks, [](const RankReport& one) { return rank(one); })},
             {"stragglers", array_of(report.stragglers, [](const Straggler& one) { return straggler(one); })},
             {"communicators", array_of(report.communicators, [](const CommunicatorReport& one) { return communicator(one); })},
             {"iterations", iterations(report.iterations)},
             {"compute", report.compute.ranks.empty() ? Json(nullptr) : Json{{"ranks", report.compute.ranks}, {"ms", "rows"}}},
             {"attribution", attribution(report.attribution)},
             {"pacing", report.pacing ? pacing(*report.pacing) : Json(nullptr)},
             {"arms", array_of(report.arms, [](const Arm& one) { return arm(one); })},
             {"overhead",
              {{"recorder_calls", report.overhead.recorder_calls},
               {"ns_per_call", or_null(report.overhead.ns_per_call)},
               {"percent", report.overhead.ns_per_call ? Json(rounded(report.overhead.percent, 6)) : Json(nullptr)}}},
             {"coverage", array_of(report.coverage, [](const Coverage& one) { return coverage(one); })},
             {"clock_error_ms", ms(report.clock_error_ms)},
             {"warnings", report.warnings}};
    if (!report.blocks.empty()) all["blocks"] = array_of(report.blocks, [](const PacedBlock& one) { return block(one); });
    std::string text = dump(all);
    if (const std::size_t place = text.find(rows_go_here); place != std::string::npos) text.replace(place, rows_go_here.size(), rows_of(report.compute));
    return text;
}

Result<Report> parse_report(std::string_view text) {
    const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (json.is_discarded()) return fail("not JSON");
    const auto found_schema = json.is_object() ? json.find("schema") : json.end();
    if (found_schema == json.end() || !found_schema->is_string()) return fail("no report of ours: 'schema' is missing");
    if (*found_schema != schema)
        return fail("schema '" + found_schema->get<std::string>() + "' is not known here; this program reads '" + std::string(schema) + "'");
    try {
        Report report;
        if (const auto found = json.find("job"); found != json.end()) {
            report.job = job(*found);
            read(*found, "elapsed_s", report.elapsed_s);
            read(*found, "finished", report.finished);
        }
        if (const auto found = json.find("policy"); found != json.end()) report.policy = policy(*found);
        read_array(json, "ranks", report.ranks, [](const Json& one) { return rank(one); });
        if (const auto found = json.find("plan"); found != json.end()) {
            if (const auto view = found->find("fabric"); view != found->end()) report.plan.fabric = fabric(*view);
            if (const auto view = found->find("order"); view != found->end()) {
                report.plan.order = order(*view);
                if (!report.ranks.empty()) read(*view, "run", report.plan.order_run.hosts);
                read(*view, "run_crossings", report.plan.order_run.crossings);
                read(*view, "as_asked", report.plan.order_run.as_asked);
            }
            read_array(*found, "nodes", report.plan.nodes, [](const Json& one) { return node(one); });
            read(*found, "kept", report.plan.kept);
            read(*found, "notes", report.plan.notes);
        }
        read_array(json, "stragglers", report.stragglers, [](const Json& one) { return straggler(one); });
        read_array(json, "communicators", report.communicators, [](const Json& one) { return communicator(one); });
        if (const auto found = json.find("iterations"); found != json.end()) report.iterations = iterations(*found);
        if (const auto found = json.find("compute"); found != json.end() && !found->is_null()) report.compute = compute(*found);
        if (const auto found = json.find("attribution"); found != json.end()) report.attribution = attribution(*found);
        if (const auto found = json.find("pacing"); found != json.end() && !found->is_null()) report.pacing = pacing(*found);
        read_array(json, "arms", report.arms, [](const Json& one) { return arm(one); });
        read_array(json, "blocks", report.blocks, [](const Json& one) { return block(one); });
        if (const auto found = json.find("overhead"); found != json.end()) {
            read(*found, "recorder_calls", report.overhead.recorder_calls);
            read(*found, "ns_per_call", report.overhead.ns_per_call);
            read(*found, "percent", report.overhead.percent);
        }
        read_array(json, "coverage", report.coverage, [](const Json& one) { return coverage(one); });
        read(json, "clock_error_ms", report.clock_error_ms);
        read(json, "warnings", report.warnings);
        return report;
    } catch (const Json::exception& error) {
        return fail(std::string("the report is damaged: ") + error.what());
    }
}

}  // namespace paced::report
