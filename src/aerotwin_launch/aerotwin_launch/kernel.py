# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Linux features to leave no process behind: prctl, process groups, the process tree."""

import ctypes
import os
import signal
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
_LIBC = ctypes.CDLL(None, use_errno=True)  # loaded here: a forked child must not load libraries


def adopt_orphans() -> None:
    """Make this process the parent of orphaned descendants: daemonised ones can then be ended."""
    _LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def child_preparation() -> Callable[[], None]:
    """Return the function to call in a child between fork and exec.

    It requests SIGTERM when its parent dies (the kernel means the *thread* that forked, so
    processes are started from the main thread), and resets an inherited `SIG_IGN` of SIGINT, which
    a shell without job control sets for commands started with `&`.
    """
    parent = os.getpid()

    def prepare() -> None:
        _LIBC.prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)  # the parent died before the request was made
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)

    return prepare


def signal_group(group: int, number: int) -> None:
    """Send a signal to a process group, if it still exists."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def signal_processes(pids: Iterable[int], number: int) -> None:
    """Send a signal to processes, if they still exist."""
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def reap(pids: Iterable[int]) -> None:
    """Collect the exit status of adopted processes, so that none remains a zombie."""
    for pid in pids:
        with suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)


def process_table() -> dict[int, tuple[int, int, bool]]:
    """Return pid -> (parent, process group, is a zombie) of every visible process."""
    table = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with suppress(OSError, ValueError, IndexError):
                stat = Path(entry.path, "stat").read_text(errors="replace")
                state, parent, group = stat.rpartition(")")[2].split()[:3]
                table[int(entry.name)] = (int(parent), int(group), state in "ZX")
    return table


def children(parent: int, table: dict[int, tuple[int, int, bool]]) -> set[int]:
    """Return the processes whose parent is the given one, including zombies."""
    return {pid for pid, (above, _, _) in table.items() if above == parent}


def descendants(roots: Iterable[int], table: dict[int, tuple[int, int, bool]]) -> set[int]:
    """Return every process below the roots, including zombies."""
    children: dict[int, list[int]] = {}
    for pid, (parent, _, _) in table.items():
        children.setdefault(parent, []).append(pid)
    found: set[int] = set()
    open_ends = list(roots)
    while open_ends:
        below = [pid for pid in children.get(open_ends.pop(), []) if pid not in found]
        found.update(below)
        open_ends += below
    return found
