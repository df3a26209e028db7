// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/interposer/exchange/follower.h"

#include <cstring>

#include <fcntl.h>
#include <poll.h>
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

std::uint64_t earlier(std::uint64_t a, std::uint64_t b) { return a < b ? a : b; }

}  // namespace

Follower::Follower(const ExchangeSettings& settings, Dump& dump, void* children, int wake, const bool& stopping, Branch* branch)
    : settings_(settings),
      dump_(dump),
      wake_(wake),
      stopping_(stopping),
      branch_(branch),
      leader_(settings, to_leader),
      parent_(settings, to_parent),
      children_(settings, to_parent, children, settings.arity),
      owner_{this,
             [](void* self, Peer& peer, const Channel::Frame& frame, std::uint64_t received_ns) {
                 return frame.type == Message::summary && static_cast<Follower*>(self)->branch_->hear_summary(peer, frame, received_ns);
             },
             // the loss is said upwards with the next summary
             [](void* self, Peer& peer) { static_cast<Follower*>(self)->branch_->child_gone(peer); }} {}

// Where each of thousands of nodes pings the leader, they do it in proportion more rarely.
std::uint64_t Follower::clock_interval() const { return settings_.has_tree() ? clock_interval_ns * settings_.nodes / settings_.star_limit() : clock_interval_ns; }

void Follower::run() {
    if (branch_ != nullptr) branch_->begin();
    const std::uint64_t started_ns = now_ns();
    backoff_ns_ = first_backoff_ns;
    while (!load_acquire(stopping_)) {
        const std::uint64_t now = now_ns();
        if (now >= clock_ns_) {
            segment::ClockPoint point;
            std::uint64_t pause_ns = clock_interval();
            if (!leader_.is_open() && !connect(now + connect_limit_ns)) {
                pause_ns = backoff_ns_;
                backoff_ns_ = earlier(backoff_ns_ * 2, longest_backoff_ns);
            } else if (measure_clock(point)) {
                clock_.add(point);
                backoff_ns_ = first_backoff_ns;
                if (up_ == &parent_) leader_.close();
            } else if (up_ == nullptr || !leader_.was_late()) {
                lose_leader();
                pause_ns = backoff_ns_;
            }  // else a leader on a busy core: if it is worse than that, its silence about pacing will show it
            clock_ns_ = now_ns() + pause_ns;
        }
        if (branch_ != nullptr) pace(now_ns());
        wait(branch_ != nullptr ? earlier(clock_ns_, branch_->next_look_ns()) : clock_ns_);
    }
    if (up_ != nullptr) branch_->say_summary(*up_, now_ns(), true);
    const std::uint64_t local_limit = now_ns() + local_ranks_limit_ns, limit = now_ns() + exchange_limit_ns;
    while (dump_.unfinished() > 0 && now_ns() < local_limit) {
        const timespec moment{0, 2'000'000};
        nanosleep(&moment, nullptr);
    }
    children_.close();
    parent_.close();
    // A job may be over before the leader has come to listen; one that was not there in the first second is not waited for.
    while (!leader_.is_open() && !connect(now_ns() + connect_limit_ns)) {
        if (now_ns() > started_ns + connect_limit_ns) return;
        const timespec moment{0, 10'000'000};
        nanosleep(&moment, nullptr);
    }
    delivered_ = deliver(limit);
    leader_.close();
}

bool Follower::connect(std::uint64_t deadline_ns) {
    for (int i = 0; i < port_attempts && now_ns() < deadline_ns; ++i) {
        const int attempt = (first_attempt_ + i) % port_attempts;
        const std::uint16_t leaders_port = candidate_port(settings_.ports, settings_.session, attempt);
        if (!leader_.open(settings_.leader, leaders_port, earlier(now_ns() + answer_limit_ns, deadline_ns))) continue;
        first_attempt_ = attempt;
        if (branch_ == nullptr || branch_->is_off()) return true;
        branch_->set_permits_port(leaders_port);
        if (!settings_.has_tree()) {
            up_ = &leader_;
            return true;
        }
        if (up_ != nullptr) return true;  // it has a parent already
        std::uint16_t port = 0;
        if (!children_.is_listening()) port = children_.listen();
        if (leader_.send(Message::listening, &port, sizeof port, deadline_ns)) return true;
        lose_leader();
    }
    return false;
}

// Somebody who was part of it and has lost the way is not paced any more; a leader that was never found costs nothing.
void Follower::lose_leader() {
    if (up_ == &leader_) fall_out();
    leader_.close();
}

void Follower::fall_out() {
    up_ = nullptr;
    branch_->off();
    parent_.close();
    children_.close();  // who hangs from here falls out too
}

bool Follower::hear(const Channel::Frame& frame) {
    if (branch_ == nullptr) return false;
    if (frame.type == Message::directives) return branch_->hear_directives(frame, now_ns());
    if (frame.type != Message::adopt || frame.size != sizeof(Adopt) || up_ != nullptr || !settings_.has_tree()) return false;
    adopt(frame);
    return true;
}

void Follower::adopt(const Channel::Frame& frame) {
    Adopt adopt;
    std::memcpy(&adopt, frame.payload, sizeof adopt);
    adopt.address[sizeof adopt.address - 1] = '\0';
    if (adopt.children == 0) children_.close();
    if (adopt.address[0] == '\0') up_ = &leader_;
    else if (parent_.open(adopt.address, adopt.port, now_ns() + connect_limit_ns)) up_ = &parent_;
    // Without a parent this node stays apart, and the communicators that it has members of are left alone. With one, the leader is
    // spared a connection that is used once in a minute (pace() closes it, since here it is being read).
}

bool Follower::read_from(Link& link) {
    for (Channel::Frame frame;;) {
        const Link::Next what = link.next(frame);
        if (what == Link::Next::none) return true;
        if (what == Link::Next::broken || !hear(frame)) return false;
    }
}

void Follower::pace(std::uint64_t now) {
    branch_->look(now);
    if (branch_->is_off() && up_ != nullptr) fall_out();
    if (leader_.is_open() && !read_from(leader_)) lose_leader();
    if (up_ == &parent_) leader_.close();
    if (parent_.is_open() && !read_from(parent_)) fall_out();
    if (up_ != nullptr && (!branch_->say_summary(*up_, now, false) || branch_->is_forgotten(now))) fall_out();
    if (children_.is_listening()) {
        branch_->drop_silent(children_, owner_, now);
        branch_->tell_children(children_, owner_, now);
    }
}

void Follower::wait(std::uint64_t until_ns) {
    if (branch_ == nullptr) {
        wait_readable(wake_, -1, until_ns);
        return;
    }
    pollfd* const polled = children_.polled();
    polled[0] = {wake_, POLLIN, 0};
    polled[1] = {leader_.descriptor(), static_cast<short>(POLLIN | (leader_.is_busy() ? POLLOUT : 0)), 0};
    polled[2] = {parent_.descriptor(), static_cast<short>(POLLIN | (parent_.is_busy() ? POLLOUT : 0)), 0};
    const std::uint64_t now = now_ns();
    const std::uint32_t count = children_.add_polled(polled + 3, now, owner_);
    const int timeout_ms = until_ns > now ? static_cast<int>((until_ns - now + 999'999) / 1'000'000) : 0;
    if (poll(polled, count + 3, timeout_ms) > 0) children_.handle(polled + 3, count, owner_);
}

bool Follower::measure_clock(segment::ClockPoint& best) {
    const Link::Other other = [](void* self, const Channel::Frame& frame) { return static_cast<Follower*>(self)->hear(frame); };
    for (int i = 0; i < burst; ++i) {
        const std::uint64_t t1 = now_ns(), deadline = t1 + answer_limit_ns;
        Pong pong;
        if (!leader_.send(Message::ping, &t1, sizeof t1, deadline)) return false;
        do {
            if (!leader_.receive(Message::pong, pong, deadline, other, this)) return false;
        } while (pong.t1 < t1);  // of a burst that was given up
        if (pong.t1 != t1) return false;
        const segment::ClockPoint point = clock_point(t1, pong.t2, pong.t3, now_ns());
        if (i == 0 || point.error_ns < best.error_ns) best = point;
    }
    return true;
}

bool Follower::deliver(std::uint64_t deadline_ns) {
    const Link::Other other = [](void* self, const Channel::Frame& frame) { return static_cast<Follower*>(self)->hear(frame); };
    segment::ClockPoint last;
    if (!measure_clock(last)) return false;
    clock_.add_last(last);
    const std::size_t plan_bytes = settings_.plan[0] != '\0' ? read_file(settings_.plan, plan_, sizeof plan_) : 0;
    const Offer offer = dump_.measure(clock_, plan_bytes);
    std::uint32_t coarsening = 0;
    if (!leader_.send(Message::offer, &offer, sizeof offer, deadline_ns) || !leader_.receive(Message::collect, coarsening, deadline_ns, other, this)
        || coarsening >= coarsening_limit)
        return false;
    deadline_ns_ = deadline_ns;
    const Sink into_chunks = [](void* context, const void* data, std::size_t size) {
        auto& self = *static_cast<Follower*>(context);
        auto* bytes = static_cast<const std::uint8_t*>(data);
        while (size > 0) {
            const std::size_t room = sizeof self.chunk_ - self.chunked_, part = size < room ? size : room;
            std::memcpy(self.chunk_ + self.chunked_, bytes, part);
            self.chunked_ += part, self.sent_ += part, bytes += part, size -= part;
            if (self.chunked_ == sizeof self.chunk_) {
                if (!self.leader_.send(Message::chunk, self.chunk_, self.chunked_, self.deadline_ns_)) return false;
                self.chunked_ = 0;
            }
        }
        return true;
    };
    if (!dump_.write(settings_.node, clock_, plan_, plan_bytes, static_cast<int>(coarsening), into_chunks, this)) return false;
    if (chunked_ > 0 && !leader_.send(Message::chunk, chunk_, chunked_, deadline_ns)) return false;
    Channel::Frame frame;
    return leader_.send(Message::end, &sent_, sizeof sent_, deadline_ns) && leader_.receive(Message::done, deadline_ns, frame, other, this);
}

}  // namespace paced::interposer
