// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/interposer/pretended_nodes.h"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "plugin/interposer/node_segment.h"
#include "plugin/interposer/shared.h"

namespace paced::test {

using namespace interposer;

void FakeConductor::progress(const pacing::Progress& progress, std::uint64_t) {
    const std::lock_guard lock(mutex_);
    last_[progress.communicator] = progress;
}
void FakeConductor::block(const pacing::BlockSummary& block) {
    const std::lock_guard lock(mutex_);
    blocks_.push_back(block);
    ++lines_;
}
void FakeConductor::retransmissions(std::uint64_t) {}
void FakeConductor::surroundings(bool tcp, bool) {
    const std::lock_guard lock(mutex_);
    tcp_ = tcp;
}
void FakeConductor::fault() {
    const std::lock_guard lock(mutex_);
    ++faults_;
}
std::uint32_t FakeConductor::directives(std::uint64_t, pacing::Directive* to, std::uint32_t limit) {
    const std::lock_guard lock(mutex_);
    std::uint32_t count = 0;
    for (; count < limit && !to_say_.empty(); to_say_.erase(to_say_.begin())) to[count++] = to_say_.front();
    return count;
}
std::uint32_t FakeConductor::lines(pacing::BlockLine* to, std::uint32_t limit) {
    const std::lock_guard lock(mutex_);
    std::uint32_t count = 0;
    for (; count < limit && lines_ > 0; --lines_) (to[count++] = {}).iterations = 8;
    return count;
}
const pacing::Conductor::ClassAccount& FakeConductor::account(std::uint32_t) {
    account_.bytes = 4096;
    return account_;
}
void FakeConductor::say(const pacing::Directive& directive) {
    const std::lock_guard lock(mutex_);
    to_say_.push_back(directive);
}
pacing::Progress FakeConductor::last(std::uint64_t communicator) {
    const std::lock_guard lock(mutex_);
    return last_.count(communicator) != 0 ? last_[communicator] : pacing::Progress{};
}
std::vector<pacing::BlockSummary> FakeConductor::blocks() {
    const std::lock_guard lock(mutex_);
    return blocks_;
}
int FakeConductor::faults() {
    const std::lock_guard lock(mutex_);
    return faults_;
}
bool FakeConductor::tcp() {
    const std::lock_guard lock(mutex_);
    return tcp_;
}

PretendedNode::PretendedNode(const std::string& root, const std::string& session, std::uint32_t index, std::uint32_t nodes, std::uint32_t arity)
    : folder_(root + "/n" + std::to_string(index)), memory_(Junction::size()), peers_(Peers::size_of(nodes > arity ? nodes : arity)) {
    std::filesystem::create_directory(folder_);
    std::snprintf(settings.run_folder, sizeof settings.run_folder, "%s", folder_.c_str());
    std::snprintf(settings.leader, sizeof settings.leader, "%s", index == 0 ? "self" : "127.0.0.1");
    std::snprintf(settings.ports, sizeof settings.ports, "62000-62999");
    std::snprintf(settings.session, sizeof settings.session, "%s", session.c_str());
    std::snprintf(settings.node, sizeof settings.node, "n%u", index);
    settings.nodes = nodes;
    std::uint8_t key[32];
    std::memset(key, 7, sizeof key);
    settings.secrets = Secrets(key, settings.session);
    settings.pace = true;
    settings.window_ns = ~std::uint64_t{0};
    settings.leaf = 1 + index % 2;
    settings.arity = arity;
    settings.silence_limit_ns = ExchangeSettings::long_silence_ns;
    char reason[256];
    const NodeSegment joined = join_segment(folder_.c_str(), settings.node, reason);
    EXPECT_NE(joined.slot, nullptr) << reason;
    header_ = joined.header;
    slot_ = joined.slot;
    slot_->rank.pid = static_cast<std::uint32_t>(::getpid());
    slot_->rank.cpus[0] = 1;
    slot_->rank.state = segment::State::running;
    segment_ = ::open((folder_ + "/segment").c_str(), O_RDONLY | O_CLOEXEC);
    wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

PretendedNode::~PretendedNode() {
    stop();
    kill_process();
    ::munmap(header_, sizeof *header_);
    ::munmap(slot_, sizeof *slot_);
    ::close(segment_);
    ::close(wake_);
}

void PretendedNode::join(std::uint64_t communicator, std::uint32_t size, std::uint32_t member) {
    const std::uint32_t place = slot_->rank.communicators;
    slot_->communicators[place] = {communicator, size, member, 1, 0, 0, 0, 1, 0, {}};
    slot_->paced[place].period = 2;
    slot_->paced[place].bytes = 4096;
    slot_->paced[place].signature = 9;
    header_->communicators[place].id = communicator;
    header_->communicators[place].size = size;
    store_release(slot_->rank.communicators, place + 1);
}

void PretendedNode::call(std::uint64_t times) {
    for (std::uint32_t i = 0; i < slot_->rank.communicators; ++i) add(slot_->communicators[i].calls, times);
}

void PretendedNode::finish_block(std::uint32_t place, std::uint32_t epoch) {
    pacing::RankBlock& block = slot_->paced[place].blocks[epoch % 2];
    block = {};
    block.epoch = epoch;
    block.calls = 16;
    block.iterations = 8;
    block.iterations_ns = 8'000'000;
    block.wait_ns = 16'000;
    store_release(slot_->paced[place].finished, epoch);
}

pacing::Directive PretendedNode::directive(std::uint32_t place) {
    const pacing::PacedCommunicator& entry = header_->communicators[place];
    for (;;) {
        const std::uint32_t version = load_acquire(entry.version);
        pacing::Directive seen;
        load_words(&seen, &entry.next, sizeof seen);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (version % 2 == 0 && load(entry.version) == version) return seen;
    }
}

void PretendedNode::start_leader(FakeConductor& conductor) {
    branch_ = std::make_unique<Branch>(settings, segment_, *header_, memory_.get());
    decider_ = std::make_unique<Decider>(settings, conducting(conductor), branch_->junction());
    leader_ = std::make_unique<Leader>(settings, peers_.get(), wake_, stopping_, branch_.get(), decider_.get());
    ASSERT_TRUE(leader_->listen());
    thread_ = std::thread([this] { leader_->run(); });
}

void PretendedNode::run_follower() {
    const auto scratch = std::make_unique<segment::Slot>();
    Dump dump(segment_, scratch.get());
    branch_ = std::make_unique<Branch>(settings, segment_, *header_, memory_.get());
    const auto follower = std::make_unique<Follower>(settings, dump, peers_.get(), wake_, stopping_, branch_.get());
    follower->run();
    delivered_ = follower->delivered();
}

void PretendedNode::start_follower() {
    thread_ = std::thread([this] { run_follower(); });
}

void PretendedNode::fork_follower(bool held) {
    store(header_->notices, held ? 0u : 1u);
    process_ = ::fork();
    if (process_ != 0) return;
    while (load_acquire(header_->notices) == 0) ::usleep(1000);
    run_follower();
    ::_exit(0);
}

void PretendedNode::release() { store_release(header_->notices, 1u); }

bool PretendedNode::has_met_leader() const { return load_acquire(header_->permits_port) != 0; }

void PretendedNode::kill_process() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    process_ = 0;
}

void PretendedNode::stop() {
    if (!thread_.joinable()) return;
    slot_->rank.state = segment::State::finished;
    store_release(stopping_, true);
    const std::uint64_t one = 1;
    EXPECT_EQ(::write(wake_, &one, sizeof one), static_cast<ssize_t>(sizeof one));
    thread_.join();
}

PretendedJob::PretendedJob(std::uint32_t count, std::uint32_t arity) : root("/tmp/paced-nodes.XXXXXX"), session("test-" + std::to_string(std::random_device()())) {
    EXPECT_NE(::mkdtemp(root.data()), nullptr);
    for (std::uint32_t i = 0; i < count; ++i) nodes.push_back(std::make_unique<PretendedNode>(root, session, i, count, arity));
}

PretendedJob::~PretendedJob() {
    stop();
    nodes.clear();
    std::filesystem::remove_all(root);
}

void PretendedJob::start() {
    nodes[0]->start_leader(conductor);
    for (std::size_t i = 1; i < nodes.size(); ++i) nodes[i]->start_follower();
}

// All at once, as MPI_Finalize would have them.
void PretendedJob::stop() {
    std::vector<std::thread> stoppers;
    for (auto& node : nodes) stoppers.emplace_back([&node] { node->stop(); });
    for (auto& stopper : stoppers) stopper.join();
}

bool within(std::chrono::milliseconds limit, const std::function<bool()>& condition) {
    const auto until = std::chrono::steady_clock::now() + limit;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > until) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

}  // namespace paced::test
