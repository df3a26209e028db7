// SPDX-License-Identifier: BSD-3-Clause
// A program on Gloo, as users write them; it knows nothing of paced-fabric. Rank and size come from RANK and WORLD_SIZE.
//
//     collectives CASE FOLDER     FOLDER: where ranks meet, shared by them and empty at first
//
// all: every collective on the world and on halves of it; timeout: one that throws; threads: two threads on one context;
// renewed: contexts that come and go; factory: one that is not made through a store; exit: rank 1 leaves in the middle;
// killed: rank 1 dies. Prints a digest of all that was received.
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gloo/allgather.h>
#include <gloo/allgatherv.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/alltoallv.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/gather.h>
#include <gloo/math.h>
#include <gloo/reduce.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/rendezvous/prefix_store.h>
#include <gloo/scatter.h>
#include <gloo/transport/tcp/device.h>

namespace {

using Context = std::shared_ptr<gloo::rendezvous::Context>;
using Values = std::vector<float>;

int rank, size;
std::uint64_t digest = 0xcbf29ce484222325;
std::shared_ptr<gloo::transport::Device> device;

void add(const Values& values) {
    for (const float value : values) digest = (digest ^ static_cast<std::uint64_t>(value)) * 0x100000001b3;
}

Context meet(gloo::rendezvous::Store& store, const std::string& prefix, int own, int members) {
    auto context = std::make_shared<gloo::rendezvous::Context>(own, members);
    context->setTimeout(std::chrono::seconds(20));
    if (prefix.empty()) {
        context->connectFullMesh(store, device);
    } else {
        gloo::rendezvous::PrefixStore prefixed(prefix, store);
        context->connectFullMesh(prefixed, device);
    }
    return context;
}

Values values_of(std::size_t count, int start) {
    Values values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>((static_cast<std::size_t>(start) * 31 + i) % 97);
    return values;
}

void sum(void* to, const void* a, const void* b, std::size_t count) { gloo::sum<float>(to, a, b, count); }

void allreduce(const std::shared_ptr<gloo::Context>& context, std::size_t count, std::uint32_t tag = 0, int timeout_ms = 0) {
    Values values = values_of(count, context->rank);
    gloo::AllreduceOptions options(context);
    options.setOutput(values.data(), values.size());
    options.setReduceFunction(sum);
    options.setTag(tag);
    if (timeout_ms > 0) options.setTimeout(std::chrono::milliseconds(timeout_ms));
    gloo::allreduce(options);
    add(values);
}

void barrier(const std::shared_ptr<gloo::Context>& context) {
    gloo::BarrierOptions options(context);
    gloo::barrier(options);
}

// Bytes of rank r of n, with b = 100 values of 4 bytes: allreduce, reduce, broadcast 400; allgather, gather, scatter 400;
// allgatherv 4 (r + 1); alltoall 400 n; alltoallv 4 n (r + 1).
void every_collective(const Context& context) {
    const int own = context->rank, members = context->size;
    const auto n = static_cast<std::size_t>(members), r = static_cast<std::size_t>(own);
    constexpr std::size_t b = 100;
    allreduce(context, b);
    {
        Values in = values_of(b, own), out(b);
        gloo::ReduceOptions options(context);
        options.setInput(in.data(), b);
        options.setOutput(out.data(), b);
        options.setRoot(members - 1);
        options.setReduceFunction(sum);
        gloo::reduce(options);
        if (own == members - 1) add(out);
    }
    {
        Values values = values_of(b, own);
        gloo::BroadcastOptions options(context);
        options.setOutput(values.data(), b);
        options.setRoot(0);
        gloo::broadcast(options);
        add(values);
    }
    barrier(context);
    {
        Values in = values_of(b, own), out(b * n);
        gloo::AllgatherOptions options(context);
        options.setInput(in.data(), b);
        options.setOutput(out.data(), b * n);
        gloo::allgather(options);
        add(out);
    }
    {
        std::vector<std::size_t> counts(n);
        std::size_t total = 0;
        for (std::size_t i = 0; i < n; ++i) total += counts[i] = i + 1;
        Values in = values_of(r + 1, own), out(total);
        gloo::AllgathervOptions options(context);
        options.setInput(in.data(), r + 1);
        options.setOutput(out.data(), counts);
        gloo::allgatherv(options);
        add(out);
    }
    {
        Values in = values_of(b, own), out(b * n);
        gloo::GatherOptions options(context);
        options.setInput(in.data(), b);
        if (own == 0) options.setOutput(out.data(), b * n);
        options.setRoot(0);
        gloo::gather(options);
        if (own == 0) add(out);
    }
    {
        std::vector<Values> in(n);
        std::vector<float*> pointers;
        for (std::size_t i = 0; i < n; ++i) {
            in[i] = values_of(b, static_cast<int>(i) + 5);
            pointers.push_back(in[i].data());
        }
        Values out(b);
        gloo::ScatterOptions options(context);
        if (own == 0) options.setInputs(pointers, b);
        options.setOutput(out.data(), b);
        options.setRoot(0);
        gloo::scatter(options);
        add(out);
    }
    {
        Values in = values_of(b * n, own), out(b * n);
        gloo::AlltoallOptions options(context);
        options.setInput(in.data(), b * n);
        options.setOutput(out.data(), b * n);
        gloo::alltoall(options);
        add(out);
    }
    {
        std::vector<std::int64_t> sends(n), receives(n, own + 1);
        std::size_t total = 0;
        for (std::size_t i = 0; i < n; ++i) total += static_cast<std::size_t>(sends[i] = static_cast<std::int64_t>(i) + 1);
        Values in = values_of(total, own), out(n * (r + 1));
        gloo::AlltoallvOptions options(context);
        options.setInput(in.data(), sends);
        options.setOutput(out.data(), receives);
        gloo::alltoallv(options);
        add(out);
    }
}

void all(gloo::rendezvous::Store& store) {
    const Context world = meet(store, "", rank, size);
    // Two groups of the same shape that are made at the same time: only who is in them tells them apart.
    const int half = size / 2;
    const Context group = meet(store, rank < half ? "low" : "high", rank % half, half);
    for (int i = 0; i < 10; ++i) {
        every_collective(world);
        every_collective(group);
    }
}

void timeout(gloo::rendezvous::Store& store) {
    {
        const Context context = meet(store, "first", rank, size);
        allreduce(context, 10);
        if (rank == 0) {
            try {
                allreduce(context, 10, 1, 100);
                std::puts("no exception");
            } catch (const std::exception& error) {
                std::puts("caught");
            }
        } else {
            std::this_thread::sleep_for(std::chrono::milliseconds(300));
        }
    }
    const Context context = meet(store, "second", rank, size);
    for (int i = 0; i < 5; ++i) allreduce(context, 10);
}

void threads(gloo::rendezvous::Store& store) {
    const Context context = meet(store, "", rank, size);
    std::uint64_t received[2] = {};
    const auto work = [&](std::uint32_t worker) {
        for (std::uint32_t i = 0; i < 300; ++i) {
            Values values = values_of(64, context->rank + static_cast<int>(worker * 1000 + i));
            gloo::AllreduceOptions options(context);
            options.setOutput(values.data(), values.size());
            options.setReduceFunction(sum);
            options.setTag(2 * i + worker);
            gloo::allreduce(options);
            for (const float value : values) received[worker] = (received[worker] ^ static_cast<std::uint64_t>(value)) * 0x100000001b3;
        }
    };
    std::thread first(work, 0), second(work, 1);
    first.join();
    second.join();
    digest = received[0] * 3 + received[1];
}

void renewed(gloo::rendezvous::Store& store) {
    for (int i = 0; i < 70; ++i) {
        const Context context = meet(store, "round" + std::to_string(i), rank, size);
        allreduce(context, 4);
        if (i % 10 == 0) barrier(context);
    }
}

void factory(gloo::rendezvous::Store& store) {
    const Context context = meet(store, "", rank, size);
    gloo::rendezvous::ContextFactory maker(context);
    const auto made = maker.makeContext(device);
    allreduce(context, 8);
    for (int i = 0; i < 3; ++i) allreduce(made, 8);
}

void middle(gloo::rendezvous::Store& store, bool killed) {
    const Context context = meet(store, "", rank, size);
    for (int i = 0; i < 50; ++i) {
        if (i == 25 && rank == 1) {
            if (killed) std::raise(SIGKILL);
            std::exit(3);
        }
        allreduce(context, 1000);
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3 || std::getenv("RANK") == nullptr || std::getenv("WORLD_SIZE") == nullptr) return 2;
    // As every Python process does, and so every user of Gloo that we know of: Gloo sends by writev, and whether a peer's end shows as an
    // error of a read or as SIGPIPE of a write is a race.
    std::signal(SIGPIPE, SIG_IGN);
    const std::string what = argv[1];
    rank = std::atoi(std::getenv("RANK"));
    size = std::atoi(std::getenv("WORLD_SIZE"));
    gloo::transport::tcp::attr attributes;
    attributes.hostname = "127.0.0.1";
    device = gloo::transport::tcp::CreateDevice(attributes);
    gloo::rendezvous::FileStore store(argv[2]);
    try {
        if (what == "all") all(store);
        if (what == "timeout") timeout(store);
        if (what == "threads") threads(store);
        if (what == "renewed") renewed(store);
        if (what == "factory") factory(store);
        if (what == "exit" || what == "killed") middle(store, what == "killed");
    } catch (const std::exception& error) {
        std::printf("rank %d: exception\n", rank);
        return 1;
    }
    std::printf("rank %d: %016llx\n", rank, static_cast<unsigned long long>(digest));
    return 0;
}
