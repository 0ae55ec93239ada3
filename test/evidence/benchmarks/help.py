# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Processor time of help: of the list of verbs, and of the verb whose help takes longest."""

import os
import sys
from importlib.metadata import entry_points
from subprocess import DEVNULL, Popen

from aerotwin_core.child_python import python_command
from aerotwin_core.cli import GROUP
from evidence.benchmarks.result import Benchmark

N_RUNS = 3
IMPORT = "import numpy"
"""The peer: what any process of numbers costs before it has done anything."""
TIMES_IMPORT = {"list": 0.5, "verb": 0.2}
"""0.3 s and 0.7 s of processor time where the peer takes 0.14 s; measured 1.0 and 0.5."""


def help_time() -> list[Benchmark]:
    """Measure the help of `aerotwin` and of each of its verbs."""
    peer = _cpu_seconds("-c", IMPORT)
    verbs = sorted(entry.name.replace(".", " ") for entry in entry_points(group=GROUP))
    seconds = {verb: _help_seconds(*verb.split()) for verb in verbs}
    slowest = max(verbs, key=seconds.__getitem__)
    rows = (
        ("aerotwin --help, processor time", _help_seconds(), "list"),
        (f"help of the slowest of {len(verbs)} verbs ({slowest})", seconds[slowest], "verb"),
    )
    return [
        Benchmark.beside(
            name, "s", value, peer=f"python: {IMPORT}", peer_value=peer, goal=TIMES_IMPORT[goal]
        )
        for name, value, goal in rows
    ]


def _help_seconds(*verb: str) -> float:
    return _cpu_seconds("-m", "aerotwin_core.cli", *verb, "--help")


def _cpu_seconds(*arguments: str) -> float:
    """Return the least user and system time of a few runs of a Python process, caches warm."""
    return min(_one_run(arguments) for _ in range(N_RUNS))


def _one_run(arguments: tuple[str, ...]) -> float:
    with Popen(python_command(*arguments), stdout=DEVNULL) as child:
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{' '.join(arguments)} ended with {child.returncode}")
    return used.ru_utime + used.ru_stime
