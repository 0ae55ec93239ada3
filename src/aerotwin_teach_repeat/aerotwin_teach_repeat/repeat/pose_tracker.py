# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Pose estimate of the vehicle: odometry from scan to scan, corrected by localisation."""

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aerotwin_core.frames import FloatArray, invert_transform
from aerotwin_core.time import to_seconds
from aerotwin_teach_repeat.localization.localizer import ScanLocalization, SubmapLocalizer
from aerotwin_teach_repeat.localization.odometry import (
    ScanOdometry,
    ScanOdometryFrame,
    T_begin_end,
    twist_between,
)
from aerotwin_teach_repeat.repeat.parameters import RepeatParameters
from aerotwin_teach_repeat.route_graph import distance_and_angle

Twist = tuple[float, float]
"""Speed along x [m/s], turn rate about z [rad/s]."""
FEW_POINTS = 100
"""A scan of fewer points is no evidence for or against a pose."""
RECKONED_SHARE = 0.2
"""Relative error of dead reckoning: skidding wheels turn up to 15 % less, or more."""
FIT_SHARE = 0.9
"""A scan whose matched ratio is below this fraction of the usual one fits worse than before."""
MEMORY_SCANS = 20.0
"""The usual ratio is that of the last two seconds."""


@dataclass(frozen=True, kw_only=True)
class DeadReckoning:
    """Dead reckoning since the last confirmed pose, against which doubtful scans are checked.

    `T_map_base` (4, 4) is the predicted pose, None without a confirmed one; `way_m` and `turn_rad`
    are distance and rotation since then; `usual_ratio` is the usual matched fraction of a scan.
    """

    T_map_base: FloatArray | None = None
    way_m: float = 0.0
    turn_rad: float = 0.0
    usual_ratio: float = 0.0

    def sure(self, T_map_base: FloatArray, ratio: float) -> "DeadReckoning":
        """Return it reset to a confirmed pose, with the fraction of the scan on the map there."""
        keep = math.exp(-1.0 / MEMORY_SCANS) if self.T_map_base is not None else 0.0
        usual = keep * self.usual_ratio + (1.0 - keep) * ratio
        return DeadReckoning(T_map_base=T_map_base, usual_ratio=usual)

    def moved(self, T_before_now: FloatArray) -> "DeadReckoning":
        """Return it after a motion."""
        if self.T_map_base is None:
            return self
        way_m, turn_rad = distance_and_angle(np.eye(4), T_before_now)
        return dataclasses.replace(
            self, T_map_base=self.T_map_base @ T_before_now, way_m=self.way_m + way_m,
            turn_rad=self.turn_rad + turn_rad,
        )  # fmt: skip

    def agrees(self, T_map_base: FloatArray, ratio: float, shift_m: float, turn_rad: float) -> bool:
        """Return whether a scan matches as well as before, at the predicted pose.

        `T_map_base` is the pose that was found, `ratio` the fraction of the scan on the map there;
        `shift_m` and `turn_rad` are tolerances on top of the motion's own error.
        """
        if self.T_map_base is None:
            return False
        shift, turn = distance_and_angle(self.T_map_base, T_map_base)
        return (
            shift <= shift_m + RECKONED_SHARE * self.way_m
            and turn <= turn_rad + RECKONED_SHARE * self.turn_rad
            and ratio >= FIT_SHARE * self.usual_ratio
        )


@dataclass(frozen=True, kw_only=True)
class LocalizationFix:
    """Localisation of one scan, with the localiser's message and the vertex where it was found.

    `jump_m`, `jump_rad` are the difference from the previous estimate, infinite without one.
    """

    is_localised: bool
    reason: str
    vertex_id: int | None = None
    jump_m: float = math.inf
    jump_rad: float = math.inf


class PoseTracker:
    """Tracks the estimated pose; integrates the distance driven on odometry alone.

    A scan that is not continuous with the previous ones may be of another place. Its localisation
    is accepted only if it agrees with dead reckoning and matches as well as before; after
    `n_breaks` such scans in a row without agreement the pose is unknown. `twist` is the last
    measured speed and turn rate [m/s, rad/s].
    """

    def __init__(
        self, odometry: ScanOdometry, localizer: SubmapLocalizer, parameters: RepeatParameters
    ) -> None:
        self._odometry, self._localizer, self._parameters = odometry, localizer, parameters
        self._n_broken = 0
        self._T_odom_base: FloatArray | None = None
        self._scan_ns: int | None = None
        self._now_ns, self._T_scan_now = 0, np.eye(4)
        self.twist: Twist = (0.0, 0.0)
        self._wheel_twist: Twist | None = None
        self.forget()

    def forget(self) -> None:
        """Clear the estimate: the vehicle may be anywhere on the route."""
        self._T_map_scan: FloatArray | None = None
        self._reckoned = DeadReckoning()
        self._blind_m = self._since_m = 0.0

    def place(self, vertex_id: int, T_map_vertex: FloatArray, T_vertex_base: ArrayLike) -> None:
        """Set the estimate to a pose from outside."""
        self.forget()
        T = np.asarray(T_vertex_base, dtype=np.float64)
        self._T_map_scan = T_map_vertex @ T
        self._localizer.reset(vertex_id, T)

    @property
    def T_map_base(self) -> FloatArray | None:
        """The estimate (4, 4); None before the vehicle was placed or found."""
        return None if self._T_map_scan is None else self._T_map_scan @ self._T_scan_now

    @property
    def speed_m_s(self) -> float:
        """Speed [m/s]: from the wheels if available, which no scan can corrupt, else odometry."""
        return abs((self._wheel_twist or self.twist)[0])

    @property
    def blind_m(self) -> float:
        """Distance since the last accepted localisation [m]."""
        return self._blind_m + self._since_m

    def add_scan(
        self,
        points_base: NDArray[Any],
        times_s: NDArray[Any],
        stamp_ns: int,
        wheel_twist: Twist | None,
        *,
        everywhere: bool,
    ) -> LocalizationFix:
        """Move the estimate by odometry and correct it by localisation, near it or `everywhere`.

        After a gap in the scans the odometry receives the mean twist over the gap. An unknown pose
        is searched only with `everywhere`.
        """
        self._wheel_twist = wheel_twist
        hint = None if wheel_twist is None else np.array(wheel_twist)
        if self._scan_ns is not None and self._now_ns != self._scan_ns:
            self.extrapolate(stamp_ns, wheel_twist)
            duration_s = to_seconds(stamp_ns - self._scan_ns)
            if duration_s > 0.0:
                hint = twist_between(np.eye(4), self._T_scan_now, duration_s)
        try:
            step = self._odometry.add(points_base, times_s, stamp_ns, hint)
        except ValueError as error:
            self.extrapolate(stamp_ns, wheel_twist)
            return LocalizationFix(is_localised=False, reason=f"the scan cannot be used: {error}")
        self._move(step, stamp_ns)
        self._count(step)
        if everywhere:
            return self._accept(self._localizer.relocalize(step.points_base), step, is_sure=True)
        if self._T_map_scan is None:
            return LocalizationFix(is_localised=False, reason="its place is not known")
        found = self._localizer.localize(
            step.points_base, stamp_ns, step.T_odom_base, step.covariance
        )
        return self._accept(found, step, is_sure=step.accepted)

    def extrapolate(self, stamp_ns: int, wheel_twist: Twist | None) -> None:
        """Move the estimate to a stamp without a scan: by the wheels, or at the last twist."""
        self._wheel_twist = wheel_twist
        if self._scan_ns is None:
            return
        self.twist = self.twist if wheel_twist is None else wheel_twist
        dt = to_seconds(stamp_ns - self._now_ns)
        twist = np.array([self.twist[0], 0.0, 0.0, 0.0, 0.0, self.twist[1]])
        self._T_scan_now = self._T_scan_now @ T_begin_end(twist, dt)
        self._since_m += abs(self.twist[0] * dt)
        self._now_ns = stamp_ns

    def _move(self, step: ScanOdometryFrame, stamp_ns: int) -> None:
        """Apply the motion since the last scan, in place of the extrapolation."""
        if self._T_odom_base is not None:
            T_before_now = invert_transform(self._T_odom_base) @ step.T_odom_base
            if self._T_map_scan is not None:
                self._T_map_scan = self._T_map_scan @ T_before_now
                self._reckoned = self._reckoned.moved(T_before_now)
            self._blind_m += max(float(np.linalg.norm(T_before_now[:3, 3])), self._since_m)
        self._T_odom_base, self._T_scan_now, self._since_m = step.T_odom_base, np.eye(4), 0.0
        self.twist = (float(step.twist[0]), float(step.twist[5]))
        self._scan_ns = self._now_ns = stamp_ns

    def _count(self, step: ScanOdometryFrame) -> None:
        """Count scans that are not continuous; the odometry's map is of no use then."""
        if step.accepted:
            self._n_broken = 0
        elif len(step.points_base) >= FEW_POINTS:
            self._n_broken += 1
        if self._n_broken >= self._parameters.n_breaks:
            self._odometry.restart()

    def _accept(
        self, found: ScanLocalization, step: ScanOdometryFrame, *, is_sure: bool
    ) -> LocalizationFix:
        """Accept a localisation; if it is not sure, only where it agrees with dead reckoning."""
        T_map_base = np.asarray(found.T_map_base, dtype=np.float64)
        if not found.accepted or not np.isfinite(T_map_base).all():
            return self._doubt(step, found.reason)
        p, ratio = self._parameters, found.matched_ratio
        if not is_sure and not self._reckoned.agrees(
            T_map_base, ratio, p.agreement_m, math.radians(p.agreement_deg)
        ):
            # The localiser starts again from the estimated pose.
            assert self._T_map_scan is not None
            T_vertex_map = found.T_vertex_base @ invert_transform(found.T_map_base)
            self._localizer.reset(found.vertex_id, T_vertex_map @ self._T_map_scan)
            return self._doubt(step, f"the scan does not continue the way: {step.reason}")
        jump_m = jump_rad = math.inf
        if self._T_map_scan is not None:
            jump_m, jump_rad = distance_and_angle(self._T_map_scan, T_map_base)
        self._T_map_scan, self._blind_m = T_map_base, 0.0
        if is_sure:
            self._reckoned = self._reckoned.sure(T_map_base, ratio)
        return LocalizationFix(
            is_localised=True, reason=found.reason, vertex_id=found.vertex_id, jump_m=jump_m,
            jump_rad=jump_rad,
        )  # fmt: skip

    def _doubt(self, step: ScanOdometryFrame, reason: str) -> LocalizationFix:
        """Drop the estimate after `n_breaks` scans in a row that match nowhere."""
        if self._n_broken >= self._parameters.n_breaks:
            self._T_map_scan, self._n_broken = None, 0
            reason = f"scans do not continue the way, it may have been carried away: {step.reason}"
        return LocalizationFix(is_localised=False, reason=reason)
