# SPDX-License-Identifier: BSD-3-Clause
"""What pairs of measurements say: a change of throughput with its interval, and the spread of iterations out of blocks."""
import math
import statistics

SMALL = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776}


def t_quantile(freedom):
    """Of Student's t at 97.5 %; from 5 on by its expansion in 1 / freedom, good to three digits."""
    if freedom in SMALL:
        return SMALL[freedom]
    z = 1.959964
    return (z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
            + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3))


def change_percent(off, arm):
    """Throughput of `arm` against `off` in percent, 100 (mean(off) / mean(arm) - 1), with its 95 % interval.

    Both are times, equally long, and belong together in pairs. A ratio of means, not a mean of ratios: it is what a whole job
    would see. Its interval is Student's t on the pairs' deviations, to first order in their spread, symmetric for the
    logarithm. One pair has no interval: infinite."""
    if len(off) != len(arm) or not off:
        raise ValueError(f"{len(off)} and {len(arm)} times are no pairs")
    above, below, n = statistics.fmean(off), statistics.fmean(arm), len(off)
    ratio = above / below
    if n == 1:
        return 100 * (ratio - 1), -100.0, math.inf
    spread = statistics.stdev([a / above - b / below for a, b in zip(off, arm)])
    factor = math.exp(t_quantile(n - 1) * spread / math.sqrt(n))
    return 100 * (ratio - 1), 100 * (ratio / factor - 1), 100 * (ratio * factor - 1)


def unpaired_change_percent(off, arm):
    """The same where the times are not pairs, since the two cannot take turns in one step: each has its own spread, and Student's t has the
    freedom of the shorter one, which is on the safe side (Welch has more)."""
    above, below, fewer = statistics.fmean(off), statistics.fmean(arm), min(len(off), len(arm))
    ratio = above / below
    if fewer < 2:
        return 100 * (ratio - 1), -100.0, math.inf
    spread = math.sqrt(statistics.variance(off) / len(off) / above**2 + statistics.variance(arm) / len(arm) / below**2)
    factor = math.exp(t_quantile(fewer - 1) * spread)
    return 100 * (ratio - 1), 100 * (ratio / factor - 1), 100 * (ratio * factor - 1)


def pooled(blocks):
    """(mean, CV) of iterations, from blocks of (iterations, mean, CV): what is within blocks and what is between them."""
    count = sum(n for n, _, _ in blocks)
    mean = sum(n * m for n, m, _ in blocks) / count
    variance = sum(n * ((m * cv) ** 2 + (m - mean) ** 2) for n, m, cv in blocks) / count
    return mean, math.sqrt(variance) / mean


def quantile(values, share):
    """The smallest value that at least this share of all lies at or below."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, math.ceil(share * len(ordered)) - 1))]
