# SPDX-License-Identifier: BSD-3-Clause
"""Published curves of nccl-tests' all_reduce_perf: two numbers, how slow a message and how quick the wire is, are fitted on every second size; the
simulator says the others.

NCCL picks an algorithm and a protocol for each size; so do we, the quickest of both rings and trees under three protocols. What a step and a launch
take, and by how much a protocol is slower than the wire, are NCCL's own constants (src/graph/tuning.cc, 2.18 and later); the first number multiplies
them all."""
import math
import os
import statistics

import fit
import simulate

TRACES = os.environ.get("PACED_FABRIC_TEST_DATA", os.path.join(os.path.dirname(simulate.REPOSITORY), "shared/data")) + "/traces/nccl-tests"
SHAPES = {  # file: nodes, GPUs of each; a rack whose GPUs are all on one NVLink switch is one node
    "aws-0.txt": (2, 8),
    "coreweave-h100-64gpu-allreduce.txt": (8, 8),
    "coreweave-gb200-nvl72-1rack-72gpu.txt": (1, 72),
    "coreweave-gb200-2racks-144gpu.txt": (2, 72),
    "cscs-gh200-8gpu-with-ofi-plugin.txt": (2, 4),
    "cscs-gh200-8gpu-wrong-network-path.txt": (2, 4),
    "pkb-2gpu-k80-ethernet.txt": (2, 1),
}
# algorithm: protocol: (launch, step within a node, step between nodes; us)
LATENCIES = {
    "tree": {"LL": (6.8, 0.6, 5.0), "LL128": (14.0, 1.25, 8.5), "Simple": (8.4, 4.0, 14.0)},
    "ring": {"LL": (6.6, 0.6, 2.7), "LL128": (14.0, 1.9, 4.0), "Simple": (8.4, 3.4, 14.0)},
}
# by how much a protocol is slower than the wire
VOLUME = {"tree": {"LL": 3.8, "LL128": 128 / 120, "Simple": 1 / 0.92}, "ring": {"LL": 4.0, "LL128": 128 / 120, "Simple": 1.0}}


def points_of(path):
    """[(bytes, us)], out of place."""
    points = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            fields = line.split()
            if len(fields) >= 9 and fields[0].isdigit() and fields[3] == "sum":
                points.append((int(fields[0]), float(fields[5])))
    return points


def seconds(shape, algorithm, protocol, size, slow, rate):
    """docs/simulator.md, closed forms; rate: bytes/s out of a node, or within it where there is one alone."""
    nodes, local = shape
    launch, inside, between = (slow * us * 1e-6 for us in LATENCIES[algorithm][protocol])
    ranks, carried = nodes * local, VOLUME[algorithm][protocol] * size
    if algorithm == "ring":
        edges = nodes if nodes > 1 else 0
        return launch + 2 * (ranks - 1) / ranks * (edges * between + (ranks - edges) * inside + carried / rate)
    depth = math.floor(math.log2(nodes))
    passes = 2 * (ranks - 1) / ranks if nodes == 1 else 1 if nodes == 2 else 2  # within a node the simulator knows the ring's transfers alone
    return launch + 2 * (depth * between + (local - 1) * inside) + passes * carried / rate


def quickest(shape, size, slow, rate):
    return min((seconds(shape, algorithm, protocol, size, slow, rate), algorithm, protocol) for algorithm in LATENCIES for protocol in LATENCIES[algorithm])


def fitted(shape, points):
    """(slow, rate) from these points."""
    def cost(point):
        slow, rate = map(math.exp, point)
        return sum(math.log(quickest(shape, size, slow, rate)[0] * 1e6 / us) ** 2 for size, us in points)

    size, us = points[-1]
    best = min((fit.simplex(cost, [math.log(slow), math.log(2 * size / us * 1e6)], 0.3) for slow in (0.5, 1, 2, 5)), key=lambda one: one[1])
    return tuple(map(math.exp, best[0]))


def scenario(shape, algorithm, protocol, size, slow, rate):
    nodes, local = shape
    launch, inside, between = (slow * us for us in LATENCIES[algorithm][protocol])
    internal = rate if nodes == 1 else 100 * rate
    return f"""schema = 1
name = "nccl-tests"
node_counts = [{nodes}]
seeds = 1
iterations = 10
warmup = 1
[fabric]
nodes = {nodes}
transport = "lossless"
[[fabric.level]]
name = "all"
below = {nodes}
latency = "0us"
[node]
gpus = {local}
ranks = {local}
nics = 1
nic_rate = "{rate * 8e-9:.9f}gbit"
nic_latency = "{between:.6f}us"
internal_rate = "{internal * 8e-9:.9f}gbit"
internal_latency = "{inside:.6f}us"
[[work.traffic]]
operation = "allreduce"
algorithm = "{algorithm}"
bytes = "{VOLUME[algorithm][protocol] * size:.0f}B"
[compute]
mean = "{launch:.6f}us"
sigma = 0
"""


def simulated_us(paced, shape, size, slow, rate):
    _, algorithm, protocol = quickest(shape, size, slow, rate)
    answer = simulate.simulate(paced, scenario(shape, algorithm, protocol, size, slow, rate), [shape[0]], 1, 10)
    return answer["rows"][0]["baseline"]["mean"] * 1e3, algorithm, protocol


def results(paced):
    """[{file, slow, rate, points: [(bytes, measured us, simulated us, algorithm, protocol)]}], held-out sizes alone."""
    found = []
    for name, shape in SHAPES.items():
        path = os.path.join(TRACES, name)
        if not os.path.exists(path):
            continue
        points = points_of(path)
        slow, rate = fitted(shape, points[::2])
        found.append({"file": name, "shape": shape, "slow": slow, "rate": rate,
                      "points": [(size, us, *simulated_us(paced, shape, size, slow, rate)) for size, us in points[1::2]]})
    return found


def errors(result):
    return [abs(said / us - 1) for _, us, said, *_ in result["points"]]


def summary(result):
    off = errors(result)
    return statistics.median(off), max(off), sum(error <= 0.25 for error in off), len(off)


if __name__ == "__main__":
    import sys
    for result in results(sys.argv[1]):
        print(result["file"], result["shape"], "slow %.2f rate %.1f GB/s" % (result["slow"], result["rate"] / 1e9), "median %.3f max %.2f within %d of %d" % summary(result))
        for point in result["points"]:
            print("   %d B  measured %.1f  simulated %.1f us  %s %s" % point)
