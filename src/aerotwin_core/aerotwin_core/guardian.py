# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Ends the processes of a runner that was killed: `python -I -S guardian.py FOLDER MARK`.

The runner reports on standard input what it starts ("+pid", a session of its own) and what has
ended ("-pid"), and "done" at its orderly end. If the input ends without that, the runner was
killed: every remaining session, its descendants, and every process with the runner's mark in its
environment gets SIGINT, SIGTERM and SIGKILL in turn, and the runner's temporary folder is deleted.
Runs without the project's packages, so that it starts within milliseconds.
"""

import os
import shutil
import signal
import sys
import time

STEPS = ((signal.SIGINT, 3.0), (signal.SIGTERM, 2.0), (signal.SIGKILL, 0.0))
POLL_S = 0.05


def main() -> None:
    """Read the runner's messages until they end."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sessions: set[int] = set()
    for line in sys.stdin:
        token = line.strip()
        if token == "done":
            return
        pid = int(token[1:])
        sessions.add(pid) if token[0] == "+" else sessions.discard(pid)
    end_processes(sessions, sys.argv[2].encode(), STEPS)
    shutil.rmtree(sys.argv[1], ignore_errors=True)


def end_processes(
    sessions: set[int], mark: bytes, steps: tuple[tuple[signal.Signals, float], ...]
) -> None:
    """End sessions, what is below them, and what has the mark in its environment.

    `steps` are the signals and how long each is waited for [s].
    """
    table = _table()
    targets = {pid for pid, row in table.items() if row[2] in sessions} | sessions
    targets |= {pid for pid in table if pid != os.getpid() and _carries(pid, mark)}
    size = 0
    while size != len(targets):  # and what is below them, in whatever session
        size = len(targets)
        targets |= {pid for pid, row in table.items() if row[0] in targets}
    born = {pid: table[pid][3] for pid in targets if pid in table}
    for number, patience in steps:
        for pid in _alive(born):
            try:
                os.kill(pid, number)
            except OSError:
                continue
        until = time.monotonic() + patience
        while _alive(born) and time.monotonic() < until:
            time.sleep(POLL_S)


def _carries(pid: int, mark: bytes) -> bool:
    """Return whether a process was started by the runner, even if its parent changed."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return mark in file.read().split(b"\0")
    except OSError:
        return False


def _alive(born: dict[int, str]) -> list[int]:
    """Return the processes that still exist; a recycled pid has another start time."""
    table = _table()
    return [pid for pid, start in born.items() if pid in table and table[pid][3] == start]


def _table() -> dict[int, tuple[int, int, int, str]]:
    """Return pid -> (parent, group, session, start time) of all processes but zombies."""
    table = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", errors="replace") as file:
                    tokens = file.read().rpartition(")")[2].split()
            except OSError:
                continue
            if tokens and tokens[0] not in "ZX":
                table[int(name)] = (int(tokens[1]), int(tokens[2]), int(tokens[3]), tokens[19])
    return table


if __name__ == "__main__":
    main()
