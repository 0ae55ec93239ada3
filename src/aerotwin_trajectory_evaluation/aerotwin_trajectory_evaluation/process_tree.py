# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Resource use of a process and its descendants, read from Linux's /proc (proc(5)) at low cost."""

import math
import os
import re
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

PROC = "/proc"
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_IO = re.compile(r"^(read_bytes|write_bytes): (\d+)$", re.MULTILINE)
# Share of one core, for each of the two expensive readings: the tree's members, and shared memory.
_DEAR_SHARE = 0.001
# Longest intervals of the two [s]. A child that lives shorter than the first may be missed.
_MEMBERS_S, _MEMORY_S = 1.0, 5.0
_LOOK_S = 0.02


@dataclass(frozen=True, kw_only=True)
class TreeSample:
    """Resource use of a process tree at one moment.

    CPU time and storage traffic count from the moment the tree is watched, or a process that
    already ran was first found, and include processes that have ended. In `pss_bytes` a shared page
    is split among its users; it is read less often and held in between. `peak_bytes` is the most
    resident memory that one process of the tree has ever had, also between samples. What the kernel
    does not report is NaN.
    """

    cpu_s: float
    rss_bytes: int
    pss_bytes: float
    peak_bytes: float
    n_threads: int
    n_processes: int
    read_bytes: float
    write_bytes: float


@dataclass(frozen=True)
class _Process:
    """One process; its start time distinguishes it from a later one with the same PID."""

    pid: int
    start_ticks: int


class _Pace:
    """Spaces out an expensive reading, so that it uses a small share of the time if it may.

    At the beginning, where a program grows, no reading is older than half of the time.
    """

    def __init__(self, longest_s: float) -> None:
        self._longest_s = longest_s
        self._begin_s = self._next = -math.inf

    def is_due(self) -> bool:
        return time.monotonic() >= self._next

    def took(self, seconds: float) -> None:
        now_s = time.monotonic()
        if self._begin_s == -math.inf:
            self._begin_s = now_s
        longest_s = min(max(now_s - self._begin_s, _LOOK_S), self._longest_s)
        self._next = now_s + min(seconds / _DEAR_SHARE, longest_s)


class ProcessTree:
    """Root processes, searched for repeatedly, and all their descendants.

    `find_roots` returns their PIDs; none while the program has not started.
    """

    def __init__(self, find_roots: Callable[[], list[int]]) -> None:
        self._find_roots = find_roots
        self._members: set[_Process] = set()
        self._membership, self._memory = _Pace(_MEMBERS_S), _Pace(_MEMORY_S)
        self._pss_bytes = math.nan
        self._start_ticks = time.clock_gettime(time.CLOCK_BOOTTIME) * _TICKS_PER_S
        # Counters (CPU, read, written) at first and last sight, of living and ended processes.
        self._first: dict[_Process, tuple[float, float, float]] = {}
        self._last: dict[_Process, tuple[float, float, float]] = {}

    def sample(self) -> TreeSample:
        """Return the current use."""
        if self._membership.is_due():
            begin = time.thread_time()
            self._members = _with_descendants(self._find_roots())
            self._membership.took(time.thread_time() - begin)
        rss, n_threads, alive = 0, 0, []
        for process in self._members:
            stat = _read_stat(process.pid)
            if stat is None or stat.start_ticks != process.start_ticks:
                continue
            counters = (stat.cpu_s, *_read_io(process.pid))
            is_born_since = process.start_ticks > self._start_ticks
            self._first.setdefault(process, (0.0, 0.0, 0.0) if is_born_since else counters)
            self._last[process] = counters
            rss, n_threads = rss + stat.rss_bytes, n_threads + stat.n_threads
            alive.append(process)
        cpu_s, read_bytes, write_bytes = self._used()
        return TreeSample(
            cpu_s=cpu_s,
            rss_bytes=rss,
            pss_bytes=self._pss(alive),
            peak_bytes=max((_read_peak(process.pid) for process in alive), default=math.nan),
            n_threads=n_threads,
            n_processes=len(alive),
            read_bytes=read_bytes,
            write_bytes=write_bytes,
        )

    def _used(self) -> tuple[float, float, float]:
        since = [
            [last - first for first, last in zip(self._first[process], self._last[process])]
            for process in self._last
        ]
        cpu, read, written = (sum(column) for column in zip(*since)) if since else (0.0, 0.0, 0.0)
        return cpu, read, written

    def _pss(self, alive: list[_Process]) -> float:
        if alive and self._memory.is_due():
            begin = time.thread_time()
            self._pss_bytes = sum(_read_pss(process.pid) for process in alive)
            self._memory.took(time.thread_time() - begin)
        return self._pss_bytes if alive else math.nan


def command_lines() -> dict[int, str]:
    """Return the command line of every readable process, by PID."""
    found = {}
    for pid in _numbers():
        tokens = _read(pid, "cmdline")
        if tokens:
            found[pid] = tokens.replace("\0", " ").strip()
    return found


def ancestors(pid: int) -> set[int]:
    """Return the PIDs of this process and its ancestors."""
    found: set[int] = set()
    while pid > 0 and pid not in found:
        found.add(pid)
        stat = _read_stat(pid)
        pid = stat.parent if stat is not None else 0
    return found


def end_tree(
    root: int,
    *,
    patience_s: float,
    mark: Mapping[str, str] = {},
    orphans: Callable[[], list[int]] = list,
) -> int:
    """End a process, its descendants, what `mark` is in the environment of, and `orphans`.

    SIGTERM, after `patience_s` SIGKILL; returns how many processes there were. Their parents must
    reap them. A program started by another one (`ros2 run`, a shell) would survive if only its
    parent ended.
    """
    tree = _with_descendants([root, *_marked(mark), *orphans()])
    for number in (signal.SIGTERM, signal.SIGKILL):
        for process in tree:
            if _is_alive(process):
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(process.pid, number)
        end_s = time.monotonic() + patience_s
        while True:
            alive = [process.pid for process in tree if _is_alive(process)]
            late = _with_descendants([*alive, *orphans()]) - tree
            tree |= late
            if not (alive or late) or time.monotonic() >= end_s:
                break
            time.sleep(_LOOK_S)
    return len(tree)


def children(pid: int) -> list[int]:
    """Return the PIDs of the children of a process, also of those that have ended."""
    return [child for child in _numbers() if _parent(child) == pid]


def _parent(pid: int) -> int:
    fields = _read(pid, "stat").rpartition(")")[2].split()
    return int(fields[1]) if fields else 0


def _marked(mark: Mapping[str, str]) -> list[int]:
    """Return the PIDs of the processes with a variable in their environment, but for this one."""
    entries = {f"{name}={value}" for name, value in mark.items()}
    found = [pid for pid in _numbers() if entries & set(_read(pid, "environ").split("\0"))]
    return [pid for pid in found if pid != os.getpid()]


def _is_alive(process: _Process) -> bool:
    stat = _read_stat(process.pid)
    return stat is not None and stat.start_ticks == process.start_ticks


@dataclass(frozen=True)
class _Stat:
    parent: int
    cpu_s: float
    n_threads: int
    start_ticks: int
    rss_bytes: int


def _read(pid: int, name: str) -> str:
    try:
        with open(f"{PROC}/{pid}/{name}", "rb", buffering=0) as file:
            return file.read().decode("utf-8", errors="replace")
    except OSError:  # it has ended, or belongs to someone else
        return ""


def _read_stat(pid: int) -> _Stat | None:
    """Return proc(5)'s stat; fields are counted from the state, after the name in parentheses."""
    fields = _read(pid, "stat").rpartition(")")[2].split()
    if not fields or fields[0] in "ZX":  # ended, waiting for its parent
        return None
    return _Stat(
        parent=int(fields[1]),
        cpu_s=(int(fields[11]) + int(fields[12])) / _TICKS_PER_S,
        n_threads=int(fields[17]),
        start_ticks=int(fields[19]),
        rss_bytes=int(fields[21]) * _PAGE_BYTES,
    )


def _read_io(pid: int) -> tuple[float, float]:
    found = dict(_IO.findall(_read(pid, "io")))
    return float(found.get("read_bytes", "nan")), float(found.get("write_bytes", "nan"))


def _read_pss(pid: int) -> float:
    match = re.search(r"^Pss:\s+(\d+) kB$", _read(pid, "smaps_rollup"), re.MULTILINE)
    return float(match[1]) * 1024.0 if match else math.nan


def _read_peak(pid: int) -> float:
    match = re.search(r"^VmHWM:\s+(\d+) kB$", _read(pid, "status"), re.MULTILINE)
    return float(match[1]) * 1024.0 if match else math.nan


def _numbers() -> list[int]:
    return [int(name) for name in os.listdir(PROC) if name.isdigit()]


def _with_descendants(roots: list[int]) -> set[_Process]:
    stats = {pid: stat for pid in _numbers() if (stat := _read_stat(pid)) is not None}
    children: dict[int, list[int]] = {}
    for pid, stat in stats.items():
        children.setdefault(stat.parent, []).append(pid)
    found: set[int] = set()
    waiting = [pid for pid in roots if pid in stats]
    while waiting:
        pid = waiting.pop()
        if pid not in found:
            found.add(pid)
            waiting += children.get(pid, [])
    return {_Process(pid, stats[pid].start_ticks) for pid in found}
