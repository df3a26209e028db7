// SPDX-License-Identifier: BSD-3-Clause
// One function a table. Here is what each key is called and of which kind its value is; which values make sense, alone and together,
// simulation::problems_of() says for every caller of the simulator.
#include "policy/io/toml_scenario.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <utility>
#include <vector>

#include "policy/base/text.h"
#include "policy/config/site_policy.h"
#include "policy/io/compute_replay.h"
#include "policy/io/fabric_file.h"
#include "policy/io/node_file.h"
#include "policy/io/scenario_section.h"
#include "policy/io/toml_pacing.h"
#include "policy/topology/relation.h"

namespace paced::io {

namespace {

using namespace simulation;

// In the order of the enums.
constexpr std::array<std::string_view, 2> transports{"tcp", "lossless"};
constexpr std::array<std::string_view, 5> operations{"allreduce", "reduce_scatter", "allgather", "alltoall", "neighbour"};
constexpr std::array<std::string_view, 4> algorithms{"ring", "tree", "hierarchical", "direct"};
constexpr std::array<std::string_view, 2> scalings{"weak", "strong"};
constexpr std::array<std::string_view, 3> synchronisations{"bulk", "stale", "asynchronous"};
constexpr std::array<std::string_view, 2> assignments{"fixed", "dynamic"};
constexpr std::array<std::string_view, 4> placements{"block", "interleaved", "random", "sorted"};
constexpr std::array<topology::Relation, 6> relations{topology::Relation::pix,  topology::Relation::pxb, topology::Relation::phb,
                                                      topology::Relation::node, topology::Relation::pkg, topology::Relation::sys};

class ScenarioReader {
public:
    // others: what is wrong in the files that the scenario names.
    ScenarioReader(const std::string& file, const ScenarioOverrides& overrides, Diagnostics& diagnostics, Diagnostics& others)
        : overrides_(overrides), others_(others), reader_(file, diagnostics) {}

    ScenarioFile read(const TomlNode& top) {
        ScenarioSection section = section_of(top, {}, {});
        if (!section.table().take_schema(newest_scenario_schema)) return std::move(result_);
        read_top(section);
        if (const TomlNode* node = section.part("fabric")) read_fabric(section_of(*node, "fabric", "[fabric]"));
        if (!overrides_.fabric.empty()) read_fabric_from(overrides_.fabric, {"--fabric", 0, 0});
        if (const TomlNode* node = section.part("fabric_events")) read_fabric_events(section_of(*node, "fabric_events", "[fabric_events]"));
        if (const TomlNode* node = section.part("node")) read_node(section_of(*node, "node", "[node]"));
        if (const TomlNode* node = section.part("work")) read_work(section_of(*node, "work", "[work]"));
        if (const TomlNode* node = section.part("compute")) read_compute(section_of(*node, "compute", "[compute]"));
        if (const TomlNode* node = section.part("pacing")) read_pacing_part(section_of(*node, "pacing", "[pacing]"));
        std::size_t index = 0;
        for (const TomlNode* node : section.parts("background")) read_background(section_of(*node, section.path_of("background", index++), "[[background]]"));
        section.table().refuse_the_rest();
        apply_overrides();
        tell_problems();
        return std::move(result_);
    }

private:
    ScenarioSection section_of(const TomlNode& node, std::string path, std::string title) { return {reader_, places_, node, std::move(path), std::move(title)}; }

    void read_top(ScenarioSection& section) {
        Scenario& scenario = result_.scenario;
        scenario.name = std::filesystem::path(reader_.file()).stem().string();
        section.text("name", scenario.name);
        section.text("description", scenario.description);
        section.text("fitted_on", result_.fitted_on);
        section.word("placement", placements, scenario.placement);
        read_order(section);
        read_node_counts(section);
        section.whole("seeds", scenario.seeds);
        std::uint32_t first_seed = static_cast<std::uint32_t>(scenario.first_seed);
        section.whole("first_seed", first_seed);
        scenario.first_seed = first_seed;
        section.whole("iterations", scenario.iterations);
        section.whole("warmup", scenario.warmup);
    }

    void read_order(ScenarioSection& section) {
        std::string text = "auto";
        section.text("order", text);
        if (text == "auto") return;
        auto order = config::parse_order(text);
        if (order && order->pattern != config::Order::Pattern::none) {
            result_.scenario.order = *std::move(order);
            return;
        }
        constexpr std::array<std::string_view, 4> words{"auto", "ring", "alltoall", "tree"};
        std::vector<std::string> hints = text.find('=') == std::string::npos ? hints_for(text, words) : order.error().hints;
        if (text.find('=') == std::string::npos) hints.back() += ", or a grid such as 'tp=8,pp=4,dp=16'";
        if (order) hints.insert(hints.begin(), "what happens without an order is simulated in any case");
        section.refuse("order", order ? "'order' must name the traffic that ranks are ordered for" : order.error().message, std::move(hints));
    }

    void read_node_counts(ScenarioSection& section) {
        const auto counts = section.table().take_wholes("node_counts", 1, most_nodes);
        if (!section.table().has("node_counts")) return;
        places_.note("node_counts", section.table().place("node_counts"));
        const TomlNode& node = *section.table().take("node_counts");
        for (std::size_t i = 0; i < node.items.size(); ++i) places_.note(section.path_of("node_counts", i), reader_.where(node.items[i]));
        counts_refused_ = !counts;
        if (counts) result_.scenario.node_counts.assign(counts->begin(), counts->end());
    }

    // ---- [fabric]

    void read_fabric(ScenarioSection section) {
        Fabric& fabric = result_.scenario.fabric;
        section.whole("nodes", fabric.nodes);
        section.whole("rails", fabric.rails);
        section.word("transport", transports, fabric.transport);
        std::string file;
        section.text("file", file);
        if (!file.empty() && section.table().has("nodes")) section.refuse("nodes", "'nodes' beside 'file', which says how many there are");
        std::size_t index = 0;
        for (const TomlNode* node : section.parts("level")) {
            const std::string path = section.path_of("level", index);
            fabric.levels.push_back(read_level(section_of(*node, path, "[[fabric.level]]"), static_cast<int>(index), !file.empty()));
            ++index;
        }
        if (const TomlNode* node = section.part("overload")) read_overload(section_of(*node, "fabric.overload", "[fabric.overload]"));
        section.table().refuse_the_rest();
        if (!file.empty() && overrides_.fabric.empty()) read_fabric_from(beside(file), section.table().place("file"));
    }

    Level read_level(ScenarioSection section, int index, bool from_file) {
        Level level;
        level.name = topology::level_name(topology::FabricKind::tree, index);
        section.text("name", level.name);
        section.whole("below", level.below);
        section.whole("uplinks", level.uplinks);
        level.uplink_bytes_s = -1;
        section.rate("uplink_rate", level.uplink_bytes_s);
        // 0 stands for "from the oversubscription" in Level; written it is a mistake
        if (level.uplink_bytes_s == 0) section.refuse("uplink_rate", "'uplink_rate' must be above 0");
        level.uplink_bytes_s = std::max(level.uplink_bytes_s, 0.0);
        section.number("oversubscription", level.oversubscription);
        section.bytes("buffer", level.buffer_bytes);
        section.seconds("latency", level.latency_s);
        if (section.table().has("uplink_rate") && section.table().has("oversubscription"))
            section.refuse("oversubscription", "'oversubscription' beside 'uplink_rate'", {"either says how much the uplinks carry: leave one out"});
        if (from_file && section.table().has("below")) section.refuse("below", "'below' beside 'file' of [fabric], which says what is below each switch");
        section.table().refuse_the_rest();
        return level;
    }

    void read_overload(ScenarioSection section) {
        Overload& overload = result_.scenario.fabric.overload;
        section.truth("on", overload.on);
        section.bytes("window", overload.window_bytes);
        section.seconds("round_trip", overload.round_trip_s);
        section.seconds("rto", overload.rto_s);
        section.number("loss_scale", overload.loss_scale);
        section.number("loss_power", overload.loss_power);
        section.number("pause_spread", overload.pause_spread);
        section.number("burst_share", overload.burst_share);
        section.table().refuse_the_rest();
    }

    void read_fabric_events(ScenarioSection section) {
        section.number("probability", result_.scenario.fabric_events.probability);
        section.seconds("mean", result_.scenario.fabric_events.mean_s);
        section.table().refuse_the_rest();
    }

    void read_fabric_from(const std::string& path, const Location& named) {
        places_.note("fabric.file", named);
        Diagnostics found;
        auto fabric = read_fabric_file(path, found);
        append_found(found, named);
        if (!fabric) return;
        result_.scenario.fabric.nodes = static_cast<std::uint32_t>(fabric->host_count());
        result_.scenario.fabric.read = *std::move(fabric);
    }

    // ---- [node]

    void read_node(ScenarioSection section) {
        Node& node = result_.scenario.node;
        section.whole("gpus", node.gpus);
        section.whole("ranks", node.ranks);
        section.whole("nics", node.nics);
        section.rate("nic_rate", node.nic_bytes_s);
        section.seconds("nic_latency", node.nic_latency_s);
        section.rate("internal_rate", node.internal_bytes_s);
        section.seconds("internal_latency", node.internal_latency_s);
        read_relations(section, "unbound", node.unbound);
        read_relations(section, "bound", node.bound);
        std::string file;
        section.text("topology", file);
        if (const TomlNode* shares = section.part("rate_share")) {
            ScenarioSection part = section_of(*shares, "node.rate_share", "[node.rate_share]");
            for (std::size_t i = 0; i < relations.size(); ++i) part.number(to_string(relations[i]), node.rate_share[i]);
            part.table().refuse_the_rest();
        }
        section.table().refuse_the_rest();
        if (file.empty()) return;
        for (const std::string_view key : {"unbound", "bound"})
            if (section.table().has(key)) section.refuse(key, in_quotes(key) + " beside 'topology', which says how far GPUs and NICs are apart");
        Diagnostics found;
        auto read = read_node_file(beside(file), found);
        append_found(found, section.table().place("topology"));
        if (read) node.topology = *std::move(read);
    }

    // One word for all ranks, or one for each.
    void read_relations(ScenarioSection& section, std::string_view key, std::vector<topology::Relation>& to) {
        const TomlNode* node = section.table().take(key);
        if (node == nullptr) return;
        places_.note(section.path_of(key), reader_.where(*node));
        const auto add = [&](const TomlNode& word) {
            if (word.kind != TomlNode::Kind::string) {
                reader_.wrong_type(key, "a string or an array of strings", word);
            } else if (const auto relation = topology::parse_relation(word.text)) {
                to.push_back(*relation);
            } else {
                std::vector<std::string_view> words;
                for (const topology::Relation one : relations) words.push_back(to_string(one));
                reader_.error(reader_.where(word), "unknown path " + in_quotes(word.text) + " in " + in_quotes(key)).hints = hints_for(word.text, words);
            }
        };
        if (node->kind != TomlNode::Kind::array) return add(*node);
        for (const TomlNode& word : node->items) add(word);
    }

    // ---- [work]

    void read_work(ScenarioSection section) {
        Work& work = result_.scenario.work;
        read_grid(section, work.grid);
        section.word("scaling", scalings, work.scaling);
        section.whole("reference_nodes", work.reference_nodes);
        section.number("samples", work.samples);
        section.number("volume_factor", work.volume_factor);
        section.whole("accumulation", work.accumulation);
        section.word("synchronisation", synchronisations, work.synchronisation);
        section.whole("staleness", work.staleness);
        section.word("assignment", assignments, work.assignment);
        section.whole("pieces", work.pieces);
        section.seconds("assignment_cost", work.assignment_cost_s);
        std::size_t index = 0;
        for (const TomlNode* node : section.parts("traffic")) work.traffic.push_back(read_traffic(section_of(*node, section.path_of("traffic", index++), "[[work.traffic]]")));
        section.table().refuse_the_rest();
    }

    // "tp=8,dp=*": as --paced-fabric-order, but for the axis that takes what is left of the ranks.
    void read_grid(ScenarioSection& section, std::vector<simulation::Axis>& grid) {
        std::string text;
        section.text("grid", text);
        if (text.empty()) return;
        std::string numbers;
        std::vector<bool> open;
        for (const std::string_view axis : split(text, ',')) {
            open.push_back(axis.ends_with("=*"));
            numbers.append(numbers.empty() ? "" : ",").append(open.back() ? axis.substr(0, axis.size() - 1) : axis);
            if (open.back()) numbers += '1';
        }
        const auto order = config::parse_order(numbers);
        if (!order || order->pattern != config::Order::Pattern::grid) {
            section.refuse("grid", order ? "bad grid " + in_quotes(text) : order.error().message, {"valid: axes with their sizes, the fastest first, such as 'tp=8,dp=*'; '*' is what is left of the ranks"});
            return;
        }
        for (std::size_t i = 0; i < order->axes.size(); ++i) {
            if (order->axes[i].weight) section.refuse("grid", "axis " + in_quotes(order->axes[i].name) + " of the grid has a weight, which nothing here uses", {"what each axis carries stands in [[work.traffic]]"});
            grid.push_back({order->axes[i].name, open[i] ? 0 : static_cast<std::uint32_t>(order->axes[i].size)});
        }
    }

    Traffic read_traffic(ScenarioSection section) {
        Traffic traffic;
        section.text("axis", traffic.axis);
        section.word("operation", operations, traffic.operation);
        section.word("algorithm", algorithms, traffic.algorithm);
        section.bytes("bytes", traffic.bytes);
        section.whole("buckets", traffic.buckets);
        section.number("overlap", traffic.overlap);
        section.number("from", traffic.from);
        section.number("to", traffic.to);
        section.whole("channels", traffic.channels);
        section.whole("outstanding", traffic.outstanding);
        section.table().refuse_the_rest();
        return traffic;
    }

    // ---- [compute], [[background]], [pacing]

    void read_compute(ScenarioSection section) {
        Compute& compute = result_.scenario.compute;
        section.seconds("mean", compute.mean_s);
        section.number("sigma", compute.sigma);
        section.number("segment_sigma", compute.segment_sigma);
        section.number("persistent", compute.persistent);
        section.number("node_share", compute.node_share);
        section.number("event_probability", compute.event_probability);
        section.seconds("event_mean", compute.event_mean_s);
        section.number("slow_per_node_hour", compute.slow_per_node_hour);
        section.seconds("slow_mean", compute.slow_mean_s);
        section.number("slow_factor", compute.slow_factor);
        section.number("theft", compute.theft);
        section.number("spin_theft", compute.spin_theft);
        std::string file;
        section.text("replay", file);
        section.table().refuse_the_rest();
        if (file.empty()) return;
        Diagnostics found;
        auto replay = read_compute_replay(beside(file), found);
        append_found(found, section.table().place("replay"));
        if (replay) compute.replay = *std::move(replay);
    }

    void read_background(ScenarioSection section) {
        Background background;
        section.text("level", background.level);
        section.number("share", background.share);
        section.seconds("period", background.period_s);
        section.number("duty", background.duty);
        section.number("rate_share", background.rate_share);
        section.number("jitter", background.jitter);
        section.table().refuse_the_rest();
        result_.scenario.background.push_back(std::move(background));
    }

    void read_pacing_part(ScenarioSection section) {
        simulation::Pacing& pacing = result_.scenario.pacing;
        std::string window = "auto";
        section.text("window", window);
        const auto longest = config::parse_window(window);
        if (!longest)
            section.refuse("window", longest.error().message, longest.error().hints);
        else
            pacing.window_s = longest->automatic ? -1 : static_cast<double>(longest->longest.count()) / 1e9;
        section.number("recipe_threshold", pacing.recipe_threshold);
        section.number("recipe_delay", pacing.recipe_delay);
        if (const TomlNode* node = section.part("control")) {
            ScenarioSection control = section_of(*node, "pacing.control", "[pacing.control]");
            control.seconds("latency", pacing.control.latency_s);
            control.seconds("jitter", pacing.control.jitter_s);
            control.number("loss", pacing.control.loss);
            control.seconds("interval", pacing.control.interval_s);
            control.table().refuse_the_rest();
        }
        if (const TomlNode* node = section.part("law")) {
            places_.note("pacing.tuning", reader_.where(*node));
            pacing.tuning = pacing_text(read_pacing(reader_, *node, "[pacing.law]"), config::Limits{});
        }
        section.table().refuse_the_rest();
    }

    // ---- what is left

    std::string beside(const std::string& file) const { return (std::filesystem::path(reader_.file()).parent_path() / file).string(); }

    // What another file's reader found; where it knows no place it could not even open the file that is named here.
    void append_found(const Diagnostics& found, const Location& named) {
        for (const Diagnostic& entry : found.entries()) {
            const bool is_placed = !entry.location.file.empty();
            Diagnostics& to = is_placed ? others_ : reader_.diagnostics();
            const Location& where = is_placed ? entry.location : named;
            (entry.severity == Severity::error ? to.error(where, entry.message) : to.warning(where, entry.message)).hints = entry.hints;
        }
    }

    void apply_overrides() {
        Scenario& scenario = result_.scenario;
        if (!overrides_.node_counts.empty()) {
            scenario.node_counts = overrides_.node_counts;
            counts_refused_ = false;
            places_.note("node_counts", {"--nodes", 0, 0});
            for (std::size_t i = 0; i < scenario.node_counts.size(); ++i) places_.note("node_counts[" + std::to_string(i) + ']', {"--nodes", 0, 0});
        }
        if (overrides_.seeds) {
            scenario.seeds = *overrides_.seeds;
            places_.note("seeds", {"--seeds", 0, 0});
        }
        if (overrides_.iterations) {
            scenario.iterations = *overrides_.iterations;
            places_.note("iterations", {"--iterations", 0, 0});
        }
    }

    // What rests on a value that was refused is not told: a default stands for that value, and nobody wrote it.
    void tell_problems() {
        const auto is_refused = [&](const std::string& field) {
            const ScenarioPlaces::Place place = places_.of(field);
            if (counts_refused_ && field.starts_with("node_counts")) return true;
            const auto& entries = reader_.diagnostics().entries();
            return !place.path.empty() && std::any_of(entries.begin(), entries.end(), [&](const Diagnostic& entry) { return entry.severity == Severity::error && entry.location == place.where; });
        };
        std::vector<const Problem*> news;
        const std::vector<Problem> problems = problems_of(result_.scenario);
        for (const Problem& problem : problems)
            if (!is_refused(problem.field) && std::none_of(problem.also.begin(), problem.also.end(), is_refused)) news.push_back(&problem);
        for (const Problem* problem : news) reader_.error(places_.of(problem->field).where, words_of(*problem));
    }

    // "must be above 0" is said of its key, and of its path where the key is not written.
    std::string words_of(const Problem& problem) const {
        constexpr std::array<std::string_view, 4> verbs{"must ", "is ", "has ", "does "};
        if (std::none_of(verbs.begin(), verbs.end(), [&](std::string_view verb) { return problem.message.starts_with(verb); })) return problem.message;
        const std::string path = places_.of(problem.field).path;
        std::string name = path.empty() ? ScenarioPlaces::name_of(problem.field) : path.substr(path.rfind('.') + 1);
        if (name.ends_with(']')) name.erase(name.rfind('['));
        return in_quotes(name) + ' ' + problem.message;
    }

    static constexpr int most_nodes = 1'000'000;

    const ScenarioOverrides& overrides_;
    Diagnostics& others_;
    TomlReader reader_;
    ScenarioPlaces places_;
    ScenarioFile result_;
    bool counts_refused_ = false;  // one of node_counts was wrong, and what is simulated is the default
};

// ---- the hash

class Fnv {
public:
    void add(std::string_view text) {
        for (const char c : text) add_byte(static_cast<unsigned char>(c));
        add_byte(0);
    }
    std::string digits() const {
        std::array<char, 17> text{};
        std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(hash_));
        return text.data();
    }

private:
    void add_byte(unsigned char byte) { hash_ = (hash_ ^ byte) * 0x100000001b3; }

    std::uint64_t hash_ = 0xcbf29ce484222325;
};

void add(Fnv& hash, const TomlNode& node) {
    hash.add(kind_in_words(node));
    hash.add(node.text);
    if (node.number) hash.add(config::number_text(*node.number));
    hash.add(node.truth ? "true" : "false");
    for (std::size_t i = 0; i < node.items.size(); ++i) {
        if (i < node.keys.size()) hash.add(node.keys[i].text);
        add(hash, node.items[i]);
    }
    hash.add("end");
}

}  // namespace

std::optional<ScenarioFile> parse_scenario(std::string_view text, const std::string& file, const ScenarioOverrides& overrides, Diagnostics& diagnostics) {
    Diagnostics found, others;
    std::optional<ScenarioFile> result;
    if (const auto top = parse_toml(text, file, found)) {
        result = ScenarioReader(file, overrides, found, others).read(*top);
        Fnv hash;
        add(hash, *top);
        result->hash = hash.digits();
    }
    found.sort_by_place();
    found.append(others);
    diagnostics.append(found);
    if (found.has_errors()) return std::nullopt;
    return result;
}

}  // namespace paced::io
