# SPDX-License-Identifier: BSD-3-Clause
"""Steps (the lines of `pairs`, on standard input) to a table, and to JSON."""
import argparse
import json
import math
import statistics
import sys


def t_quantile(freedom):
    """Of Student's t at 97.5 %, by its expansion in 1 / freedom; good to three digits from 5 on."""
    z = 1.959964
    return (z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
            + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3))


def ratio_of_means(above, below):
    """With its 95 % interval: pairs, first order in their spread, symmetric for the logarithm."""
    a, b, n = statistics.fmean(above), statistics.fmean(below), len(above)
    spread = statistics.stdev([x / a - y / b for x, y in zip(above, below)]) if n > 1 else math.inf
    factor = math.exp(t_quantile(max(n - 1, 1)) * spread / math.sqrt(n))
    return a / b, a / b / factor, a / b * factor


arguments = argparse.ArgumentParser()
arguments.add_argument("--machine", default="")
arguments.add_argument("--json")
options = arguments.parse_args()

steps = {}  # cell -> arm -> pair -> fields
for line in sys.stdin:
    cell, pair, arm, mean, cv, p50, longest, crossings, applied = line.split()
    steps.setdefault(cell, {}).setdefault(arm, {})[pair] = (float(mean), float(cv), float(p50), float(longest), int(crossings), applied == "True")

print(f"{'cell':<15} {'pairs':>5} {'as submitted':>19} {'order=ring':>19} {'times as fast':>13} {'95 % interval':>15} {'crossings':>10} {'re-ordered':>10}")
cells = []
for cell, arms in steps.items():
    submitted, ring = arms["submitted"], arms["ring"]
    pairs = [p for p in submitted if p in ring]
    if not pairs:
        continue
    columns = {arm: list(zip(*(arms[arm][p] for p in pairs))) for arm in ("submitted", "ring")}
    ratio, low, high = ratio_of_means(columns["submitted"][0], columns["ring"][0])
    text = {arm: f"{statistics.fmean(c[0]):9.1f} ms ({statistics.median(c[1]):.2f})" for arm, c in columns.items()}
    crossings = {arm: "/".join(map(str, sorted(set(c[4])))) for arm, c in columns.items()}
    reordered = sum(columns["ring"][5])
    print(f"{cell:<15} {len(pairs):>5} {text['submitted']:>19} {text['ring']:>19} {ratio:>13.2f} {f'[{low:.2f}, {high:.2f}]':>15} "
          f"{crossings['submitted'] + ' -> ' + crossings['ring']:>10} {f'{reordered} of {len(pairs)}':>10}")
    for arm, c in columns.items():
        change = (0.0, 0.0, 0.0) if arm == "submitted" else tuple(100 * (1 / r - 1) for r in (ratio, high, low))
        cells.append({"cell": cell, "arm": arm, "pairs": len(pairs), "mean_ms": round(statistics.fmean(c[0]), 2), "cv": round(statistics.median(c[1]), 3),
                      "p50_ms": round(statistics.median(c[2]), 2), "p99_ms": round(statistics.median(c[3]), 2), "change_percent": round(change[0], 1),
                      "change_ci95": [round(change[1], 1), round(change[2], 1)], "crossings": sorted(set(c[4])), "reordered": sum(c[5])})
        if arm == "ring":
            cells[-1] |= {"times_as_fast": round(ratio, 3), "times_as_fast_ci95": [round(low, 3), round(high, 3)]}
if options.json:
    with open(options.json, "w") as out:
        json.dump({"machine": options.machine, "cells": cells}, out, indent=1)
        out.write("\n")
