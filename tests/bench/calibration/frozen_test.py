#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""frozen_test.py PACED: the models are those that docs/results/simulator.md was made with, and the arithmetic around them."""
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import curves
import fit
import simulate

PACED = sys.argv.pop(1) if len(sys.argv) > 1 else os.path.join(simulate.REPOSITORY, "build/release/bin/paced")
PAGE = os.path.join(simulate.REPOSITORY, "docs/results/simulator.md")


class Frozen(unittest.TestCase):
    def test_the_page_has_the_hash_of_every_model(self):
        with open(PAGE, encoding="utf-8") as file:
            page = file.read()
        said = dict(re.findall(r"^\| ([\w-]+) \|.*\| `(\w+)` \|$", page, re.MULTILINE))
        self.assertEqual(list(said), list(simulate.MODELS))
        for name, hash_ in said.items():
            answer = simulate.simulate(PACED, simulate.text_of(name), [4], 1, 10)
            self.assertEqual(answer["model"]["hash"], hash_, f"{name} is not what {PAGE} was made with: run tests/bench/calibration/run --page")

    def test_another_constant_is_another_model(self):
        text = simulate.text_of("paper")
        numbers = [number for _, number, _ in simulate.fitted(text)]
        hashes = {simulate.simulate(PACED, simulate.with_fitted(text, changed), [4], 1, 10)["model"]["hash"] for changed in (numbers, [1.01 * numbers[0]] + numbers[1:])}
        self.assertEqual(len(hashes), 2)


class Fitting(unittest.TestCase):
    def test_writing_what_is_there_changes_nothing(self):
        for name in simulate.MODELS:
            text = simulate.text_of(name)
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


if __name__ == "__main__":
    unittest.main()
