#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# libc and libm alone, no newer than 2.34 (containers), no libstdc++, no constructor, little thread-local storage, never unloaded.
set -eu
library=$PACED_FABRIC_LIB_DIR/libpaced_fabric.so
failed=0
wrong() { echo "$*"; failed=1; }

needed=$(readelf -dW "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE '^(lib[cm]\.so\.6|ld-linux-[a-z0-9-]+\.so\.[0-9]+)$' || true)
[ -z "$needed" ] || wrong "needs more than libc and libm: $needed"

undefined=$(nm -D --undefined-only "$library")
printf '%s\n' "$undefined" | grep -E ' U ' | grep -v '@GLIBC_' && wrong "undefined and not libc's"
printf '%s\n' "$undefined" | grep -E '_Z|__cxa_(throw|begin|guard|atexit|pure)|__gxx|_Unwind|MPI|mpi_' && wrong "symbols of a C++ runtime or of MPI"
newest=$(printf '%s\n' "$undefined" | sed -n 's/.*@GLIBC_//p' | sort -uV | tail -1)
[ "$(printf '2.34\n%s\n' "$newest" | sort -V | tail -1)" = 2.34 ] || wrong "needs glibc $newest, newer than 2.34"

for call in setenv putenv unsetenv signal sigaltstack atexit __cxa_atexit pthread_atfork __register_atfork setitimer malloc free dlmopen fork posix_spawn; do
  printf '%s\n' "$undefined" | grep -qE " U $call(@|\$)" && wrong "calls $call, which a guest must not"
done

readelf -dW "$library" | grep -q NODELETE || wrong "can be unloaded"
# one entry: the compiler's own frame_dummy
bytes=$(readelf -dW "$library" | sed -n 's/.*(INIT_ARRAYSZ) *\([0-9]*\) .*/\1/p')
[ "${bytes:-0}" -le 8 ] || wrong "has static constructors ($bytes bytes of them)"
tls=$(readelf -lW "$library" | awk '$1 == "TLS" {print strtonum($6)}' 2>/dev/null || true)
[ -n "$tls" ] || tls=$(printf '%d' "$(readelf -lW "$library" | awk '$1 == "TLS" {print $6}')")
[ "$tls" -le 64 ] || wrong "takes $tls bytes of every thread's static TLS"
readelf -lW "$library" | grep -A0 GNU_STACK | grep -q 'RWE' && wrong "wants an executable stack"
exit $failed
