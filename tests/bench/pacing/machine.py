# SPDX-License-Identifier: BSD-3-Clause
"""The machine's facts, as it says them itself."""
import os
import re
import subprocess


def first_line(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip().splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return ""


def field(file, name):
    with open(file) as lines:
        found = re.search(rf"^{name}\s*[:=]\s*\"?([^\"\n]*)", lines.read(), re.MULTILINE)
    return found[1].strip() if found else ""


def facts():
    memory = int(field("/proc/meminfo", "MemTotal").split()[0]) / 2**20
    system, uname = field("/etc/os-release", "PRETTY_NAME"), os.uname()
    software = [first_line("/usr/sbin/slurmctld", "-V").replace("slurm-wlm", "Slurm"), re.sub(r".*\) ", "Open MPI ", first_line("mpirun.openmpi", "--version"))]
    return f"{os.cpu_count()} CPUs ({field('/proc/cpuinfo', 'model name') or uname.machine}), {memory:.0f} GiB, {system}, Linux {uname.release.partition('-')[0]}, {', '.join(filter(None, software))}"
