#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`paced plan --json`, the program, over every recording of others that is there, against the answers in their SOURCES.md;
and over every fabric, with its hosts as they come and shuffled, against a count of its own. Prints how many answers were
met; ends with 77 where there are no recordings.

    PACED_FABRIC_BIN_DIR=build/release/bin PACED_FABRIC_TEST_DATA=... plan_known_answers.py nodes|fabrics|graphs
"""
import json
import os
import random
import re
import subprocess
import sys
import tempfile

PACED = os.path.join(os.environ["PACED_FABRIC_BIN_DIR"], "paced")
DATA = os.environ["PACED_FABRIC_TEST_DATA"]
problems = []
answers = 0


def paced(*words):
    return subprocess.run([PACED, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)


def check(what, found, expected):
    global answers
    answers += 1
    if found != expected:
        problems.append(f"{what}: found {found!r}, expected {expected!r}")


def table(folder, ending):
    """The rows of SOURCES.md with a file of that ending: lists of cells, the file's name first."""
    path = os.path.join(DATA, folder, "SOURCES.md")
    if not os.path.exists(path):
        print(f"{folder}/SOURCES.md is not there")
        return []
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in open(path, encoding="utf-8") if line.startswith("|")]
    return [row for row in rows if row[0].endswith(ending)]


def full(pci):
    """13:00.0 as the contract writes it."""
    parts = pci.lower().split(":")
    return pci if pci == "-" else ":".join(parts if len(parts) == 3 else ["0000", *parts])


def bindings(folder, name):
    outcome = paced("plan", "--json", "--node", os.path.join(DATA, folder, name))
    if outcome.returncode != 0:
        problems.append(f"{folder}/{name}: ends with {outcome.returncode}: {outcome.stderr}")
        return []
    plan = json.loads(outcome.stdout)
    if "order" in plan:
        problems.append(f"{folder}/{name}: an order that nobody asked for")
    for task, binding in enumerate(plan["bindings"]):
        promised = {"task", "gpu", "nics", "candidates", "relation", "cpus", "numa", "reasons"}
        check(f"{folder}/{name}: keys", promised - set(binding), set())
        check(f"{folder}/{name}: task", binding["task"], task)
        chosen = [nic for nic in binding["nics"] if nic not in binding["candidates"]]
        check(f"{folder}/{name}: GPU {binding['gpu']['index']} gets NICs that are no candidates", chosen, [])
    return plan["bindings"]


def by_pci(folder, name, cell):
    """'13:00.0/23:00.0 PXB 33:00.0(mlx5_0/mlx5_1),-(eth0); ...'; a list that was cut ends with an ellipsis."""
    whole = "…" not in cell
    groups = [group.strip() for group in cell.split("…")[0].split(";")]
    expected = {}
    for group in groups if whole else groups[:-1]:
        if group == "-":
            continue
        gpus, relation, nics = group.split(" ", 2)
        near = sorted(re.match(r"([^(]*)\((.*)\)$", nic).groups() for nic in nics.split(","))
        for gpu in gpus.split("/"):
            expected[full(gpu)] = ({"CPU": "PHB"}.get(relation, relation), near)
    found = {binding["gpu"]["pci"]: binding for binding in bindings(folder, name)}
    if whole and expected:
        check(f"{folder}/{name}: the GPUs with a NIC", sorted(gpu for gpu, binding in found.items() if binding["relation"]), sorted(expected))
    for gpu, (relation, near) in expected.items():
        if gpu not in found:
            problems.append(f"{folder}/{name}: no GPU {gpu}")
            continue
        candidates = found[gpu]["candidates"]
        check(f"{folder}/{name}: {gpu} relation", found[gpu]["relation"], relation)
        check(f"{folder}/{name}: {gpu} NICs", sorted(nic["pci"] or "-" for nic in candidates), sorted(full(pci) for pci, _ in near))
        named = {full(pci): set(names.split("/")) - {""} for pci, names in near if pci != "-"}
        for nic in candidates:
            if named.get(nic["pci"]):
                check(f"{folder}/{name}: {gpu} name of {nic['pci']}", nic["name"] in named[nic["pci"]], True)


def by_index(folder, name, state, cell):
    """'GPU0:PXB=NIC2/NIC3 GPU1:...'"""
    expected = {}
    for word in cell.split() if cell != "-" else []:
        gpu, near = word.split(":")
        relation, nics = near.split("=")
        expected[int(gpu[3:])] = (relation, sorted(nics.split("/")))
    for binding in bindings(folder, name):
        check(f"{folder}/{name}: an address where the input has none", binding["gpu"]["pci"], None)
        index = binding["gpu"]["index"]
        if index not in expected:
            if state == "complete":
                check(f"{folder}/{name}: GPU {index} relation", binding["relation"], None)
            continue
        relation, nics = expected.pop(index)
        check(f"{folder}/{name}: GPU {index} relation", binding["relation"], relation)
        check(f"{folder}/{name}: GPU {index} NICs", sorted(nic.get("label", nic["name"]) for nic in binding["candidates"]), nics)
    check(f"{folder}/{name}: GPUs that were not found", sorted(expected), [])


def nodes():
    for row in table("hwloc", ".xml"):
        if row[0].startswith("needs-hwloc3/"):
            outcome = paced("plan", "--json", "--node", os.path.join(DATA, "hwloc", row[0]))
            check(f"hwloc/{row[0]}: exit code", outcome.returncode, 1)
            check(f"hwloc/{row[0]}: says why", "3" in outcome.stderr and "error:" in outcome.stderr, True)
        else:
            check(f"hwloc/{row[0]}: GPUs", len(bindings("hwloc", row[0])), int(row[4]))
            by_pci("hwloc", row[0], row[7])
    for row in table("nccl-topo", ".xml"):
        by_pci("nccl-topo", row[0], row[3])
    for row in table("nvidia-smi-topo", ".txt"):
        by_index("nvidia-smi-topo", row[0], row[4], row[5])


# ---- fabrics

def ask(path, hosts):
    """The plan for these hosts. They go in by a file: a command line may be too short for ten thousand."""
    with tempfile.NamedTemporaryFile("w", suffix=".hosts") as lists:
        lists.write("\n".join(hosts))
        lists.flush()
        outcome = paced("plan", "--json", "--fabric", path, "--hosts", "@" + lists.name)
    if outcome.returncode != 0:
        problems.append(f"{path}: ends with {outcome.returncode}: {outcome.stderr}")
        return None
    return json.loads(outcome.stdout)["order"]


def expand(hosts):
    """Slurm's lists, of numbers only."""
    parts = re.findall(r"[^,\[]+(?:\[[^\]]*\][^,\[]*)*", hosts)
    for part in parts:
        bracket = re.match(r"(.*?)\[([^\]]*)\](.*)$", part)
        if not bracket:
            yield part
            continue
        before, ranges, after = bracket.groups()
        for each in ranges.split(","):
            first, _, last = each.partition("-")
            for number in range(int(first), int(last or first) + 1):
                yield from expand(f"{before}{number:0{len(first)}d}{after}")


def changes(hosts, leaf_of):
    return sum(leaf_of[host] != leaf_of[hosts[i - 1]] for i, host in enumerate(hosts))


def fabrics():
    folder = os.path.join(DATA, "slurm-topology")
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        path = os.path.join(folder, name)
        if not name.endswith(".conf"):
            continue
        leaf_of, doubled = {}, set()
        for line in open(path, encoding="utf-8"):
            switch = re.match(r"\s*(?:SwitchName|BlockName)=(\S+).*?\sNodes=(\S+)", line)
            for host in expand(switch.group(2)) if switch else []:
                if leaf_of.setdefault(host, switch.group(1)) != switch.group(1):
                    doubled.add(host)
        submitted = list(leaf_of)
        for shuffled in (False, True):
            if shuffled:
                random.Random(name).shuffle(submitted)
            what = f"{name}{', shuffled' if shuffled else ''}"
            order = ask(path, submitted)
            if order is None:
                continue
            check(f"{what}: the hosts are the submitted ones", sorted(order["hosts"]), sorted(submitted))
            check(f"{what}: the first host stays the first", order["hosts"][0], submitted[0])
            check(f"{what}: ranks", order["ranks"], [[i, host, 0] for i, host in enumerate(order["hosts"])])
            if doubled:
                check(f"{what}: kept", order["hosts"], submitted)
                check(f"{what}: cost", order["cost"]["chosen"], None)
                check(f"{what}: the reason names one of them", any(host in " ".join(order["reasons"]) for host in doubled), True)
                continue
            leaves = len(set(leaf_of.values()))
            least = leaves if leaves > 1 else 0
            check(f"{what}: leaves", order["leaves"], leaves)
            check(f"{what}: cost", order["cost"]["chosen"], least)
            check(f"{what}: lower bound", order["cost"]["lower_bound"], least)
            check(f"{what}: submitted", order["cost"]["submitted"], changes(submitted, leaf_of))
            check(f"{what}: cost, counted here", changes(order["hosts"], leaf_of), least)
            check(f"{what}: improves", order["improves"], order["hosts"] != submitted)
            check(f"{what}: a reason", bool(order["reasons"]), True)


def graphs():
    """Forms in which the leaves are not written down: the order must cost what its own lower bound says, or be kept for a reason."""
    forms = {"lingjun-2023-topo.csv": r"(?m)^([0-9a-f]{8,}),", "ibnetdiscover/small-mixed-fdr-hdr.txt": r'"(\S+) (?:HCA-|mlx5_)\d+"',
             "ibnetdiscover/superpod-selene-compute.txt": r'"(\S+) (?:HCA-|mlx5_)\d+"', "ibnetdiscover/ports-format-edr.txt": r"'(\S+) (?:HCA-|mlx5_)\d+'"}
    for name, pattern in forms.items():
        path = os.path.join(DATA, "slurm-topology", name)
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as text:
            submitted = sorted(set(re.findall(pattern, text.read())))
        random.Random(name).shuffle(submitted)
        order = ask(path, submitted)
        if order is None:
            continue
        check(f"{name}: the hosts are the submitted ones", sorted(order["hosts"]), sorted(submitted))
        cost = order["cost"]
        if cost["chosen"] is None:
            check(f"{name}: kept, with a reason", (order["hosts"] == submitted, bool(order["reasons"])), (True, True))
        else:
            check(f"{name}: cost", cost["chosen"], order["leaves"] if order["leaves"] > 1 else 0)
            check(f"{name}: lower bound", cost["lower_bound"], cost["chosen"])


def main():
    {"nodes": nodes, "fabrics": fabrics, "graphs": graphs}[sys.argv[1]]()
    for problem in problems:
        print(problem)
    if answers == 0 and not problems:
        print(f"no recordings in {DATA}")
        return 77
    print(f"{answers - len(problems)} of {answers} answers met")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
