// SPDX-License-Identifier: BSD-3-Clause
// What permits cost: the MAC, the arbiter, and the way of a grant over loopback: asked -> granted with the permit free, and done of
// one communicator -> granted to the next (the hand-over, during which the link is idle at W = 1). On the machine as it is, and with
// processes on it that never sleep: as many as cores and twice as many, some spinning and some yielding, as ranks do that wait in MPI.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plugin/interposer/exchange/permit_server.h"
#include "plugin/interposer/pacing/permits.h"
#include "plugin/interposer/shared.h"

namespace paced::interposer {
namespace {

constexpr std::uint64_t us = 1'000, ms = 1'000'000;
const std::uint8_t job_key[32] = {1, 2, 3};

struct Shared {
    segment::Header node[2];
    std::uint64_t done_ns[4096];     // of the first communicator, when its done was sent
    std::uint64_t granted_ns[4096];  // of the second
    std::uint32_t timeouts;
};

void print(const char* what, std::vector<double> values) {
    if (values.empty()) return (void)std::printf("%-58s none\n", what);
    std::sort(values.begin(), values.end());
    const auto at = [&](double share) { return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))]; };
    std::printf("%-58s p50 %8.1f us   p90 %8.1f us   p99 %8.1f us\n", what, at(.5), at(.9), at(.99));
}

// CPU time: the machine may be busy with something else.
std::uint64_t used_ns() {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

void pure_costs() {
    constexpr int rounds = 200'000;
    const PermitKey key(Secrets(job_key, "bench.0"));
    PermitMessage message{PermitMessage::Type::request, 0, 0, 2, 1, 1, 0, 1, ms};
    std::uint8_t datagram[permit_datagram];
    std::uint64_t before = used_ns(), good = 0;
    for (int i = 0; i < rounds; ++i) message.sequence = static_cast<std::uint64_t>(i), key.seal(message, datagram);
    std::printf("MAC made                                                   %8.0f ns\n", static_cast<double>(used_ns() - before) / rounds);
    before = used_ns();
    for (int i = 0; i < rounds; ++i) good += key.open(datagram, sizeof datagram, message) ? 1 : 0;
    std::printf("MAC checked                                                %8.0f ns\n", static_cast<double>(used_ns() - before) / static_cast<double>(good));
    for (std::uint64_t communicators : {4u, 64u, 256u}) {
        static pacing::Permits permits;
        permits = {};
        permits.set(0, {});
        std::uint64_t clock = 0, sequence = 0, grants = 0, messages = 0;
        before = used_ns();
        while (messages < 200'000) {
            ++sequence;
            for (std::uint64_t c = 1; c <= communicators; ++c) permits.request(0, c, 2, 3, sequence, clock += 100 * us), ++messages;
            pacing::Permits::Grant grant;
            for (std::uint64_t c = 1; c <= communicators; ++c) {
                permits.done(c, 3, sequence, clock += 100 * us), ++messages;
                permits.tick(clock);
                while (permits.next(grant)) ++grants;
            }
        }
        std::printf("arbiter, %3llu communicators, a message                      %8.0f ns\n", static_cast<unsigned long long>(communicators),
                    static_cast<double>(used_ns() - before) / static_cast<double>(messages));
    }
}

PermitCall call_of(segment::Header& node, std::uint32_t communicator, std::uint64_t sequence, std::uint32_t epoch) {
    PermitCall call{&node.communicators[communicator], {}, sequence, epoch, 0};
    call.setting.arm = pacing::Arm::admit;
    call.setting.width = 1;
    call.setting.cap_ns = 100 * ms;
    return call;
}

bool enter(segment::Header& node, const PermitCall& call, Shared& shared) {
    const bool granted = permit_request(node, call) && wait_for_grant(node, call, now_ns() + 100 * ms);
    if (!granted) fetch_add(shared.timeouts, 1u);
    return granted;
}

void pause(std::uint64_t ns) {
    const timespec moment{0, static_cast<long>(ns)};
    nanosleep(&moment, nullptr);
}

// A grant while the permit is free.
void round_trip(Shared& shared, std::uint32_t rounds, const char* what) {
    std::vector<double> took;
    for (std::uint64_t i = 0; i < rounds; ++i) {
        pause(200 * us);  // as after compute: the rank's thread and the server's have slept
        const PermitCall call = call_of(shared.node[0], 0, i, static_cast<std::uint32_t>(i) + 1);
        const std::uint64_t before = now_ns();
        if (enter(shared.node[0], call, shared)) took.push_back(static_cast<double>(now_ns() - before) / us);
        permit_done(shared.node[0], call);
    }
    print(what, took);
}

// The first holds the permit while the second asks, then leaves.
void hand_over(Shared& shared, std::uint32_t rounds, const char* what) {
    std::uint32_t& turn = shared.node[0].notices;  // both processes step through the rounds together
    const pid_t second = fork();
    if (second == 0) {
        prepare_permits("self", PermitKey(Secrets(job_key, "bench.0")));
        for (std::uint32_t i = 0; i < rounds; ++i) {
            while (load_acquire(turn) < 2 * i + 1) pause(20 * us);
            const PermitCall call = call_of(shared.node[1], 1, i, i + 1);
            if (enter(shared.node[1], call, shared)) shared.granted_ns[i] = now_ns();
            permit_done(shared.node[1], call);
            store_release(turn, 2 * i + 2);
        }
        _exit(0);
    }
    for (std::uint32_t i = 0; i < rounds; ++i) {
        const PermitCall call = call_of(shared.node[0], 2, i, i + 1);
        enter(shared.node[0], call, shared);
        store_release(turn, 2 * i + 1);
        pause(1 * ms);  // the other one asks meanwhile
        shared.done_ns[i] = now_ns();
        permit_done(shared.node[0], call);
        while (load_acquire(turn) < 2 * i + 2) pause(20 * us);
    }
    waitpid(second, nullptr, 0);
    std::vector<double> took;
    for (std::uint32_t i = 0; i < rounds; ++i)
        if (shared.granted_ns[i] > shared.done_ns[i]) took.push_back(static_cast<double>(shared.granted_ns[i] - shared.done_ns[i]) / us);
    print(what, took);
    std::fill(std::begin(shared.granted_ns), std::end(shared.granted_ns), 0);
    turn = 0;
    shared.node[0].communicators[2].granted = shared.node[1].communicators[1].granted = 0;
}

std::vector<pid_t> crowd(std::uint32_t count, bool yields) {
    std::vector<pid_t> all;
    for (std::uint32_t i = 0; i < count; ++i) {
        const pid_t one = fork();
        if (one == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (std::uint64_t work = 0;; ++work) {
                asm volatile("" : "+r"(work));
                if (yields && work % 1000 == 0) sched_yield();
            }
        }
        if (one > 0) all.push_back(one);
    }
    return all;
}

}  // namespace
}  // namespace paced::interposer

int main(int argc, char** argv) {
    using namespace paced::interposer;
    const std::uint32_t rounds = std::min(argc > 1 ? static_cast<std::uint32_t>(std::atoi(argv[1])) : 500u, 4096u);
    const auto cores = static_cast<std::uint32_t>(sysconf(_SC_NPROCESSORS_ONLN));
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    pure_costs();
    auto* const shared = static_cast<Shared*>(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    for (std::uint32_t busy : {0u, cores, 2 * cores}) {
        for (const bool yields : {false, true}) {
            if (busy == 0 && yields) continue;
            PermitServer server;
            if (!server.open(Secrets(job_key, "bench.0"), 0) || !server.start()) return 1;
            for (paced::segment::Header& node : shared->node) {
                node.permits_port = server.port();
                for (std::uint32_t c = 0; c < 3; ++c) {
                    node.communicators[c] = {};
                    node.communicators[c].id = 100 + c;
                    node.communicators[c].size = node.communicators[c].local = 1;
                }
            }
            prepare_permits("self", PermitKey(Secrets(job_key, "bench.0")));
            const std::vector<pid_t> others = crowd(busy, yields);
            char what[96];
            std::snprintf(what, sizeof what, "%u %s processes: asked -> granted", busy, yields ? "yielding" : "spinning");
            round_trip(*shared, rounds, what);
            std::snprintf(what, sizeof what, "%u %s processes: done -> next granted", busy, yields ? "yielding" : "spinning");
            hand_over(*shared, rounds, what);
            for (const pid_t one : others) kill(one, SIGKILL), waitpid(one, nullptr, 0);
            server.stop();
        }
    }
    if (shared->timeouts > 0) std::printf("%u waits ended by their deadline\n", shared->timeouts);
    return 0;
}
