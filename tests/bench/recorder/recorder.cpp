// SPDX-License-Identifier: BSD-3-Clause
// What the recorder costs a call, against what cannot be saved: two clock reads and an indirect call. All in one run,
// interleaved, so that a busy machine is busy for all. The last lines are the ratio of the medians (the target is 1.5), and
// what pacing adds while it delays nothing: before any directive, and in a measured block whose setting is off (10 ns).
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "plugin/interposer/mpi/bytes.h"
#include "plugin/interposer/mpi/operations.h"
#include "plugin/interposer/recorder.h"
#include "plugin/interposer/shared.h"
#include "tests/doubles/fake_mpi.h"

namespace paced::interposer {
namespace {

constexpr word world = test::fake_world, type = test::fake_double;
constexpr Shape allreduce{Rule::count, 5, 2, 3};

__attribute__((noinline)) int real_allreduce(word, word, word, word, word, word) {
    asm volatile("");
    return 0;
}
int (*volatile real)(word, word, word, word, word, word) = real_allreduce;

void two_clocks_and_a_call(benchmark::State& state) {
    for (auto _ : state) {
        benchmark::DoNotOptimize(now_ns());
        benchmark::DoNotOptimize(real(1, 2, 1, type, 0, world));
        benchmark::DoNotOptimize(now_ns());
    }
}

void record_calls(benchmark::State& state, word communicator) {
    for (auto _ : state) {
        const word arguments[] = {1, 2, 1, type, 0, communicator};
        Call call;
        const bool own = call.enter();
        if (own) call.begin(static_cast<std::uint32_t>(Operation::allreduce), key_of_handle(call.mpi().handle(arguments[5])));
        benchmark::DoNotOptimize(real(1, 2, 1, type, 0, world));
        if (own) {
            call.returned();
            if (!call.is_known()) call.meet(communicator, communicator);
            call.finish(bytes_of<allreduce, Language::c>(call.mpi(), arguments, call.communicator().size, call.communicator().rank));
            call.leave();
        }
    }
}

void recorder(benchmark::State& state) {
    test::engage_with_fake_mpi();
    record_calls(state, world);
}

// A communicator of its own, entered under `pace`.
void under_pace(benchmark::State& state, word communicator, bool measured) {
    static segment::Header header;
    test::engage_with_fake_mpi();
    process_page->header = &header;
    prepare_gate(*process_page, "/nonexistent", "auto");
    const Tracked* const tracked = track(*process_page->mpi, communicator, 0);
    for (pacing::PacedCommunicator& entry : header.communicators) {
        if (!measured || tracked == nullptr || entry.id != tracked->id || entry.next.epoch != 0) continue;
        entry.next = {};
        entry.next.communicator = entry.id;
        entry.next.epoch = 1;
        entry.next.period = 4;
        entry.version += 2;
    }
    record_calls(state, communicator);
    process_page->paces = false;
}
void paced(benchmark::State& state) { under_pace(state, 0x84000001, false); }
void paced_off(benchmark::State& state) { under_pace(state, 0x84000002, true); }

BENCHMARK(two_clocks_and_a_call);
BENCHMARK(recorder);
BENCHMARK(paced);
BENCHMARK(paced_off);

class Medians : public benchmark::ConsoleReporter {
public:
    void ReportRuns(const std::vector<Run>& runs) override {
        ConsoleReporter::ReportRuns(runs);
        for (const Run& run : runs)
            if (run.run_type == Run::RT_Aggregate && run.aggregate_name == "median") medians_[run.run_name.function_name] = run.GetAdjustedCPUTime();
    }
    double of(const std::string& name) const { return medians_.contains(name) ? medians_.at(name) : 0; }

private:
    std::map<std::string, double> medians_;
};

}  // namespace
}  // namespace paced::interposer

int main(int argc, char** argv) {
    using namespace paced::interposer;
    std::vector<char*> arguments(argv, argv + argc);
    std::string defaults[] = {"--benchmark_repetitions=15", "--benchmark_min_time=0.05", "--benchmark_enable_random_interleaving=true", "--benchmark_report_aggregates_only=true"};
    for (std::string& option : defaults) arguments.insert(arguments.begin() + 1, option.data());
    int count = static_cast<int>(arguments.size());
    benchmark::Initialize(&count, arguments.data());
    Medians medians;
    benchmark::RunSpecifiedBenchmarks(&medians);
    const double floor = medians.of("two_clocks_and_a_call"), ours = medians.of("recorder");
    if (floor > 0 && ours > 0) std::printf("recorder / (two clocks and a call) = %.2f  (%.0f ns / %.0f ns, target 1.50)\n", ours / floor, ours, floor);
    const double paced = medians.of("paced"), off = medians.of("paced_off");
    if (ours > 0 && paced > 0 && off > 0) std::printf("pace, delaying nothing: %+.0f ns, in a measured block %+.0f ns (target 10)\n", paced - ours, off - ours);
    return 0;
}
