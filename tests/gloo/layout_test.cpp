// SPDX-License-Identifier: BSD-3-Clause
// The copy in plugin/interposer/gloo/layout.h against Gloo's own headers.
#include "plugin/interposer/gloo/layout.h"

#include <gloo/allgather.h>
#include <gloo/allgatherv.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/alltoallv.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/context.h>
#include <gloo/gather.h>
#include <gloo/reduce.h>
#include <gloo/scatter.h>

#include <cstring>

#include <gtest/gtest.h>

namespace {

namespace ours = paced::interposer::gloo;

// Where a member lies; nothing is constructed.
template <class Object, class Member>
std::ptrdiff_t place(Member Object::* member) {
    alignas(Object) static const unsigned char memory[sizeof(Object)] = {};
    return reinterpret_cast<const unsigned char*>(&(reinterpret_cast<const Object*>(memory)->*member)) - memory;
}
template <class Base, class Object, class Member>
std::ptrdiff_t place_in(Member Object::* member) {
    return place(static_cast<Member Base::*>(member));
}

// Protected members, by way of a derived class: its pointer to one is a pointer to a member of Gloo's own class.
#define MEMBER(member) \
    static std::ptrdiff_t at_##member() { return place(&Self::member); }

#define SAME(type, theirs, mirror, mine) EXPECT_EQ(type::at_##theirs(), (place_in<ours::mirror>(&ours::mirror::mine))) << #type "." #theirs

struct Allreduce : ::gloo::AllreduceOptions {
    using Impl = ::gloo::detail::AllreduceOptionsImpl;
    static std::ptrdiff_t at(std::ptrdiff_t inner) { return place(&Allreduce::impl_) + inner; }
    static std::ptrdiff_t at_context() { return at(place(&Impl::context)); }
    static std::ptrdiff_t at_timeout() { return at(place(&Impl::timeout)); }
    static std::ptrdiff_t at_in() { return at(place(&Impl::in)); }
    static std::ptrdiff_t at_out() { return at(place(&Impl::out)); }
    static std::ptrdiff_t at_elements() { return at(place(&Impl::elements)); }
    static std::ptrdiff_t at_elementSize() { return at(place(&Impl::elementSize)); }
};
struct Reduce : ::gloo::ReduceOptions {
    using Self = Reduce;
    MEMBER(context) MEMBER(in) MEMBER(out) MEMBER(elements) MEMBER(elementSize)
};
struct Broadcast : ::gloo::BroadcastOptions {
    using Self = Broadcast;
    MEMBER(context) MEMBER(in) MEMBER(out) MEMBER(elements) MEMBER(elementSize)
};
struct Barrier : ::gloo::BarrierOptions {
    using Self = Barrier;
    MEMBER(context)
};
struct Allgather : ::gloo::AllgatherOptions {
    using Self = Allgather;
    MEMBER(context) MEMBER(in) MEMBER(out)
};
struct Allgatherv : ::gloo::AllgathervOptions {
    using Self = Allgatherv;
    MEMBER(context) MEMBER(in) MEMBER(out) MEMBER(elements) MEMBER(elementSize)
};
struct Gather : ::gloo::GatherOptions {
    using Self = Gather;
    MEMBER(context) MEMBER(in) MEMBER(out)
};
struct Scatter : ::gloo::ScatterOptions {
    using Self = Scatter;
    MEMBER(context) MEMBER(in) MEMBER(out)
};
struct Alltoall : ::gloo::AlltoallOptions {
    using Self = Alltoall;
    MEMBER(context) MEMBER(in) MEMBER(out)
};
struct Alltoallv : ::gloo::AlltoallvOptions {
    using Self = Alltoallv;
    MEMBER(context) MEMBER(in) MEMBER(out) MEMBER(inOffsetPerRank) MEMBER(inLengthPerRank) MEMBER(outOffsetPerRank) MEMBER(outLengthPerRank)
};

TEST(GlooLayout, Options) {
    SAME(Allreduce, context, AllreduceOptions, context);
    SAME(Allreduce, timeout, AllreduceOptions, timeout_ms);
    SAME(Allreduce, in, AllreduceOptions, in);
    SAME(Allreduce, out, AllreduceOptions, out);
    SAME(Allreduce, elements, AllreduceOptions, elements);
    SAME(Allreduce, elementSize, AllreduceOptions, element_size);
    SAME(Reduce, context, ElementsOptions, context);
    SAME(Reduce, in, ElementsOptions, in);
    SAME(Reduce, out, ElementsOptions, out);
    SAME(Reduce, elements, ElementsOptions, elements);
    SAME(Reduce, elementSize, ElementsOptions, element_size);
    SAME(Broadcast, context, ElementsOptions, context);
    SAME(Broadcast, in, ElementsOptions, in);
    SAME(Broadcast, out, ElementsOptions, out);
    SAME(Broadcast, elements, ElementsOptions, elements);
    SAME(Broadcast, elementSize, ElementsOptions, element_size);
    SAME(Barrier, context, BarrierOptions, context);
    SAME(Allgather, context, ShareOptions, context);
    SAME(Allgather, in, ShareOptions, in);
    SAME(Allgather, out, ShareOptions, out);
    SAME(Gather, context, ShareOptions, context);
    SAME(Gather, in, ShareOptions, in);
    SAME(Gather, out, ShareOptions, out);
    SAME(Allgatherv, context, AllgathervOptions, context);
    SAME(Allgatherv, in, AllgathervOptions, in);
    SAME(Allgatherv, out, AllgathervOptions, out);
    SAME(Allgatherv, elements, AllgathervOptions, elements);
    SAME(Allgatherv, elementSize, AllgathervOptions, element_size);
    SAME(Scatter, context, ScatterOptions, context);
    SAME(Scatter, in, ScatterOptions, in);
    SAME(Scatter, out, ScatterOptions, out);
    SAME(Alltoall, context, AlltoallOptions, context);
    SAME(Alltoall, in, AlltoallOptions, in);
    SAME(Alltoall, out, AlltoallOptions, out);
    SAME(Alltoallv, context, AlltoallvOptions, context);
    SAME(Alltoallv, in, AlltoallvOptions, in);
    SAME(Alltoallv, out, AlltoallvOptions, out);
    SAME(Alltoallv, inOffsetPerRank, AlltoallvOptions, in_offsets);
    SAME(Alltoallv, inLengthPerRank, AlltoallvOptions, in_lengths);
    SAME(Alltoallv, outOffsetPerRank, AlltoallvOptions, out_offsets);
    SAME(Alltoallv, outLengthPerRank, AlltoallvOptions, out_lengths);
}

TEST(GlooLayout, Objects) {
    EXPECT_EQ(place(&::gloo::Context::rank), place(&ours::Context::rank));
    EXPECT_EQ(place(&::gloo::Context::size), place(&ours::Context::size));
    EXPECT_EQ(place(&::gloo::transport::UnboundBuffer::ptr), place(&ours::Buffer::data));
    EXPECT_EQ(place(&::gloo::transport::UnboundBuffer::size), place(&ours::Buffer::size));
}

template <class Ours, class Theirs>
Ours as(const Theirs& theirs) {
    static_assert(sizeof(Ours) <= sizeof(Theirs));
    Ours ours;
    std::memcpy(static_cast<void*>(&ours), static_cast<const void*>(&theirs), sizeof ours);
    return ours;
}

TEST(GlooLayout, StandardLibrary) {
    std::string text = "12";
    EXPECT_EQ(as<ours::Text>(text).size, 2u);
    text.assign(100, 'x');
    EXPECT_EQ(as<ours::Text>(text).data, text.data());
    EXPECT_EQ(as<ours::Text>(text).size, 100u);
    const std::vector<std::size_t> numbers{1, 2, 3};
    EXPECT_EQ(static_cast<const void*>(as<ours::Vector<std::uint64_t>>(numbers).begin), numbers.data());
    EXPECT_EQ(as<ours::Vector<std::uint64_t>>(numbers).size(), 3u);
    static_assert(sizeof(ours::Vector<char>) == sizeof(std::vector<char>));
    static_assert(sizeof(ours::Buffer*) == sizeof(std::unique_ptr<::gloo::transport::UnboundBuffer>));
}

}  // namespace
