// SPDX-License-Identifier: BSD-3-Clause
// Slurm has one way to give ranks to nodes in another order: SLURM_HOSTFILE, a line for each task, set before srun reads its
// options. A wrong file fails the step or changes its layout, so the helper decides whether it may be, and here its answer
// is held against the job: every node once, the first one first, as many tasks on each as srun would give it. The file is
// memory of this process, so that nothing is left behind however srun ends.
#include "plugin/spank/order.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plugin/spank/environment.h"
#include "plugin/spank/hosts.h"
#include "plugin/spank/order_answer.h"
#include "plugin/spank/programs.h"
#include "plugin/spank/spawn.h"
#include "plugin/spank/state.h"
#include "plugin/spank/step.h"

namespace paced::spank::order {
namespace {

constexpr std::size_t line_limit = 64 * 1024;  // of srun's own command line; a longer one keeps the order
constexpr int word_limit = 8192;
constexpr std::uint32_t most_lines = 4'000'000;
constexpr std::uint32_t fewest_nodes = 3;

constinit int host_file = -1;

struct Workspace {
    std::size_t line_size;
    int word_count;
    char line[line_limit];
    const char* words[word_limit + 3];
    char answer[order_answer_limit];
    Hosts hosts;
};

class Memory {  // as much of it as is touched
public:
    Memory() noexcept : at_(mmap(nullptr, sizeof(Workspace), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
    ~Memory() {
        if (at_ != MAP_FAILED) munmap(at_, sizeof(Workspace));
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    Workspace* get() const noexcept { return at_ == MAP_FAILED ? nullptr : static_cast<Workspace*>(at_); }

private:
    void* at_;
};

bool number_variable(const char* name, std::uint32_t& number) noexcept {
    const char* const text = std::getenv(name);
    return text != nullptr && parse_number(text, number);
}

// A batch script or an interactive shell, and no task: what is launched from within a task is a matter of that task.
bool in_job_script() noexcept {
    std::uint32_t step = 0;
    return std::getenv("SLURM_JOB_ID") != nullptr && !(number_variable("SLURM_STEP_ID", step) && is_numbered_step(step));
}

// The command line, cut into words; false where it does not fit.
bool read_line(Workspace& work) noexcept {
    const int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    ssize_t got = 0;
    while (work.line_size < line_limit && (got = read(file, work.line + work.line_size, line_limit - work.line_size)) != 0) {
        if (got < 0 && errno != EINTR) break;
        if (got > 0) work.line_size += static_cast<std::size_t>(got);
    }
    close(file);
    if (got != 0 || work.line_size == 0 || work.line[work.line_size - 1] != '\0') return false;
    int count = 2;  // behind the helper and its verb
    for (std::size_t at = 0; at < work.line_size; at += std::strlen(work.line + at) + 1) {
        if (count == word_limit + 2) return false;
        work.words[count++] = work.line + at;
    }
    work.words[count] = nullptr;
    work.word_count = count;
    return true;
}

bool line_speaks_of_us(const Workspace& work) noexcept {
    for (int i = 3; i < work.word_count; ++i) {
        std::string_view word = work.words[i];
        if (cut_prefix(word, "--paced-fabric")) return true;
    }
    return false;
}

// What the job carries; what stands on the line the helper reads for itself.
void carried_flags(Flags& flags) noexcept {
    for (int i = 0; i < flag_count; ++i) {
        FlagValue& value = flags.values[i];
        for (const char* name : {flag_names[i].carried, flag_names[i].slurm, flag_names[i].salloc}) {
            if (!value.given) value.given = own_variable(name, value.text);
        }
        if (flag_text(value.text.c_str()).empty()) value.text.clear();
    }
}

const char* ask_helper(Workspace& work, const Flags& flags, OrderAnswer& answer, Words& words) noexcept {
    Path helper;
    if (!find_program("paced-fabric-helper", helper)) return "there is no program paced-fabric-helper";
    HelperEnvironment& environment = HelperEnvironment::fresh();
    environment.take_from(environ);
    environment.set("CONFIG", state.arguments.config.view());
    environment.set("TOPOLOGY_CONF", state.arguments.topology.view());
    environment.set_number("SLURM_VERSION", SLURM_VERSION_NUMBER);
    for (int i = 0; i < flag_count; ++i) {
        if (flags.values[i].given) environment.set_plain(flag_names[i].to_helper, flags.values[i].text.view());
    }
    if (!environment.complete()) return "the job's environment is too large for the helper";

    work.words[0] = helper.c_str();
    work.words[1] = "order";
    Child child;
    child.program = work.words;
    child.environment = environment.get();
    child.deadline_ms = state.arguments.deadline_ms;
    child.output = work.answer;
    child.room = order_answer_limit;
    const Outcome outcome = run(child);
    Words ending;
    describe(outcome, child.deadline_ms, ending);
    const char* const refusal = outcome.good() ? answer.parse({work.answer, outcome.size}) : nullptr;
    words.assign("the helper ");
    if (!outcome.good()) words.append(ending.view());
    else if (refusal != nullptr && words.append("gave an answer that is not understood: ")) words.append(refusal);
    else return nullptr;
    return words.c_str();
}

bool write_all(int file, const char* data, std::size_t size) noexcept {
    while (size > 0) {
        const ssize_t wrote = write(file, data, size);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return false;
        data += wrote;
        size -= static_cast<std::size_t>(wrote);
    }
    return true;
}

bool write_hosts(int file, const Hosts& hosts, std::uint32_t tasks_per_node) noexcept {
    char block[16 * 1024];
    std::size_t used = 0;
    for (std::uint32_t i = 0; i < hosts.count; ++i) {
        const std::string_view name = hosts.name(hosts.order[i]);
        for (std::uint32_t task = 0; task < tasks_per_node; ++task) {
            if (name.size() + 1 > sizeof block - used) {
                if (!write_all(file, block, used)) return false;
                used = 0;
            }
            std::memcpy(block + used, name.data(), name.size());
            used += name.size();
            block[used++] = '\n';
        }
    }
    return write_all(file, block, used);
}

// nullptr, or why the answer does not fit the job.
const char* apply(Workspace& work, const OrderAnswer& answer) noexcept {
    const char* const list = std::getenv("SLURM_JOB_NODELIST");
    std::uint32_t nodes = 0, tasks = 0;
    if (list == nullptr || !work.hosts.expand(list)) return "the nodes of the job are not known";
    const std::uint32_t count = work.hosts.count;
    if (!number_variable("SLURM_JOB_NUM_NODES", nodes) || nodes != count) return "the job's list and number of nodes differ";
    if (!number_variable("SLURM_NTASKS", tasks)) tasks = count;
    if (answer.tasks_per_node > most_lines / count || answer.tasks_per_node * count != tasks) return "the order is for another number of tasks";
    if (!work.hosts.new_order(answer.positions)) return "the order does not have every node of the job once, the first one first";
    if (std::getenv("SLURM_HOSTFILE") != nullptr) return "SLURM_HOSTFILE is set";

    // Above the standard descriptors, which may be closed and then given to others.
    const int made = memfd_create("paced-fabric-order", MFD_CLOEXEC);
    const int file = made < 0 ? -1 : fcntl(made, F_DUPFD_CLOEXEC, 3);
    if (made >= 0) close(made);
    char path[64];
    std::snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (file < 0 || !write_hosts(file, work.hosts, answer.tasks_per_node) || access(path, R_OK) != 0 || setenv("SLURM_HOSTFILE", path, 1) != 0) {
        if (file >= 0) close(file);
        return "there is no memory for a host file";
    }
    host_file = file;
    return nullptr;
}

void hand_on(std::string_view text) noexcept {
    FixedText<placed_limit + 64> value;
    const char* const job = std::getenv("SLURM_JOB_ID");
    if (job != nullptr && value.append(job) && value.append(" ") && value.append(text)) setenv(placed_variable, value.c_str(), 1);
}

void hand_on_kept(const char* why) noexcept {
    FixedText<256> text;
    if (text.append("kept ") && text.append(why)) hand_on(text.view());
}

void decide(Workspace& work) noexcept {
    std::uint32_t nodes = 0;
    Flags flags;
    if (number_variable("SLURM_JOB_NUM_NODES", nodes) && nodes < fewest_nodes) return;
    carried_flags(flags);
    const bool line_fits = read_line(work);
    const Wanted wanted = what_is_wanted(flags, exists(state.arguments.config.c_str()), own_variable);
    const bool on_line = !line_fits || line_speaks_of_us(work);
    if (wanted == Wanted::no && !on_line) return;
    if (!line_fits) {
        // What is asked for may stand on it; nobody reads this where nothing is.
        return hand_on_kept("srun's command line is too long to be sure of, or cannot be read");
    }
    OrderAnswer answer;
    Words words;
    const char* const failure = ask_helper(work, flags, answer, words);
    if (failure != nullptr) {
        // The nodes have the same helper, and whoever asked for nothing shall not hear of it.
        if (wanted == Wanted::asked || on_line) hand_on_kept(failure);
        return;
    }
    const char* const doubt = answer.tasks_per_node == 0 ? nullptr : apply(work, answer);
    if (doubt != nullptr) hand_on_kept(doubt);
    else if (!answer.placed.empty()) hand_on(answer.placed);
}

}  // namespace

void before_options() noexcept {
    unsetenv(placed_variable);
    if (!in_job_script()) return;
    const Memory memory;
    if (memory.get() != nullptr) decide(*memory.get());
}

void after_options() noexcept {
    if (host_file < 0) return;
    unsetenv("SLURM_HOSTFILE");
    close(host_file);
    host_file = -1;
}

void forget_in_task(spank_t spank) noexcept {
    char text[64] = {}, ordered[32];
    const spank_err_t got = spank_getenv(spank, placed_variable, text, sizeof text);
    if (got != ESPANK_SUCCESS && got != ESPANK_NOSPACE) return;
    std::snprintf(ordered, sizeof ordered, "%u ordered ", number_item(spank, S_JOB_ID, 0));
    std::string_view placed{text, strnlen(text, sizeof text)};
    if (cut_prefix(placed, ordered)) {
        // srun says "arbitrary" because of our host file, and an srun in this task would die of it. What it says else:
        const bool spread = number_item(spank, S_JOB_TOTAL_TASK_COUNT, 0) <= number_item(spank, S_JOB_NNODES, 0);
        Name distribution;
        if (job_variable(spank, "SLURM_DISTRIBUTION", distribution) && distribution.view() == "arbitrary")
            spank_setenv(spank, "SLURM_DISTRIBUTION", spread ? "cyclic" : "block", 1);
        spank_unsetenv(spank, "SLURM_HOSTFILE");
    }
    spank_unsetenv(spank, placed_variable);
}

}  // namespace paced::spank::order
