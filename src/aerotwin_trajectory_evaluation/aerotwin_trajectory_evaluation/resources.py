# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Resource use of a program over time: CPU, memory, threads, I/O, and the latency of its output."""

import math
import os
import re
import threading
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from aerotwin_trajectory_evaluation.process_tree import (
    ProcessTree,
    TreeSample,
    ancestors,
    command_lines,
)

INTERVAL_S = 0.095
"""Between samples [s]: a little more than 10 Hz, so that a late sample leaves 10 Hz."""
_EARLY_S, _EARLY_INTERVAL_S = 1.0, 0.02
"""In its first second a program grows, or is over: it is sampled more often."""
_MIN_ALIVE_S = 0.1
"""A program that was seen for less has no measured memory."""


@dataclass(frozen=True, kw_only=True)
class ResourceUsage:
    """Samples over wall time since the start of recording.

    Attributes
    ----------
    time_s, cpu_s : (n,) arrays
        Time of the sample, and CPU time since the first one of all processes of the tree, including
        those that have ended [s].
    rss_bytes, pss_bytes, peak_bytes, read_bytes, write_bytes, n_threads, n_processes : (n,) arrays
        As in `TreeSample`.
    frame_time_s, latency_s, frame_stamps_ns : (m,) arrays
        For each output of the program: its arrival, its delay after the input [s, wall], and the
        stamp of that input [ns].
    overhead : float
        CPU time of the recording itself by wall time: 0.01 is one per cent of a core.
    """

    time_s: np.ndarray
    cpu_s: np.ndarray
    rss_bytes: np.ndarray
    pss_bytes: np.ndarray
    peak_bytes: np.ndarray
    read_bytes: np.ndarray
    write_bytes: np.ndarray
    n_threads: np.ndarray
    n_processes: np.ndarray
    frame_time_s: np.ndarray
    latency_s: np.ndarray
    frame_stamps_ns: np.ndarray
    overhead: float = 0.0

    @property
    def duration_s(self) -> float:
        """Wall time recorded [s]."""
        return float(self.time_s[-1] - self.time_s[0]) if len(self.time_s) > 1 else 0.0

    @property
    def alive_s(self) -> float:
        """Wall time from the first to the last sample that found a process [s]."""
        alive = self.time_s[self.n_processes > 0]
        return float(alive[-1] - alive[0]) if len(alive) else 0.0

    @property
    def busy_cores(self) -> np.ndarray:
        """CPU time by wall time between samples, (n - 1,)."""
        return np.diff(self.cpu_s) / np.maximum(np.diff(self.time_s), 1e-6)

    def stamps_ns(self) -> np.ndarray | None:
        """Return the recorded time of the data at each sample, (n,) [ns].

        Interpolated between outputs and held beyond them; None with fewer than two outputs.
        """
        if len(self.frame_stamps_ns) < 2:
            return None
        first = int(self.frame_stamps_ns[0])
        since = np.interp(self.time_s, self.frame_time_s, self.frame_stamps_ns - first)
        return first + np.round(since).astype(np.int64)

    def metrics(
        self, *, n_frames: int | None = None, simulated_s: float | None = None
    ) -> dict[str, Any]:
        """Return the numbers for JSON.

        CPU time is also divided by `n_frames` input frames (default: the outputs counted by
        `frame_done`); simulated time `simulated_s` that passed [s] gives the real-time factor.
        """
        n_frames = len(self.latency_s) if n_frames is None else n_frames
        cpu = float(self.cpu_s[-1]) if len(self.cpu_s) else 0.0
        duration = self.duration_s
        is_long = self.alive_s >= _MIN_ALIVE_S
        resident = np.fmax(self.rss_bytes, self.peak_bytes) if is_long else np.full(1, np.nan)
        shared = self.pss_bytes if is_long else resident
        return {
            "wall_s": duration,
            "n_samples": len(self.time_s),
            "cpu_s": cpu,
            "cpu_s_per_frame": cpu / n_frames if n_frames else None,
            "cpu_cores_mean": cpu / duration if duration else None,
            "cpu_cores_max": _over_known(np.max, self.busy_cores),
            "rss_bytes_mean": _over_known(np.mean, self.rss_bytes) if is_long else None,
            "rss_bytes_max": _over_known(np.max, resident),
            "pss_bytes_mean": _over_known(np.mean, shared),
            "pss_bytes_max": _over_known(np.max, shared),
            "n_threads_max": _over_known(np.max, self.n_threads),
            "read_bytes": _over_known(np.max, self.read_bytes),
            "write_bytes": _over_known(np.max, self.write_bytes),
            "sample_rate_hz": (len(self.time_s) - 1) / duration if duration else None,
            "overhead": self.overhead,
            "n_frames": n_frames,
            "latency_s": _quantiles(self.latency_s),
            "real_time_factor": simulated_s / duration if simulated_s and duration else None,
        }


def _over_known(summary, values: np.ndarray) -> float | None:
    known = values[np.isfinite(values)]
    return float(summary(known)) if len(known) else None


def _quantiles(values: np.ndarray) -> dict[str, float] | None:
    if len(values) == 0:
        return None
    return {
        "mean": float(values.mean()),
        "median": float(np.median(values)),
        "p95": float(np.quantile(values, 0.95)),
        "max": float(values.max()),
    }


def next_due(due_s: float, now_s: float, interval_s: float) -> float:
    """Return when the next sample is due: on the grid of the first, however long a sample took.

    Samples missed on a busy machine are skipped.
    """
    missed = max(math.floor((now_s - due_s) / interval_s), 0)
    return due_s + (missed + 1) * interval_s


class ResourceRecorder:
    """Samples a process tree in its own thread until `stop`.

    Exactly one of `pid`, `pattern` and `node` selects it: the PID of the root; a regular expression
    searched in command lines, where all that match are roots except this process and its ancestors;
    or the name of a ROS 2 node as in a launch file. Samples are `interval_s` apart [s].

    Examples
    --------
    >>> import os, time
    >>> with ResourceRecorder(pid=os.getpid(), interval_s=0.02) as recorder:
    ...     time.sleep(0.1)
    >>> recorder.usage.duration_s > 0
    True
    """

    def __init__(
        self,
        *,
        pid: int | None = None,
        pattern: str | None = None,
        node: str | None = None,
        interval_s: float = INTERVAL_S,
    ) -> None:
        if [pid, pattern, node].count(None) != 2:
            raise ValueError("give exactly one of pid, pattern and node")
        if not interval_s > 0.0:
            raise ValueError(f"interval_s must be positive, got {interval_s}")
        if node is not None:
            pattern = rf"__node:={re.escape(node)}(\s|$)"
        self._pid = pid
        try:
            self._pattern = re.compile(pattern) if pattern is not None else None
        except re.error as error:
            raise ValueError(f"pattern {pattern!r} is no regular expression: {error}") from error
        self._interval = interval_s
        self._samples: list[tuple[float, TreeSample]] = []
        self._frames: list[tuple[float, float, int]] = []
        self._tree = ProcessTree(self._find)
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._start = time.monotonic()
        self._own_cpu_s = 0.0
        self._was_seen = False

    def start(self) -> "ResourceRecorder":
        """Record the first sample, then continue in a thread."""
        self._start = time.monotonic()
        self._sample()
        self._thread = threading.Thread(target=self._run, name="resources", daemon=True)
        self._thread.start()
        return self

    def stop(self) -> ResourceUsage:
        """End sampling and return the usage."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        return self.usage

    def frame_done(self, latency_s: float, stamp_ns: int) -> None:
        """Record an output of the program: latency after its input, and the stamp of that input."""
        self._frames.append((time.monotonic() - self._start, latency_s, stamp_ns))

    @property
    def was_seen(self) -> bool:
        """Whether any process of the tree was ever found alive."""
        return self._was_seen

    @property
    def n_alive(self) -> int:
        """Processes alive at the last sample; 0 before there is one."""
        return self._samples[-1][1].n_processes if self._samples else 0

    @property
    def usage(self) -> ResourceUsage:
        """Usage recorded so far."""
        samples, frames = list(self._samples), list(self._frames)
        duration = samples[-1][0] if samples else 0.0

        def column(name: str, kind: type) -> np.ndarray:
            return np.array([getattr(sample, name) for _, sample in samples], dtype=kind)

        return ResourceUsage(
            time_s=np.array([t for t, _ in samples], dtype=np.float64),
            cpu_s=column("cpu_s", float),
            rss_bytes=column("rss_bytes", np.int64),
            pss_bytes=column("pss_bytes", float),
            peak_bytes=column("peak_bytes", float),
            read_bytes=column("read_bytes", float),
            write_bytes=column("write_bytes", float),
            n_threads=column("n_threads", np.int64),
            n_processes=column("n_processes", np.int64),
            frame_time_s=np.array([f[0] for f in frames], dtype=np.float64),
            latency_s=np.array([f[1] for f in frames], dtype=np.float64),
            frame_stamps_ns=np.array([f[2] for f in frames], dtype=np.int64),
            overhead=self._own_cpu_s / duration if duration else 0.0,
        )

    def __enter__(self) -> "ResourceRecorder":
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _run(self) -> None:
        due = self._start + min(self._interval, _EARLY_INTERVAL_S)
        while not self._ended.wait(max(due - time.monotonic(), 0.0)):
            self._sample()
            self._own_cpu_s = time.thread_time()
            now_s = time.monotonic()
            is_early = now_s - self._start < _EARLY_S
            interval_s = min(self._interval, _EARLY_INTERVAL_S) if is_early else self._interval
            due = next_due(due, now_s, interval_s)

    def _sample(self) -> None:
        sample = self._tree.sample()
        self._samples.append((time.monotonic() - self._start, sample))
        self._was_seen = self._was_seen or sample.n_processes > 0

    def _find(self) -> list[int]:
        if self._pid is not None:
            return [self._pid]
        assert self._pattern is not None
        # A launcher that names the program in its arguments is not a root, nor is this process.
        excluded = ancestors(os.getpid())
        return [
            pid
            for pid, tokens in command_lines().items()
            if pid not in excluded and self._pattern.search(tokens)
        ]
