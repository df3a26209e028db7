// SPDX-License-Identifier: BSD-3-Clause
// Gloo's contexts as communicators. Gloo has no ids, but its members meet through a store: in connectFullMesh each sets the
// addresses at which it listens under its own rank, "0", "1", ..., and gets those of all others. So every member holds the
// same size texts, and their hash is an id that all agree on without a message of ours. A device counts up a number in each address
// that it hands out, so no two contexts have the same ones. What is not seen whole, through a store that is not in
// functions.h or by another way of connecting, gets no id, and its calls are counted alone.
//
// The store's functions are virtual, yet reached by their names: the slots of a table of virtual functions are
// relocations like any other, to which a preloaded library answers first.
#include "plugin/interposer/gloo/functions.h"
#include "plugin/interposer/gloo/layout.h"
#include "plugin/interposer/gloo/library.h"

#include <cstdio>

#include <unistd.h>

#include "plugin/interposer/communicators.h"
#include "plugin/interposer/hash.h"
#include "plugin/interposer/pacing/gate.h"
#include "plugin/interposer/process.h"
#include "plugin/interposer/report_line.h"
#include "plugin/interposer/shared.h"
#include "plugin/interposer/thread_state.h"

namespace paced::interposer::gloo {
namespace {

constexpr std::uint64_t hashed_limit = 512;  // bytes of a member's addresses: the first ones tell it from all others
constexpr int nobody = -1;

// What a store returns: a std::vector<char> by value, that is, into memory of the caller's. It is passed on as it is.
struct Bytes : Vector<char> {
    Bytes(Bytes&& other) : Vector(other) {}
    ~Bytes() {}
};

std::uint32_t living_contexts = 0;

// A rank as text; nobody for any other key.
int rank_in(const Text& key) {
    int rank = 0;
    if (key.size == 0 || key.size > 7) return nobody;
    for (std::uint64_t i = 0; i < key.size; ++i) {
        if (key.data[i] < '0' || key.data[i] > '9') return nobody;
        rank = rank * 10 + (key.data[i] - '0');
    }
    return rank;
}

// The order of the others' addresses may be any.
void add_member(int rank, const Vector<char>& addresses) {
    Hash hash(static_cast<std::uint64_t>(rank));
    hash.add(addresses.size());
    hash.add_bytes(addresses.begin, addresses.size() < hashed_limit ? addresses.size() : hashed_limit);
    thread_state.meeting.sum += hash.value();
}

void begin_meeting() { thread_state.meeting = {0, nobody, 0, true}; }

void saw_set(const Text& key, const Vector<char>& addresses) {
    Meeting& meeting = thread_state.meeting;
    const int rank = meeting.open ? rank_in(key) : nobody;
    if (rank == nobody) return;
    meeting.open = meeting.own == nobody;  // a second one is not what we know
    meeting.own = rank;
    add_member(rank, addresses);
}

void saw_get(const Text& key, const Vector<char>& addresses) {
    const int rank = thread_state.meeting.open ? rank_in(key) : nobody;
    if (rank == nobody) return;
    ++thread_state.meeting.others;
    add_member(rank, addresses);
}

void connected(const Context& context, const void* real) {
    const Meeting meeting = thread_state.meeting;
    thread_state.meeting.open = false;
    const char* const library = name_of_known_library(real);
    if (library == nullptr) return;  // nothing is known of its options either
    char name[segment::name_size];
    std::snprintf(name, sizeof name, "Gloo (%s)", library);
    const auto size = meeting.others + 1;
    const bool whole = meeting.open && meeting.own != nobody && context.rank == meeting.own && context.size == static_cast<int>(size);
    if (!start_process_without_mpi(place_in_environment(whole ? Place{context.rank, context.size} : Place{nobody, 0}), name)) return;
    Process* const process = engaged_process();
    if (process == nullptr) return;
    if (!whole) {
        report_line(process->header, Notice::library, "a Gloo context was connected in a way that is not known here, its collectives are not recorded");
        return;
    }
    Hash hash(meeting.sum);
    hash.add(size);
    // Alone there is nobody to agree with, and no address either.
    if (size == 1) hash.add(static_cast<std::uint64_t>(getpid()) << 32 ^ now_ns());
    Tracked* const tracked = enter_communicator(reinterpret_cast<word>(&context), hash.value(), size, static_cast<std::uint32_t>(meeting.own));
    if (tracked == nullptr) return;
    assign_entry(*tracked, *process->slot);
    if (fetch_add(living_contexts, 1u) == 0) rest_process(false);
}

void ends(const Context* context) {
    Process* const process = engaged_process();
    if (process == nullptr) return;
    const Tracked* const tracked = find_tracked(reinterpret_cast<word>(context));
    if (tracked == nullptr || !tracked->threads) return;
    if (tracked->paced != nullptr) release_communicator(*process, *tracked->paced);
    forget(reinterpret_cast<word>(context));
    if (fetch_add(living_contexts, ~0u) == 1) rest_process(true);
}

// The end of a process that rests: contexts are gone when a Python interpreter has ended, and at the end of main() where nothing
// leaks. An exception that ends a rank destroys them too, so the others have seen it go before anybody waits here.
__attribute__((destructor)) void exiting() { exit_process(); }

}  // namespace
}  // namespace paced::interposer::gloo

using namespace paced::interposer;

#define PACED_EXPORT extern "C" __attribute__((visibility("default")))
#define PACED_CALLER __builtin_return_address(0)

PACED_EXPORT void _ZN4gloo10rendezvous7Context15connectFullMeshERNS0_5StoreERSt10shared_ptrINS_9transport6DeviceEE(gloo::Context& context, void* store, void* device) {
    static gloo::Real real;
    using Function = void (*)(gloo::Context&, void*, void*);
    const auto function = reinterpret_cast<Function>(
        real.get("_ZN4gloo10rendezvous7Context15connectFullMeshERNS0_5StoreERSt10shared_ptrINS_9transport6DeviceEE", PACED_CALLER));
    gloo::begin_meeting();
    function(context, store, device);
    gloo::connected(context, reinterpret_cast<const void*>(function));
}

// A context's address may be that of the next one.
#define PACED_GLOO_DESTRUCTOR(symbol)                                                    \
    PACED_EXPORT void symbol(gloo::Context* context) {                                   \
        static gloo::Real real;                                                          \
        gloo::ends(context);                                                             \
        reinterpret_cast<void (*)(gloo::Context*)>(real.get(#symbol, PACED_CALLER))(context); \
    }
PACED_GLOO_DESTRUCTOR(_ZN4gloo7ContextD1Ev)
PACED_GLOO_DESTRUCTOR(_ZN4gloo7ContextD2Ev)

#define PACED_GLOO_SET(symbol)                                                                                          \
    PACED_EXPORT void symbol(void* store, const gloo::Text& key, const gloo::Vector<char>& data) {                      \
        static gloo::Real real;                                                                                         \
        using Function = void (*)(void*, const gloo::Text&, const gloo::Vector<char>&);                                 \
        reinterpret_cast<Function>(real.get(#symbol, PACED_CALLER))(store, key, data);                                  \
        gloo::saw_set(key, data);                                                                                       \
    }
#define PACED_GLOO_GET(symbol)                                                                                          \
    PACED_EXPORT gloo::Bytes symbol(void* store, const gloo::Text& key) {                                               \
        static gloo::Real real;                                                                                         \
        using Function = gloo::Bytes (*)(void*, const gloo::Text&);                                                     \
        gloo::Bytes data = reinterpret_cast<Function>(real.get(#symbol, PACED_CALLER))(store, key);                     \
        gloo::saw_get(key, data);                                                                                       \
        return data;                                                                                                    \
    }
#define PACED_GLOO_STORE(type)                                                                                          \
    PACED_GLOO_SET(type##3setERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEERKSt6vectorIcS6_E)                  \
    PACED_GLOO_GET(type##3getERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE)
PACED_GLOO_STORES(PACED_GLOO_STORE)
