# SPDX-License-Identifier: BSD-3-Clause
"""`paced simulate`, its models, and what in them was fitted: the lines of a scenario that end in '# fitted'."""
import json
import os
import re
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
PAPER = os.path.join(REPOSITORY, "etc/scenarios/paper.toml")
RIVALS = ("fabric-events", "hiccups", "theft", "incast-200ms", "node-events")
MODELS = {"paper": PAPER} | {name: os.path.join(HERE, "models", name + ".toml") for name in RIVALS}
FITTED = re.compile(r'^(?P<key>\w+) = (?P<quote>"?)(?P<number>[\d.]+)(?P<unit>[A-Za-z]*)(?P=quote)(?P<space> +)# fitted', re.MULTILINE)


def text_of(name):
    with open(MODELS[name], encoding="utf-8") as file:
        return file.read()


def fitted(text):
    """[(key, number, unit)] in the order of the file."""
    return [(match["key"], float(match["number"]), match["unit"]) for match in FITTED.finditer(text)]


def with_fitted(text, numbers):
    """The text with these numbers, three digits each. What stands '# as the leaves' follows the fitted line of its key."""
    left = iter(numbers)
    last = {}

    def line(match):
        value = f"{match['quote']}{next(left):.3g}{match['unit']}{match['quote']}"
        last[match["key"]] = value
        start = f"{match['key']} = {value}"
        width = len(match[0]) - len("# fitted")
        return start.ljust(width - 1) + " # fitted"

    text = FITTED.sub(line, text)
    return re.sub(r'^(\w+) = \S+( +# as the leaves)$', lambda match: f"{match[1]} = {last[match[1]]}{match[2]}", text, flags=re.MULTILINE)


def simulate(paced, text, nodes, seeds, iterations, compare=False):
    """The object that --json prints."""
    with tempfile.NamedTemporaryFile("w", suffix=".toml", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        command = [paced, "simulate", file.name, "--nodes", ",".join(map(str, nodes)), "--seeds", str(seeds), "--iterations", str(iterations), "--json"]
        done = subprocess.run(command + (["--compare"] if compare else []), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"run: {' '.join(command)}: {done.stderr.strip()}")
    return json.loads(done.stdout)
