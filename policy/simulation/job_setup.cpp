// SPDX-License-Identifier: BSD-3-Clause
// From a scenario to ranks, communicators and plans.
#include <algorithm>
#include <numeric>

#include "policy/simulation/job.h"

namespace paced::simulation {
namespace {

constexpr std::size_t most_kept = 4'000'000;  // ends of iterations that are kept, over all components

std::vector<std::uint32_t> as_submitted(std::uint32_t slots) {
    std::vector<std::uint32_t> order(slots);
    std::iota(order.begin(), order.end(), 0u);
    return order;
}

bool is_ours(Case ran) { return ran == Case::ordered || ran == Case::paced; }

std::uint32_t root_of(std::vector<std::uint32_t>& parent, std::uint32_t index) {
    while (parent[index] != index) index = parent[index] = parent[parent[index]];
    return index;
}

}  // namespace

Job::Job(const Scenario& scenario, const Run& run)
    : scenario_(scenario), run_(run), ranks_(run.nodes * scenario.node.ranks), total_(scenario.warmup + scenario.iterations), wiring_(scenario, run.nodes, run.seed),
      order_(is_ours(run.ran) ? wiring_.ordered(scenario, reasons_) : as_submitted(run.nodes)), planner_(scenario, wiring_, order_, is_ours(run.ran)),
      compute_(scenario, wiring_, order_, run.seed),
      network_(wiring_.links(), wiring_.switches(), scenario.fabric.transport, scenario.fabric.overload, mixed(run.seed, 0x6e65'7477), queue_),
      pacer_(scenario, run.ran, run.seed, communicators_, entries_, queue_), fabric_draws_(mixed(run.seed, 0x6661'6272)) {
    make_program();
    make_communicators();
    make_plans();
    make_background();
    for (Plan& plan : plans_) planner_.settle(plan);
    state_.resize(ranks_);
    entries_.arrival.resize(ranks_);
    entries_.entry.resize(ranks_);
    find_components();
    ends_.assign(std::size_t{components_} * total_, 0.0);

    std::vector<std::uint32_t> by_bytes, wanted;
    for (std::uint32_t i = 0; i < kinds_.size(); ++i)
        if (kinds_[i].paces) by_bytes.push_back(i);
    std::stable_sort(by_bytes.begin(), by_bytes.end(), [&](std::uint32_t a, std::uint32_t b) { return kinds_[a].bytes > kinds_[b].bytes; });
    for (const std::uint32_t i : by_bytes)
        for (std::uint32_t group = 0; group < ranks_ / kinds_[i].size; ++group) wanted.push_back(kinds_[i].first + group);
    pacer_.conduct(wanted, static_cast<std::uint32_t>(kinds_.size()), expected_s());

    if (run.seed == scenario.first_seed) {
        const std::uint32_t shown = std::min(ranks_, timeline_ranks);
        for (std::uint32_t i = 0; i < shown; ++i) recorded_ranks_.push_back(static_cast<std::uint32_t>(std::uint64_t{i} * ranks_ / shown));
        cursor_.assign(shown, 0.0);
    }
}

void Job::make_program() {
    std::vector<std::string> axes;                 // of kinds_
    std::vector<std::vector<std::uint32_t>> slots; // traffics of each kind
    std::uint64_t known = 1;
    for (const Axis& axis : scenario_.work.grid) known *= axis.size > 0 ? axis.size : 1;
    for (std::uint32_t t = 0; t < scenario_.work.traffic.size(); ++t) {
        const Traffic& traffic = scenario_.work.traffic[t];
        auto at = static_cast<std::uint32_t>(std::find(axes.begin(), axes.end(), traffic.axis) - axes.begin());
        if (at == axes.size()) {
            Kind kind;
            kind.size = ranks_;
            std::uint64_t stride = 1;
            for (const Axis& axis : scenario_.work.grid) {
                const std::uint64_t size = axis.size > 0 ? axis.size : ranks_ / known;
                if (axis.name == traffic.axis) {
                    kind.stride = static_cast<std::uint32_t>(stride);
                    kind.size = static_cast<std::uint32_t>(size);
                }
                stride *= size;
            }
            if (kind.size < 2) continue;  // nobody to speak to
            axes.push_back(traffic.axis);
            kinds_.push_back(kind);
            slots.emplace_back();
        }
        Kind& kind = kinds_[at];
        kind.bytes += traffic.bytes;
        kind.paces = kind.paces || traffic.operation != Operation::neighbour;
        const auto slot = static_cast<std::uint32_t>(slots[at].size());
        slots[at].push_back(t);
        const double count = traffic.buckets;
        for (std::uint32_t bucket = 0; bucket < traffic.buckets; ++bucket) {
            ProgramCall call;
            call.traffic = t;
            call.kind = at;
            call.slot = slot;
            call.blocking = !(traffic.overlap > 0);
            if (!call.blocking) call.part = 1 - traffic.overlap + traffic.overlap * (bucket + 1) / count;
            else call.part = traffic.buckets > 1 ? traffic.from + (traffic.to - traffic.from) * bucket / (count - 1) : traffic.from;
            call.call.operation = traffic.operation;
            call.call.bytes = static_cast<std::uint64_t>(traffic.bytes * scenario_.work.volume_factor / count);
            program_.push_back(call);
        }
    }
    std::stable_sort(program_.begin(), program_.end(), [](const ProgramCall& a, const ProgramCall& b) { return a.part < b.part; });
    bool is_last = true;
    for (auto call = program_.rbegin(); call != program_.rend(); ++call) {
        call->shows = call->blocking || is_last;
        is_last = is_last && !call->blocking;
    }
    for (std::uint32_t i = 0; i < program_.size(); ++i) kinds_[program_[i].kind].calls.push_back(i);
}

void Job::make_communicators() {
    for (std::uint32_t k = 0; k < kinds_.size(); ++k) {
        Kind& kind = kinds_[k];
        kind.first = static_cast<std::uint32_t>(communicators_.size());
        for (std::uint32_t group = 0; group < ranks_ / kind.size; ++group) {
            Communicator communicator;
            communicator.kind = k;
            communicator.members = {group / kind.stride * kind.stride * kind.size + group % kind.stride, kind.stride, kind.size};
            communicator.nodes = 0;
            std::uint32_t local = 0, node = ~std::uint32_t{0};
            for (std::uint32_t i = 0; i < kind.size; ++i) {
                const std::uint32_t here = communicator.members.rank(i) / scenario_.node.ranks, leaf = wiring_.leaf_of(order_[here]);
                if (i == 0) communicator.leaf = leaf;
                if (here != node) {
                    ++communicator.nodes;
                    local = 0;
                    communicator.beyond += leaf != communicator.leaf ? 1 : 0;
                    communicator.leaf_set |= std::uint64_t{1} << leaf % 64;
                }
                node = here;
                communicator.most_local = std::max(communicator.most_local, ++local);
            }
            communicators_.push_back(communicator);
        }
    }
}

// Communicators within one node are alike, and use nothing that others use.
void Job::make_plans() {
    std::vector<std::vector<std::uint32_t>> traffics(kinds_.size());
    for (const ProgramCall& call : program_) {
        std::vector<std::uint32_t>& own = traffics[call.kind];
        if (own.size() <= call.slot) own.resize(call.slot + 1);
        own[call.slot] = call.traffic;
    }
    std::vector<std::vector<std::uint32_t>> inner(kinds_.size());
    for (std::uint32_t index = 0; index < communicators_.size(); ++index) {
        Communicator& communicator = communicators_[index];
        communicator.first_plan = static_cast<std::uint32_t>(plan_index_.size());
        const bool is_inner = planner_.is_on_one_node(communicator.members);
        std::vector<std::uint32_t>& known = inner[communicator.kind];
        const std::size_t calls = traffics[communicator.kind].size();
        for (std::size_t slot = 0; slot < calls; ++slot) {
            if (is_inner && slot < known.size()) {
                plan_index_.push_back(known[slot]);
                continue;
            }
            const Traffic& traffic = scenario_.work.traffic[traffics[communicator.kind][slot]];
            plan_index_.push_back(static_cast<std::uint32_t>(plans_.size()));
            if (is_inner) known.push_back(plan_index_.back());
            plans_.push_back(planner_.plan(communicator.members, traffic, traffic.bytes * scenario_.work.volume_factor / traffic.buckets));
            for (const Phase& phase : plans_.back().phases)
                if (phase.moves) communicator.socket_bytes += phase.transfer.bytes / phase.transfer.flows_per_unit / static_cast<double>(calls);
            // a call takes all its members: one of all ranks never meets another one
            if (communicator.members.count < ranks_) planner_.count_users(plans_.back(), index);
        }
    }
}

Plan& Job::plan_of(const Communicator& communicator) { return plans_[plan_index_[communicator.first_plan + call_of(communicator).slot]]; }

void Job::make_background() {
    for (std::size_t i = 0; i < scenario_.background.size(); ++i) {
        const Background& background = scenario_.background[i];
        Burst burst;
        burst.draws = Draws(mixed(run_.seed, 0x6275'7273, i));
        burst.transfer.bytes = std::numeric_limits<double>::infinity();
        burst.transfer.window_bytes = scenario_.fabric.overload.window_bytes;
        std::vector<std::uint32_t> links, all = wiring_.links_of_level(background.level);
        // an uplink and the way back are one place
        for (std::size_t at = 0; at + 1 < all.size(); at += 2)
            if (burst.draws.uniform() < background.share) links.insert(links.end(), {all[at], all[at + 1]});
        if (links.empty() && all.size() > 1) links = {all[0], all[1]};
        for (const std::uint32_t link : links) {
            burst.transfer.uses.push_back({link, 1, 1});
            burst.transfer.most_bytes_s = std::min(burst.transfer.most_bytes_s, background.rate_share * wiring_.links()[link].bytes_s);
        }
        planner_.count_background(links);
        bursts_.push_back(std::move(burst));
    }
}

// Parts of the job that share no rank: parallel groups of one kind alone.
void Job::find_components() {
    std::vector<std::uint32_t> parent(communicators_.size());
    std::iota(parent.begin(), parent.end(), 0u);
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
        const std::uint32_t first = root_of(parent, kinds_[0].first + kinds_[0].group_of(rank));
        for (std::size_t k = 1; k < kinds_.size(); ++k) parent[root_of(parent, kinds_[k].first + kinds_[k].group_of(rank))] = first;
    }
    std::vector<std::uint32_t> number(communicators_.size(), ~std::uint32_t{0});
    std::uint32_t found = 0;
    for (std::uint32_t i = 0; i < communicators_.size(); ++i) {
        std::uint32_t& own = number[root_of(parent, i)];
        if (own == ~std::uint32_t{0}) own = found++;
        communicators_[i].component = own;
    }
    components_ = std::min(found, static_cast<std::uint32_t>(std::max<std::size_t>(1, most_kept / total_)));
    component_share_.assign(found, 0.0);
    for (std::uint32_t i = 0; i < ranks_ / kinds_[0].size; ++i) component_share_[communicators_[kinds_[0].first + i].component] += static_cast<double>(kinds_[0].size) / ranks_;
}

// An iteration on an idle fabric without jitter.
double Job::expected_s() const {
    double seconds = compute_.mean_s();
    for (const ProgramCall& call : program_) {
        const Communicator& first = communicators_[kinds_[call.kind].first];
        if (call.blocking) seconds += plans_[plan_index_[first.first_plan + call.slot]].alone_s;
    }
    return seconds;
}

std::uint32_t Job::steps_crossing() const {
    std::uint32_t crossing = 0;
    for (std::size_t i = 0; i < order_.size(); ++i) crossing += wiring_.leaf_of(order_[i]) != wiring_.leaf_of(order_[(i + 1) % order_.size()]) ? 1 : 0;
    return crossing;
}

}  // namespace paced::simulation
