# SPDX-License-Identifier: BSD-3-Clause
"""Finished parts of the measurement, a file each, so that a second call goes on where the first one ended.

A part holds with the build and the cell that it was measured with (its stamp); one of another stamp is measured again."""
import hashlib
import json
import os
import subprocess
import time
from pathlib import Path


def stamp_of(build, cell):
    """Of the programs that act in a step, and of all that the cell says."""
    digest = hashlib.sha256(repr(cell).encode())
    for file in ("lib/libpaced_fabric.so", "lib/spank_paced_fabric.so", "bin/paced-fabric-helper"):
        path = Path(build) / file
        if not path.exists():
            raise SystemExit(f"run: {path} is not there: cmake --build --preset release")
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def commit_of(repository):
    """As a reader finds it again; "-dirty" where tracked files differ from it. Empty without git."""
    told = subprocess.run(["git", "-C", repository, "describe", "--always", "--dirty", "--abbrev=10"], capture_output=True, text=True, check=False)
    return told.stdout.strip()


class Parts:
    def __init__(self, folder, stamp, commit=""):
        self.folder, self.stamp, self.commit = Path(folder), stamp, commit

    def load(self, name):
        """None where it is not there, or of another stamp."""
        try:
            part = json.loads((self.folder / f"{name}.json").read_text())
        except (FileNotFoundError, json.JSONDecodeError):
            return None
        return part if part.get("stamp") == self.stamp else None

    def make(self, name, measure):
        """The stored part, or what measure() returns (a dict), stored."""
        part = self.load(name)
        if part is None:
            started, load = time.time(), os.getloadavg()[0]
            part = measure() | {"stamp": self.stamp, "started": round(started), "seconds": round(time.time() - started, 1), "load": round(load, 2), "commit": self.commit}
            self.folder.mkdir(parents=True, exist_ok=True)
            new = self.folder / f".{name}.new"
            new.write_text(json.dumps(part, indent=1) + "\n")
            new.rename(self.folder / f"{name}.json")
        return part

    def log(self, name, text):
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / f"{name}.log").write_text(text)
