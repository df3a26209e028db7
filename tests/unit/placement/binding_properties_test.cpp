// SPDX-License-Identifier: BSD-3-Clause
// What must hold of every binding, on random nodes of up to 8 GPUs and 8 NICs: it is as good as the best of all that
// there are, found by walking through them, and none of the promises of docs/binding.md is broken.
#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "policy/placement/binding.h"
#include "policy/placement/binding/near_nics.h"
#include "tests/unit/placement/node_builder.h"

namespace paced::placement {
namespace {

using namespace paced::topology;
using Random = std::mt19937;

int draw(Random& random, int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); }

// Devices on up to three root ports of each of two host bridges. Some links down or slow where `faults`.
NodeTopology random_node(Random& random, int gpus, int nics, bool faults) {
    NodeBuilder builder;
    const auto slot = [&] { return std::string(1, draw(random, 0, 1) == 0 ? 'a' : 'b') + std::to_string(draw(random, 1, 3)); };
    const auto pci = [](int bus, int device) { return std::to_string(bus) + ":0" + std::to_string(device) + ".0"; };
    for (int i = 0; i < gpus; ++i) builder.gpu(pci(10 + i, 0).c_str(), slot());
    for (int i = 0; i < nics; ++i) {
        builder.nic(pci(30 + i, 1).c_str(), slot(), "m" + std::to_string(i));
        if (!faults) continue;
        if (draw(random, 0, 5) == 0) builder.node().nics.back().state = LinkState::down;
        builder.node().nics.back().rate_mbps = std::array{0u, 100'000u, 400'000u}[static_cast<std::size_t>(draw(random, 0, 2))];
    }
    return builder.build();
}

// Worst path, sum of paths, loads of the NICs from the highest down: the smaller, the better.
struct Cost {
    int worst = 0, sum = 0;
    std::vector<int> loads;
    friend auto operator<=>(const Cost&, const Cost&) = default;
};

Cost cost_of(const NodeTopology& node, const NodeBinding& binding) {
    Cost cost{0, 0, std::vector<int>(node.nics.size(), 0)};
    for (const TaskBinding& task : binding.tasks) {
        const int path = static_cast<int>(relation_between(node, task.gpu, task.nics.front()));
        cost.worst = std::max(cost.worst, path);
        cost.sum += path;
        ++cost.loads[to_index(task.nics.front())];
    }
    std::sort(cost.loads.rbegin(), cost.loads.rend());
    return cost;
}

// The best of all: every choice of `tasks` GPUs, and for each of them every NIC of the node, near or far. Choices that lead
// to the same costs and loads so far are walked on from once.
Cost best_of_all(const NodeTopology& node, std::size_t tasks) {
    using State = std::pair<std::pair<int, int>, std::vector<int>>;
    std::vector<std::set<State>> after(tasks + 1);  // by how many GPUs are chosen
    after[0].insert({{0, 0}, std::vector<int>(node.nics.size(), 0)});
    for (std::size_t gpu = 0; gpu < node.gpus.size(); ++gpu) {
        for (std::size_t chosen = std::min(tasks, gpu + 1); chosen-- > 0;) {
            for (const auto& [path, loads] : after[chosen]) {
                for (std::size_t nic = 0; nic < node.nics.size(); ++nic) {
                    const int way = static_cast<int>(relation_between(node, static_cast<GpuIndex>(gpu), static_cast<NicIndex>(nic)));
                    auto more = loads;
                    ++more[nic];
                    after[chosen + 1].insert({{std::max(path.first, way), path.second + way}, std::move(more)});
                }
            }
        }
    }
    Cost best;
    for (const auto& [path, loads] : after[tasks]) {
        Cost cost{path.first, path.second, loads};
        std::sort(cost.loads.rbegin(), cost.loads.rend());
        if (best.loads.empty() || cost < best) best = cost;
    }
    return best;
}

// Where each task has one NIC the binding is an assignment, and can be compared with all others. Where each can have several
// of its own, the first ones are compared.
TEST(BindingProperties, NoAssignmentIsBetter) {
    Random random(11);
    for (int round = 0; round < 300; ++round) {
        const int gpus = draw(random, 1, 6), nics = draw(random, 1, 5), tasks = draw(random, 1, gpus);
        const NodeTopology node = random_node(random, gpus, nics, false);
        EXPECT_EQ(cost_of(node, bind_tasks(node, {.tasks = tasks})), best_of_all(node, static_cast<std::size_t>(tasks))) << "round " << round;
    }
    for (int round = 0; round < 4; ++round) {
        const NodeTopology node = random_node(random, 8, 8, false);
        for (std::size_t tasks : {8u, 5u})
            EXPECT_EQ(cost_of(node, bind_tasks(node, {.tasks = static_cast<int>(tasks)})), best_of_all(node, tasks)) << "round " << round << " of 8x8";
    }
}

class Promises : public testing::TestWithParam<int> {
protected:
    // Many nodes, some with more tasks than GPUs.
    template <class Check>
    void on_each(Check check) {
        Random random(static_cast<unsigned>(GetParam()));
        for (int round = 0; round < 200; ++round) {
            const int gpus = draw(random, 1, 8);
            const NodeTopology node = random_node(random, gpus, draw(random, 1, 8), true);
            const BindingRequest request{.tasks = draw(random, 1, 2 * gpus)};
            SCOPED_TRACE("round " + std::to_string(round));
            check(node, bind_tasks(node, request), request, random);
        }
    }
};

TEST_P(Promises, NearNicsAloneAndNoneThatIsDownOrSlow) {
    on_each([](const NodeTopology& node, const NodeBinding& binding, const BindingRequest&, Random&) {
        for (const TaskBinding& task : binding.tasks) {
            std::uint32_t fastest = 0;
            bool any_up = false;
            for (std::size_t i = 0; i < node.nics.size(); ++i) {
                const auto nic = static_cast<NicIndex>(i);
                ASSERT_LE(*task.relation, relation_between(node, task.gpu, nic));  // nothing is nearer
                if (relation_between(node, task.gpu, nic) != *task.relation || node.nics[i].state == LinkState::down) continue;
                any_up = true;
                fastest = std::max(fastest, node.nics[i].rate_mbps);
            }
            EXPECT_EQ(task.nic_down, !any_up);
            EXPECT_EQ(task.nics.empty(), node.nics.empty());
            for (NicIndex nic : task.nics) {
                EXPECT_EQ(relation_between(node, task.gpu, nic), *task.relation);
                EXPECT_EQ(node.nic(nic).state == LinkState::down, !any_up);
                if (!any_up) continue;
                EXPECT_TRUE(node.nic(nic).rate_mbps == 0 || node.nic(nic).rate_mbps == fastest);
            }
        }
    });
}

TEST_P(Promises, NoNicIdlesWhileAnotherCarriesTwoMore) {
    on_each([](const NodeTopology& node, const NodeBinding& binding, const BindingRequest&, Random&) {
        std::vector<int> loads(node.nics.size(), 0);
        for (const TaskBinding& task : binding.tasks)
            for (NicIndex nic : task.nics) ++loads[to_index(nic)];
        const auto eligible = nics_of_best_class(node);
        for (const TaskBinding& task : binding.tasks)
            for (NicIndex mine : task.nics)
                for (NicIndex other : near_nics(node, task.gpu, eligible).usable)
                    EXPECT_LT(loads[to_index(mine)] - loads[to_index(other)], 2) << label(node.nic(mine)) << ' ' << label(node.nic(other));
    });
}

TEST_P(Promises, ThoseThatShareNicsHaveEquallyMany) {
    on_each([](const NodeTopology& node, const NodeBinding& binding, const BindingRequest&, Random&) {
        const auto eligible = nics_of_best_class(node);
        std::map<NicIndex, int> loads;
        for (const TaskBinding& task : binding.tasks)
            for (NicIndex nic : task.nics) ++loads[nic];
        for (const TaskBinding& a : binding.tasks) {
            EXPECT_EQ(std::set<NicIndex>(a.nics.begin(), a.nics.end()).size(), a.nics.size());
            for (NicIndex nic : a.nics)
                EXPECT_TRUE(a.nics.size() == 1 || loads[nic] == 1);
            for (const TaskBinding& b : binding.tasks) {
                const auto usable = near_nics(node, b.gpu, eligible).usable;
                const bool shared =
                    std::any_of(a.nics.begin(), a.nics.end(), [&](NicIndex nic) { return std::find(usable.begin(), usable.end(), nic) != usable.end(); });
                EXPECT_TRUE(!shared || a.nics.size() == b.nics.size());
            }
        }
    });
}

// "10:00.0 m1 m3": what each task has, in names that do not depend on where a device stands in the input.
std::vector<std::string> by_name(const NodeTopology& node, const NodeBinding& binding) {
    std::vector<std::string> texts;
    for (const TaskBinding& task : binding.tasks) {
        std::string text = to_string(*node.gpu(task.gpu).place.pci) + ' ' + to_string(task.cpus);
        for (const auto* list : {&task.nics, &task.candidates}) {
            text += " :";
            for (NicIndex nic : *list) text += ' ' + label(node.nic(nic));
        }
        for (const std::string& reason : task.reasons) text += '\n' + reason;
        texts.push_back(text);
    }
    texts.insert(texts.end(), binding.warnings.begin(), binding.warnings.end());
    return texts;
}

TEST_P(Promises, TheOrderOfTheInputChangesNothing) {
    on_each([](const NodeTopology& node, const NodeBinding& binding, const BindingRequest& request, Random& random) {
        NodeTopology shuffled = node;
        std::shuffle(shuffled.gpus.begin(), shuffled.gpus.end(), random);
        std::shuffle(shuffled.nics.begin(), shuffled.nics.end(), random);
        EXPECT_EQ(by_name(shuffled, bind_tasks(shuffled, request)), by_name(node, binding));
    });
}

// Names and addresses may change, as long as their order is the same: what is chosen is the same then too.
TEST_P(Promises, NewNamesChangeNamesAlone) {
    on_each([](const NodeTopology& node, const NodeBinding& binding, const BindingRequest& request, Random&) {
        NodeTopology renamed = node;
        for (Nic& nic : renamed.nics) nic.name = "other" + nic.name;
        const NodeBinding again = bind_tasks(renamed, request);
        ASSERT_EQ(again.tasks.size(), binding.tasks.size());
        for (std::size_t i = 0; i < again.tasks.size(); ++i) {
            EXPECT_EQ(again.tasks[i].gpu, binding.tasks[i].gpu);
            EXPECT_EQ(again.tasks[i].nics, binding.tasks[i].nics);
        }
    });
}

TEST_P(Promises, GpusAreSharedEvenly) {
    on_each([](const NodeTopology& node, const NodeBinding& binding, const BindingRequest& request, Random&) {
        std::vector<int> tasks(node.gpus.size(), 0);
        for (const TaskBinding& task : binding.tasks) ++tasks[to_index(task.gpu)];
        EXPECT_EQ(std::accumulate(tasks.begin(), tasks.end(), 0), request.tasks);
        EXPECT_LE(*std::max_element(tasks.begin(), tasks.end()) - *std::min_element(tasks.begin(), tasks.end()), 1);
    });
}

INSTANTIATE_TEST_SUITE_P(Seeds, Promises, testing::Values(1, 2, 3));

}  // namespace
}  // namespace paced::placement
