// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/interposer/exchange/permit_server.h"

#include <cerrno>
#include <cstring>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "plugin/interposer/exchange/socket.h"
#include "plugin/interposer/exchange/thread.h"
#include "plugin/interposer/shared.h"

namespace paced::interposer {
namespace {

constexpr std::uint64_t stop_limit_ns = 100'000'000;

}  // namespace

bool PermitServer::open(const Secrets& secrets, std::uint16_t port) {
    socket_ = bind_datagrams(port);
    if (socket_ < 0) return false;
    constexpr std::size_t size = pacing::permit_limit * sizeof(Askers);
    void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    wake_ = high_descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (memory == MAP_FAILED || wake_ < 0) {
        if (memory != MAP_FAILED) munmap(memory, size);
        if (wake_ >= 0) close(wake_);
        close(socket_);
        socket_ = wake_ = -1;
        return false;
    }
    askers_ = static_cast<Askers*>(memory);
    key_ = PermitKey(secrets);
    return true;
}

bool PermitServer::start() {
    done_ = false;
    if (start_thread(thread, this)) return true;
    done_ = true;
    stop();
    return false;
}

void* PermitServer::thread(void* self) {
    static_cast<PermitServer*>(self)->run();
    return nullptr;
}

void PermitServer::run() {
    while (!load_acquire(stopping_)) {
        const std::uint64_t next_ns = permits_.next_tick_ns();
        std::uint64_t now = now_ns();
        const std::uint64_t left_ns = next_ns <= now ? 0 : next_ns - now < 1'000'000'000 ? next_ns - now : 1'000'000'000;
        const timespec limit{static_cast<time_t>(left_ns / 1'000'000'000), static_cast<long>(left_ns % 1'000'000'000)};
        pollfd waited[2] = {{socket_, POLLIN, 0}, {wake_, POLLIN, 0}};
        ppoll(waited, 2, &limit, nullptr);
        serve(now_ns());
    }
    store_release(done_, true);
}

void PermitServer::stop() {
    if (socket_ < 0) return;
    store_release(stopping_, true);
    const std::uint64_t one = 1;
    const ssize_t written = write(wake_, &one, sizeof one);
    for (const std::uint64_t limit = now_ns() + stop_limit_ns; written > 0 && !load_acquire(done_) && now_ns() < limit;) {
        const timespec moment{0, 100'000};
        nanosleep(&moment, nullptr);
    }
    if (!load_acquire(done_)) return;  // it keeps what it uses
    close(socket_);
    close(wake_);
    munmap(askers_, pacing::permit_limit * sizeof(Askers));
    socket_ = wake_ = -1;
    askers_ = nullptr;
}

void PermitServer::serve(std::uint64_t now) {
    for (std::uint32_t i = 0; i < turn_limit; ++i) {
        std::uint8_t datagram[permit_datagram + 1];  // one more: what is longer is not ours
        Address from{};
        socklen_t length = sizeof from;
        const ssize_t got = recvfrom(socket_, datagram, sizeof datagram, MSG_DONTWAIT, &from.any, &length);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) break;
        ++counts_.received;
        PermitMessage message;
        if (!key_.open(datagram, static_cast<std::size_t>(got), message) || message.domain >= pacing::permit_domains) ++counts_.dropped;
        else take(message, from, now);
    }
    permits_.tick(now);
    for (pacing::Permits::Grant grant; permits_.next(grant);) answer(grant);
}

void PermitServer::take(const PermitMessage& message, const Address& from, std::uint64_t now) {
    if (message.type == PermitMessage::Type::done) return permits_.done(message.communicator, message.members, message.sequence, now);
    if (message.type != PermitMessage::Type::request) return;
    pacing::PermitRule rule;
    rule.kind = message.barrier != 0 ? pacing::PermitRule::Kind::barrier : pacing::PermitRule::Kind::admit;
    rule.width = message.width;
    rule.longest_ns = message.longest_ns;
    rule.lead_percent = lead_percent_;
    if (!(rules_[message.domain] == rule)) permits_.set(message.domain, rules_[message.domain] = rule);
    if (permits_.request(message.domain, message.communicator, message.size, message.members, message.sequence, now)) return remember(message, from);
    ++counts_.refused;
    send_grant(message.communicator, message.sequence, message.members, from);
}

// Free places follow those in use: the arbiter has no more communicators than there is room for here, and those that it has forgotten
// are reused from the first place on.
PermitServer::Askers* PermitServer::askers_of(std::uint64_t communicator) {
    for (std::uint32_t i = 0; i < pacing::permit_limit; ++i)
        if (askers_[i].communicator == communicator || askers_[i].communicator == 0) return &askers_[i];
    return nullptr;
}

void PermitServer::remember(const PermitMessage& message, const Address& from) {
    Askers* askers = askers_of(message.communicator);
    if (askers == nullptr) {
        // some communicator that the arbiter has forgotten
        for (std::uint32_t i = 0; i < pacing::permit_limit && askers == nullptr; ++i)
            if (!permits_.knows(askers_[i].communicator)) askers = &askers_[i];
        if (askers == nullptr) return;
    }
    if (askers->communicator != message.communicator || askers->sequence < message.sequence) {
        askers->communicator = message.communicator;
        askers->sequence = message.sequence;
        askers->count = 0;
    }
    if (askers->sequence != message.sequence) return;
    // The first address stays: a datagram that somebody repeats from elsewhere does not draw the grant there.
    for (std::uint32_t i = 0; i < askers->count; ++i)
        if (askers->asker[i].members == message.members) return;
    if (askers->count == pacing::member_limit) return;
    askers->asker[askers->count].members = message.members;
    askers->asker[askers->count++].address = from;
}

void PermitServer::answer(const pacing::Permits::Grant& grant) {
    const Askers* const askers = askers_of(grant.communicator);
    if (askers == nullptr || askers->communicator != grant.communicator || askers->sequence != grant.sequence) return;
    for (std::uint32_t i = 0; i < askers->count; ++i)
        if ((askers->asker[i].members & grant.members) != 0) send_grant(grant.communicator, grant.sequence, askers->asker[i].members, askers->asker[i].address);
}

void PermitServer::send_grant(std::uint64_t communicator, std::uint64_t sequence, std::uint64_t members, const Address& to) {
    const PermitMessage message{PermitMessage::Type::grant, 0, 0, 0, 0, communicator, sequence, members, 0};
    std::uint8_t datagram[permit_datagram];
    key_.seal(message, datagram);
    // A full queue loses the grant like the network does: the rank asks again.
    if (sendto(socket_, datagram, sizeof datagram, MSG_DONTWAIT | MSG_NOSIGNAL, &to.any, size_of(to)) == static_cast<ssize_t>(sizeof datagram)) ++counts_.granted;
}

}  // namespace paced::interposer
