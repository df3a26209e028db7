# SPDX-License-Identifier: BSD-3-Clause
"""The cells of the pacing benchmark (docs/results/pacing.json) as the simulator predicts them, under the benchmark's own method: the same arms by turns.

Four constants are fitted, two for each congestion control, on the mean and CV of OFF in the cells of CALIBRATION; no arm of any cell, and nothing
of the other cells, is looked at. What another cell changes is what its command says: bytes, buffer, traffic."""
import json
import math
import os
import re
import statistics
import tempfile

import fit
import simulate

MEASURED = os.path.join(simulate.REPOSITORY, "docs/results/pacing.json")
MODELS = {name: os.path.join(simulate.HERE, "models", name + ".toml") for name in ("testbed-bbr", "testbed-reno")}
CALIBRATION = {"testbed-bbr": ("groups-128k-bbr-60k",), "testbed-reno": ("groups-128k-reno-16k",)}
ARMS = ("off", "paper", "barrier", "ours", "static")
SEEDS, ITERATIONS = 3, 20000
NO_CHANGE = 1.0  # per cent: a change below it has no sign

LOSS = '\n[[work.traffic]]\noperation = "allreduce"\nalgorithm = "tree"\nbytes = "8B"\n'
COMPUTE = '[compute]\nmean = "20ms"\nsigma = 0.03\n'


def traffic(grid, axis, operation, algorithm, size, more=""):
    return (f'[work]\n{grid}samples = 1\n\n[[work.traffic]]\n{axis}operation = "{operation}"\nalgorithm = "{algorithm}"\nbytes = "{size}"\n{more}{LOSS}\n')


def groups(size, number=4):
    return traffic(f'grid = "pair={number},dp=*"\n', 'axis = "dp"\n', "allreduce", "ring", size)


def all_ranks(size):
    return traffic("", "", "allreduce", "ring", size)


ALLTOALL = traffic("", "", "alltoall", "direct", "256KiB", "outstanding = 4\n")  # Open MPI's linear exchange has so many under way
# name: model, [work], [compute], buffer, and other replacements
CELLS = {
    "groups-128k-bbr-60k": ("testbed-bbr", groups("128KiB"), COMPUTE, "60kB"),
    "groups-128k-reno-16k": ("testbed-reno", groups("128KiB"), COMPUTE, "16kB"),
    "groups-128k-reno-60k": ("testbed-reno", groups("128KiB"), COMPUTE, "60kB"),
    "groups-128k-reno-1m": ("testbed-reno", groups("128KiB"), COMPUTE, "1MB"),
    "groups-64k-bbr-60k": ("testbed-bbr", groups("64KiB"), COMPUTE, "60kB"),
    "groups-256k-bbr-60k": ("testbed-bbr", groups("256KiB"), COMPUTE, "60kB"),
    "alltoall-256k-bbr-60k": ("testbed-bbr", ALLTOALL, COMPUTE, "60kB"),
    "alltoall-256k-reno-60k": ("testbed-reno", ALLTOALL, COMPUTE, "60kB"),
    "ring-256k": ("testbed-reno", all_ranks("256KiB"), COMPUTE.replace("20ms", "10ms"), "60kB"),
    # its rank 5 computes 20 ms longer: a replay of such times
    "straggler": ("testbed-reno", all_ranks("64KiB"), '[compute]\nreplay = "{replay}"\n', "60kB"),
    "ddp": ("testbed-bbr", groups("129KiB", 2), COMPUTE, "60kB"),
}


def text_of(model):
    with open(MODELS[model], encoding="utf-8") as file:
        return file.read()


def scenario(name, model_text, replay=""):
    _, work, compute, buffer = CELLS[name]
    text = re.sub(r"^buffer = .*$", f'buffer = "{buffer}"', model_text, flags=re.MULTILINE)
    start, end = text.index("[work]"), text.index("[pacing.control]")
    return text[:start] + work + compute.replace("{replay}", replay) + "\n" + text[end:]


def straggler_times(file, rows=512):
    """Seconds that each of 8 ranks computes, a line an iteration."""
    import random
    draws = random.Random(1)
    for _ in range(rows):
        file.write(",".join(f"{(0.02 * math.exp(0.03 * draws.gauss(0, 1))) + (0.02 if rank == 5 else 0):.6f}" for rank in range(8)) + "\n")


def simulated(paced, name, model_text, law, seeds=SEEDS, iterations=ITERATIONS):
    """The row for 8 nodes."""
    with tempfile.TemporaryDirectory() as folder:
        replay = os.path.join(folder, "times.csv")
        with open(replay, "w", encoding="utf-8") as file:
            straggler_times(file)
        text = scenario(name, model_text, replay) + law
        return simulate.simulate(paced, text, [8], seeds, iterations)["rows"][0]


def predicted(paced, name, model_text, settings):
    """{arm: (mean ms, CV)} under the benchmark's method, pooled over seeds; `ours` is the setting that the law found there."""
    arms = ",".join(dict.fromkeys("ours" if arm == "ours" else settings[arm] for arm in ARMS))
    row = simulated(paced, name, model_text, f'\n[pacing.law]\nmethod = "comparison"\narms = "{arms}"\n')
    trials = max(row["paced"]["classes"], key=lambda one: one["bytes"])["trials"]
    found = {}
    for arm in ARMS:
        mine = [trial for trial in trials if trial["mean_ms"] and (trial["ours"] if arm == "ours" else trial["setting"] == settings[arm] and not trial["ours"])]
        if mine:
            found[arm] = (mine[0]["mean_ms"], mine[0]["cv"], mine[0]["setting"])
    return found


def measured():
    """{cell: {arm: row}} of the cells that are measured."""
    with open(MEASURED, encoding="utf-8") as opened:
        rows = json.load(opened)["cells"]
    cells = {}
    for row in rows:
        cells.setdefault(row["cell"], {})[row["arm"]] = row
    return cells


def misfit(paced, model, model_text, cells):
    """Squared logarithms of OFF's mean and CV, simulated over measured, over the model's cells."""
    cost = 0
    for name in CALIBRATION[model]:
        row = simulated(paced, name, model_text, "", seeds=4, iterations=600)["baseline"]
        off = cells[name]["off"]
        cost += math.log(row["mean"] / off["mean_ms"]) ** 2 + math.log(max(row["cv"], 1e-3) / off["cv"]) ** 2
    return cost


def fitted(paced, model, told=print):
    """The model's text with its constants fitted."""
    cells, text = measured(), text_of(model)

    def cost(point):
        return misfit(paced, model, simulate.with_fitted(text, map(math.exp, point)), cells)

    point, value = fit.simplex(cost, [math.log(number) for _, number, _ in simulate.fitted(text)], 0.15)
    made = simulate.with_fitted(text, map(math.exp, point))
    told(f"misfit {value:.4f}: " + ", ".join(f"{key} {number:g}{unit}" for key, number, unit in simulate.fitted(made)))
    return made


def constants(paced):
    """{model: (its fitted constants, its hash)}"""
    return {name: (simulate.fitted(text_of(name)), simulate.simulate(paced, text_of(name), [8], 1, 10)["model"]["hash"]) for name in MODELS}


def sign(percent):
    return 0 if abs(percent) < NO_CHANGE else math.copysign(1, percent)


def compare(paced, cells):
    """[(cell, arm, measured ms, CV, change, interval, predicted ms, CV, change, setting)] and, for each cell, whether it was fitted on."""
    lines = []
    for name, (model, *_) in CELLS.items():
        if name not in cells:
            continue
        settings = {arm: row["setting"] for arm, row in cells[name].items()}
        found = predicted(paced, name, text_of(model), settings)
        for arm in ARMS:
            if arm in found and arm in cells[name]:
                said, mean = cells[name][arm], found[arm][0]
                lines.append({"cell": name, "arm": arm, "fitted": name in CALIBRATION[model], "mean_ms": said["mean_ms"], "cv": said["cv"], "change": said["change_percent"],
                              "interval": said["change_ci95"], "simulated_ms": mean, "simulated_cv": found[arm][1], "simulated_change": 100 * (found["off"][0] / mean - 1),
                              "simulated_setting": found[arm][2]})
    return lines


def summary(lines):
    """Median error of the mean iteration in cells that were not fitted on; (signs right, signs decided)."""
    held = [line for line in lines if not line["fitted"]]
    error = statistics.median(abs(line["simulated_ms"] / line["mean_ms"] - 1) for line in held) if held else math.nan
    # a sign is decided where the measured interval leaves no doubt: a change of one sign, or none worth speaking of
    decided = [line for line in lines if line["arm"] != "off" and (line["interval"][0] > 0 or line["interval"][1] < 0 or max(map(abs, line["interval"])) < 2 * NO_CHANGE)]
    right = [line for line in decided if sign(line["simulated_change"]) == sign(line["change"])]
    return error, len(right), len(decided)
