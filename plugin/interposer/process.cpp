// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/interposer/process.h"

#include <cstdlib>
#include <cstring>

#include <sched.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "plugin/interposer/communicators.h"
#include "plugin/interposer/exchange/agent.h"
#include "plugin/interposer/pacing/gate.h"
#include "plugin/interposer/pacing/sockets.h"
#include "plugin/interposer/report_line.h"
#include "plugin/interposer/shared.h"
#include "plugin/step_stamp.h"
#include "plugin/interposer/thread_state.h"
#include "plugin/step_environment.h"

namespace paced::interposer {

Process* process_page = nullptr;
__thread ThreadState thread_state __attribute__((tls_model("initial-exec")));

namespace {

bool tried = false;  // by MPI
enum class Engaging : std::uint32_t { not_begun, begun, done };
Engaging engaging = Engaging::not_begun;

const char* value_or_empty(const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr ? value : "";
}

bool is_to_pace() { return std::strcmp(value_or_empty(step::mode), "pace") == 0; }
bool is_wanted() { return (std::strcmp(value_or_empty(step::mode), "observe") == 0 || is_to_pace()) && step::stamp_holds(std::getenv(step::stamp)); }

// Whether MPI allows several threads in it at once; where it cannot be asked, it may.
bool is_for_threads(const Library& mpi) {
    int level = 0;
    constexpr int multiple = 3;  // MPI_THREAD_MULTIPLE, in Open MPI and in the MPICH ABI
    return mpi.query_thread == nullptr || mpi.query_thread(&level) != 0 || level >= multiple;
}

Process* make_page() {
    void* const page = mmap(nullptr, sizeof(Process), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return nullptr;
    if (madvise(page, sizeof(Process), MADV_WIPEONFORK) != 0) {
        munmap(page, sizeof(Process));
        return nullptr;
    }
    return static_cast<Process*>(page);
}

void describe_rank(segment::Rank& rank, Place place, const char* library) {
    rank.world_rank = place.rank;
    rank.world_size = place.size;
    rank.pid = static_cast<std::uint32_t>(getpid());
    std::strncpy(rank.library, library, sizeof rank.library - 1);
    static_assert(sizeof rank.cpus * 8 == CPU_SETSIZE);
    cpu_set_t cpus;
    if (sched_getaffinity(0, sizeof cpus, &cpus) == 0) std::memcpy(rank.cpus, &cpus, sizeof rank.cpus);
    rank.started_ns = now_ns();
    store_release(rank.state, segment::State::running);
}

Place place_in_mpi(const Library& mpi) {
    Place place{-1, 0};
    mpi.comm_rank(mpi.world, &place.rank);
    mpi.comm_size(mpi.world, &place.size);
    return place;
}

// Once. mpi: nullptr where there is none.
void engage(const char* folder, const Library* mpi, Place place, const char* library) {
    Process* const page = make_page();
    if (page == nullptr) {
        report_line(nullptr, Notice::fork_protection, "this kernel cannot keep forked children apart (MADV_WIPEONFORK), nothing is recorded");
        return;
    }
    char reason[256];
    const NodeSegment node = join_segment(folder, value_or_empty(step::node), reason);
    if (node.slot == nullptr) {
        report_line(node.header, node.header != nullptr ? Notice::no_room : Notice::no_segment, reason);
        return;
    }
    page->mpi = mpi;
    page->slot = node.slot;
    page->header = node.header;
    page->agent = node.first;
    describe_rank(node.slot->rank, place, library);
    if (mpi != nullptr) track(*mpi, mpi->world, 0);
    if (is_to_pace()) {
        page->counts_threads = mpi == nullptr || is_for_threads(*mpi);
        prepare_gate(*page, folder, value_or_empty(step::window));
    }
    store(page->engaged, 1u);
    __atomic_store_n(&process_page, page, __ATOMIC_RELEASE);
    if (page->agent) start_agent(*page);
}

// Whether it is this thread that engages the process. Another one of the host may be at it: then it is waited for, a moment.
bool is_first_to_engage() {
    auto before = Engaging::not_begun;
    if (__atomic_compare_exchange_n(&engaging, &before, Engaging::begun, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return true;
    for (int i = 0; i < 100 && load_acquire(engaging) != Engaging::done; ++i) {
        const timespec moment{0, 1'000'000};
        nanosleep(&moment, nullptr);
    }
    return false;
}

// A whole number that is all of the text; -1: none.
int number_in(const char* name) {
    const char* const text = value_or_empty(name);
    char* end = nullptr;
    const long number = std::strtol(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == '\0' && number <= 0x7fff'ffff ? static_cast<int>(number) : -1;
}

}  // namespace

bool is_untried() { return !__atomic_load_n(&tried, __ATOMIC_RELAXED); }

void before_start() {
    if (is_untried() && is_to_pace() && is_wanted()) remember_early_sockets(value_or_empty(step::ports));
}

void start_process() {
    if (__atomic_test_and_set(&tried, __ATOMIC_ACQ_REL) || !is_wanted()) return;
    const char* const folder = value_or_empty(step::run_dir);
    if (*folder == '\0') return;
    const char* problem = nullptr;
    const Library* const mpi = find_library(&problem);
    if (mpi == nullptr) {
        if (problem != nullptr) report_line(nullptr, Notice::library, problem);
        return;
    }
    if (is_first_to_engage()) {
        engage(folder, mpi, place_in_mpi(*mpi), mpi->name);
        store_release(engaging, Engaging::done);
    } else if (Process* const process = engaged_process()) {
        track(*mpi, mpi->world, 0);
        store_release(process->mpi, mpi);
    }
}

Place place_in_environment(Place instead) {
    constexpr const char* names[][2] = {{"RANK", "WORLD_SIZE"}, {"SLURM_PROCID", "SLURM_NTASKS"}, {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};
    for (const auto& [rank_name, size_name] : names)
        if (const Place place{number_in(rank_name), number_in(size_name)}; place.rank >= 0 && place.rank < place.size) return place;
    return instead;
}

bool start_process_without_mpi(Place place, const char* library) {
    if (is_first_to_engage()) {
        const char* const folder = value_or_empty(step::run_dir);
        if (is_wanted() && *folder != '\0') engage(folder, nullptr, place, library);
        store_release(engaging, Engaging::done);
    }
    return engaged_process() != nullptr;
}

void rest_process(bool resting) {
    Process* const process = engaged_process();
    if (process == nullptr || load(process->mpi) != nullptr) return;
    store(process->slot->rank.finished_ns, resting ? now_ns() : 0);
    store_release(process->slot->rank.state, resting ? segment::State::finished : segment::State::running);
}

void exit_process() {
    Process* const process = engaged_process();
    if (process == nullptr || load(process->mpi) != nullptr) return;
    if (load(process->slot->rank.state) == segment::State::finished) after_finalize();
}

void finish_process() {
    Process* const process = engaged_process();
    if (process == nullptr) return;
    if (process->paces) close_gate();
    store(process->slot->rank.finished_ns, now_ns());
    store_release(process->slot->rank.state, segment::State::finished);
}

void after_finalize() {
    Process* const process = engaged_process();
    if (process == nullptr) return;
    if (process->agent) finish_agent(*process);
    store(process->engaged, 0u);
}

}  // namespace paced::interposer
