# SPDX-License-Identifier: BSD-3-Clause
"""Site policies of the bench's steps. None is kept in a file: what a step ran under stands in its result."""

BASE = "schema = 1\n"


def ours():
    """As shipped."""
    return BASE


def comparison(arms):
    """Blocks of these settings by turns, in random order, for as long as the job runs."""
    return BASE + f'\n[pacing]\nmethod = "comparison"\narms = "{",".join(arms)}"\n'
