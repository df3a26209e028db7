// SPDX-License-Identifier: BSD-3-Clause
// Summaries up, directives down, between many pretended nodes; and what happens when one of them dies, lies, floods or is silent.
#include <cstring>
#include <filesystem>
#include <fstream>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "plugin/interposer/shared.h"
#include "policy/io/pacing_file.h"
#include "tests/unit/interposer/pretended_nodes.h"

namespace paced::interposer {
namespace {

using namespace std::chrono_literals;
using test::PretendedJob;
using test::within;

constexpr std::uint64_t world = 4711;

pacing::Directive directive(std::uint32_t epoch, pacing::Arm arm = pacing::Arm::hold_local, std::uint64_t communicator = world) {
    pacing::Directive made;
    made.communicator = communicator;
    made.epoch = epoch;
    made.from_sequence = 100;
    made.period = 2;
    made.setting.arm = arm;
    return made;
}

void join_world(PretendedJob& job) {
    const auto size = static_cast<std::uint32_t>(job.nodes.size());
    for (std::uint32_t i = 0; i < size; ++i) job.nodes[i]->join(world, size, i);
}

bool all_have(PretendedJob& job, std::uint32_t epoch) {
    for (auto& node : job.nodes)
        if (node->directive(0).epoch != epoch) return false;
    return true;
}

segment::PacingHeader pacing_header(const PretendedJob& job, std::vector<std::string>* faults = nullptr) {
    std::ifstream file(job.root + "/n0/pacing", std::ios::binary);
    segment::PacingHeader header{};
    file.read(reinterpret_cast<char*>(&header), sizeof header);
    EXPECT_TRUE(file);
    EXPECT_EQ(header.magic, segment::pacing_magic);
    EXPECT_EQ(header.header_bytes, sizeof header);
    EXPECT_EQ(header.class_bytes, sizeof(pacing::Conductor::ClassAccount));
    file.ignore(static_cast<std::streamsize>(header.classes * header.class_bytes));
    for (std::uint32_t i = 0; i < header.faults; ++i) {
        segment::PacingFault fault;
        file.read(reinterpret_cast<char*>(&fault), sizeof fault);
        EXPECT_TRUE(file);
        if (faults != nullptr) faults->push_back(fault.text);
    }
    file.peek();
    EXPECT_TRUE(file.eof());
    return header;
}

// One round: all members known, a directive reaches all, the block comes back whole.
void round_trip(PretendedJob& job, std::uint32_t epoch) {
    const auto size = static_cast<std::uint32_t>(job.nodes.size());
    job.conductor.say(directive(epoch));
    ASSERT_TRUE(within(5s, [&] { return all_have(job, epoch); }));
    for (auto& node : job.nodes) node->call(20);
    for (auto& node : job.nodes) node->finish_block(0, epoch);
    ASSERT_TRUE(within(5s, [&] { return job.conductor.blocks().size() >= epoch; }));
    const pacing::BlockSummary block = job.conductor.blocks()[epoch - 1];
    EXPECT_EQ(block.members, size);
    EXPECT_EQ(block.epoch, epoch);
    EXPECT_EQ(block.iterations, 8u) << "of the communicator's rank 0 alone";
    EXPECT_EQ(block.wait_ns, size * 1000u);
}

// A job of a few milliseconds: the other node is at its end before the leader's thread has come to listen.
TEST(PacingExchange, AFollowerAtItsEndWaitsForALeaderThatIsStillToListen) {
    PretendedJob job(2);
    job.nodes[1]->start_follower();
    std::thread ending([&] { job.nodes[1]->stop(); });
    std::this_thread::sleep_for(300ms);
    job.nodes[0]->start_leader(job.conductor);
    job.nodes[0]->stop();
    ending.join();
    EXPECT_TRUE(job.nodes[1]->delivered());
    EXPECT_EQ(job.nodes[0]->leader().missing(), 0u);
}

// A leader that was not there for all of a longer job will not come: its end is not held up.
TEST(PacingExchange, AFollowerAtItsEndDoesNotWaitForALeaderThatNeverCame) {
    PretendedJob job(2);
    job.nodes[1]->start_follower();
    std::this_thread::sleep_for(1200ms);
    const auto before = std::chrono::steady_clock::now();
    job.nodes[1]->stop();
    EXPECT_LT(std::chrono::steady_clock::now() - before, 900ms);  // a second where it is waited for
    EXPECT_FALSE(job.nodes[1]->delivered());
}

TEST(PacingExchange, OneNodeLeadsItselfWithoutANetwork) {
    PretendedJob job(1);
    job.nodes[0]->settings.ports[0] = '\0';
    job.nodes[0]->join(world, 2, 0);
    job.start();
    ASSERT_TRUE(within(5s, [&] { return job.conductor.last(world).members == 1; }));
    job.conductor.say(directive(1));
    ASSERT_TRUE(within(5s, [&] { return all_have(job, 1); }));
    job.stop();
    const auto header = pacing_header(job);
    EXPECT_EQ(header.finished, 1u);
    EXPECT_EQ(header.messages, 0u);
    EXPECT_EQ(header.depth, 0u);
}

TEST(PacingExchange, Star) {
    PretendedJob job(4);
    join_world(job);
    job.nodes[3]->join(815, 2, 0);
    job.start();
    ASSERT_TRUE(within(5s, [&] { return job.conductor.last(world).members == 4; }));
    const pacing::Progress all = job.conductor.last(world);
    EXPECT_EQ(all.signature, 9u);
    EXPECT_EQ(all.leaves, 2u);
    EXPECT_EQ(all.most_local, 1u);
    for (std::uint32_t epoch = 1; epoch <= 5; ++epoch) round_trip(job, epoch);
    EXPECT_EQ(job.nodes[3]->directive(1).epoch, 0u) << "nobody was told anything of the other one";
    job.stop();
    EXPECT_EQ(job.conductor.faults(), 0);
    EXPECT_EQ(job.nodes[0]->leader().missing(), 0u);
    for (std::size_t i = 1; i < 4; ++i) EXPECT_TRUE(job.nodes[i]->delivered());
    const auto header = pacing_header(job);
    EXPECT_EQ(header.finished, 1u);
    EXPECT_EQ(header.nodes, 4u);
    EXPECT_EQ(header.most_nodes, 4u);
    EXPECT_EQ(header.depth, 1u);
    EXPECT_EQ(header.all_faults, 0u);
    EXPECT_EQ(header.lines, 5u);
    EXPECT_EQ(std::filesystem::file_size(job.root + "/n0/pacing-blocks"), sizeof(segment::BlocksHeader) + 5 * sizeof(pacing::BlockLine));
}

// k and the number of nodes as small as shows the tree; 65 is the first number for which there is one by default.
class InATree : public testing::TestWithParam<std::pair<std::uint32_t, std::uint32_t>> {};
INSTANTIATE_TEST_SUITE_P(PacingExchange, InATree, testing::Values(std::pair{13u, 3u}, std::pair{70u, 8u}));

TEST_P(InATree, DirectivesDownAndBlocksUp) {
    const auto [nodes, arity] = GetParam();
    PretendedJob job(nodes, arity);
    join_world(job);
    job.start();
    ASSERT_TRUE(within(10s, [&, count = nodes] { return job.conductor.last(world).members == count; }));
    for (std::uint32_t epoch = 1; epoch <= 3; ++epoch) round_trip(job, epoch);
    EXPECT_EQ(job.conductor.faults(), 0);
    job.stop();
    EXPECT_EQ(job.conductor.faults(), 0) << "the end is no fault";
    EXPECT_EQ(job.nodes[0]->leader().missing(), 0u) << "dumps go straight to the leader";
    const auto header = pacing_header(job);
    EXPECT_EQ(header.most_nodes, nodes);
    EXPECT_EQ(header.depth, 2u);
    EXPECT_EQ(header.all_faults, 0u);
}

TEST(PacingExchange, AtMostTenMessagesANodeAndSecond) {
    PretendedJob job(13, 3);
    join_world(job);
    job.start();
    ASSERT_TRUE(within(10s, [&] { return job.conductor.last(world).members == 13; }));
    const auto began = std::chrono::steady_clock::now();
    std::uint32_t rounds = 0;
    while (std::chrono::steady_clock::now() < began + 2s) round_trip(job, ++rounds);
    job.stop();
    const auto header = pacing_header(job);
    const double seconds = static_cast<double>(header.elapsed_ns) / 1e9;
    // 12 nodes say something up, and something is said down to 12 nodes
    const double each = static_cast<double>(header.messages) / seconds / 12;
    std::printf("%.2f messages per node and second both ways, %.0f bytes each; a directive down and its block up take %.0f ms\n", each,
                static_cast<double>(header.bytes) / static_cast<double>(header.messages), 2000.0 / rounds);
    EXPECT_LE(each, 20.0 + 12 / seconds);
    EXPECT_GT(each, 1.0);
}

// A node's agent in the hands of the test.
class Scripted {
public:
    explicit Scripted(const ExchangeSettings& settings, const Role& role = to_leader) : settings_(settings), link_(settings_, role) {}
    bool open() {
        for (int attempt = 0; attempt < port_attempts; ++attempt)
            if (link_.open("127.0.0.1", candidate_port(settings_.ports, settings_.session, attempt), now_ns() + 500'000'000)) return true;
        return false;
    }
    bool say(const std::vector<pacing::Progress>& progresses, std::uint32_t nodes = 1, std::size_t more = 0) {
        const SummaryHead head{nodes, static_cast<std::uint32_t>(progresses.size()), 0, 0, 0, 0, 0};
        std::vector<std::uint8_t> payload(sizeof head + progresses.size() * sizeof(pacing::Progress) + more);
        std::memcpy(payload.data(), &head, sizeof head);
        std::memcpy(payload.data() + sizeof head, progresses.data(), progresses.size() * sizeof(pacing::Progress));
        return link_.send(Message::summary, payload.data(), payload.size(), now_ns() + 1'000'000'000);
    }
    bool is_dropped() {
        Channel::Frame frame;
        return within(5s, [&] { return link_.next(frame) == Link::Next::broken; });
    }
    Link& link() { return link_; }

private:
    ExchangeSettings settings_;
    Link link_;
};

const pacing::Progress member{world, 5, 9, 4096, 512, 2, 3, 1, 1, 1, 1, 0, 0};

// A job of three of which the third is in our hands: all goes well until it does what the test says.
class Hostile : public testing::Test {
protected:
    Hostile() : job_(3) {
        for (std::uint32_t i = 0; i < 2; ++i) job_.nodes[i]->join(world, 3, i);
        for (auto& node : job_.nodes) node->settings.silence_limit_ns = 1'500'000'000;
        job_.nodes[0]->start_leader(job_.conductor);
        job_.nodes[1]->start_follower();
        third_ = std::make_unique<Scripted>(job_.nodes[2]->settings);
    }
    void come_together() {
        ASSERT_TRUE(third_->open());
        ASSERT_TRUE(third_->say({member}));
        ASSERT_TRUE(within(5s, [&] { return job_.conductor.last(world).members == 3; }));
        job_.conductor.say(directive(1));
        ASSERT_TRUE(within(5s, [&] { return job_.nodes[0]->directive(0).epoch == 1 && job_.nodes[1]->directive(0).epoch == 1; }));
        EXPECT_EQ(job_.conductor.faults(), 0);
    }
    // Noticed, said once, and the others go on.
    void expect_fault(const char* text) {
        EXPECT_TRUE(within(5s, [&] { return job_.conductor.faults() == 1; }));
        EXPECT_TRUE(within(5s, [&] { return job_.conductor.last(world).members == 2; }));
        job_.conductor.say(directive(2, pacing::Arm::off));
        EXPECT_TRUE(within(5s, [&] { return job_.nodes[1]->directive(0).epoch == 2; })) << "the other node still hears";
        end();
        EXPECT_EQ(job_.conductor.faults(), 1);
        std::vector<std::string> faults;
        EXPECT_EQ(pacing_header(job_, &faults).all_faults, 1u);
        ASSERT_EQ(faults.size(), 1u);
        EXPECT_EQ(faults[0], text);
    }

    void TearDown() override { end(); }
    // The real agent takes the third node's place, so that the leader need not wait for its records.
    void end() {
        if (third_ == nullptr) return;
        third_.reset();
        job_.nodes[2]->start_follower();
        job_.stop();
    }

    PretendedJob job_;
    std::unique_ptr<Scripted> third_;
};

TEST_F(Hostile, Dies) {
    come_together();
    third_->link().close();
    expect_fault("node n2 was lost, pacing went off");
}

TEST_F(Hostile, IsSilent) {
    come_together();
    EXPECT_TRUE(third_->is_dropped());
    expect_fault("node n2 was lost, pacing went off");
}

TEST_F(Hostile, Lies) {
    come_together();
    pacing::Progress lie = member;
    lie.members = lie.local = 3;
    ASSERT_TRUE(third_->say({lie}));
    EXPECT_TRUE(third_->is_dropped());
    expect_fault("node n2 was lost, pacing went off");
}

TEST_F(Hostile, SaysOtherThanItAnnounces) {
    come_together();
    ASSERT_TRUE(third_->say({member}, 1, 8));
    EXPECT_TRUE(third_->is_dropped());
    expect_fault("node n2 was lost, pacing went off");
}

TEST_F(Hostile, Floods) {
    come_together();
    for (int i = 0; i < 5000 && third_->say({member}); ++i) {}
    EXPECT_TRUE(third_->is_dropped());
    expect_fault("node n2 was lost, pacing went off");
}

// A frame under another key (a repeated one fails alike: tests/unit/interposer/wire_test.cpp): the connection ends, nothing of it is believed.
TEST_F(Hostile, SendsAWrongMac) {
    come_together();
    const int copy = ::dup(third_->link().descriptor());
    Channel other;
    other.protect({{1}}, {{2}});
    std::uint8_t frame[frame_limit];
    pacing::Progress lie = member;
    lie.calls = 999'999;
    SummaryHead head{1, 1, 0, 0, 0, 0, 0};
    std::uint8_t payload[sizeof head + sizeof lie];
    std::memcpy(payload, &head, sizeof head);
    std::memcpy(payload + sizeof head, &lie, sizeof lie);
    const std::size_t size = other.encode(Message::summary, payload, sizeof payload, frame);
    ASSERT_EQ(::send(copy, frame, size, MSG_NOSIGNAL), static_cast<ssize_t>(size));
    ::close(copy);
    EXPECT_TRUE(third_->is_dropped());
    EXPECT_NE(job_.conductor.last(world).calls, 999'999u);
    expect_fault("node n2 was lost, pacing went off");
}

TEST_F(Hostile, HasAnotherKey) {
    ExchangeSettings wrong = job_.nodes[2]->settings;
    const std::uint8_t key[32] = {1};
    wrong.secrets = Secrets(key, job_.session.c_str());
    Scripted stranger(wrong);
    EXPECT_FALSE(stranger.open());
    come_together();
    EXPECT_EQ(job_.conductor.faults(), 0);
}

// The two kinds of greeting cannot be taken for one another.
TEST_F(Hostile, GreetsAsAChild) {
    Scripted child(job_.nodes[2]->settings, to_parent);
    EXPECT_FALSE(child.open());
}

// Does not read what it is told: told nothing more, and nobody waits for it.
TEST_F(Hostile, DoesNotRead) {
    come_together();
    for (std::uint32_t epoch = 2; epoch < 12; ++epoch) {
        job_.conductor.say(directive(epoch));
        ASSERT_TRUE(within(2s, [&] { return job_.nodes[1]->directive(0).epoch == epoch; }));
        ASSERT_TRUE(third_->say({member}));
    }
    EXPECT_EQ(job_.conductor.faults(), 0);
}

// The other way round: a leader in the hands of the test, and a node that must look after itself.
class HostileLeader : public testing::Test {
protected:
    HostileLeader() : job_(2), memory_(Peers::size_of(2)), peers_(job_.nodes[0]->settings, to_leader, memory_.get(), 2) {
        for (auto& node : job_.nodes) node->settings.silence_limit_ns = 800'000'000;
        job_.nodes[1]->join(world, 2, 1);
        EXPECT_NE(peers_.listen(), 0);
        job_.nodes[1]->start_follower();
    }
    ~HostileLeader() override {
        peers_.close();
        job_.nodes[1]->stop();
    }
    // Serves until the condition holds.
    bool serve(std::chrono::milliseconds limit, const std::function<bool()>& condition) {
        const Peers::Owner owner{this,
                                 [](void* self, Peer& peer, const Channel::Frame& frame, std::uint64_t received_ns) {
                                     auto& test = *static_cast<HostileLeader*>(self);
                                     if (frame.type == Message::ping) {
                                         Pong pong{0, received_ns, now_ns()};
                                         std::memcpy(&pong.t1, frame.payload, sizeof pong.t1);
                                         return test.peers_.post(peer, Message::pong, &pong, sizeof pong);
                                     }
                                     if (frame.type == Message::summary) test.child_ = &peer;
                                     return true;
                                 },
                                 [](void*, Peer&) {}};
        return within(limit, [&] {
            const std::uint32_t count = peers_.add_polled(peers_.polled(), now_ns(), owner);
            if (::poll(peers_.polled(), count, 1) > 0) peers_.handle(peers_.polled(), count, owner);
            return condition();
        });
    }
    bool tell(const pacing::Directive& directive, std::uint32_t count = 1) {
        const DirectivesHead head{count, 0};
        std::uint8_t payload[sizeof head + sizeof directive];
        std::memcpy(payload, &head, sizeof head);
        std::memcpy(payload + sizeof head, &directive, sizeof directive);
        return peers_.post(*child_, Message::directives, payload, sizeof payload);
    }
    void come_together() {
        ASSERT_TRUE(serve(5s, [&] { return child_ != nullptr; }));
        ASSERT_TRUE(tell(directive(1)));
        ASSERT_TRUE(serve(5s, [&] { return job_.nodes[1]->directive(0).epoch == 1; }));
    }
    bool is_off() { return job_.nodes[1]->directive(0).epoch == 2 && job_.nodes[1]->directive(0).setting.arm == pacing::Arm::off; }

    PretendedJob job_;
    test::Zeroed memory_;
    Peers peers_;
    Peer* child_ = nullptr;
};

TEST_F(HostileLeader, Dies) {
    come_together();
    peers_.close();
    EXPECT_TRUE(within(1s, [&] { return is_off(); })) << "a connection that ends is noticed at once";
}

TEST_F(HostileLeader, IsSilentAboutPacing) {
    come_together();
    EXPECT_FALSE(serve(500ms, [&] { return is_off(); }));
    EXPECT_TRUE(serve(3s, [&] { return is_off(); }));
    if (tell(directive(7))) {
        EXPECT_FALSE(serve(500ms, [&] { return job_.nodes[1]->directive(0).epoch == 7; })) << "off is for good";
    }
}

TEST_F(HostileLeader, TellsNonsense) {
    come_together();
    pacing::Directive odd = directive(2);
    odd.setting.arm = static_cast<pacing::Arm>(99);
    ASSERT_TRUE(tell(odd));
    EXPECT_TRUE(serve(3s, [&] { return is_off(); }));
}

TEST_F(HostileLeader, AnnouncesMoreThanItTells) {
    come_together();
    ASSERT_TRUE(tell(directive(2), 1'000'000));
    EXPECT_TRUE(serve(3s, [&] { return is_off(); }));
}

// kill -9 of a node's agent, with everything that hangs from it. Processes, since a thread cannot be killed.
TEST(PacingExchange, KilledInnerNodeTakesItsPartOut) {
    PretendedJob job(13, 3);
    join_world(job);
    // the first three that come are the inner nodes
    for (std::size_t i = 1; i < 13; ++i) job.nodes[i]->fork_follower(i > 3);
    job.nodes[0]->start_leader(job.conductor);
    ASSERT_TRUE(within(10s, [&] { return job.nodes[1]->has_met_leader() && job.nodes[2]->has_met_leader() && job.nodes[3]->has_met_leader(); }));
    for (std::size_t i = 4; i < 13; ++i) job.nodes[i]->release();
    ASSERT_TRUE(within(10s, [&] { return job.conductor.last(world).members == 13; }));
    job.conductor.say(directive(1));
    ASSERT_TRUE(within(5s, [&] { return all_have(job, 1); }));
    job.nodes[2]->kill_process();
    EXPECT_TRUE(within(5s, [&] { return job.conductor.last(world).members == 9; })) << job.conductor.last(world).members;
    EXPECT_TRUE(within(5s, [&] { return job.conductor.faults() == 1; }));
    // its three children have seen to themselves; the others are the conductor's
    const auto off = [&] {
        std::uint32_t count = 0;
        for (auto& node : job.nodes) count += node->directive(0).epoch == 2 && node->directive(0).setting.arm == pacing::Arm::off ? 1 : 0;
        return count;
    };
    EXPECT_TRUE(within(5s, [&] { return off() == 3; })) << off();
    for (std::size_t i = 1; i < 13; ++i) job.nodes[i]->kill_process();
    job.nodes[0]->stop();
    std::vector<std::string> faults;
    pacing_header(job, &faults);
    ASSERT_FALSE(faults.empty());
    EXPECT_NE(faults[0].find("lost, pacing went off"), std::string::npos) << faults[0];
}

// A file that is there while the job runs, for a step that is killed.
TEST(PacingExchange, FilesShowNoKeyAndBelongToTheUser) {
    PretendedJob job(2);
    join_world(job);
    job.start();
    ASSERT_TRUE(within(5s, [&] { return job.conductor.last(world).members == 2; }));
    round_trip(job, 1);
    job.stop();
    const std::string raw(32, '\7'), hex = [] { std::string text; for (int i = 0; i < 32; ++i) text += "07"; return text; }();
    int files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(job.root)) {
        if (!entry.is_regular_file()) continue;
        ++files;
        EXPECT_EQ(entry.status().permissions() & (std::filesystem::perms::group_all | std::filesystem::perms::others_all), std::filesystem::perms::none) << entry.path();
        if (entry.path().filename() == "segment") continue;
        std::ifstream file(entry.path(), std::ios::binary);
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        EXPECT_EQ(text.find(raw), std::string::npos) << entry.path();
        EXPECT_EQ(text.find(hex), std::string::npos) << entry.path();
    }
    EXPECT_GE(files, 5);
}

}  // namespace
}  // namespace paced::interposer
