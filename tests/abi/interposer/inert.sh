#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# In a process without MPI nothing happens: no descriptor, no thread, no mapping but the library's own, no file; the output is
# the same. The variables are those of a step that is this very process's own.
set -eu
folder=$(mktemp -d)
links=$(mktemp -d)
trap 'rm -rf "$folder" "$links"' EXIT
library=$links/libpaced_fabric.so  # LD_PRELOAD cannot carry a path with blanks
ln -s "$PACED_FABRIC_LIB_DIR/libpaced_fabric.so" "$library"
export PACED_FABRIC_STEP_MODE=observe PACED_FABRIC_STEP_STAMP=alone:$$ PACED_FABRIC_STEP_RUN_DIR=$folder \
  PACED_FABRIC_STEP_NODE=n1 PACED_FABRIC_STEP_NODE_COUNT=2 PACED_FABRIC_STEP_LEADER=self PACED_FABRIC_STEP_SESSION=s1 \
  PACED_FABRIC_STEP_PORTS=62000-62999 PACED_FABRIC_STEP_KEY_FILE=$folder/key

look='ls /proc/self/fd | wc -l; ls /proc/$$/task | wc -l; grep -c "$PACED_FABRIC_STEP_RUN_DIR" /proc/$$/maps; echo done'
for shell in sh bash; do
  without=$($shell -c "$look" 2>&1) || true
  with=$(LD_PRELOAD=$library $shell -c "$look" 2>&1) || true
  [ "$with" = "$without" ] || { echo "$shell differs: $with instead of $without"; exit 1; }
done

LD_PRELOAD=$library true
[ "$(LD_PRELOAD=$library /bin/echo text)" = text ]
LD_PRELOAD=$library false && exit 1

if command -v python3 >/dev/null; then
  look='import os, threading; print(sorted(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task")), sum("'$folder'" in line for line in open("/proc/self/maps")))'
  without=$(python3 -c "$look")
  with=$(LD_PRELOAD=$library python3 -c "$look")
  [ "$with" = "$without" ] || { echo "python differs: $with instead of $without"; exit 1; }
  LD_PRELOAD=$library python3 -c 'import os, subprocess, sys; sys.exit(os.system("true") or subprocess.run(["true"]).returncode)'
fi

# The library maps itself and nothing else: at most 1 MB, of which little is private and written to.
private=$(LD_PRELOAD=$library sh -c "awk '/libpaced_fabric/ {ours=1; next} /^[0-9a-f]+-[0-9a-f]+ /{ours=0} ours && /^Private_Dirty/ {sum += \$2} END {print sum+0}' /proc/\$\$/smaps")
[ "$private" -le 300 ] || { echo "$private KB of private memory"; exit 1; }

[ -z "$(ls -A "$folder")" ] || { echo "left in the run folder: $(ls -A "$folder")"; exit 1; }
