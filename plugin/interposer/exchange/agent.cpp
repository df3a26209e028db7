// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/interposer/exchange/agent.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include <fcntl.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "plugin/interposer/exchange/follower.h"
#include "plugin/interposer/exchange/leader.h"
#include "plugin/interposer/exchange/socket.h"
#include "plugin/interposer/exchange/thread.h"
#include "plugin/interposer/hash.h"
#include "plugin/interposer/report_line.h"
#include "plugin/interposer/exchange/reporter.h"
#include "plugin/interposer/shared.h"
#include "plugin/step_environment.h"

namespace paced::interposer {
namespace {

constexpr std::uint64_t registration_ns = 20'000'000;

// Everything of the agent (its communicators and peers lie behind it), in one mapping made when it starts and never given back: its thread may outlive every
// moment at which we could. What is not used takes no memory: the mapping's pages come with the first touch.
struct alignas(64) Agent {
    ExchangeSettings settings;
    segment::Header* header;  // of the host's own mapping, which stays
    int segment;
    int wake;
    bool stopping;
    bool done;
    std::uint32_t missing;  // nodes, at the leader
    bool delivered;         // at a follower
    bool listening;
    char fault[120];        // of pacing, at the leader; "": none
    segment::Slot scratch;
    alignas(Leader) std::uint8_t leader[sizeof(Leader)];
    alignas(Follower) std::uint8_t follower[sizeof(Follower)];
    // under `pace` alone
    alignas(Branch) std::uint8_t branch[sizeof(Branch)];
    alignas(pacing::Conductor) std::uint8_t conductor[sizeof(pacing::Conductor)];
    alignas(Decider) std::uint8_t decider[sizeof(Decider)];
};
Agent* agent = nullptr;

// Off the ranks' cores, if this process may run anywhere else; otherwise where it is.
void leave_ranks_cores(const Dump& dump) {
    std::uint64_t ranks[16];
    dump.cpus_of_ranks(ranks);
    cpu_set_t before, all, allowed;
    if (sched_getaffinity(0, sizeof before, &before) != 0) return;
    std::memset(&all, 0xff, sizeof all);
    if (sched_setaffinity(0, sizeof all, &all) != 0 || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if ((ranks[cpu / 64] >> (cpu % 64) & 1) != 0) CPU_CLR(cpu, &allowed);
    if (CPU_COUNT(&allowed) == 0 || sched_setaffinity(0, sizeof allowed, &allowed) != 0) sched_setaffinity(0, sizeof before, &before);
}

std::uint64_t seed_of(const ExchangeSettings& settings) {
    Hash hash;
    hash.add_text(settings.session);
    return hash.value();
}

void lead(Branch* branch, void* peers) {
    Decider* decider = nullptr;
    if (branch != nullptr) {
        // what cannot be read is as built in: the launch has checked it, and said what was wrong
        pacing::Tuning tuning;
        pacing::WrongToken wrong;
        pacing::parse_tuning(agent->settings.tuning, std::strlen(agent->settings.tuning), tuning, wrong);
        auto* const conductor = new (agent->conductor) pacing::Conductor(tuning, agent->settings.window_ns, seed_of(agent->settings));
        decider = new (agent->decider) Decider(agent->settings, conducting(*conductor), branch->junction());
    }
    auto* const leader = new (agent->leader) Leader(agent->settings, peers, agent->wake, agent->stopping, branch, decider);
    const bool listening = leader->listen();
    store(agent->listening, listening);
    if (listening) leader->run();
    store(agent->missing, leader->missing());
    if (decider != nullptr && decider->record().faults() > 0) std::memcpy(agent->fault, decider->record().first_fault(), sizeof agent->fault);
}

// Under load a thread that has slept gets its core the sooner, the shorter the slice that it asks for (kernel 6.12, no privilege; others
// ignore it). With 8 spinning processes on 2 cores: 4.7 instead of 6.4 ms in the mean.
void ask_for_short_slices() {
    struct {
        std::uint32_t size, policy;
        std::uint64_t flags;
        std::int32_t nice;
        std::uint32_t priority;
        std::uint64_t runtime, deadline, period;
    } attributes{};
    if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0 || attributes.policy != SCHED_OTHER) return;
    attributes.size = sizeof attributes;
    attributes.flags &= 1;  // SCHED_FLAG_RESET_ON_FORK: whoever has it cannot give it up
    attributes.runtime = 100'000;
    syscall(SYS_sched_setattr, 0, &attributes, 0);
}

void* run_agent(void*) {
    Dump dump(agent->segment, &agent->scratch);
    // The ranks of this node come out of MPI_Init together; give the last a moment to register its cores.
    wait_readable(agent->wake, -1, now_ns() + registration_ns);
    leave_ranks_cores(dump);
    if (agent->settings.pace) ask_for_short_slices();
    std::uint8_t* const behind = reinterpret_cast<std::uint8_t*>(agent + 1);
    void* const peers = behind + Junction::size();
    Branch* const branch = agent->settings.pace ? new (agent->branch) Branch(agent->settings, agent->segment, *agent->header, behind) : nullptr;
    if (agent->settings.is_leader()) {
        lead(branch, peers);
    } else {
        auto* const follower = new (agent->follower) Follower(agent->settings, dump, peers, agent->wake, agent->stopping, branch);
        follower->run();
        store(agent->delivered, follower->delivered());
    }
    // Nothing is paced that nobody watches; and another MPI program in this step is to find nothing of ours.
    if (branch != nullptr) {
        branch->off();
        if (dump.unfinished() == 0) branch->forget();
    }
    store_release(agent->done, true);
    return nullptr;
}

int open_segment(const char* folder) {
    char path[544];
    std::snprintf(path, sizeof path, "%s/segment", folder);
    return high_descriptor(open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
}

bool wait_until(std::uint64_t deadline_ns, bool (*condition)()) {
    while (!condition()) {
        if (now_ns() > deadline_ns) return false;
        const timespec moment{0, 1'000'000};
        nanosleep(&moment, nullptr);
    }
    return true;
}

void mark_merged(const char* folder) {
    char path[544];
    std::snprintf(path, sizeof path, "%s/merged", folder);
    const int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file >= 0) close(file);
}

void say_what_is_missing(Process& process) {
    char text[160];
    if (agent->fault[0] != '\0' && agent->listening && agent->missing == 0) {
        std::snprintf(text, sizeof text, "%s", agent->fault);
    } else if (!agent->settings.is_leader()) {
        if (agent->delivered) return;
        std::snprintf(text, sizeof text, "node %s could not hand its records to the leader, the report lacks them", agent->settings.node);
    } else if (!agent->listening) {
        std::snprintf(text, sizeof text, "no port of %s is free, the report shows this node alone", agent->settings.ports);
    } else if (agent->missing > 0) {
        std::snprintf(text, sizeof text, "the records of %u of %u nodes did not arrive, the report lacks them", agent->missing, agent->settings.nodes);
    } else {
        return;
    }
    report_line(process.header, Notice::exchange, text);
}

// A report by this node alone: the other ranks' last records may still be on their way to the segment.
void wait_for_local_ranks(const char* folder) {
    const int file = open_segment(folder);
    if (file < 0) return;
    segment::Slot* const scratch = static_cast<segment::Slot*>(mmap(nullptr, sizeof(segment::Slot), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (scratch != MAP_FAILED) {
        const std::uint64_t limit = now_ns() + local_ranks_limit_ns;
        while (Dump(file, scratch).unfinished() > 0 && now_ns() < limit) {
            const timespec moment{0, 1'000'000};
            nanosleep(&moment, nullptr);
        }
        munmap(scratch, sizeof(segment::Slot));
    }
    close(file);
}

}  // namespace

void start_agent(Process& process) {
    const char* const count = std::getenv(step::node_count);
    const std::uint64_t nodes = count != nullptr ? std::strtoul(count, nullptr, 10) : 1;
    // A follower has room for its children in the tree, the leader for all.
    const std::size_t size = sizeof(Agent) + Junction::size() + Peers::size_of(nodes <= 4096 && nodes > ExchangeSettings::tree_arity ? static_cast<std::uint32_t>(nodes) : ExchangeSettings::tree_arity);
    void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return;
    auto* const made = static_cast<Agent*>(memory);  // all zeros
    const char* problem = nullptr;
    made->segment = made->wake = -1;
    made->header = process.header;
    if (read_exchange_settings(made->settings, &problem)) {
        made->segment = open_segment(made->settings.run_folder);
        made->wake = high_descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
        agent = made;
        if (made->segment >= 0 && made->wake >= 0 && start_thread(run_agent, nullptr)) return;
        problem = "no thread or descriptors to be had, nodes do not exchange";
    }
    if (problem != nullptr) report_line(process.header, Notice::exchange, problem);
    if (made->segment >= 0) close(made->segment);
    if (made->wake >= 0) close(made->wake);
    agent = nullptr;
    munmap(memory, size);
}

void finish_agent(Process& process) {
    const char* const folder = std::getenv(step::run_dir);
    const char* const reporter = std::getenv(step::reporter);
    const char* const leader = std::getenv(step::leader);
    const bool merges = leader == nullptr || *leader == '\0' || std::strcmp(leader, "self") == 0;
    const bool reports = merges && reporter != nullptr && *reporter == '/';
    if (folder == nullptr) return;
    if (agent != nullptr) {
        store_release(agent->stopping, true);
        const std::uint64_t one = 1;
        if (write(agent->wake, &one, sizeof one) < 0) return;
        // A little more than the thread allows itself.
        if (wait_until(now_ns() + exchange_limit_ns + 500'000'000, [] { return load_acquire(agent->done); })) say_what_is_missing(process);
    }
    if (reports) wait_for_local_ranks(folder);
    if (merges) mark_merged(folder);
    if (reports && !run_reporter(reporter, reporter_limit_ns)) report_line(process.header, Notice::exchange, "the report could not be printed in time");
}

}  // namespace paced::interposer
