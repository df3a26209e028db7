// SPDX-License-Identifier: BSD-3-Clause
// Our threads in the host: detached, and no signal of the host is ever delivered to them.
#pragma once

namespace paced::interposer {

bool start_thread(void* (*function)(void*), void* argument);

}  // namespace paced::interposer
