# SPDX-License-Identifier: BSD-3-Clause
"""docs/results/pacing.md and its figure: everything in it comes from the parts, nothing is typed."""
import textwrap

import chart
import measure
import summary

INTRODUCTION = """\
8 nodes of `contrib/cluster` on two leaves, hosts at 200 Mbit/s, one uplink of 100 Mbit/s. Blocks of the arms take turns in
random order inside one step (the policy's method `comparison`); a pair is a round, one block of each arm, at least
{block} iterations a block with the first left out. "Change" is of throughput, the ratio of mean times, with its 95 % interval: Student's t on the pairs'
deviations, at least 3 steps with a seed each, until the interval is within +-{width:.0f} % or there are 200 pairs. CV is that of
iterations, within blocks and between them.

- **paper**: threshold and fixed delay; of three pairs of constants the best in a sweep, which the paper does not name.
- **barrier**: nobody enters a collective before all members have arrived.
- **ours**: the law of `policy/pacing`.
- **static**: of several fixed settings the best in the sweep, as one who knew the fabric would set it.

A rate stays: Linux goes on pacing a socket that once had one, which spreads its bursts and would make off another measurement. A static
setting that is a rate is therefore measured in steps of its own; its change is against off of the others, unpaired. Where `ours` has found a rate
(see below) the other arms of that step, off too, are those of paced sockets from then on.

Written by `tests/bench/pacing/run --page`, which keeps cells of earlier calls: the whole table takes some hours. Each names the
version that it was measured with. On {machine}."""


def cell_table(rows):
    lines = ["| cell | arm | setting | pairs | mean | CV | change | 95 % interval |", "|---|---|---|---|---|---|---|---|"]
    for row in rows:
        low, high = row["change_ci95"]
        change = "" if row["arm"] == "off" else f"{row['change_percent']:+.1f} %"
        interval = "" if row["arm"] == "off" else f"[{summary.figure(low, 1)}, {summary.figure(high, 1)}]"
        lines.append(f"| {row['cell'] if row['arm'] == 'off' else ''} | {row['arm']} | `{row['setting']}` | {row['pairs']} | {row['mean_ms']:.1f} ms "
                     f"| {row['cv']:.2f} | {change} | {interval} |")
    return lines


def text(results, figure):
    machine = "; ".join(dict.fromkeys(result["machine"] for result in results))
    lines = ["# What pacing is worth", "", *wrapped(INTRODUCTION.format(block=measure.BLOCK_ITERATIONS, width=measure.HALF_WIDTH, machine=machine)), "",
             f"![Changes of throughput with their intervals]({figure})", ""]
    lines += cell_table([row for result in results for row in result["rows"]])
    whole = [row for result in results for row in result["whole"]]
    if whole:
        lines += ["", "## Whole runs", "", *wrapped(f"With `--paced-fabric=off` and with `pace`, learning included, in pairs in random order; the workload's own figures. Iterations: "
                                                    + ", ".join(f"{row['cell']} {row['iterations']}" for row in whole if row["arm"] == "off")
                                                    + "".join(f". CPU time of {row['cell']}, {row['arm']}: {row['cpu_s']:.0f} s" for row in whole if row["cpu_s"]) + "."),
                  "", *cell_table(whole)]
    twins = [row for result in results for row in result["twin"]]
    if twins:
        lines += ["", "## The same with nothing shaped", "", *wrapped("Cells in which an arm gains, on links without a rate. What is won here is not the fabric's: two "
                                                                      "cores stand in for eight nodes, and a rank that waits frees one."), "", *cell_table(twins)]
    lines += ["", "## What the law did", "", "| cell | step | tried, and where it ended |", "|---|---|---|"]
    for result in results:
        lines += [f"| {result['cell']} | {index + 1} | {summary.tried(trials)} |" for index, trials in enumerate(result["law"])]
        if result.get("found"):
            lines.append(f"| {result['cell']} | comparisons | ours was {', '.join(result['found'])} |")
    lines += ["", "## Targets", "", "| cell | target | figure | |", "|---|---|---|---|"]
    lines += [f"| {cell} | {what} | {said} | {'met' if met else '**not met**'} |" for cell, what, said, met in summary.targets(results)]
    lines += ["", "## Commands", "", *wrapped("Each cell by itself: `tests/bench/pacing/run --cell NAME`. Its fabric, its step, and the highest load of the machine "
                                              "(1 minute) at which one of its steps began:"), ""]
    for result in results:
        lines.append(f"- **{result['cell']}**: {result['what']}. `{result['fabric']}`; `{result['command']}`; load {result['load']:.1f}; {result['date']}, {result['commit']}."
                     + ("" if result["finished"] else " Not finished."))
    return "\n".join(lines) + "\n"


def wrapped(paragraphs):
    lines = []
    for paragraph in paragraphs.split("\n\n"):
        items = paragraph.split("\n- ") if paragraph.startswith("- ") else [paragraph]
        for index, item in enumerate(items):
            if paragraph.startswith("- "):
                item = item if index == 0 else "- " + item
                lines += textwrap.wrap(" ".join(item.split()), 100, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
            else:
                lines += textwrap.wrap(" ".join(item.split()), 100, break_long_words=False, break_on_hyphens=False)
        lines.append("")
    return lines[:-1]


def write(file, results):
    figure = file.with_suffix(".svg")
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.write_text(chart.svg([(result["cell"], result["rows"]) for result in results]))
    file.write_text(text(results, figure.name))
