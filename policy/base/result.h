// SPDX-License-Identifier: BSD-3-Clause
// Result<T>: the answer of an operation that the surroundings can make fail (a file, a socket, a parser of a
// third party). Mistakes in what a person wrote are Diagnostics (diagnostics.h); bugs are asserts.
//
// Our own name over tl::expected: std::expected needs C++23, which the clang 14 tools do not accept with
// libstdc++ 12. The class is [[nodiscard]], which an alias could not be.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

namespace paced {

// What failed, in words for a person: "cannot read /etc/x: Permission denied". Hints, where there are any, say
// what a person can do about it; they become those of a Diagnostic.
struct Error {
    std::string message;
    std::vector<std::string> hints{};  // the braces let Error{"..."} stand without a warning
};

template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
public:
    using tl::expected<T, Error>::expected;
};

inline tl::unexpected<Error> fail(std::string message, std::vector<std::string> hints = {}) {
    return tl::unexpected<Error>(Error{std::move(message), std::move(hints)});
}

// Adds what was being attempted: fail(within("reading the plan", error)).
inline std::string within(std::string_view attempt, const Error& cause) {
    return std::string(attempt) + ": " + cause.message;
}

}  // namespace paced
