# SPDX-License-Identifier: BSD-3-Clause
"""The bench's arithmetic on made-up reports: a known effect, none, and reports that do not hold what is needed."""
import json
import math
import random
import re
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True

import cells
import measure
import page
import policy
import report
import summary
from change import change_percent, pooled, t_quantile, unpaired_change_percent
from measure import arms_of, best, narrow
from parts import Parts

SETTINGS = {"paper": "fixed-delay:1ms:5ms", "static": "admit:1"}
ARMS = tuple(arms_of(SETTINGS).values())


def made_up(effects, noise=0.0, rounds=60, seed=1, off_ms=100.0):
    """A report whose arm `a` has throughput 1 + effects[a] of off's, each block with its own noise and each round with a common one."""
    draw = random.Random(seed)
    blocks = []
    for number in range(1, rounds + 1):
        common = draw.gauss(0, noise)
        order = list(ARMS)
        draw.shuffle(order)
        for arm in order:
            mean = off_ms / (1 + effects.get(arm, 0)) * math.exp(common + draw.gauss(0, noise))
            blocks.append({"class": "c", "arm": arm, "round": number, "iterations": 8, "mean_ms": mean, "cv": .1, "valid": True})
    return {"blocks": blocks, "pacing": {"classes": [{"class": "c", "bytes": 131072}]}}


def change(content, arm):
    rounds = report.rounds(content, ARMS)
    return change_percent([r["off"][1] for r in rounds], [r[arm][1] for r in rounds])


class Change(unittest.TestCase):
    def test_known_effect_without_noise_is_exact(self):
        for percent in (25, 0, -10):
            self.assertTrue(all(math.isclose(value, percent, abs_tol=1e-9) for value in change(made_up({"ours": percent / 100}), "ours")))

    def test_interval_holds_the_truth_as_often_as_it_says(self):
        for truth in (0, 20):
            held = surely_more = 0
            for seed in range(400):
                value, low, high = change(made_up({"ours": truth / 100}, .2, 40, seed), "ours")
                self.assertLess(low, value)
                self.assertLess(value, high)
                held += low <= truth <= high
                surely_more += low > truth
            # 95 % of 400 are 380; 4 standard deviations of 4.4 on either side
            self.assertGreaterEqual(held, 362, truth)
            self.assertLessEqual(held, 398, truth)
            self.assertLessEqual(surely_more, 28, truth)  # 2.5 % are 10

    def test_common_noise_of_a_round_does_not_widen(self):
        quiet = change_percent([100, 200, 50, 80], [50, 100, 25, 40])
        self.assertTrue(all(math.isclose(value, 100) for value in quiet))

    def test_what_cannot_take_turns_is_compared_all_the_same(self):
        held = 0
        for seed in range(400):
            draw = random.Random(seed)
            off, arm = [draw.gauss(100, 30) for _ in range(45)], [draw.gauss(80, 8) for _ in range(30)]
            value, low, high = unpaired_change_percent(off, arm)
            self.assertLess(low, value)
            held += low <= 25 <= high
        # 95 % of 400 are 380; 4 standard deviations of 4.4 below, and all of them above: the freedom is that of the shorter list
        self.assertGreaterEqual(held, 362)
        self.assertLessEqual(held, 399)
        self.assertEqual(unpaired_change_percent([2, 2], [1]), (100, -100, math.inf))

    def test_no_pairs_are_refused(self):
        self.assertRaises(ValueError, change_percent, [1, 2], [1])
        self.assertRaises(ValueError, change_percent, [], [])
        self.assertEqual(change_percent([2], [1]), (100, -100, math.inf))

    def test_quantiles_of_student(self):
        for freedom, known in ((1, 12.706), (3, 3.182), (5, 2.571), (10, 2.228), (59, 2.001), (199, 1.972)):
            self.assertAlmostEqual(t_quantile(freedom), known, delta=2e-3 * known)

    def test_spread_within_and_between_blocks(self):
        self.assertEqual(pooled([(8, 10, 0), (8, 30, 0)]), (20, .5))
        self.assertEqual(pooled([(8, 10, .3), (8, 10, .3)])[0], 10)
        self.assertAlmostEqual(pooled([(8, 10, .3), (8, 10, .3)])[1], .3)


class Report(unittest.TestCase):
    def test_rounds_that_are_not_whole_do_not_count(self):
        content = made_up({}, rounds=5)
        content["blocks"][0]["valid"] = False  # round 1
        del content["blocks"][-1]              # round 5
        self.assertEqual(len(report.rounds(content, ARMS)), 3)

    def test_a_block_that_was_repeated_counts_once(self):
        content = made_up({}, rounds=1)
        void = dict(content["blocks"][0], valid=False, mean_ms=1e6)
        content["blocks"].insert(0, void)
        rounds = report.rounds(content, ARMS)
        self.assertEqual(len(rounds), 1)
        self.assertLess(rounds[0][void["arm"]][1], 1e6)

    def test_blocks_of_the_search_for_ours_are_no_round(self):
        content = made_up({}, rounds=2)
        content["blocks"] = [dict(content["blocks"][0], arm="slots:12ms", round=0), dict(content["blocks"][0], arm="off", round=0)] + content["blocks"]
        self.assertEqual(len(report.rounds(content, ARMS)), 2)

    def test_of_several_classes_the_one_with_most_bytes(self):
        content = made_up({}, rounds=2)
        content["blocks"] += [dict(block, **{"class": "loss", "mean_ms": 1.0}) for block in content["blocks"]]
        content["pacing"]["classes"].insert(0, {"class": "loss", "bytes": 8})
        content["arms"] = [{"class": "loss"}, {"class": "c"}]
        self.assertEqual(report.tried(content), [{"class": "c"}])
        self.assertTrue(all(block[1] > 50 for r in report.rounds(content, ARMS) for block in r.values()))

    def test_a_report_without_blocks_or_with_others_fails(self):
        for content in ({}, {"blocks": []}):
            self.assertRaisesRegex(report.Unusable, "no blocks", report.rounds, content, ARMS)
        content = made_up({}, rounds=1)
        content["blocks"][0]["arm"] = "admit:7"
        self.assertRaisesRegex(report.Unusable, "admit:7", report.rounds, content, ARMS)

    def test_what_the_workload_prints(self):
        said = report.workload("srun: queued\nmean=60.583 ms cv=0.7279 p50=50.825 p95=115.002 max=510.593\nthroughput=1 iterations/s\ncpu=3.250 s\nranks=8 iterations=1 checksum=0a\n")
        self.assertEqual(said, {"mean_ms": 60.583, "cv": .7279, "p50_ms": 50.825, "longest_ms": 510.593, "checksum": "0a", "cpu_s": 3.25})
        self.assertRaisesRegex(report.Unusable, "no times", report.workload, "Segmentation fault")


class Summary(unittest.TestCase):
    def measured(self, folder, effects, noise, cell=cells.CELLS[0]):
        parts = Parts(folder, "stamp")
        parts.make("sweep", lambda: SETTINGS)
        for index in range(3):
            rounds = report.rounds(made_up(effects, noise, 40, index), ARMS)
            parts.make(f"main-{index}", lambda: {"rounds": rounds, "arms": ARMS, "command": "srun bsp", "mean_ms": 100.0,
                                                       "tried": [{"setting": "off", "meaning": "without pacing"}, {"setting": "slots:13ms", "meaning": "ours: one after another"}]})
        return summary.of_cell(cell, parts)

    def test_a_gain_is_found_and_judged(self):
        with tempfile.TemporaryDirectory() as folder:
            result = self.measured(folder, {"ours": .25, "admit:1": .3, "barrier": -.1}, .1)
        ours = summary.arm(result["rows"], "ours")
        self.assertEqual(result["found"], ["slots:13ms"] * 3)
        self.assertEqual(summary.found([]), "not measured")
        self.assertEqual(ours["pairs"], 120)
        self.assertLess(abs(ours["change_percent"] - 25), 6)
        self.assertGreater(ours["change_ci95"][0], 15)
        self.assertLess(summary.arm(result["rows"], "barrier")["change_ci95"][1], 0)
        met = {what: good for _, what, _, good in summary.targets([result])}
        self.assertTrue(met["engaged blocks: +15 % or more"])
        self.assertFalse(met["off has a CV of .5 or more"])
        self.assertTrue(met["not behind barrier"])

    def test_no_effect_is_around_zero_and_harm_is_called_harm(self):
        with tempfile.TemporaryDirectory() as folder:
            nothing = self.measured(folder, {}, .02)
        low, high = summary.arm(nothing["rows"], "ours")["change_ci95"]
        self.assertLess(low, 0)
        self.assertGreater(high, 0)
        with tempfile.TemporaryDirectory() as folder:
            harm = self.measured(folder, {"ours": -.03}, .02)
        said = [good for _, what, _, good in summary.targets([harm]) if what.startswith("no harm")]
        self.assertEqual(said, [False])

    def test_outputs_hold_together(self):
        with tempfile.TemporaryDirectory() as folder:
            results = [self.measured(folder, {"ours": .1}, .1)]
            page.write(Path(folder) / "docs/pacing.md", results)
            written, figure = (Path(folder) / "docs/pacing.md").read_text(), (Path(folder) / "docs/pacing.svg").read_text()
        self.assertIn("](pacing.svg)", written)
        self.assertIn("Not finished.", written)
        self.assertTrue(figure.startswith("<svg ") and figure.endswith("</svg>\n"))
        kept = summary.as_json(results)
        rows = json.loads(kept)["cells"]
        self.assertEqual([row["arm"] for row in rows], list(summary.ARMS))
        for key in ("cell", "arm", "pairs", "mean_ms", "cv", "p50_ms", "p99_ms", "change_percent", "change_ci95"):
            self.assertIn(key, rows[0])
        self.assertIn("groups-128k-bbr-60k", summary.table(results))
        once = summary.as_json(summary.from_json(kept))  # targets are judged anew, by the figures as they are kept
        self.assertEqual(json.loads(once)["cells"], rows)
        self.assertEqual(summary.as_json(summary.from_json(once)), once)

    def test_cells_of_earlier_calls_are_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            first = self.measured(folder, {"ours": .1}, .1)
        with tempfile.TemporaryDirectory() as folder:
            other = self.measured(folder, {"ours": .2}, .1, cells.find("ddp"))
        with tempfile.TemporaryDirectory() as folder:
            again = self.measured(folder, {"ours": .3}, .1)
        both = summary.merged(summary.from_json(summary.as_json([first])), [other])
        self.assertEqual([result["cell"] for result in both], [first["cell"], "ddp"])
        self.assertEqual(summary.merged(both, [again]), [again, both[1]])
        gone = summary.as_json([first]).replace('"cell": "groups-128k-bbr-60k"', '"cell": "a cell that is no more"')
        self.assertEqual(summary.from_json(gone), [])

    def test_where_the_law_ended(self):
        engaged = [{"setting": "admit:2", "ended": "no gain", "gain_percent": None}, {"setting": "admit:1", "ended": "engaged", "engaged_at_iteration": 320, "gain_percent": 31.04}]
        self.assertEqual(summary.engaged_at(engaged), 320)
        self.assertIsNone(summary.engaged_at(engaged[:1]))
        replaced = [{"setting": "admit:2", "ended": "replaced", "engaged_at_iteration": 212}, *engaged]
        self.assertEqual(summary.engaged_at(replaced), 212)
        self.assertIsNone(summary.engaged_at(replaced[:2]))
        self.assertEqual(summary.tried(engaged), "admit:2: no gain; admit:1: engaged +31.0 %")
        with tempfile.TemporaryDirectory() as folder:
            result = self.measured(folder, {}, .02) | {"law": [engaged]}
        met = {what: good for _, what, _, good in summary.targets([result])}
        self.assertTrue(met["engages within 500 iterations"])
        self.assertFalse(met["nothing to gain: the law has stepped aside"])

    def test_nothing_measured_is_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertIsNone(summary.of_cell(cells.CELLS[0], Parts(folder, "stamp")))


class PartsAndPlans(unittest.TestCase):
    def test_a_part_is_measured_once_for_each_stamp(self):
        calls = []
        with tempfile.TemporaryDirectory() as folder:
            for stamp in ("a", "a", "b", "b"):
                Parts(folder, stamp).make("main-0", lambda: calls.append(stamp) or {"x": 1})
            self.assertEqual(calls, ["a", "b"])
            (Path(folder) / "main-0.json").write_text('{"half a fi')
            self.assertIsNone(Parts(folder, "b").load("main-0"))

    def test_a_measurement_that_fails_leaves_no_part(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertRaises(ZeroDivisionError, Parts(folder, "a").make, "law", lambda: 1 / 0)
            self.assertIsNone(Parts(folder, "a").load("law"))

    def test_best_and_narrow(self):
        rounds = report.rounds(made_up({"admit:1": .3}, rounds=5), ARMS)
        self.assertEqual(best(measure.blocks_of(rounds, ("barrier", "admit:1"))), "admit:1")
        self.assertTrue(narrow(rounds, ARMS))
        self.assertFalse(narrow(report.rounds(made_up({}, .3, 10), ARMS), ARMS))

    def test_more_rounds_as_the_interval_asks(self):
        wide, close = (report.rounds(made_up({}, noise, 48), ARMS) for noise in (.2, .06))
        # no longer than a step should be: 300 s of rounds of five blocks of nine iterations of about 100 ms
        self.assertTrue(55 <= measure.Cell.more(wide, ARMS, 200) <= 75)
        self.assertLess(4, measure.Cell.more(close, ARMS, 200))
        self.assertLess(measure.Cell.more(close, ARMS, 200), 40)
        self.assertEqual(measure.Cell.more(wide, ARMS, 50), 4)

    def test_cells_are_well_formed(self):
        names = [cell.name for cell in cells.CELLS]
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual(len([cell for cell in cells.CELLS if not cell.extra]), 12)
        self.assertEqual([cell.name for cell in cells.CELLS if cell.cliff], ["groups-128k-bbr-60k", "groups-128k-reno-16k"])
        for cell in cells.CELLS:
            arms = ("off", *cell.candidates, *cells.PAPER)
            self.assertEqual(len(arms), len(set(arms)))
            self.assertLessEqual(len(arms), cells.COMPARED_LIMIT, cell.name)
        self.assertIn("--uplink", cells.CELLS[0].fabric_arguments())
        self.assertEqual(policy.comparison(("off", "admit:1")), 'schema = 1\n\n[pacing]\nmethod = "comparison"\narms = "off,admit:1"\n')
        self.assertRaises(SystemExit, cells.find, "nothing")


class FakeCluster:
    """Steps that take no time: a report as the policy asks for, and the times of a workload. Under the method `comparison` every arm but
    off and the barrier is 20 % faster on a shaped fabric."""

    def __init__(self, blocks=True, right=True):
        self.steps, self.sites, self.fabric, self.site, self.blocks, self.right = [], [], None, None, blocks, right

    def up(self, fabric):
        self.fabric = fabric

    def policy(self, text):
        self.site = text

    def step(self, arguments, environment, limit_s):
        self.steps.append(arguments)
        self.sites.append(self.site)
        draw, shaped = random.Random(len(self.steps)), "--uplink" in self.fabric
        arms = re.search(r'arms = "(.*)"', self.site)
        content = {"arms": [], "warnings": [], "pacing": {"classes": [{"class": "c", "bytes": 1}]}}
        if arms and self.blocks:
            count = int(arguments[arguments.index("--iterations") + 1]) // (9 * len(arms[1].split(",")))
            content["blocks"] = [{"class": "c", "arm": arm, "round": number, "iterations": 8, "cv": .6, "valid": True,
                                  "mean_ms": (100 if arm in ("off", "barrier") or not shaped else 100 / 1.2) * draw.gauss(1, .02)}
                                 for number in range(1, count + 1) for arm in arms[1].split(",")]
        if "--paced-fabric=off" not in arguments:
            file = next(a for a in arguments if a.startswith("--paced-fabric-report=")).partition(",")[2]
            Path(file).write_text(json.dumps(content))
        mean = 100 if "--paced-fabric=off" in arguments else 85
        return f"mean={mean}.0 ms cv=0.5 p50=90.0 p95=200.0 max=300.0\ncpu={mean}.0 s\nranks=8 iterations=1 checksum={self.checksum(arguments)}\n", "a log"

    def checksum(self, arguments):
        return "0a" if self.right or "--paced-fabric=off" in arguments else "0b"


class Flow(unittest.TestCase):
    def measure(self, folder, cluster, cell, pairs=200):
        one = measure.Cell(cell, cluster, Parts(Path(folder) / cell.name, "stamp"), pairs, 3, True, lambda text: None)
        one.run()
        return one

    def test_a_cliff_cell_from_sweep_to_twin_and_nothing_twice(self):
        cell, cluster = cells.CELLS[0], FakeCluster()
        with tempfile.TemporaryDirectory() as folder:
            one = self.measure(folder, cluster, cell)
            self.assertEqual(one.seconds_left(), 0)
            names = sorted(file.stem for file in (Path(folder) / cell.name).glob("*.json"))
            # the best static setting is a rate here, which takes turns with nothing
            self.assertEqual(names, sorted(["sweep", "main-0", "main-1", "main-2", "main-done", "twin-0", "twin-1", "twin-2", "twin-done",
                                            *(f"{kind}-rate-{i}" for kind in ("main", "twin") for i in range(3)),
                                            *(f"whole-{i}-{arm}" for i in range(4) for arm in ("off", "ours"))]))
            steps = len(cluster.steps)
            self.measure(folder, cluster, cell)
            self.assertEqual(len(cluster.steps), steps)
            # what an interruption left out is made up for, and nothing else
            (Path(folder) / cell.name / "main-1.json").unlink()
            self.measure(folder, cluster, cell)
            self.assertEqual(len(cluster.steps), steps + 1)
            result = summary.of_cell(cell, Parts(Path(folder) / cell.name, "stamp"))
        self.assertTrue(result["finished"])
        self.assertLess(abs(summary.arm(result["rows"], "ours")["change_percent"] - 20), 2)
        self.assertLess(abs(summary.arm(result["twin"], "ours")["change_percent"]), 2)
        self.assertAlmostEqual(summary.arm(result["whole"], "ours")["change_percent"], 100 * (100 / 85 - 1))
        self.assertLess(abs(summary.arm(result["rows"], "static")["change_percent"] - 20), 2)
        seeds = [step[step.index("--seed") + 1] for step in cluster.steps[2:8]]
        self.assertEqual(seeds, ["1", "2", "3"] * 2)
        compared = [re.search('arms = "(.*)"', site)[1].split(",") for site in cluster.sites if "arms" in site]
        self.assertTrue(all(len({arm.startswith("rate:") for arm in arms}) == 1 for arms in compared), compared)
        self.assertEqual(sum(arms[0].startswith("rate:") for arms in compared), 1 + 3 + 3)

    def test_without_a_fabric_there_is_no_twin(self):
        with tempfile.TemporaryDirectory() as folder:
            self.measure(folder, FakeCluster(), cells.find("polling"))
            names = {file.stem for file in (Path(folder) / "polling").glob("*.json")}
            result = summary.of_cell(cells.find("polling"), Parts(Path(folder) / "polling", "stamp"))
        self.assertEqual({name for name in names if not name.startswith("whole")}, {"sweep", "main-0", "main-1", "main-2", "main-done"})
        said = [figure for _, what, figure, _ in summary.targets([result]) if "CPU" in what]
        self.assertEqual(len(said), 1)
        self.assertIn("15 % less", said[0])

    def test_without_whole_runs_the_law_is_watched(self):
        with tempfile.TemporaryDirectory() as folder:
            self.measure(folder, FakeCluster(), cells.find("ring-256k"))
            self.assertTrue((Path(folder) / "ring-256k/law.json").exists())
            self.assertEqual((Path(folder) / "ring-256k/law.log").read_text(), "a log")

    def test_other_results_with_us_are_no_measurement(self):
        cell = cells.CELLS[0]
        with tempfile.TemporaryDirectory() as folder:
            self.measure(folder, FakeCluster(right=False), cell)
            self.assertRaisesRegex(report.Unusable, "results of pair 0 differ: 0a without us, 0b with us", summary.of_cell, cell, Parts(Path(folder) / cell.name, "stamp"))

    def test_a_step_without_blocks_fails_and_leaves_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertRaises(report.Unusable, self.measure, folder, FakeCluster(blocks=False), cells.CELLS[0])
            self.assertEqual(list((Path(folder) / cells.CELLS[0].name).glob("*.json")), [])


if __name__ == "__main__":
    unittest.main()
