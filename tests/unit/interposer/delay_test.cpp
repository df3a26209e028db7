// SPDX-License-Identifier: BSD-3-Clause
// A delay ends at its deadline, not before and not because of a signal, and leaves the thread as it was.
#include "plugin/interposer/pacing/delay.h"

#include <atomic>
#include <csignal>
#include <thread>

#include <pthread.h>
#include <sys/prctl.h>

#include <gtest/gtest.h>

#include "plugin/interposer/shared.h"

namespace paced::interposer {
namespace {

constexpr std::uint64_t ms = 1'000'000;
// What a busy machine may add.
constexpr std::uint64_t tolerance = 200 * ms;

TEST(Delay, EndsAtItsDeadline) {
    for (const bool may_spin : {false, true})
        for (const std::uint64_t wanted : {std::uint64_t{0}, ms / 20, ms / 5, 3 * ms}) {
            const std::uint64_t start = now_ns();
            delay_until(start + wanted, may_spin);
            const std::uint64_t took = now_ns() - start;
            EXPECT_GE(took, wanted);
            EXPECT_LT(took, wanted + tolerance);
        }
}

TEST(Delay, PastDeadlineIsNoDelay) {
    const std::uint64_t start = now_ns();
    delay_until(start - 1000 * ms, false);
    delay_until(0, true);
    EXPECT_LT(now_ns() - start, tolerance);
}

TEST(Delay, TimerSlackIsTheHostsAgain) {
    const int before = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
    ASSERT_EQ(prctl(PR_SET_TIMERSLACK, 123'456, 0, 0, 0), 0);
    for (const bool may_spin : {false, true}) {
        delay_until(now_ns() + 2 * ms, may_spin);
        EXPECT_EQ(prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0), 123'456);
    }
    prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(before), 0, 0, 0);
}

std::atomic<int> signals{0};

TEST(Delay, SignalsDoNotEndIt) {
    struct sigaction action{}, before{};
    action.sa_handler = [](int) { ++signals; };  // no SA_RESTART
    sigaction(SIGUSR1, &action, &before);
    std::atomic<bool> over{false};
    const pthread_t self = pthread_self();
    std::thread sender([&] {
        while (!over) {
            pthread_kill(self, SIGUSR1);
            std::this_thread::sleep_for(std::chrono::microseconds(200));
        }
    });
    std::uint32_t word = 0;
    for (const bool may_spin : {false, true}) {
        const std::uint64_t start = now_ns();
        delay_until(start + 20 * ms, may_spin);
        EXPECT_GE(now_ns() - start, 20 * ms);
        EXPECT_LT(now_ns() - start, 20 * ms + tolerance);
    }
    const std::uint64_t start = now_ns();
    EXPECT_FALSE(wait_until_reached(word, 1, start + 20 * ms));
    EXPECT_GE(now_ns() - start, 20 * ms);
    EXPECT_LT(now_ns() - start, 20 * ms + tolerance);
    over = true;
    sender.join();
    EXPECT_GT(signals, 3);
    sigaction(SIGUSR1, &before, nullptr);
}

TEST(Wait, EndsWhenReached) {
    std::uint32_t word = 0xffff'fffe;
    EXPECT_TRUE(wait_until_reached(word, 0xffff'fff0, now_ns() + 1000 * ms));
    std::thread other([&] {
        for (int i = 0; i < 4; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
            fetch_add(word, 1u);
        }
        wake_all(word);
    });
    const std::uint64_t start = now_ns();
    EXPECT_TRUE(wait_until_reached(word, 2, start + 10'000 * ms));  // past 2^32
    EXPECT_LT(now_ns() - start, 5'000 * ms) << "was not woken";
    other.join();
}

TEST(Wait, AWordThatChangesAllTheTimeDoesNotProlongIt) {
    std::uint32_t word = 0;
    std::atomic<bool> over{false};
    std::thread other([&] {
        for (std::uint32_t i = 0; !over; ++i) {
            store(word, i % 2);
            wake_all(word);
        }
    });
    const std::uint64_t start = now_ns();
    EXPECT_FALSE(wait_until_reached(word, 2, start + 20 * ms));
    EXPECT_LT(now_ns() - start, 20 * ms + tolerance);
    over = true;
    other.join();
}

}  // namespace
}  // namespace paced::interposer
