# SPDX-License-Identifier: BSD-3-Clause
"""One cluster of contrib/cluster at a time, brought up when a step needs another fabric than the one that is there."""
import os
import subprocess
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]
TOOL = REPOSITORY / "contrib/cluster/cluster"
NAME = f"bench-pacing-{os.getpid()}"


class Failed(Exception):
    """A step or a cluster that did not do what it should; the message is for a person."""


class Cluster:
    def __init__(self):
        self.fabric = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.down()

    def down(self):
        if self.fabric is not None:
            subprocess.run([TOOL, "down", "--name", NAME], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        self.fabric = None

    def up(self, fabric):
        if fabric == self.fabric:
            return
        self.down()
        self.fabric = fabric
        # --owner: it also goes when this program is killed
        done = subprocess.run([TOOL, "up", "--name", NAME, "--owner", str(os.getpid()), *fabric], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Failed(f"the cluster did not come up: {done.stderr.strip()}")

    def policy(self, text):
        """Read at each launch, so that a cluster stays up from one policy to the next."""
        folder = Path(os.environ.get("PACED_FABRIC_CLUSTER_DIR", REPOSITORY / "build/cluster")) / NAME / "paced-fabric"
        (folder / "policy.toml.new").write_text(text)
        (folder / "policy.toml.new").rename(folder / "policy.toml")

    def step(self, arguments, environment, limit_s):
        """srun with these arguments, in the repository. (standard output, standard error)"""
        command = [TOOL, "exec", "--name", NAME, "ctl", "srun", "--mpi=pmix", *arguments]
        try:
            done = subprocess.run(command, cwd=REPOSITORY, env=os.environ | environment, capture_output=True, text=True, timeout=limit_s, check=False)
        except subprocess.TimeoutExpired as late:
            self.down()  # nothing of it may run on beside the next one
            raise Failed(f"did not end in {limit_s:.0f} s: srun {' '.join(arguments)}") from late
        if done.returncode != 0:
            raise Failed(f"ended with {done.returncode}: srun {' '.join(arguments)}\n{done.stderr.strip()[-2000:]}")
        return done.stdout, done.stderr
