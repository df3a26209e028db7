// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/interposer/exchange/permit_wire.h"

#include <cstring>

namespace paced::interposer {

PermitKey::PermitKey(const Secrets& secrets) {
    // no nonces: the ranks have not spoken with the server before
    const Digest key = secrets.derive(Secrets::Use::permits, Nonce{}, Nonce{});
    key_ = HmacKey(key.bytes, sizeof key.bytes);
}

void PermitKey::seal(const PermitMessage& message, std::uint8_t (&datagram)[permit_datagram]) const {
    Sha256 hash = key_.begin();
    hash.add(&message, sizeof message);
    const Digest digest = key_.finish(hash);
    std::memcpy(datagram, &message, sizeof message);
    std::memcpy(datagram + sizeof message, digest.bytes, mac_size);
}

bool PermitKey::open(const std::uint8_t* datagram, std::size_t size, PermitMessage& message) const {
    if (size != permit_datagram) return false;
    Sha256 hash = key_.begin();
    hash.add(datagram, sizeof message);
    const Digest expected = key_.finish(hash);
    if (!same_bytes(expected.bytes, datagram + sizeof message, mac_size)) return false;
    std::memcpy(&message, datagram, sizeof message);
    return true;
}

}  // namespace paced::interposer
