# SPDX-License-Identifier: BSD-3-Clause
"""What is taken from a step: the report's blocks as complete rounds, and the workload's own figures."""
import re


class Unusable(ValueError):
    """A report or an output that does not hold what a measurement needs."""


def rounds(report, arms):
    """[{arm: (iterations, mean ms, CV)}] of the class with most bytes: one entry for each round in which every arm had a
    block that all ranks took part in from its first iteration on."""
    blocks = report.get("blocks")
    if not blocks:
        raise Unusable("the report has no blocks: the step was not under the method 'comparison', or was over before the first had ended")
    largest = max(block.get("bytes", 0) for block in blocks)
    of_class = next(block["class"] for block in blocks if block.get("bytes", 0) == largest)
    found = {}
    for block in blocks:
        if block["class"] != of_class or not block["valid"]:
            continue
        if block["arm"] not in arms:
            raise Unusable(f"a block of '{block['arm']}', which is none of {', '.join(arms)}")
        found.setdefault(block["round"], {}).setdefault(block["arm"], (block["iterations"], block["mean_ms"], block["cv"]))
    return [found[number] for number in sorted(found) if len(found[number]) == len(arms)]


def workload(output):
    """{mean_ms, cv, p50_ms, longest_ms, checksum, cpu_s} as bsp and ddp.py print them; the last two where they do."""
    times = re.search(r"^mean=([\d.]+) ms cv=([\d.]+) p50=([\d.]+) p95=[\d.]+ max=([\d.]+)", output, re.MULTILINE)
    if not times:
        raise Unusable(f"the workload has printed no times: '{output.strip()[-300:]}'")
    said = dict(zip(("mean_ms", "cv", "p50_ms", "longest_ms"), map(float, times.groups())))
    checksum, cpu = re.search(r"\bchecksum=(\w+)", output), re.search(r"^cpu=([\d.]+) s", output, re.MULTILINE)
    return said | {"checksum": checksum[1] if checksum else None, "cpu_s": float(cpu[1]) if cpu else None}
