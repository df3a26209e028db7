// SPDX-License-Identifier: BSD-3-Clause
// Nodes of a job on loopback without MPI: each has a run folder with a segment, one pretended rank in it, and the real agent's leader or
// follower as a thread or as a process; and a conductor that does what a test says.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <sys/types.h>

#include "plugin/interposer/exchange/follower.h"
#include "plugin/interposer/exchange/leader.h"
#include "tests/unit/interposer/zeroed.h"

namespace paced::test {

class FakeConductor {
public:
    // What the interposer calls.
    void progress(const pacing::Progress& progress, std::uint64_t now_ns);
    void block(const pacing::BlockSummary& block);
    void retransmissions(std::uint64_t segments);
    void surroundings(bool tcp, bool pays_for_waiting);
    void fault();
    void finish() {}
    std::uint32_t directives(std::uint64_t now_ns, pacing::Directive* to, std::uint32_t limit);
    std::uint32_t lines(pacing::BlockLine* to, std::uint32_t limit);
    std::uint32_t classes() const { return 1; }
    const pacing::Conductor::ClassAccount& account(std::uint32_t index);

    // What tests call.
    void say(const pacing::Directive& directive);
    pacing::Progress last(std::uint64_t communicator);  // members 0: never heard of
    std::vector<pacing::BlockSummary> blocks();
    int faults();
    bool tcp();

private:
    std::mutex mutex_;
    std::map<std::uint64_t, pacing::Progress> last_;
    std::vector<pacing::BlockSummary> blocks_;
    std::vector<pacing::Directive> to_say_;
    std::uint32_t lines_ = 0;
    int faults_ = 0;
    bool tcp_ = false;
    pacing::Conductor::ClassAccount account_{};
};

class PretendedNode {
public:
    PretendedNode(const std::string& root, const std::string& session, std::uint32_t index, std::uint32_t nodes, std::uint32_t arity);
    ~PretendedNode();
    PretendedNode(const PretendedNode&) = delete;
    PretendedNode& operator=(const PretendedNode&) = delete;

    interposer::ExchangeSettings settings{};

    // The rank: member `member` of a communicator of `size`.
    void join(std::uint64_t communicator, std::uint32_t size, std::uint32_t member);
    void call(std::uint64_t times = 1);  // on all its communicators
    void finish_block(std::uint32_t place, std::uint32_t epoch);
    pacing::Directive directive(std::uint32_t place);  // as the rank sees it

    void start_leader(FakeConductor& conductor);
    void start_follower();
    // As a process, from a parent that has no threads yet; killed at the end if it still runs. held: it begins with release().
    void fork_follower(bool held);
    void release();
    bool has_met_leader() const;
    void kill_process();
    void stop();  // as after MPI_Finalize; waits for the thread

    const std::string& folder() const { return folder_; }
    interposer::Leader& leader() { return *leader_; }
    bool delivered() const { return delivered_; }

private:
    void run_follower();

    std::string folder_;
    Zeroed memory_, peers_;
    segment::Header* header_ = nullptr;
    segment::Slot* slot_ = nullptr;
    int segment_ = -1, wake_ = -1;
    bool stopping_ = false;
    std::atomic<bool> delivered_ = false;
    std::unique_ptr<interposer::Branch> branch_;
    std::unique_ptr<interposer::Decider> decider_;
    std::unique_ptr<interposer::Leader> leader_;
    std::thread thread_;
    pid_t process_ = 0;
};

class PretendedJob {
public:
    explicit PretendedJob(std::uint32_t nodes, std::uint32_t arity = interposer::ExchangeSettings::tree_arity);
    ~PretendedJob();
    void start();
    void stop();

    std::vector<std::unique_ptr<PretendedNode>> nodes;
    FakeConductor conductor;
    std::string root, session;
};

// Whether it becomes true within this time.
bool within(std::chrono::milliseconds limit, const std::function<bool()>& condition);

}  // namespace paced::test
