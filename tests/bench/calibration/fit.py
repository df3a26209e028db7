# SPDX-License-Identifier: BSD-3-Clause
"""A model's free constants from the baseline alone: the sum of squared logarithms of CV over target, by the simplex of Nelder and Mead
(1965, Computer Journal 7) over the constants' logarithms."""
import math

import simulate

TARGETS = {4: 0.02, 32: 0.15, 64: 0.22}  # CV of the paper's baseline
SEEDS, ITERATIONS = 3, 500
ROUNDS, CLOSE = 40, 1e-4


def cvs(paced, text):
    rows = simulate.simulate(paced, text, TARGETS, SEEDS, ITERATIONS)["rows"]
    return {row["nodes"]: row["baseline"]["cv"] for row in rows}


def misfit(found):
    return sum(math.log(found[nodes] / target) ** 2 for nodes, target in TARGETS.items())


def simplex(cost, start, step):
    points = [list(start)] + [[x + (step if i == j else 0) for j, x in enumerate(start)] for i in range(len(start))]
    values = [cost(point) for point in points]
    for _ in range(ROUNDS):
        order = sorted(range(len(points)), key=values.__getitem__)
        points, values = [points[i] for i in order], [values[i] for i in order]
        if values[-1] - values[0] < CLOSE:
            break
        centre = [sum(point[j] for point in points[:-1]) / (len(points) - 1) for j in range(len(start))]

        def along(times):
            return [c + times * (c - w) for c, w in zip(centre, points[-1])]

        reflected = along(1)
        value = cost(reflected)
        if value < values[0]:
            further = along(2)
            other = cost(further)
            points[-1], values[-1] = (further, other) if other < value else (reflected, value)
        elif value < values[-2]:
            points[-1], values[-1] = reflected, value
        else:
            inside = along(-0.5)
            other = cost(inside)
            if other < values[-1]:
                points[-1], values[-1] = inside, other
            else:
                points[1:] = [[(x + best) / 2 for x, best in zip(point, points[0])] for point in points[1:]]
                values[1:] = [cost(point) for point in points[1:]]
    best = min(range(len(points)), key=values.__getitem__)
    return points[best], values[best]


def fit(paced, text, told=print):
    """The text with its constants fitted."""
    def cost(point):
        return misfit(cvs(paced, simulate.with_fitted(text, map(math.exp, point))))

    start = [math.log(number) for _, number, _ in simulate.fitted(text)]
    point, value = simplex(cost, start, 0.15)
    made = simulate.with_fitted(text, map(math.exp, point))
    told(f"misfit {value:.4f}: " + ", ".join(f"{key} {number:g}{unit}" for key, number, unit in simulate.fitted(made)))
    return made
