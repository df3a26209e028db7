# SPDX-License-Identifier: BSD-3-Clause
"""One cell's measurement, part by part:

    sweep         all candidates and off by turns in one step, rates in one of their own: the best static setting, the best constants of the
                  paper's recipe
    main-N        off, paper, barrier, ours, static by turns in one step, another seed each, until the intervals are narrow; before
                  the first round the law looks for the setting of `ours`, in at most 500 iterations, and then beside it in at most 500 more
    main-rate-N   where the best static setting is a rate: as many rounds of it, in steps of its own; Linux goes on pacing a socket that
                  once had one, and what took turns with it would be that of paced sockets
    whole-N-ARM   cells for which that is asked: whole runs without and with us, learning included, in random order
    law           the others: a step under the policy as shipped, for what the law tries and where it ends
    twin-N        cells in which an arm gains: as main, with nothing shaped: what of the gain is not the fabric's"""
import dataclasses
import itertools
import json
import math
import random
import statistics

import policy
import report
from cells import BARRIER, PAPER
from change import change_percent, unpaired_change_percent
from cluster import REPOSITORY, Failed

SWEEP_ROUNDS = 8
FIRST_ROUNDS = 16  # of each of the first steps, one a seed; how many more are needed follows from them
PART_SECONDS = 300
LEARN_ITERATIONS = 500  # what `ours` may take to engage (learn_iterations of policy/pacing/tuning.h)
FIRST_ROUND = 2 * LEARN_ITERATIONS  # and, engaged, to look for a better setting: the latest iteration at which rounds begin
LAW_SECONDS = 90
TWIN_PAIRS = 60
WHOLE_PAIRS = 4
HALF_WIDTH = 2.0  # per cent of throughput
START_SECONDS = 4  # of a step, and its end
BLOCK_ITERATIONS, BLOCK_SECONDS = 9, 0.25  # with washout; a decision takes two beats of the exchange to get there


def block_seconds(iteration_ms):
    return max(BLOCK_SECONDS, BLOCK_ITERATIONS * iteration_ms / 1000)


def arms_of(settings):
    """Setting by name of the arm, in the order of tables. One setting may stand for two arms; it is then measured once."""
    return {"off": "off", "paper": settings["paper"], "barrier": BARRIER, "ours": "ours", "static": settings["static"]}


def is_rate(setting):
    return setting.startswith("rate:")


def together(settings):
    """The settings that take turns in one step."""
    return tuple(setting for setting in dict.fromkeys(arms_of(settings).values()) if not is_rate(setting))


def best(blocks):
    """Of {setting: [ms]} the setting with the shortest mean block."""
    return min(blocks, key=lambda setting: statistics.fmean(blocks[setting]))


def blocks_of(rounds, settings):
    return {setting: [r[setting][1] for r in rounds] for setting in settings}


def change_of(setting, rounds, rate_rounds):
    """Against off; a rate's rounds are in steps of its own."""
    off = [r["off"][1] for r in rounds]
    if is_rate(setting):
        return unpaired_change_percent(off, [r[setting][1] for r in rate_rounds])
    return change_percent(off, [r[setting][1] for r in rounds])


def widest(rounds, arms):
    """Half of the widest interval of any arm, in per cent of throughput."""
    halves = [0.0]
    for arm in arms:
        if arm != "off":
            _, low, high = change_percent([r["off"][1] for r in rounds], [r[arm][1] for r in rounds])
            halves.append((high - low) / 2)
    return max(halves)


def narrow(rounds, arms):
    return widest(rounds, arms) <= HALF_WIDTH


class Cell:
    def __init__(self, cell, cluster, parts, pairs, seeds, whole, say):
        self.cell, self.cluster, self.parts, self.pairs, self.seeds, self.whole_too, self.say = cell, cluster, parts, pairs, seeds, whole, say

    def run(self):
        settings = self.sweep()
        rounds, rate_rounds = self.compare("main", self.cell, settings, self.pairs)
        if not self.cell.whole:
            self.law()
        elif self.whole_too:
            self.whole()
        if self.cell.fabric and any(change_of(setting, rounds, rate_rounds)[1] > 0 for setting in arms_of(settings).values() if setting != "off"):
            self.compare("twin", dataclasses.replace(self.cell, host_rate="", uplink=""), settings, min(self.pairs, TWIN_PAIRS))

    # At most, in seconds; what is done already counts nothing.
    def seconds_left(self):
        length, block = self.cell.iteration_ms / 1000, block_seconds(self.cell.iteration_ms)
        left = 0 if self.parts.load("sweep") else SWEEP_ROUNDS * (1 + len(self.cell.candidates) + len(PAPER)) * block
        done = sum(len(part["rounds"]) for part in self.stored("main"))
        left += 0 if self.parts.load("main-done") else max(0, self.pairs - done) * 5 * block + self.seeds * FIRST_ROUND * length
        if self.cell.whole and self.whole_too:
            left += sum(self.cell.whole * length for i in range(WHOLE_PAIRS) for arm in ("off", "ours") if not self.parts.load(f"whole-{i}-{arm}"))
        elif not self.cell.whole and not self.parts.load("law"):
            left += LAW_SECONDS
        return left

    def stored(self, kind):
        return list(itertools.takewhile(lambda part: part is not None, (self.parts.load(f"{kind}-{i}") for i in itertools.count())))

    def sweep(self):
        def measure():
            rates = tuple(filter(is_rate, self.cell.candidates))
            others = tuple(setting for setting in self.cell.candidates if not is_rate(setting))
            measured = self.comparison("sweep", self.cell, ("off", *others, *PAPER), SWEEP_ROUNDS, 101)
            blocks = blocks_of(measured["rounds"], others)
            if rates:
                measured["rates"] = self.comparison("sweep-rates", self.cell, rates, SWEEP_ROUNDS, 101)
                blocks |= blocks_of(measured["rates"]["rounds"], rates)
            return measured | {"static": best(blocks), "paper": best(blocks_of(measured["rounds"], PAPER))}
        return self.part("sweep", measure)

    def compare(self, kind, cell, settings, pairs):
        arms, rounds = together(settings), []
        for index in itertools.count():
            stored = self.parts.load(f"{kind}-{index}")
            if not stored and index >= self.seeds and (len(rounds) >= pairs or narrow(rounds, arms)):
                break
            wanted = min(math.ceil(pairs / self.seeds), FIRST_ROUNDS) if index < self.seeds else self.more(rounds, arms, pairs)
            part = self.part(f"{kind}-{index}", lambda: self.comparison(f"{kind}-{index}", cell, arms, wanted, index + 1))
            rounds += part["rounds"]
        rate_rounds = []
        if is_rate(settings["static"]):
            for index in range(self.seeds):
                rate_rounds += self.part(f"{kind}-rate-{index}", lambda: self.comparison(f"{kind}-rate-{index}", cell, (settings["static"],),
                                                                                         math.ceil(len(rounds) / self.seeds), index + 1))["rounds"]
        self.parts.make(f"{kind}-done", lambda: {"pairs": len(rounds), "narrow": narrow(rounds, arms)})
        return rounds, rate_rounds

    # How many rounds the next step is to bring: an interval narrows with the root of their number. Not so many that much is lost by
    # an interruption, and not so few that the step only learns.
    @staticmethod
    def more(rounds, arms, pairs):
        needed = len(rounds) * (widest(rounds, arms) / HALF_WIDTH) ** 2 * 1.1
        length = statistics.fmean(r["off"][1] for r in rounds)
        most = max(FIRST_ROUNDS, round(PART_SECONDS / len(arms) / block_seconds(length)))
        return max(4, min(math.ceil(min(needed, pairs)) - len(rounds), most))

    def law(self):
        def measure():
            iterations = math.ceil(LAW_SECONDS * 1000 / self.cell.iteration_ms)
            return self.step("law", self.cell, policy.ours(), ("--paced-fabric=pace",), iterations, 1)
        self.part("law", measure)

    def whole(self):
        for index in range(WHOLE_PAIRS):
            order = ["off", "ours"]
            random.Random(index).shuffle(order)
            for arm in order:
                name = f"whole-{index}-{arm}"
                mode = "--paced-fabric=off" if arm == "off" else "--paced-fabric=pace"
                self.part(name, lambda: self.step(name, self.cell, policy.ours(), (mode,), self.cell.whole, index + 1))

    def part(self, name, measure):
        if self.parts.load(name) is None:
            self.say(f"{self.cell.name}: {name}")
        return self.parts.make(name, measure)

    # A step under the method `comparison`, long enough for so many rounds.
    def comparison(self, name, cell, arms, wanted, seed):
        stored = self.stored("main")
        known = statistics.fmean(p["mean_ms"] for p in stored) if stored else cell.iteration_ms
        iterations = math.ceil(wanted * len(arms) * block_seconds(known) * 1000 / known) + 20 + FIRST_ROUND * ("ours" in arms)
        measured = self.step(name, cell, policy.comparison(arms), ("--paced-fabric=pace",), iterations, seed)
        content = measured.pop("report")
        rounds = report.rounds(content, arms)
        if not rounds:
            raise Failed(f"{cell.name}, {name}: not one whole round of {len(arms)} settings in {iterations} iterations")
        return measured | {"arms": arms, "rounds": rounds, "tried": report.tried(content), "warnings": content.get("warnings", [])}

    def step(self, name, cell, site, flags, iterations, seed):
        file = self.parts.folder / ".report"  # of the last step
        file.parent.mkdir(parents=True, exist_ok=True)
        file.unlink(missing_ok=True)
        command = (*cell.command, "--iterations", str(iterations), "--warmup", "2", *(("--seed", str(seed)) if cell.seeded else ()))
        arguments = (*cell.step, *flags, f"--paced-fabric-report=summary,{file}", *command)
        self.cluster.up(cell.fabric_arguments())
        self.cluster.policy(site)
        # five times as long as it should take: a busy machine is slow, a hanging step is for ever
        output, log = self.cluster.step(arguments, cell.environment, 60 + 5 * iterations * cell.iteration_ms / 1000)
        self.parts.log(name, log)
        said = report.workload(output)
        variables = "".join(f"{key}={value} " for key, value in cell.environment.items())
        measured = {"command": f"{variables}srun --mpi=pmix {' '.join(map(str, arguments))}".replace(f"{REPOSITORY}/", ""), "policy": site, "fabric": cell.fabric_arguments(),
                    "iterations": iterations} | said
        if "--paced-fabric=off" not in flags:
            if not file.exists():
                raise Failed(f"{cell.name}, {name}: no report was written\n{log[-2000:]}")
            content = json.loads(file.read_text())
            measured |= {"report": content} if site != policy.ours() else {"tried": report.tried(content), "warnings": content.get("warnings", [])}
        return measured
