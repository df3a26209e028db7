// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/interposer/exchange/follower.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "plugin/interposer/exchange/socket.h"
#include "plugin/interposer/shared.h"

namespace paced::interposer {
namespace {

constexpr std::uint64_t millisecond = 1'000'000;
constexpr std::uint64_t clock_interval_ns = 2'000 * millisecond;
constexpr std::uint64_t first_backoff_ns = 50 * millisecond, longest_backoff_ns = 2'000 * millisecond;
constexpr std::uint64_t connect_limit_ns = 1'000 * millisecond, answer_limit_ns = 500 * millisecond;
constexpr int burst = 8;

std::size_t read_file(const char* path, char* to, std::size_t limit) {
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) return 0;
    std::size_t have = 0;
    for (ssize_t got; have < limit && (got = read(file, to + have, limit - have)) > 0;) have += static_cast<std::size_t>(got);
    close(file);
    return have;
}

}  // namespace

void Follower::run() {
    std::uint64_t backoff_ns = first_backoff_ns;
    while (!load_acquire(stopping_)) {
        std::uint64_t pause_ns = clock_interval_ns;
        segment::ClockPoint point;
        if (socket_ < 0 && !connect(now_ns() + connect_limit_ns)) {
            pause_ns = backoff_ns;
            backoff_ns = backoff_ns * 2 < longest_backoff_ns ? backoff_ns * 2 : longest_backoff_ns;
        } else if (measure_clock(point)) {
            clock_.add(point);
            backoff_ns = first_backoff_ns;
        } else {
            disconnect();
            pause_ns = backoff_ns;
        }
        wait_readable(wake_, -1, now_ns() + pause_ns);
    }
    const std::uint64_t local_limit = now_ns() + local_ranks_limit_ns, limit = now_ns() + exchange_limit_ns;
    while (dump_.unfinished() > 0 && now_ns() < local_limit) {
        const timespec moment{0, 2'000'000};
        nanosleep(&moment, nullptr);
    }
    if (socket_ < 0 && !connect(now_ns() + connect_limit_ns)) return;
    delivered_ = deliver(limit);
    disconnect();
}

bool Follower::connect(std::uint64_t deadline_ns) {
    for (int i = 0; i < port_attempts && now_ns() < deadline_ns; ++i) {
        const int attempt = (first_attempt_ + i) % port_attempts;
        socket_ = connect_to(settings_.leader, candidate_port(settings_.ports, settings_.session, attempt), deadline_ns);
        if (socket_ < 0) continue;
        const std::uint64_t answer = now_ns() + answer_limit_ns;
        if (greet(answer < deadline_ns ? answer : deadline_ns)) {
            first_attempt_ = attempt;
            return true;
        }
        disconnect();  // somebody else's program, or another job's leader
    }
    return false;
}

bool Follower::greet(std::uint64_t deadline_ns) {
    channel_ = Channel();
    have_ = 0;
    frame_ = {};
    Hello hello{};
    hello.magic = hello_magic;
    std::memcpy(hello.node, settings_.node, sizeof hello.node);
    static_assert(sizeof hello.node == sizeof settings_.node);
    if (getrandom(hello.nonce.bytes, sizeof hello.nonce.bytes, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof hello.nonce.bytes)) return false;
    Challenge challenge;
    if (!send(Message::hello, &hello, sizeof hello, deadline_ns) || !receive(Message::challenge, challenge, deadline_ns)) return false;
    const auto derive = [&](Secrets::Use use) { return settings_.secrets.derive(use, hello.nonce, challenge.nonce); };
    const Digest expected = derive(Secrets::Use::proof_of_leader);
    if (!same_bytes(expected.bytes, challenge.proof.bytes, sizeof expected.bytes)) return false;
    const Digest proof = derive(Secrets::Use::proof_of_follower);
    if (!send(Message::proof, &proof, sizeof proof, deadline_ns)) return false;
    channel_.protect(derive(Secrets::Use::frames_of_follower), derive(Secrets::Use::frames_of_leader));
    return receive(Message::welcome, deadline_ns);
}

void Follower::disconnect() {
    if (socket_ >= 0) close(socket_);
    socket_ = -1;
}

bool Follower::send(Message type, const void* payload, std::size_t size, std::uint64_t deadline_ns) {
    return send_all(socket_, out_, channel_.encode(type, payload, size, out_), deadline_ns);
}

bool Follower::receive(Message expected, std::uint64_t deadline_ns) {
    have_ -= frame_.whole;
    std::memmove(in_, in_ + frame_.whole, have_);
    frame_ = {};
    for (;;) {
        const Channel::Status status = channel_.decode(in_, have_, frame_);
        if (status == Channel::Status::complete) return frame_.type == expected;
        if (status == Channel::Status::refused) return false;
        const ssize_t got = recv(socket_, in_ + have_, sizeof in_ - have_, 0);
        if (got > 0) {
            have_ += static_cast<std::size_t>(got);
        } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
            return false;
        } else if (!wait_readable(socket_, -1, deadline_ns)) {
            return false;
        }
    }
}

template <class T>
bool Follower::receive(Message expected, T& payload, std::uint64_t deadline_ns) {
    if (!receive(expected, deadline_ns) || frame_.size != sizeof payload) return false;
    std::memcpy(&payload, frame_.payload, sizeof payload);
    return true;
}

bool Follower::measure_clock(segment::ClockPoint& best) {
    for (int i = 0; i < burst; ++i) {
        const std::uint64_t t1 = now_ns(), deadline = t1 + answer_limit_ns;
        Pong pong;
        if (!send(Message::ping, &t1, sizeof t1, deadline) || !receive(Message::pong, pong, deadline) || pong.t1 != t1) return false;
        const segment::ClockPoint point = clock_point(t1, pong.t2, pong.t3, now_ns());
        if (i == 0 || point.error_ns < best.error_ns) best = point;
    }
    return true;
}

bool Follower::deliver(std::uint64_t deadline_ns) {
    segment::ClockPoint last;
    if (!measure_clock(last)) return false;
    clock_.add_last(last);
    const std::size_t plan_bytes = settings_.plan[0] != '\0' ? read_file(settings_.plan, plan_, sizeof plan_) : 0;
    const Offer offer = dump_.measure(clock_, plan_bytes);
    std::uint32_t coarsening = 0;
    if (!send(Message::offer, &offer, sizeof offer, deadline_ns) || !receive(Message::collect, coarsening, deadline_ns) || coarsening >= coarsening_limit) return false;
    deadline_ns_ = deadline_ns;
    const Sink into_chunks = [](void* context, const void* data, std::size_t size) {
        auto& self = *static_cast<Follower*>(context);
        auto* bytes = static_cast<const std::uint8_t*>(data);
        while (size > 0) {
            const std::size_t room = sizeof self.chunk_ - self.chunked_, part = size < room ? size : room;
            std::memcpy(self.chunk_ + self.chunked_, bytes, part);
            self.chunked_ += part, self.sent_ += part, bytes += part, size -= part;
            if (self.chunked_ == sizeof self.chunk_) {
                if (!self.send(Message::chunk, self.chunk_, self.chunked_, self.deadline_ns_)) return false;
                self.chunked_ = 0;
            }
        }
        return true;
    };
    if (!dump_.write(settings_.node, clock_, plan_, plan_bytes, static_cast<int>(coarsening), into_chunks, this)) return false;
    if (chunked_ > 0 && !send(Message::chunk, chunk_, chunked_, deadline_ns)) return false;
    return send(Message::end, &sent_, sizeof sent_, deadline_ns) && receive(Message::done, deadline_ns);
}

}  // namespace paced::interposer
