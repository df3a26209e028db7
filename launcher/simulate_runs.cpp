// SPDX-License-Identifier: BSD-3-Clause
// Runs share nothing, so each thread takes the next one from the list; the largest come first, and the threads end together.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "launcher/simulate.h"

namespace paced::launcher {

namespace {

using simulation::Outcome;
using simulation::Run;
using simulation::Scenario;

// Written by the thread of its run, read by the one that shows progress.
struct Done {
    std::atomic<std::uint32_t> iterations{0}, of{1};
};

class Pool {
public:
    Pool(const Scenario& scenario, const std::vector<Run>& runs) : scenario_(scenario), runs_(runs), done_(runs.size()), outcomes_(runs.size()) {}

    Result<std::vector<Outcome>> run(std::uint32_t threads, const std::function<void(double)>& progress) {
        std::vector<std::thread> workers;
        running_ = std::clamp<std::size_t>(threads, 1, std::max<std::size_t>(1, runs_.size()));
        for (std::size_t i = running_; i > 0; --i) workers.emplace_back([this] { work(); });
        {
            std::unique_lock lock(mutex_);
            constexpr auto look = std::chrono::milliseconds(200);
            while (!ended_.wait_for(lock, look, [&] { return running_ == 0; })) {
                lock.unlock();
                progress(part_done());
                lock.lock();
            }
        }
        for (std::thread& worker : workers) worker.join();
        if (!error_.empty()) return fail(error_);
        return std::move(outcomes_);
    }

private:
    void work() {
        for (std::size_t next = next_++; next < runs_.size() && !stopped_; next = next_++) {
            try {
                Done& done = done_[next];
                outcomes_[next] = simulate(scenario_, runs_[next], [&](std::uint32_t iterations, std::uint32_t of) {
                    done.of = std::max(of, 1u);
                    done.iterations = iterations;
                    return !stopped_;
                });
                done.iterations = done.of.load();
            } catch (const std::exception& thrown) {
                const std::lock_guard lock(mutex_);
                error_ = "cannot simulate " + std::to_string(runs_[next].nodes) + " nodes: " + thrown.what();
                stopped_ = true;
            }
        }
        const std::lock_guard lock(mutex_);
        if (--running_ == 0) ended_.notify_all();
    }

    // Events grow with nodes, so a run counts as many times as it has nodes.
    double part_done() const {
        double all = 0, done = 0;
        for (std::size_t i = 0; i < runs_.size(); ++i) {
            all += runs_[i].nodes;
            done += runs_[i].nodes * static_cast<double>(done_[i].iterations.load()) / done_[i].of.load();
        }
        return all > 0 ? std::min(done / all, 1.0) : 1;
    }

    const Scenario& scenario_;
    const std::vector<Run>& runs_;
    std::vector<Done> done_;
    std::vector<Outcome> outcomes_;  // each written by one thread
    std::atomic<std::size_t> next_{0};
    std::atomic<bool> stopped_{false};
    std::mutex mutex_;
    std::condition_variable ended_;
    std::size_t running_ = 0;  // under mutex_ once the workers have started
    std::string error_;        // under mutex_
};

}  // namespace

Result<std::vector<Outcome>> run_all(const Scenario& scenario, const std::vector<Run>& runs, std::uint32_t threads, const std::function<void(double)>& progress) {
    return Pool(scenario, runs).run(threads, progress);
}

}  // namespace paced::launcher
