// SPDX-License-Identifier: BSD-3-Clause
// A connection that this node has made, to the leader or to its parent in the tree, each side proven to the other.
#pragma once

#include "plugin/interposer/exchange/settings.h"
#include "plugin/interposer/exchange/wire.h"

namespace paced::interposer {

class Link {
public:
    // What to do with a frame that comes while another is waited for; false: it makes no sense, and the wait fails.
    using Other = bool (*)(void* context, const Channel::Frame& frame);

    Link(const ExchangeSettings& settings, const Role& role) : settings_(settings), role_(role) {}

    bool is_open() const { return socket_ >= 0; }
    int descriptor() const { return socket_; }

    // Connected and greeted within the deadline.
    bool open(const char* address, std::uint16_t port, std::uint64_t deadline_ns);
    void close();

    // Waits until all is sent, at most until the deadline.
    bool send(Message type, const void* payload, std::size_t size, std::uint64_t deadline_ns);
    // Takes the frame and sends what goes at once; is_busy() until the rest has gone. false: the connection is dead.
    bool post(Message type, const void* payload, std::size_t size);
    bool is_busy() const { return posted_ > flushed_; }
    bool flush();

    // The next frame, without waiting for it. It stays valid until the next call of next or receive.
    enum class Next { frame, none, broken };
    Next next(Channel::Frame& frame);
    // The next frame of this type; false where none came in time (the connection is as good as before), or something was refused.
    bool receive(Message expected, std::uint64_t deadline_ns, Channel::Frame& frame, Other other = nullptr, void* context = nullptr);
    bool was_late() const { return late_; }  // why the last receive returned false
    template <class T>
    bool receive(Message expected, T& payload, std::uint64_t deadline_ns, Other other = nullptr, void* context = nullptr) {
        Channel::Frame frame;
        if (!receive(expected, deadline_ns, frame, other, context) || frame.size != sizeof payload) return false;
        __builtin_memcpy(&payload, frame.payload, sizeof payload);
        return true;
    }

private:
    bool greet(std::uint64_t deadline_ns);

    const ExchangeSettings& settings_;
    const Role& role_;
    int socket_ = -1;
    bool late_ = false;
    Channel channel_;
    std::size_t have_ = 0, taken_ = 0;       // of in_: read, and already handed out
    std::size_t posted_ = 0, flushed_ = 0;   // of out_
    std::uint8_t in_[frame_limit], out_[frame_limit];
};

}  // namespace paced::interposer
