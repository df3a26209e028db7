// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/interposer/exchange/thread.h"

#include <csignal>

#include <pthread.h>

namespace paced::interposer {
namespace {

bool try_to_start(void* (*function)(void*), void* argument, std::size_t stack) {
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (stack != 0) pthread_attr_setstacksize(&attributes, stack);
    pthread_t thread;
    const bool started = pthread_create(&thread, &attributes, function, argument) == 0;
    pthread_attr_destroy(&attributes);
    return started;
}

}  // namespace

bool start_thread(void* (*function)(void*), void* argument) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    // A host with much thread-local storage needs more stack than we do: then the usual size.
    const bool started = try_to_start(function, argument, 256 * 1024) || try_to_start(function, argument, 0);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return started;
}

}  // namespace paced::interposer
