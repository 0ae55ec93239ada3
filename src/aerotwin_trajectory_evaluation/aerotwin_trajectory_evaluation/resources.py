# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What a process tree costs over time: CPU-seconds, memory, latency of its output."""

import re
import threading
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

# Processes that match a pattern are looked for anew this often [s].
_RESCAN_S = 1.0


@dataclass(frozen=True, kw_only=True)
class ResourceUsage:
    """Samples over wall time since the start of recording.

    Attributes
    ----------
    time_s, cpu_s, rss_bytes, n_processes : (n,) arrays
        When; CPU time used since the first sample by all processes of the tree, also those that
        have ended; resident memory; processes alive.
    frame_time_s, latency_s : (m,) arrays
        For each output of the program: when it came, and how long after its input [s, wall].
    """

    time_s: np.ndarray
    cpu_s: np.ndarray
    rss_bytes: np.ndarray
    n_processes: np.ndarray
    frame_time_s: np.ndarray
    latency_s: np.ndarray

    @property
    def duration_s(self) -> float:
        """Wall time recorded."""
        return float(self.time_s[-1] - self.time_s[0]) if len(self.time_s) > 1 else 0.0

    def metrics(
        self, *, n_frames: int | None = None, simulated_s: float | None = None
    ) -> dict[str, Any]:
        """Return the numbers for JSON.

        Parameters
        ----------
        n_frames : int, optional
            Frames given to the program; the outputs counted by `frame_done` by default.
        simulated_s : float, optional
            Simulated time that passed, for the real-time factor.
        """
        n_frames = len(self.latency_s) if n_frames is None else n_frames
        cpu = float(self.cpu_s[-1]) if len(self.cpu_s) else 0.0
        duration = self.duration_s
        return {
            "wall_s": duration,
            "n_samples": len(self.time_s),
            "cpu_s": cpu,
            "cpu_s_per_frame": cpu / n_frames if n_frames else None,
            "cpu_cores_mean": cpu / duration if duration else None,
            "rss_bytes_mean": float(self.rss_bytes.mean()) if len(self.rss_bytes) else None,
            "rss_bytes_max": int(self.rss_bytes.max()) if len(self.rss_bytes) else None,
            "n_frames": n_frames,
            "latency_s": _quantiles(self.latency_s),
            "real_time_factor": simulated_s / duration if simulated_s and duration else None,
        }


def _quantiles(values: np.ndarray) -> dict[str, float] | None:
    if len(values) == 0:
        return None
    return {
        "mean": float(values.mean()),
        "median": float(np.median(values)),
        "p95": float(np.quantile(values, 0.95)),
        "max": float(values.max()),
    }


class ResourceRecorder:
    """Samples a process tree in a thread of its own until `stop`.

    Parameters
    ----------
    pid : int, optional
        Root of the tree.
    pattern : str, optional
        Regular expression searched in command lines; all that match are roots. This process and
        those that started it are never among them.
    interval_s : float
        Between samples [s].

    Examples
    --------
    >>> import os, time
    >>> with ResourceRecorder(pid=os.getpid(), interval_s=0.02) as recorder:
    ...     time.sleep(0.1)
    >>> recorder.usage.duration_s > 0
    True
    """

    def __init__(
        self, *, pid: int | None = None, pattern: str | None = None, interval_s: float = 0.1
    ) -> None:
        if (pid is None) == (pattern is None):
            raise ValueError("give either pid or pattern")
        if not interval_s > 0.0:
            raise ValueError(f"interval_s must be positive, got {interval_s}")
        self._pid = pid
        self._pattern = re.compile(pattern) if pattern is not None else None
        self._interval = interval_s
        self._samples: list[tuple[float, float, int, int]] = []
        self._frames: list[tuple[float, float]] = []
        self._tree = _ProcessTree(self._find)
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._start = time.monotonic()

    def start(self) -> "ResourceRecorder":
        """Begin to sample."""
        self._start = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="resources", daemon=True)
        self._thread.start()
        return self

    def stop(self) -> ResourceUsage:
        """End sampling and return what was seen."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        return self.usage

    def frame_done(self, latency_s: float) -> None:
        """Note an output of the program and how long after its input it came [s, wall]."""
        self._frames.append((time.monotonic() - self._start, latency_s))

    @property
    def usage(self) -> ResourceUsage:
        """What was seen so far."""
        samples = np.array(self._samples, dtype=np.float64).reshape(-1, 4)
        frames = np.array(self._frames, dtype=np.float64).reshape(-1, 2)
        return ResourceUsage(
            time_s=samples[:, 0],
            cpu_s=samples[:, 1],
            rss_bytes=samples[:, 2].astype(np.int64),
            n_processes=samples[:, 3].astype(np.int64),
            frame_time_s=frames[:, 0],
            latency_s=frames[:, 1],
        )

    def __enter__(self) -> "ResourceRecorder":
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _run(self) -> None:
        while True:
            cpu, rss, n = self._tree.sample()
            self._samples.append((time.monotonic() - self._start, cpu, rss, n))
            if self._ended.wait(self._interval):
                return

    def _find(self) -> list:
        import os

        import psutil

        if self._pid is not None:
            try:
                return [psutil.Process(self._pid)]
            except psutil.NoSuchProcess:
                return []
        found = []
        assert self._pattern is not None
        # A launcher that names the program in its arguments is no root, nor is this process.
        excluded = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
        for process in psutil.process_iter(["pid", "cmdline"]):
            words = process.info["cmdline"] or []
            if process.info["pid"] not in excluded and self._pattern.search(" ".join(words)):
                found.append(process)
        return found


class _ProcessTree:
    """CPU time and memory of roots and their descendants, keeping what ended ones had used."""

    def __init__(self, find) -> None:
        self._find = find
        self._roots: list = []
        self._next_scan = 0.0
        # psutil.Process compares by pid and start time, so a reused pid is another process.
        self._first: dict = {}
        self._last: dict = {}

    def sample(self) -> tuple[float, int, int]:
        """Return CPU seconds since the first sight, resident bytes, and processes alive."""
        import psutil

        now = time.monotonic()
        if now >= self._next_scan:
            self._roots, self._next_scan = self._find(), now + _RESCAN_S
        alive: set = set()
        for root in self._roots:
            try:
                alive.add(root)
                alive.update(root.children(recursive=True))
            except psutil.Error:
                continue
        rss, n = 0, 0
        for process in alive:
            try:
                with process.oneshot():
                    times, memory = process.cpu_times(), process.memory_info().rss
            except psutil.Error:
                continue
            used = times.user + times.system
            self._first.setdefault(process, used)
            self._last[process] = used
            rss, n = rss + memory, n + 1
        cpu = sum(used - self._first[process] for process, used in self._last.items())
        return float(cpu), int(rss), n
