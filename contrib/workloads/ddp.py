#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""ddp.py: a small data-parallel training with PyTorch and Gloo, one process a task of srun.

    srun -N8 contrib/workloads/ddp.py --iterations 100 --groups 2

It knows nothing of paced-fabric. Ranks find one another through Slurm's variables (or RANK, WORLD_SIZE, MASTER_ADDR and
MASTER_PORT where those are set). At the end rank 0 says what an iteration cost it, as bsp does, and a checksum of all
weights, which is the same in every run with the same options. Debian's python3-torch is enough.
"""
import argparse
import gc
import hashlib
import math
import os
import random
import signal
import subprocess
import sys
import time


def pairs(text, keys):
    """'rank=5,ms=20' as a dict with exactly these keys (name: type)."""
    given = dict(part.split("=", 1) for part in text.split(","))
    if given.keys() != keys.keys():
        raise ValueError("needs " + ",".join(f"{key}=..." for key in keys))
    return {key: kind(given[key]) for key, kind in keys.items()}


def straggler(text):
    return pairs(text, {"rank": int, "ms": float})


def failure(text):
    given = pairs(text, {"rank": int, "iteration": int, "how": str})
    if given["how"] not in ("exit", "raise", "kill"):
        raise ValueError("how is exit, raise or kill")
    return given


def parse(size):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0].split(": ", 1)[1])
    parser.add_argument("--iterations", type=int, default=100, help="iterations that are timed")
    parser.add_argument("--warmup", type=int, default=10, help="iterations before them")
    parser.add_argument("--hidden", type=int, default=128, help="width of a layer: hidden * (hidden + 1) weights of 4 bytes")
    parser.add_argument("--layers", type=int, default=2, help="layers; all their gradients are exchanged in every iteration")
    parser.add_argument("--bucket-kib", type=float, default=25 * 1024, help="most gradients in one all-reduce")
    parser.add_argument("--batch", type=int, default=8, help="samples of a rank and iteration")
    parser.add_argument("--groups", type=int, default=1,
                        help="independent trainings side by side; every GROUPS-th rank is in the same, so that each crosses the leaves")
    parser.add_argument("--compute-ms", type=float, default=10, help="milliseconds that a forward pass takes beside the arithmetic")
    parser.add_argument("--spin", action="store_true", help="they keep the core busy; by default they are slept, so that many ranks fit on few cores")
    parser.add_argument("--jitter", type=float, default=0, help="sigma of the log-normal factor on each rank's compute")
    parser.add_argument("--straggler", type=straggler, action="append", default=[], metavar="rank=R,ms=M",
                        help="this rank computes M milliseconds longer; may be repeated")
    parser.add_argument("--fail", type=failure, metavar="rank=R,iteration=I,how=exit|raise|kill", help="how this rank ends in the middle")
    parser.add_argument("--interface", help="that Gloo uses; by default GLOO_SOCKET_IFNAME, else fab0 where there is one")
    parser.add_argument("--timeout", type=float, default=60, help="seconds until a collective fails")
    parser.add_argument("--seed", type=int, default=1, help="of the weights, the data and the jitter")
    parser.add_argument("--quiet-times", action="store_true", help="print only what is the same in every run")
    options = parser.parse_args()
    for name in ("iterations", "hidden", "layers", "batch", "groups"):
        if getattr(options, name) < 1:
            parser.error(f"--{name} must be at least 1")
    if size % options.groups:
        parser.error(f"--groups {options.groups}: the {size} ranks do not divide into that many")
    return options


def first_host(hosts):
    if "[" not in hosts and "," not in hosts:
        return hosts
    return subprocess.run(["scontrol", "show", "hostnames", hosts], check=True, capture_output=True, text=True).stdout.split()[0]


def find_others(environment):
    """torch.distributed's variables out of Slurm's."""
    if "RANK" not in environment and "SLURM_PROCID" in environment:
        environment["RANK"] = environment["SLURM_PROCID"]
        environment["WORLD_SIZE"] = environment.get("SLURM_STEP_NUM_TASKS") or environment["SLURM_NTASKS"]
    environment.setdefault("RANK", "0")
    environment.setdefault("WORLD_SIZE", "1")
    if "MASTER_ADDR" not in environment:
        environment["MASTER_ADDR"] = first_host(environment.get("SLURM_STEP_NODELIST") or environment.get("SLURM_JOB_NODELIST") or "localhost")
    # a port of its own for each step of a user
    step = int(environment.get("SLURM_JOB_ID", "0")) * 131 + int(environment.get("SLURM_STEP_ID", "0"))
    environment.setdefault("MASTER_PORT", str(20000 + step % 10000))


def use_interface(environment, name):
    if name is None and "GLOO_SOCKET_IFNAME" not in environment and os.path.exists("/sys/class/net/fab0"):
        name = "fab0"
    if name is not None:
        environment["GLOO_SOCKET_IFNAME"] = name


def quantile(ordered, share):
    """The smallest value that at least this share of all lies at or below."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def times_line(times_ms):
    mean = sum(times_ms) / len(times_ms)
    squares = sum((time_ms - mean) ** 2 for time_ms in times_ms)
    deviation = math.sqrt(squares / (len(times_ms) - 1)) if len(times_ms) > 1 else 0
    ordered = sorted(times_ms)
    return (f"mean={mean:.3f} ms cv={deviation / mean:.4f} p50={quantile(ordered, .5):.3f} p95={quantile(ordered, .95):.3f} "
            f"max={ordered[-1]:.3f}\nthroughput={1000 / mean:.3f} iterations/s")


def compute(milliseconds, spin):
    end = time.monotonic() + milliseconds / 1000
    if not spin and milliseconds > 0:
        time.sleep(milliseconds / 1000)
    while time.monotonic() < end:
        pass


def end_here(how):
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "raise":
        raise RuntimeError("as asked for by --fail")
    sys.exit(7)


def main():
    find_others(os.environ)
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    options = parse(size)
    use_interface(os.environ, options.interface)
    os.environ.setdefault("OMP_NUM_THREADS", "1")

    import datetime
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel

    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=options.timeout))
    # every rank makes every group, as torch demands
    groups = [dist.new_group(list(range(first, size, options.groups))) for first in range(options.groups)] if options.groups > 1 else [None]
    layers = [torch.nn.Linear(options.hidden, options.hidden) for _ in range(options.layers)]
    model = DistributedDataParallel(torch.nn.Sequential(*layers), process_group=groups[rank % options.groups],
                                    bucket_cap_mb=options.bucket_kib / 1024)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    data = torch.Generator().manual_seed(options.seed * 1_000_003 + rank)
    jitter = random.Random(options.seed * 1_000_003 + rank)
    longer_ms = sum(straggler["ms"] for straggler in options.straggler if straggler["rank"] == rank)

    times_ms = []
    for iteration in range(options.warmup + options.iterations):
        if options.fail and options.fail["rank"] == rank and options.fail["iteration"] == iteration:
            end_here(options.fail["how"])
        start = time.monotonic()
        factor = math.exp(options.jitter * jitter.gauss(0, 1) - options.jitter ** 2 / 2)
        compute(options.compute_ms * factor + longer_ms, options.spin)
        samples = torch.randn(options.batch, options.hidden, generator=data)
        optimizer.zero_grad()
        model(samples).square().mean().backward()
        optimizer.step()
        if iteration >= options.warmup:
            times_ms.append((time.monotonic() - start) * 1000)

    digest = hashlib.sha256()
    for parameter in model.parameters():
        digest.update(parameter.detach().numpy().tobytes())
    digests = [None] * size
    dist.all_gather_object(digests, digest.hexdigest())
    alike = all(digests[member] == digests[member % options.groups] for member in range(size))
    if rank == 0:
        if not options.quiet_times:
            print(times_line(times_ms))
        checksum = hashlib.sha256("".join(digests).encode()).hexdigest()[:16]
        print(f"ranks={size} iterations={options.iterations} checksum={checksum}", flush=True)
    if not alike:
        print(f"ddp.py: rank {rank}: ranks of one group have different weights", file=sys.stderr)
    # PyTorch 1.13 takes a group down under Python's lock and joins its workers, who need that lock to let go of what they
    # have finished: let go first, and give them a moment.
    del model, optimizer
    gc.collect()
    time.sleep(0.2)
    dist.destroy_process_group()
    return 0 if alike else 1


if __name__ == "__main__":
    sys.exit(main())
