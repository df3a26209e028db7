// SPDX-License-Identifier: BSD-3-Clause
// What the recorder costs a call, against what cannot be saved: two clock reads and an indirect call. Both in one run,
// interleaved, so that a busy machine is busy for both. The last line is the ratio of the medians; the target is 1.5.
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

void recorder(benchmark::State& state) {
    test::engage_with_fake_mpi();
    for (auto _ : state) {
        const word arguments[] = {1, 2, 1, type, 0, world};
        Call call;
        const bool own = call.enter();
        if (own) call.begin(static_cast<std::uint32_t>(Operation::allreduce), key_of_handle(call.mpi().handle(arguments[5])));
        benchmark::DoNotOptimize(real(1, 2, 1, type, 0, world));
        if (own) {
            call.returned();
            if (!call.is_known()) call.meet(world, world);
            call.finish(bytes_of<allreduce, Language::c>(call.mpi(), arguments, call.communicator().size, call.communicator().rank));
            call.leave();
        }
    }
}

BENCHMARK(two_clocks_and_a_call);
BENCHMARK(recorder);

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
    return 0;
}
