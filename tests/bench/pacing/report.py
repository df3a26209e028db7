# SPDX-License-Identifier: BSD-3-Clause
"""What is taken from a step: the report's blocks as complete rounds, and the workload's own figures."""
import re


class Unusable(ValueError):
    """A report or an output that does not hold what a measurement needs."""


def main_class(report):
    """The label of the class that moves most bytes a call: the other is the loss at the end of an iteration. None: there is no class."""
    classes = (report.get("pacing") or {}).get("classes") or []
    return max(classes, key=lambda one: one["bytes"])["class"] if classes else None


def tried(report):
    """What the law did with that class: its entries of `arms`."""
    return [trial for trial in report.get("arms", []) if trial["class"] == main_class(report)]


def rounds(report, arms):
    """[{arm: (iterations, mean ms, CV)}] of that class: one entry for each round in which every arm had a block that all ranks took
    part in from its first iteration on."""
    blocks = report.get("blocks")
    if not blocks:
        raise Unusable("the report has no blocks: the step was not under the method 'comparison', or was over before the first had ended")
    found, label = {}, main_class(report)
    for block in blocks:
        if block["class"] != label or not block["valid"] or block["round"] == 0:  # 0: the law is still looking for `ours`
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
