// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/step/leader.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <sys/socket.h>

namespace paced::step {

namespace {

std::string numeric(const sockaddr* address, socklen_t size) {
    char text[NI_MAXHOST] = "";
    return getnameinfo(address, size, text, sizeof text, nullptr, 0, NI_NUMERICHOST) == 0 ? text : "";
}

// The first address, IPv4 before IPv6; empty: none.
std::string resolve(const std::string& host) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) return {};
    std::string best;
    for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
        if (entry->ai_family == AF_INET || best.empty()) best = numeric(entry->ai_addr, entry->ai_addrlen);
        if (entry->ai_family == AF_INET) break;
    }
    freeaddrinfo(found);
    return best;
}

// getaddrinfo has no time-out of ours: it runs in a thread, which the exec that follows ends.
std::optional<std::string> resolve_within(const std::string& host, std::chrono::milliseconds deadline) {
    struct Answer {
        std::mutex mutex;
        std::condition_variable ready;
        std::optional<std::string> address;
    };
    const auto answer = std::make_shared<Answer>();
    try {
        std::thread([answer, host] {
            std::string address = resolve(host);
            const std::lock_guard guard(answer->mutex);
            answer->address = std::move(address);
            answer->ready.notify_one();
        }).detach();
    } catch (const std::system_error&) {  // no thread to be had
        return std::nullopt;
    }
    std::unique_lock guard(answer->mutex);
    answer->ready.wait_for(guard, deadline, [&] { return answer->address.has_value(); });
    return answer->address;
}

bool is_own_address(const std::string& address) {
    if (address.starts_with("127.") || address == "::1") return true;
    ifaddrs* interfaces = nullptr;
    if (getifaddrs(&interfaces) != 0) return false;
    bool own = false;
    for (const ifaddrs* entry = interfaces; entry != nullptr && !own; entry = entry->ifa_next) {
        if (entry->ifa_addr == nullptr) continue;
        const int family = entry->ifa_addr->sa_family;
        if (family == AF_INET || family == AF_INET6) own = numeric(entry->ifa_addr, family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6)) == address;
    }
    freeifaddrs(interfaces);
    return own;
}

}  // namespace

Result<std::string> find_leader(const std::string& host, const std::string& node, std::chrono::milliseconds deadline) {
    if (host == node || host == "self") return std::string("self");
    const auto address = resolve_within(host, deadline);
    if (!address) return fail("the address of " + host + " was not found within " + std::to_string(deadline.count()) + " ms");
    if (address->empty()) return fail("the address of " + host + " is not known");
    return is_own_address(*address) ? "self" : *address;
}

}  // namespace paced::step
