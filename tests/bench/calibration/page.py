# SPDX-License-Identifier: BSD-3-Clause
"""docs/results/simulator.md: every figure comes from the answers, none is typed but the paper's own."""
import textwrap

import curves
import fit
import testbed

# Table 1 of arXiv 2603.04424v1, as far as it could be found: change of throughput, CV of its baseline, CV coordinated.
PAPER = {4: (-0.6, 0.02, 0.02), 32: (7.8, 0.15, 0.07), 64: (11.0, 0.22, 0.09)}
WHAT = {
    "paper": "ports that many send to at once overflow (`etc/scenarios/paper.toml`)",
    "fabric-events": "something in the fabric stops a collective now and then, the more nodes the oftener",
    "hiccups": "likewise, but often and for 40 ms",
    "theft": "as fabric-events, and a waiting rank takes half of the device from its own compute",
    "incast-200ms": "as the first, with a time-out of 200 ms and a likelihood of loss that was fitted too",
    "node-events": "rare events in the nodes",
}
INTRODUCTION = """\
Simulation only, made by `tests/bench/calibration/run --page docs/results/simulator.md`: models of the paper's cluster (arXiv 2603.04424v1), none
of which it tells. Each was fitted on the CV of the paper's *baseline* at 4, 32 and 64 nodes (`--fit`) and nothing else, then frozen: a test compares the
hashes below with the files. The last two cannot fit it whatever their constants are; the others fit it alike, so three numbers
do not tell what makes a cluster's iterations scatter."""
CASES = ("baseline", "recipe", "barrier", "alone", "paced", "oracle")


def wrapped(text):
    return textwrap.wrap(" ".join(text.split()), 100, break_on_hyphens=False, break_long_words=False)


def percent(case):
    low, high = case["gain_ci95"]
    return f"{case['gain_percent']:+.1f} % [{low:.1f}, {high:.1f}]"


def rows_of(answer):
    return {row["nodes"]: row for row in answer["rows"]}


def fitting(answers, constants):
    lines = ["## What was fitted", "", "| model | what makes iterations scatter | fitted | CV at 4, 32, 64 | misfit | hash |", "|---|---|---|---|---|---|"]
    for name, answer in answers.items():
        found = {nodes: row["baseline"]["cv"] for nodes, row in rows_of(answer).items() if nodes in fit.TARGETS}
        said = ", ".join(f"{key} {number:g}{' ' + unit if unit else ''}" for key, number, unit in constants[name])
        cvs = ", ".join(f"{cv:.3f}".lstrip("0") for cv in found.values())
        lines.append(f"| {name} | {WHAT[name]} | {said} | {cvs} | {fit.misfit(found):.3f} | `{answer['model']['hash']}` |")
    target = ", ".join(f"{cv:.2f}".lstrip("0") for cv in fit.TARGETS.values())
    return lines + [f"| the paper | | | {target} | | |", "", *wrapped("misfit: the sum over the three sizes of the squared logarithm of CV over target.")]


def recipe(answers):
    lines = ["## The paper's recipe, out of sample", "",
             *wrapped("Who was early by more than a threshold is delayed by a constant; the paper tells neither, ours are 2 % and 1 % of an iteration. Change of "
                      "throughput, and CV; in brackets the paper's own."), "",
             "| model | " + " | ".join(f"{nodes} nodes" for nodes in PAPER) + " |", "|---|" + "---|" * len(PAPER)]
    for name, answer in answers.items():
        rows = rows_of(answer)
        lines.append(f"| {name} | " + " | ".join(f"{rows[n]['recipe']['gain_percent']:+.1f} % ({PAPER[n][0]:+.1f}), {rows[n]['recipe']['cv']:.2f} ({PAPER[n][2]:.2f})" for n in PAPER) + " |")
    return lines


def all_cases(answers):
    lines = ["## All cases", "",
             *wrapped("Change of throughput over the baseline with its 95 % interval over seeds, learning included, and CV. alone: our pacing in the submitted order; "
                      "paced: with our rank order. oracle: knows all arrivals, and lets who would overload a port wait; it is no bound, since who waits can be "
                      "the last.")]
    for name, answer in answers.items():
        lines += ["", f"### {name}", "", "| nodes | CV | " + " | ".join(CASES[1:]) + " |", "|---|---|" + "---|" * (len(CASES) - 1)]
        for nodes, row in rows_of(answer).items():
            cells = [f"{percent(row[case])}, {row[case]['cv']:.2f}" for case in CASES[1:]]
            lines.append(f"| {nodes} | {row['baseline']['cv']:.3f} | " + " | ".join(cells) + " |")
    return lines


def residuals(answers):
    lines = ["## What fits the coordinated columns", "",
             *wrapped("The paper's own figures at 32 and 64 nodes beside what each model says of the recipe and of ours (paced); differences in points of throughput, and of CV.")]
    lines += ["", "| model | recipe, 32 | recipe, 64 | ours, 32 | ours, 64 |", "|---|---|---|---|---|"]
    for name, answer in answers.items():
        rows = rows_of(answer)
        cells = [f"{rows[n][case]['gain_percent'] - PAPER[n][0]:+.1f}, {rows[n][case]['cv'] - PAPER[n][2]:+.2f}" for case in ("recipe", "paced") for n in (32, 64)]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def curves_table(found):
    lines = ["## Against published curves of nccl-tests", "",
             *wrapped("all_reduce_perf as others have published it. How slow a message and how quick the wire is were fitted on every second size; what `paced simulate` says of the "
                      "others. slow: NCCL's own constants for a step and a launch, times this."), "",
             "| curve | nodes x GPUs | slow | wire | held-out sizes | median error | largest | within 25 % |", "|---|---|---|---|---|---|---|---|"]
    for result in found:
        median, most, within, count = curves.summary(result)
        nodes, local = result["shape"]
        lines.append(f"| {result['file'].removesuffix('.txt')} | {nodes} x {local} | {result['slow']:.2f} | {result['rate'] / 1e9:.1f} GB/s | {count} | {100 * median:.0f} % | {100 * most:.0f} % | {within} |")
    return lines


def testbed_table(compared, constants):
    error, right, decided = testbed.summary(compared)
    cells = {line["cell"]: line["fitted"] for line in compared}
    lines = ["## Against the pacing benchmark", "",
             *wrapped("The cells of [pacing.md](pacing.md) that the simulator has words for, under the benchmark's own method: the same settings by turns, ours being what the law "
                      f"finds in the simulation. Two constants for each congestion control were fitted on OFF alone, its mean and CV ({sum(cells.values())} of {len(cells)}, marked *); bytes, buffers and traffic "
                      "of the others follow from their commands. Mean iteration in ms, CV, and the change of throughput against OFF; measured, then simulated."), "",
             "| model | fitted | hash |", "|---|---|---|"]
    for name, (said, hash_) in constants.items():
        lines.append(f"| {name} | {', '.join(f'{key} {number:g}{unit}' for key, number, unit in said)} | `{hash_}` |")
    lines += ["", "| cell | arm | measured | change | simulated | change |", "|---|---|---|---|---|---|"]
    for line in compared:
        low, high = line["interval"]
        change = "" if line["arm"] == "off" else f"{line['change']:+.1f} % [{low:.1f}, {high:.1f}]"
        said = "" if line["arm"] == "off" else f"{line['simulated_change']:+.1f} %"
        arm = line["arm"] if line["arm"] != "ours" else f"ours, there {line['simulated_setting']}"
        lines.append(f"| {line['cell']}{'*' if line['fitted'] else ''} | {arm} | {line['mean_ms']:.0f} ({line['cv']:.2f}) | {change} | {line['simulated_ms']:.0f} ({line['simulated_cv']:.2f}) | {said} |")
    held = "" if all(cells.values()) else f"In the cells that nothing was fitted on the median error of the mean iteration is {100 * error:.0f} %. "
    return lines + ["", *wrapped(f"{held}Where the measurement decides it (an interval that leaves out 0, or lies within "
                                 f"2 %), the sign of the change is right in {right} of {decided}; a change below {testbed.NO_CHANGE:g} % counts as none.")]


def text(answers, constants, found, compared, testbed_constants, remarks):
    lines = ["# What the simulator says, and how far to believe it", "", *wrapped(INTRODUCTION), ""]
    lines += fitting(answers, constants) + [""] + recipe(answers) + [""] + residuals(answers) + [""] + all_cases(answers)
    if found:
        lines += [""] + curves_table(found)
    lines += [""] + testbed_table(compared, testbed_constants)
    lines += [""] + remarks
    return "\n".join(lines) + "\n"
