#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""frozen_test.py PACED: the models are those that docs/results/simulator.md was made with, and the arithmetic around them."""
import gzip
import os
import re
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import curves
import fit
import simulate
import testbed

PACED = sys.argv.pop(1) if len(sys.argv) > 1 else os.path.join(simulate.REPOSITORY, "build/release/bin/paced")
PAGE = os.path.join(simulate.REPOSITORY, "docs/results/simulator.md")


class Frozen(unittest.TestCase):
    def test_the_page_has_the_hash_of_every_model(self):
        with open(PAGE, encoding="utf-8") as file:
            page = file.read()
        said = dict(re.findall(r"^\| ([\w-]+) \|.*\| `(\w+)` \|$", page, re.MULTILINE))
        models = {name: (simulate.text_of(name), 4) for name in simulate.MODELS} | {name: (testbed.text_of(name), 8) for name in testbed.MODELS}
        self.assertEqual(list(said), list(models))
        for name, hash_ in said.items():
            text, nodes = models[name]
            answer = simulate.simulate(PACED, text, [nodes], 1, 10)
            self.assertEqual(answer["model"]["hash"], hash_, f"{name} is not what {PAGE} was made with: run tests/bench/calibration/run --page")

    def test_another_constant_is_another_model(self):
        text = simulate.text_of("paper")
        numbers = [number for _, number, _ in simulate.fitted(text)]
        hashes = {simulate.simulate(PACED, simulate.with_fitted(text, changed), [4], 1, 10)["model"]["hash"] for changed in (numbers, [1.01 * numbers[0]] + numbers[1:])}
        self.assertEqual(len(hashes), 2)


class Fitting(unittest.TestCase):
    def test_writing_what_is_there_changes_nothing(self):
        for name, text in [(name, simulate.text_of(name)) for name in simulate.MODELS] + [(name, testbed.text_of(name)) for name in testbed.MODELS]:
            numbers = [number for _, number, _ in simulate.fitted(text)]
            self.assertTrue(numbers, name)
            self.assertEqual(simulate.with_fitted(text, numbers), text, name)

    def test_levels_follow_the_leaves(self):
        text = 'buffer = "2MB"           # fitted\nsigma = 0.02   # fitted\nbuffer = "2MB"   # as the leaves\n'
        made = simulate.with_fitted(text, [3.5, 0.03])
        self.assertEqual([line.split(" #")[0].strip() for line in made.splitlines()], ['buffer = "3.5MB"', "sigma = 0.03", 'buffer = "3.5MB"'])

    def test_simplex_finds_the_bottom_of_a_valley(self):
        point, value = fit.simplex(lambda p: (p[0] - 1) ** 2 + 10 * (p[1] + 2) ** 2, [0.0, 0.0], 0.5)
        self.assertLess(value, 1e-3)
        self.assertAlmostEqual(point[0], 1, delta=0.05)
        self.assertAlmostEqual(point[1], -2, delta=0.05)

    def test_misfit(self):
        self.assertEqual(fit.misfit(fit.TARGETS), 0)
        self.assertGreater(fit.misfit({4: 0.02, 32: 0.15, 64: 0.11}), 0.4)


class Curves(unittest.TestCase):
    def test_the_fit_reckons_as_the_simulator_does(self):
        for shape in ((1, 8), (2, 4), (8, 8)):
            for size in (8, 1 << 20, 1 << 30):
                said, algorithm, protocol = curves.simulated_us(PACED, shape, size, 1.3, 50e9)
                self.assertAlmostEqual(said / (1e6 * curves.seconds(shape, algorithm, protocol, size, 1.3, 50e9)), 1, delta=0.02, msg=f"{shape} {size} {algorithm} {protocol}")

    def test_constants_are_found_again(self):
        points = [(1 << k, 1e6 * curves.quickest((2, 4), 1 << k, 2.0, 30e9)[0]) for k in range(3, 31)]
        slow, rate = curves.fitted((2, 4), points)
        self.assertAlmostEqual(slow, 2, delta=0.1)
        self.assertAlmostEqual(rate / 30e9, 1, delta=0.05)


class Testbed(unittest.TestCase):
    def test_signs_count_where_the_measurement_decides(self):
        def line(change, interval, simulated, fitted=False, arm="ours"):
            return {"cell": "c", "arm": arm, "fitted": fitted, "mean_ms": 100, "change": change, "interval": interval, "simulated_ms": 110, "simulated_change": simulated}

        self.assertEqual(testbed.summary([line(20, [10, 30], 15)])[1:], (1, 1))
        self.assertEqual(testbed.summary([line(20, [10, 30], -15)])[1:], (0, 1))
        self.assertEqual(testbed.summary([line(5, [-5, 15], -15)])[1:], (0, 0), "nothing is known of it")
        self.assertEqual(testbed.summary([line(0.3, [-0.5, 1.1], 0.4)])[1:], (1, 1), "no change, and none said")
        self.assertEqual(testbed.summary([line(0.3, [-0.5, 1.1], 4)])[1:], (0, 1))
        self.assertEqual(testbed.summary([line(20, [10, 30], 15, arm="off")])[1:], (0, 0))
        self.assertAlmostEqual(testbed.summary([line(20, [10, 30], 15), line(20, [10, 30], 15, fitted=True)])[0], 0.1)

    def test_a_cell_changes_what_its_command_changes(self):
        text = testbed.text_of("testbed-bbr")
        made = testbed.scenario("groups-64k-bbr-60k", text)
        self.assertIn('bytes = "64KiB"', made)
        self.assertNotIn("128KiB", made)
        self.assertEqual(testbed.scenario("groups-128k-reno-1m", text).count('buffer = "1MB"'), 2)
        for name in testbed.CELLS:
            self.assertTrue(testbed.simulated(PACED, name, testbed.text_of(testbed.CELLS[name][0]), "", 1, 20)["baseline"]["mean"] > 0, name)


class Timelines(unittest.TestCase):
    """ByteDance's released jobs: what each rank computed, replayed. A slow worker that was injected, and stages that are not even."""

    def replayed(self, name, ranks):
        source = os.path.join(os.environ.get("PACED_FABRIC_TEST_DATA", os.path.join(simulate.REPOSITORY, "../shared/data")), "traces/straggler", f"timeline-{name}.csv.gz")
        if not os.path.exists(source):
            self.skipTest(f"{source} is not there")
        with tempfile.TemporaryDirectory() as folder:
            with gzip.open(source) as packed, open(os.path.join(folder, "timeline.csv"), "wb") as plain:
                plain.write(packed.read())
            text = (f'schema = 1\n[fabric]\nnodes = {ranks}\n[node]\ngpus = 1\nranks = 1\nnics = 1\n[work]\nsamples = 1\n[[work.traffic]]\noperation = "allreduce"\nbytes = "1MB"\n'
                    f'[compute]\nreplay = "{folder}/timeline.csv"\n')
            return simulate.simulate(PACED, text, [ranks], 1, 400)["rows"][0]

    def test_a_slow_worker_is_named_and_left_alone(self):
        row = self.replayed("AR", 16)
        self.assertEqual([one["state"] for one in row["paced"]["classes"]], ["persistent straggler"])
        self.assertEqual(row["gain_percent"], 0)
        # half of an iteration is waiting for it, the same half each time
        self.assertAlmostEqual(row["baseline"]["shares"]["waiting"] / row["baseline"]["mean"], 0.5, delta=0.1)
        self.assertLess(row["baseline"]["cv"], 0.01)

    def test_uneven_stages_are_no_slow_worker(self):
        row = self.replayed("ST", 8)
        self.assertEqual([one["state"] for one in row["paced"]["classes"]], ["no gain"])
        self.assertEqual(row["gain_percent"], 0)


if __name__ == "__main__":
    unittest.main()
