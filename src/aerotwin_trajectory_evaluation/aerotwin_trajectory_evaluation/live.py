# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""An evaluation updated during a flight, as poses are published."""

import bisect
import math
import threading
from collections import deque
from dataclasses import dataclass, field

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.protocol import Protocol
from aerotwin_core.rigid_motion import rotation_svd
from aerotwin_core.trajectory import QUATERNION_NORMS, Trajectory
from aerotwin_trajectory_evaluation.protocol import TrajectoryProtocol


class RunningErrors:
    """Running errors of pairs of true and estimated poses of one stamp, added in order.

    The first pair joins the estimate's frame to the truth's; unaligned errors are those after it.
    Relative errors are taken over `rpe_m` of the estimate's path [m].
    """

    def __init__(self, *, rpe_m: float = 1.0) -> None:
        self._rpe_m = rpe_m
        self._joined: tuple[np.ndarray, np.ndarray] | None = None
        self._anchor: tuple[np.ndarray, np.ndarray] | None = None
        self._last: tuple[np.ndarray, np.ndarray] | None = None
        self._since_anchor_m = 0.0
        # About the first pair, so that large coordinates lose no digits.
        self._sum = np.zeros((2, 3))
        self._sum_squares = np.zeros(2)
        self._products = np.zeros((3, 3))
        self._unaligned = _Mean()
        self._metre = _Mean()
        self._frame = _Mean()
        self.n = 0
        self.path_m = 0.0
        self.error_m = 0.0
        self.worst_m = 0.0

    def add(
        self, p_true: np.ndarray, q_true: np.ndarray, p_estimate: np.ndarray, q_estimate: np.ndarray
    ) -> None:
        """Add a pair: positions (3,) [m] and quaternions xyzw (4,)."""
        truth, estimate = _pose(p_true, q_true), _pose(p_estimate, q_estimate)
        if self._joined is None or self._last is None:
            self._joined = self._anchor = truth, estimate
        else:
            self._add_step(self._last, (truth, estimate))
        first_truth, first_estimate = self._joined
        provided = first_truth @ np.linalg.inv(first_estimate) @ estimate
        self.error_m = float(np.linalg.norm(provided[:3, 3] - truth[:3, 3]))
        self.worst_m = max(self.worst_m, self.error_m)
        self._unaligned.add(self.error_m)
        a, b = truth[:3, 3] - first_truth[:3, 3], estimate[:3, 3] - first_estimate[:3, 3]
        self._sum += (a, b)
        self._sum_squares += (a @ a, b @ b)
        self._products += np.outer(a, b)
        self._last = truth, estimate
        self.n += 1

    def _add_step(self, before: tuple, now: tuple) -> None:
        self._frame.add(_relative_error_m(before, now))
        self.path_m += float(np.linalg.norm(now[0][:3, 3] - before[0][:3, 3]))
        self._since_anchor_m += float(np.linalg.norm(now[1][:3, 3] - before[1][:3, 3]))
        if self._since_anchor_m >= self._rpe_m:
            assert self._anchor is not None
            self._metre.add(_relative_error_m(self._anchor, now))
            self._anchor, self._since_anchor_m = now, 0.0

    @property
    def ape_m(self) -> float | None:
        """RMS distance to truth, with the first poses joined [m]; None before the first pair."""
        return self._unaligned.rms

    @property
    def ape_aligned_m(self) -> float | None:
        """RMS distance after the best shift and rotation [m]; None before the first pair."""
        if self.n == 0:
            return None
        mean = self._sum / self.n
        variances = self._sum_squares / self.n - np.sum(mean**2, axis=1)
        covariance = self._products / self.n - np.outer(mean[0], mean[1])
        spread = rotation_svd(covariance)[1]
        return math.sqrt(max(0.0, float(variances.sum() - 2.0 * spread.sum())))

    @property
    def rpe_m(self) -> float | None:
        """RMS relative error over consecutive stretches of the path [m]."""
        return self._metre.rms

    @property
    def rpe_frame_m(self) -> float | None:
        """RMS relative error from one pose to the next [m]."""
        return self._frame.rms


class _Mean:
    """A growing mean of squares."""

    def __init__(self) -> None:
        self.n, self._sum = 0, 0.0

    def add(self, value: float) -> None:
        self.n += 1
        self._sum += value * value

    @property
    def rms(self) -> float | None:
        return math.sqrt(self._sum / self.n) if self.n else None


def _pose(p: np.ndarray, q_xyzw: np.ndarray) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3] = Rotation.from_quat(q_xyzw).as_matrix()
    T[:3, 3] = p
    return T


def _relative_error_m(before: tuple, now: tuple) -> float:
    """Return the difference of two steps, each seen from its own start [m] (Sturm et al. 2012)."""
    steps = [a[:3, :3].T @ (b[:3, 3] - a[:3, 3]) for a, b in zip(before, now, strict=True)]
    return float(np.linalg.norm(steps[1] - steps[0]))


LOST_VARIANCE_M2 = 1e3
"""A pose whose reported position variance is larger is a frame that was not tracked."""
_OK, _WARN = 0, 1  # levels of diagnostic_msgs/DiagnosticStatus
_N_LATENCIES = 2000
# With a larger share of estimates without truth at their stamps the flight is not scored.
_MOST_UNPAIRED = 0.1


@dataclass(frozen=True)
class StampedPose:
    """One message: stamp [ns], position (3,) [m], quaternion xyzw (4,)."""

    stamp_ns: int
    p: tuple[float, float, float]
    q: tuple[float, float, float, float]

    @property
    def is_pose(self) -> bool:
        """Whether the numbers are finite and the quaternion has a direction."""
        least, largest = QUATERNION_NORMS
        return all(map(math.isfinite, self.p)) and least <= math.hypot(*self.q) <= largest


@dataclass
class _Track:
    """Poses in order of their stamps."""

    stamps: list[int] = field(default_factory=list)
    rows: list[tuple[float, ...]] = field(default_factory=list)

    def add(self, pose: StampedPose) -> bool:
        if not pose.is_pose or (self.stamps and pose.stamp_ns <= self.stamps[-1]):
            return False
        self.stamps.append(pose.stamp_ns)
        self.rows.append((*pose.p, *pose.q))
        return True

    def trajectory(self) -> Trajectory:
        table = np.array(self.rows, dtype=np.float64).reshape(-1, 7)
        return Trajectory(np.array(self.stamps, dtype=np.int64), table[:, :3], table[:, 3:])


@dataclass(frozen=True, kw_only=True)
class LiveSnapshot:
    """All data received up to a moment.

    `points` (n, 3) is the newest map, in the estimate's frame [m]; `values` are the running scores,
    None where there is none yet.
    """

    truth: Trajectory
    estimate: Trajectory
    points: np.ndarray | None
    values: dict[str, float | None]


class LiveEvaluation:
    """Computes running errors of estimated against true poses.

    Poses may be added by one thread and snapshots taken by another. The running scores use `rpe_m`,
    `lost_m`, `lost_percent` and `silence_s` of the protocol, and interpolate gaps of the truth up
    to `max_gap_s` [s].
    """

    def __init__(self, protocol: Protocol[TrajectoryProtocol], *, max_gap_s: float = 0.1) -> None:
        self._protocol, self._max_gap_ns = protocol, round(max_gap_s * 1e9)
        self._errors = RunningErrors(rpe_m=protocol.choices.rpe_m)
        self._truth, self._estimate = _Track(), _Track()
        self._n_paired = 0  # number of the estimate's poses already processed
        self._covered_ns = 0
        self._latencies: deque[float] = deque(maxlen=_N_LATENCIES)
        self._map: np.ndarray | None = None
        self._lock = threading.Lock()
        self.n_reported_lost = self.n_left_out = self.n_unpaired = 0

    def add_truth(self, pose: StampedPose) -> None:
        """Add a true pose."""
        with self._lock:
            self.n_left_out += not self._truth.add(pose)
            self._pair()

    def add_estimate(
        self, pose: StampedPose, *, variance_m2: float = 0.0, latency_s: float | None = None
    ) -> None:
        """Add an estimated pose, its reported variance, and its age at arrival [s]."""
        with self._lock:
            if latency_s is not None:
                self._latencies.append(latency_s)
            if not variance_m2 <= LOST_VARIANCE_M2:
                self.n_reported_lost += 1
                return
            before = self._estimate.stamps[-1] if self._estimate.stamps else pose.stamp_ns
            if not self._estimate.add(pose):
                self.n_left_out += 1
                return
            if pose.stamp_ns - before <= self._protocol.choices.silence_s * 1e9:
                self._covered_ns += pose.stamp_ns - before
            self._pair()

    def set_map(self, points: np.ndarray) -> None:
        """Set the newest map (n, 3), in the estimate's frame [m]."""
        with self._lock:
            self._map = points

    def _pair(self) -> None:
        """Pair the estimates whose stamps the truth has reached."""
        stamps, rows = self._truth.stamps, self._truth.rows
        while self._n_paired < len(self._estimate.stamps) and stamps:
            stamp = self._estimate.stamps[self._n_paired]
            if stamp > stamps[-1]:
                return
            row = self._estimate.rows[self._n_paired]
            self._n_paired += 1
            after = bisect.bisect_left(stamps, stamp)
            before = after if stamps[after] == stamp else after - 1
            if before < 0 or stamps[after] - stamps[before] > self._max_gap_ns:
                self.n_unpaired += 1
                continue
            p, q = _between(stamps[before : after + 1], rows[before : after + 1], stamp)
            self._errors.add(p, q, np.array(row[:3]), np.array(row[3:]))

    @property
    def coverage(self) -> float | None:
        """Share of the truth's time with estimates; None before any time has passed."""
        stamps = self._truth.stamps
        if len(stamps) < 2:
            return None
        return min(1.0, self._covered_ns / (stamps[-1] - stamps[0]))

    def status(self) -> tuple[int, str, dict[str, str]]:
        """Return level, message and values for /diagnostics."""
        with self._lock:
            values = self._values()
            reason = self._problem()
        shown = {k: "not yet" if v is None else f"{v:.6g}" for k, v in values.items()}
        return (_WARN, reason, shown) if reason else (_OK, "tracking", shown)

    def _values(self) -> dict[str, float | None]:
        errors, latencies = self._errors, np.array(self._latencies)
        return {
            "n_truth": len(self._truth.stamps),
            "n_estimates": len(self._estimate.stamps),
            "n_pairs": errors.n,
            "n_unpaired": self.n_unpaired,
            "path_m": errors.path_m,
            "error_m": errors.error_m if errors.n else None,
            "ape_m": errors.ape_m,
            "ape_aligned_m": errors.ape_aligned_m,
            "ape_max_m": errors.worst_m if errors.n else None,
            "rpe_m": errors.rpe_m,
            "rpe_frame_m": errors.rpe_frame_m,
            "coverage": self.coverage,
            "latency_median_s": float(np.median(latencies)) if len(latencies) else None,
            "latency_p95_s": float(np.quantile(latencies, 0.95)) if len(latencies) else None,
            "n_reported_lost": self.n_reported_lost,
            "n_left_out": self.n_left_out,
            "n_map_points": None if self._map is None else len(self._map),
        }

    def _problem(self) -> str:
        choices, errors = self._protocol.choices, self._errors
        if not self._truth.stamps:
            return "waiting for truth"
        if not self._estimate.stamps:
            return "waiting for an estimate"
        silent_s = (self._truth.stamps[-1] - self._estimate.stamps[-1]) * 1e-9
        if silent_s > choices.silence_s:
            return f"no estimate for {silent_s:.1f} s"
        if unjudged := self._unjudged(-silent_s):
            return unjudged
        limit_m = max(choices.lost_m, choices.lost_percent / 100.0 * errors.path_m)
        if errors.error_m > limit_m:
            return f"lost: {errors.error_m:.2f} m from truth, more than {limit_m:.2f} m"
        if self.n_unpaired > _MOST_UNPAIRED * self._n_paired:
            return f"{self.n_unpaired} of {self._n_paired} estimates found no truth at their stamps"
        return ""

    def _unjudged(self, ahead_s: float) -> str:
        """Return why arriving estimates are not scored now; empty where they are."""
        if ahead_s > self._protocol.choices.silence_s:
            return f"no truth for {ahead_s:.1f} s of estimates: has it stopped, are the clocks one?"
        if self._errors.n == 0:
            n = len(self._estimate.stamps)
            return f"nothing judged yet: none of {n} estimates has truth at its stamp"
        return ""

    def snapshot(self) -> LiveSnapshot:
        """Return a copy of all data received so far."""
        with self._lock:
            return LiveSnapshot(
                truth=self._truth.trajectory(),
                estimate=self._estimate.trajectory(),
                points=self._map,
                values=self._values(),
            )


def _between(
    stamps: list[int], rows: list[tuple[float, ...]], stamp: int
) -> tuple[np.ndarray, np.ndarray]:
    if len(stamps) == 1:
        return np.array(rows[0][:3]), np.array(rows[0][3:])
    table = np.array(rows)
    track = Trajectory(np.array(stamps, dtype=np.int64), table[:, :3], table[:, 3:])
    at = track.interpolate(np.array([stamp]))
    return at.p_ref_body[0], at.q_ref_body[0]
