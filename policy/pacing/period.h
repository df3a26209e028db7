// SPDX-License-Identifier: BSD-3-Clause
// After how many calls of a communicator the program begins again: its iteration, found in what one member calls.
// Pure, fixed memory, no libstdc++ at run time; used by one thread at a time.
//
// A call is a symbol: the operation and its payload to a power of two. Symbols of one communicator alone do not tell four
// equal buckets of one iteration from four iterations of one bucket; what lies between them does. So each call has a second
// symbol, its context: what the process has called on other communicators since the last call here. The smallest period that
// explains the last calls with their contexts is the iteration; where there is none (threads that mix as they like), the
// smallest that explains the calls alone. Marks that the program sets itself (MPI_Pcontrol) go before both.
//
// The search is made at fixed sequence numbers, over a past that all members share, so that members find the same without a
// message. Where a member's other communicators behave differently it may find another period; then their
// signatures or periods differ, and nobody acts on them.
#pragma once

#include <cstdint>

namespace paced::pacing {

inline constexpr std::uint32_t longest_period = 64;                     // calls, without marks
inline constexpr std::uint32_t period_history = 3 * longest_period;     // three repetitions must be seen; with marks a period may be all of it

class PeriodFinder {
public:
    struct Ended {
        std::uint32_t operation;
        // The payload is each member's own (allgatherv, ...): the operation alone is the symbol.
        bool own_bytes;
        std::uint64_t bytes;
        // Any running sum over the calls of the process on all communicators, this one not yet added (weight_of).
        std::uint64_t elsewhere;
        std::uint64_t marks;  // that the program has set so far
    };
    // What the running sum grows by. Few instructions, since it is worked out at every call; communicator is a hash already.
    static std::uint64_t weight_of(std::uint64_t communicator, const Ended& call) {
        const std::uint64_t product = (communicator ^ symbol_of(call)) * 0x9e37'79b9'7f4a'7c15;
        return (product ^ product >> 32) * 0xbf58'476d'1ce4'e5b9;
    }

    // A call has ended. True where it was time to look: period, signature and bytes may be others than before.
    // after: the running sum with this call added.
    bool add(const Ended& call, std::uint64_t after) {
        history_[place_] = {symbol_of(call), static_cast<std::uint32_t>((call.elsewhere - last_sum_) >> 32), call.bytes};
        place_ = place_ + 1 == period_history ? 0 : place_ + 1;
        last_sum_ = after;
        if (call.marks != last_marks_) follow_marks(call.marks);
        ++since_mark_;
        if (++calls_ != next_look_) return false;
        look();
        return true;
    }

    std::uint32_t period() const { return period_; }  // calls; 0: none
    // Of one period, wherever it is thought to begin: its symbols in their cyclic order. 0: none.
    std::uint64_t signature() const { return signature_; }
    std::uint64_t bytes() const { return bytes_; }  // largest payload of one call of the period
    // Whether the next call will carry a good part of the period's data, going by the call one period before it.
    bool is_data_next() const;

private:
    struct Entry {
        std::uint32_t symbol;
        std::uint32_t context;
        std::uint64_t bytes;
    };

    static constexpr std::uint32_t own_bytes_class = 0xff;
    static std::uint32_t symbol_of(const Ended& call) {
        const std::uint32_t size_class = call.bytes == 0 ? 0 : 64 - static_cast<std::uint32_t>(__builtin_clzll(call.bytes));
        return call.operation << 8 | (call.own_bytes ? own_bytes_class : size_class);
    }
    const Entry& back(std::uint32_t calls) const {  // 0: the last one
        return history_[place_ > calls ? place_ - 1 - calls : place_ + period_history - 1 - calls];
    }
    bool explains(std::uint32_t period, std::uint32_t window, bool with_context) const;
    std::uint32_t smallest(std::uint32_t known, bool with_context) const;
    // Early at first, since a short job should learn its iteration too; then seldom, since a search may cost microseconds.
    static constexpr std::uint64_t first_look = 16;
    static constexpr std::uint64_t look_after(std::uint64_t calls) { return calls + (calls < 32 ? 16 : calls < 64 ? 32 : calls < 1024 ? 64 : 256); }
    std::uint32_t marked() const;
    void follow_marks(std::uint64_t marks);
    void look();
    void describe();

    Entry history_[period_history] = {};
    std::uint32_t place_ = 0;        // where the next goes
    std::uint32_t period_ = 0;
    std::uint32_t misses_ = 0;       // searches in a row that did not find it again
    bool by_context_ = false;        // how it was found
    std::uint64_t calls_ = 0, next_look_ = first_look;
    std::uint64_t last_sum_ = 0;
    std::uint64_t signature_ = 0, bytes_ = 0;
    std::uint64_t last_marks_ = 0;
    std::uint32_t since_mark_ = 0, interval_ = 0, equal_ = 0;  // calls since the last mark; between the two before it; how often alike
};

}  // namespace paced::pacing
