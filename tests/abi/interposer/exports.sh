#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The exported symbols are those of exports.txt. UPDATE_GOLDEN=1 writes the file anew; look at the difference before
# you commit it: every name here takes a function of that name away from some program.
set -eu
golden=$(dirname "$0")/exports.txt
library=$PACED_FABRIC_LIB_DIR/libpaced_fabric.so
now=$(nm -D --defined-only "$library" | sed 's/^[0-9a-f]* //' | LC_ALL=C sort)
if [ "${UPDATE_GOLDEN:-}" = 1 ]; then
  printf '%s\n' "$now" >"$golden"
  exit 0
fi
printf '%s\n' "$now" | diff -u "$golden" - || { echo "exports differ from $golden (UPDATE_GOLDEN=1 rewrites it)"; exit 1; }

# Nothing that is not MPI's or Gloo's own, and nothing of the profiling interface, which other tools and the library itself rely on.
if printf '%s\n' "$now" | grep -vE '^T (MPI_[A-Za-z_0-9]+|mpi_[a-z_0-9]+|_ZN4gloo[A-Za-z_0-9]+)$'; then echo "names that are neither MPI's nor Gloo's"; exit 1; fi

# Every Fortran name that an MPI of this machine has for a function that we wrap, we wrap too: a spelling left out would
# be a call not seen.
ours=$(printf '%s\n' "$now" | sed 's/^T //')
for mpi in libmpi_mpifh.so.40 libmpi_usempif08.so.40 libmpichfort.so.12 libmpi.so.40 libmpich.so.12; do
  path=$(ldconfig -p | awk -v name="$mpi" '$1 == name {print $NF; exit}')
  [ -n "$path" ] || continue
  for name in init init_thread finalize barrier bcast reduce allreduce allgather allgatherv gather gatherv scatter scatterv alltoall \
    alltoallv alltoallw reduce_scatter reduce_scatter_block scan exscan comm_dup comm_split comm_free pcontrol iallreduce neighbor_alltoall; do
    nm -D --defined-only "$path" | sed 's/^[0-9a-f]* . //' | grep -iE "^mpi_${name}(_|__|_c|_f08_|_f08ts_|_f08ts_large_)?$" | while read -r theirs; do
      printf '%s\n' "$ours" | grep -qxF "$theirs" || { echo "$mpi has $theirs, which is not wrapped"; exit 1; }
    done || exit 1
  done
done

# A mangled name with a slip in it would be a function that nobody calls.
gloo=$(ldconfig -p | awk '$1 == "libgloo.so.0" {print $NF; exit}')
if [ -n "$gloo" ]; then
  theirs=$(nm -D --defined-only "$gloo" | sed 's/^[0-9a-f]* . //')
  for name in $(printf '%s\n' "$ours" | grep '^_ZN4gloo'); do
    printf '%s\n' "$theirs" | grep -qxF "$name" || { echo "libgloo has no $name"; exit 1; }
  done
fi
