// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/interposer/exchange/link.h"

#include <cerrno>
#include <cstring>

#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "plugin/interposer/exchange/socket.h"
#include "plugin/interposer/shared.h"

namespace paced::interposer {

bool Link::open(const char* address, std::uint16_t port, std::uint64_t deadline_ns) {
    close();
    socket_ = connect_to(address, port, deadline_ns);
    if (socket_ < 0) return false;
    channel_ = Channel();
    have_ = taken_ = posted_ = flushed_ = 0;
    if (greet(deadline_ns)) return true;
    close();  // somebody else's program, or another job's leader
    return false;
}

bool Link::greet(std::uint64_t deadline_ns) {
    Hello hello{};
    hello.magic = role_.magic;
    std::memcpy(hello.node, settings_.node, sizeof hello.node);
    static_assert(sizeof hello.node == sizeof settings_.node);
    if (getrandom(hello.nonce.bytes, sizeof hello.nonce.bytes, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof hello.nonce.bytes)) return false;
    Challenge challenge;
    if (!send(Message::hello, &hello, sizeof hello, deadline_ns) || !receive(Message::challenge, challenge, deadline_ns)) return false;
    const auto derive = [&](Secrets::Use use) { return settings_.secrets.derive(use, hello.nonce, challenge.nonce); };
    const Digest expected = derive(role_.their_proof);
    if (!same_bytes(expected.bytes, challenge.proof.bytes, sizeof expected.bytes)) return false;
    const Digest proof = derive(role_.our_proof);
    if (!send(Message::proof, &proof, sizeof proof, deadline_ns)) return false;
    channel_.protect(derive(role_.our_frames), derive(role_.their_frames));
    Channel::Frame frame;
    return receive(Message::welcome, deadline_ns, frame);
}

void Link::close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
    posted_ = flushed_ = 0;
}

bool Link::send(Message type, const void* payload, std::size_t size, std::uint64_t deadline_ns) {
    if (is_busy() && !send_all(socket_, out_ + flushed_, posted_ - flushed_, deadline_ns)) return false;
    posted_ = flushed_ = 0;
    return send_all(socket_, out_, channel_.encode(type, payload, size, out_), deadline_ns);
}

bool Link::post(Message type, const void* payload, std::size_t size) {
    flushed_ = 0;
    posted_ = channel_.encode(type, payload, size, out_);
    return flush();
}

bool Link::flush() {
    while (is_busy()) {
        const ssize_t sent = ::send(socket_, out_ + flushed_, posted_ - flushed_, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0) flushed_ += static_cast<std::size_t>(sent);
        else if (sent < 0 && errno == EINTR) continue;
        else return sent < 0 && errno == EAGAIN;
    }
    return true;
}

Link::Next Link::next(Channel::Frame& frame) {
    have_ -= taken_;
    std::memmove(in_, in_ + taken_, have_);
    taken_ = 0;
    for (;;) {
        const Channel::Status status = channel_.decode(in_, have_, frame);
        if (status == Channel::Status::refused) return Next::broken;
        if (status == Channel::Status::complete) {
            taken_ = frame.whole;
            return Next::frame;
        }
        const ssize_t got = recv(socket_, in_ + have_, sizeof in_ - have_, 0);
        if (got > 0) have_ += static_cast<std::size_t>(got);
        else if (got < 0 && errno == EAGAIN) return Next::none;
        else if (got == 0 || errno != EINTR) return Next::broken;
    }
}

bool Link::receive(Message expected, std::uint64_t deadline_ns, Channel::Frame& frame, Other other, void* context) {
    late_ = false;
    for (;;) {
        const Next what = next(frame);
        if (what == Next::broken) return false;
        if (what == Next::frame && frame.type == expected) return true;
        if (what == Next::frame && (other == nullptr || !other(context, frame))) return false;
        late_ = what == Next::none ? !wait_readable(socket_, -1, deadline_ns) : now_ns() > deadline_ns;
        if (late_) return false;
    }
}

}  // namespace paced::interposer
