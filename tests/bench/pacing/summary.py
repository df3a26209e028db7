# SPDX-License-Identifier: BSD-3-Clause
"""Finished parts to figures: a row for each arm of a cell, what the law did, and the targets that follow from both."""
import itertools
import json
import math
import statistics
import time

import cells
from change import change_percent, pooled, quantile
from measure import LEARN_ITERATIONS, WHOLE_PAIRS, arms_of, change_of, is_rate
from report import Unusable

ARMS = ("off", "paper", "barrier", "ours", "static")
CLIFF_CV = 0.5  # of off: from here on there must be something to gain
TWIN, WHOLE = "-unshaped", "-whole"  # of a cell's name in the rows


def rows_of(cell, parts, rate_parts, settings):
    """From comparison steps: one row for each arm."""
    rounds, rate_rounds = ([r for part in some for r in part["rounds"]] for some in (parts, rate_parts))
    rows = []
    for arm, setting in arms_of(settings).items():
        if is_rate(setting) and not rate_rounds:
            continue
        apart = is_rate(setting)
        blocks = [r[setting] for r in (rate_rounds if apart else rounds)]
        mean, cv = pooled(blocks)
        times = [block[1] for block in blocks]
        change, low, high = (0.0, 0.0, 0.0) if arm == "off" else change_of(setting, rounds, rate_rounds)
        seeds = zip(parts, rate_parts if apart else parts)
        rows.append({"cell": cell, "arm": arm, "setting": setting, "pairs": len(blocks), "mean_ms": mean, "cv": cv, "p50_ms": quantile(times, .5),
                     "p99_ms": quantile(times, .99), "change_percent": change, "change_ci95": [low, high],
                     "seeds": [0.0 if arm == "off" else change_of(setting, p["rounds"], q["rounds"])[0] for p, q in seeds]})
    return rows


def whole_rows(cell, pairs):
    """From whole runs: what the workload says of itself."""
    for index, pair in enumerate(pairs):
        if pair["off"]["checksum"] != pair["ours"]["checksum"]:
            raise Unusable(f"{cell}: the results of pair {index} differ: {pair['off']['checksum']} without us, {pair['ours']['checksum']} with us")
    rows = []
    off = [pair["off"]["mean_ms"] for pair in pairs]
    for arm in ("off", "ours"):
        runs = [pair[arm] for pair in pairs]
        change, low, high = (0.0, 0.0, 0.0) if arm == "off" else change_percent(off, [run["mean_ms"] for run in runs])
        cpu = [run["cpu_s"] for run in runs if run["cpu_s"] is not None]
        rows.append({"cell": f"{cell}{WHOLE}", "cpu_s": statistics.fmean(cpu) if cpu else None, "iterations": runs[0]["iterations"], "arm": arm, "setting": arm, "pairs": len(pairs), "mean_ms": statistics.fmean(run["mean_ms"] for run in runs),
                     "cv": statistics.fmean(run["cv"] for run in runs), "p50_ms": statistics.median(run["p50_ms"] for run in runs),
                     "p99_ms": statistics.median(run["longest_ms"] for run in runs), "change_percent": change, "change_ci95": [low, high]})
    return rows


def stored(parts, kind):
    return list(itertools.takewhile(lambda part: part is not None, (parts.load(f"{kind}-{i}") for i in itertools.count())))


def of_cell(cell, parts, machine=""):
    """All that is known of it, as it can be kept in a file; None where nothing of it is finished."""
    settings, main, twin = parts.load("sweep"), stored(parts, "main"), stored(parts, "twin")
    if not settings or not main:
        return None
    whole = [{arm: parts.load(f"whole-{i}-{arm}") for arm in ("off", "ours")} for i in range(WHOLE_PAIRS)]
    whole = [pair for pair in whole if all(pair.values())]
    law = [parts.load("law")] if parts.load("law") else [pair["ours"] for pair in whole]
    return {"cell": cell.name, "what": cell.what, "fabric": " ".join(cell.fabric_arguments()), "command": main[0]["command"],
            "rows": rows_of(cell.name, main, stored(parts, "main-rate"), settings),
            "twin": rows_of(f"{cell.name}{TWIN}", twin, stored(parts, "twin-rate"), settings) if twin else [],
            "whole": whole_rows(cell.name, whole) if whole else [], "law": [part["tried"] for part in law], "found": [found(part.get("tried", [])) for part in main],
            "finished": parts.load("main-done") is not None and (not cell.whole or len(whole) == WHOLE_PAIRS), "load": max(part["load"] for part in main),
            "commit": main[-1].get("commit", ""), "date": time.strftime("%Y-%m-%d", time.gmtime(main[-1]["started"])), "machine": machine}


def arm(rows, name):
    return next((row for row in rows if row["arm"] == name), None)


def engaged_at(trials):
    """The iteration from which on the law had an arm engaged to the end, or those that this one replaced; None: there is none."""
    if not any(trial["ended"] == "engaged" for trial in trials):
        return None
    return min(trial["engaged_at_iteration"] for trial in trials if trial["ended"] in ("engaged", "replaced"))


def found(trials):
    """What `ours` was in a comparison: the setting that the law had found by then."""
    return next((trial["setting"] for trial in trials if trial["meaning"].startswith("ours: ")), "not measured")


def tried(trials):
    """What one step's law did, a few words for each arm that it tried."""
    words = []
    for trial in trials:
        gain = "" if trial["gain_percent"] is None else f" {trial['gain_percent']:+.1f} %"
        words.append(f"{trial['setting']}: {trial['ended']}{gain}")
    return "; ".join(words) or "nothing tried"


def targets(results):
    """[(cell, what, the figure, whether it is met)]: those that the measured cells decide."""
    decided = []
    for result in results:
        cell, rows = cells.find(result["cell"]), result["rows"]
        off, ours, static = arm(rows, "off"), arm(rows, "ours"), arm(rows, "static")
        low, high = ours["change_ci95"]
        gain, gain_cv = ours["change_percent"], ours["cv"] / off["cv"] if off["cv"] else 0.0

        def say(what, figure, met):
            decided.append((cell.name, what, figure, met))

        if cell.cliff:
            say("off has a CV of .5 or more", f"{off['cv']:.2f}", off["cv"] >= CLIFF_CV)
            say("engaged blocks: +15 % or more", f"{gain:+.1f} %", gain >= 15)
            say("engaged blocks: CV at most .35 of off's", f"{gain_cv:.2f}", gain_cv <= .35)
            if result["whole"]:
                whole = arm(result["whole"], "ours")["change_percent"]
                say("whole runs, learning included: +10 % or more", f"{whole:+.1f} %", whole >= 10)
            when = [engaged_at(trials) for trials in result["law"]]
            if when:
                said = ", ".join("not" if at is None else f"{at}" for at in when)
                say(f"engages within {LEARN_ITERATIONS} iterations", said, all(at is not None and at <= LEARN_ITERATIONS for at in when))
        elif off["cv"] >= CLIFF_CV and static and static["change_ci95"][0] > 0:
            share = gain / static["change_percent"]
            say("60 % or more of the best static setting's gain", f"{100 * share:.0f} %", share >= .6)
        if cell.name == "polling":
            less = [100 * (1 - arm(result["whole"], "ours")["cpu_s"] / arm(result["whole"], "off")["cpu_s"])] if result["whole"] else []
            say("+15 % or more, or 20 % less CPU time at the same throughput", f"{gain:+.1f} %" + "".join(f", {value:.0f} % less" for value in less),
                gain >= 15 or (gain >= -1 and any(value >= 20 for value in less)))
        say("no harm: -1 % or more, and the interval not wholly under -.5 %", f"{gain:+.1f} % [{low:.1f}, {high:.1f}]", gain >= -1 and high >= -.5)
        if not any(row["change_ci95"][0] > 0 for row in rows) and result["law"]:
            held = [engaged_at(trials) for trials in result["law"]]
            say("nothing to gain: the law has stepped aside", tried(result["law"][0]), all(at is None for at in held))
        if any(row["change_ci95"][0] > 0 for row in rows):
            for rival in ("paper", "barrier"):
                # within the interval: the rival is not surely better
                other = arm(rows, rival)
                say(f"not behind {rival}", f"{gain:+.1f} against {other['change_percent']:+.1f} %", high >= other["change_percent"])
    return decided


def figure(value, digits):
    return f"{value:.{digits}f}" if abs(value) < 1e6 else "-"


def table(results):
    lines = [f"{'cell':<30} {'arm':<8} {'setting':<22} {'pairs':>5} {'mean':>10} {'CV':>5} {'change':>8} {'95 % interval':>17}"]
    for result in results:
        for row in (*result["rows"], *result["twin"], *result["whole"]):
            low, high = row["change_ci95"]
            lines.append(f"{row['cell']:<30} {row['arm']:<8} {row['setting']:<22} {row['pairs']:>5} {row['mean_ms']:>7.1f} ms {row['cv']:>5.2f} "
                         f"{row['change_percent']:>+6.1f} % {f'[{figure(low, 1)}, {figure(high, 1)}]':>17}")
        if not result["finished"]:
            lines.append(f"{result['cell']}: not finished")
    lines += [f"{'met' if met else 'NOT MET':<8} {cell}: {what}: {said}" for cell, what, said, met in targets(results)]
    return "\n".join(lines)


def as_json(results):
    """`cells` are the rows; `steps` what else there is to say of a cell. from_json makes results of both."""
    digits = {"mean_ms": 3, "cv": 4, "p50_ms": 3, "p99_ms": 3, "change_percent": 2}

    def rounded(row):
        return {key: round(value, digits[key]) if key in digits else value for key, value in row.items()} | {
            key: [round(value, 2) if math.isfinite(value) else None for value in row[key]] for key in ("change_ci95", "seeds") if key in row}

    return json.dumps({"machine": "; ".join(dict.fromkeys(result["machine"] for result in results)),
                       "cells": [rounded(row) for result in results for row in (*result["rows"], *result["twin"], *result["whole"])],
                       "steps": [{key: value for key, value in result.items() if key not in ("rows", "twin", "whole")} for result in results],
                       "targets": [dict(zip(("cell", "target", "figure", "met"), target)) for target in targets(results)]}, indent=1) + "\n"


def from_json(text):
    """What an earlier call has left; cells that are no more are left out."""
    kept = json.loads(text)

    def rows(name):
        found = [row for row in kept["cells"] if row["cell"] == name]
        for row in found:
            row["change_ci95"] = [end if end is not None else math.copysign(math.inf, side) for side, end in zip((-1, 1), row["change_ci95"])]
        return found

    names = {cell.name for cell in cells.CELLS}
    return [step | {"rows": rows(step["cell"]), "twin": rows(step["cell"] + TWIN), "whole": rows(step["cell"] + WHOLE)} for step in kept["steps"] if step["cell"] in names]


def merged(kept, measured):
    """In the order of the cells; what was measured now replaces what was kept."""
    found = {result["cell"]: result for result in (*kept, *measured)}
    return [found[cell.name] for cell in cells.CELLS if cell.name in found]
