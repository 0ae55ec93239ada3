# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Pose estimate of the vehicle: odometry from scan to scan, corrected by localisation."""

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aerotwin_core.frames import FloatArray, invert_transform
from aerotwin_core.time import to_seconds
from aerotwin_teach_repeat.localization.motion import T_begin_end, twist_between
from aerotwin_teach_repeat.repeat.dead_reckoning import DeadReckoning, between
from aerotwin_teach_repeat.repeat.parameters import RepeatParameters

Twist = tuple[float, float]
"""Speed along x [m/s], turn rate about z [rad/s]."""
FEW_POINTS = 100
"""A scan of fewer points is no evidence for or against a pose."""


class OdometryStep(Protocol):
    """Odometry result of a scan, as `aerotwin_teach_repeat.localization.OdometryFrame`."""

    @property
    def T_odom_base(self) -> FloatArray:
        """Pose (4, 4) at the stamp."""

    @property
    def twist(self) -> FloatArray:
        """Linear and angular velocity (6,) in axes of the base [m/s, rad/s]."""

    @property
    def covariance(self) -> FloatArray:
        """Of position, then rotation vector (6, 6), in odom axes [m, rad]."""

    @property
    def points_base(self) -> NDArray[Any]:
        """The deskewed scan (n, 3) [m]."""

    @property
    def accepted(self) -> bool:
        """Whether the scan is continuous with the previous ones."""

    @property
    def reason(self) -> str:
        """Why or why not."""


class Odometry(Protocol):
    """Motion from scan to scan, as `aerotwin_teach_repeat.localization.ScanOdometry`."""

    def add(
        self,
        points_base: NDArray[Any],
        times_s: NDArray[Any],
        stamp_ns: int,
        wheel_twist: FloatArray | None = None,
    ) -> OdometryStep:
        """Return the pose at the stamp, and the deskewed scan."""

    def restart(self) -> None:
        """Clear the map: the next scan is placed by the motion alone."""


class RouteLocalization(Protocol):
    """Localisation result of a scan, as `aerotwin_teach_repeat.localization.Localization`."""

    @property
    def T_map_base(self) -> FloatArray:
        """Pose (4, 4) in the frame of the route."""

    @property
    def vertex_id(self) -> int:
        """The nearest vertex of the route."""

    @property
    def T_vertex_base(self) -> FloatArray:
        """Pose (4, 4) in the frame of that vertex."""

    @property
    def matched_ratio(self) -> float:
        """Fraction of the scan that lies on the submap."""

    @property
    def accepted(self) -> bool:
        """Whether the scan was localised."""

    @property
    def reason(self) -> str:
        """Why or why not."""


class RouteLocalizer(Protocol):
    """Localisation in the submaps of a route, as `aerotwin_teach_repeat.localization.Localizer`."""

    def localize(
        self, points_base: NDArray[Any], stamp_ns: int, T_odom_base: FloatArray,
        odom_covariance: FloatArray,
    ) -> RouteLocalization:  # fmt: skip
        """Return the pose near the previous one, moved by odometry."""

    def relocalize(self, points_base: NDArray[Any]) -> RouteLocalization:
        """Return the pose, searched on the whole route."""

    def reset(self, vertex_id: int, T_vertex_base: FloatArray) -> None:
        """Set the present pose."""


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
    `n_breaks` such scans in a row without agreement the pose is unknown.

    `twist` is the last measured speed and turn rate [m/s, rad/s].
    """

    def __init__(
        self, odometry: Odometry, localizer: RouteLocalizer, parameters: RepeatParameters
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
        self._T_scan_now = self._T_scan_now @ T_begin_end(_six(self.twist), dt)
        self._since_m += abs(self.twist[0] * dt)
        self._now_ns = stamp_ns

    def _move(self, step: OdometryStep, stamp_ns: int) -> None:
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

    def _count(self, step: OdometryStep) -> None:
        """Count scans that are not continuous; the odometry's map is of no use then."""
        if step.accepted:
            self._n_broken = 0
        elif len(step.points_base) >= FEW_POINTS:
            self._n_broken += 1
        if self._n_broken >= self._parameters.n_breaks:
            self._odometry.restart()

    def _accept(
        self, found: RouteLocalization, step: OdometryStep, *, is_sure: bool
    ) -> LocalizationFix:
        """Accept a localisation; if it is not sure, only where it agrees with dead reckoning."""
        T_map_base = np.asarray(found.T_map_base, dtype=np.float64)
        if not found.accepted or not np.isfinite(T_map_base).all():
            return self._doubt(step, found.reason)
        p, ratio = self._parameters, found.matched_ratio
        if not is_sure and not self._reckoned.agrees(
            T_map_base, ratio, p.agreement_m, math.radians(p.agreement_deg)
        ):
            self._refuse(found)
            return self._doubt(step, f"the scan does not continue the way: {step.reason}")
        jump_m = jump_rad = math.inf
        if self._T_map_scan is not None:
            jump_m, jump_rad = between(self._T_map_scan, T_map_base)
        self._T_map_scan, self._blind_m = T_map_base, 0.0
        if is_sure:
            self._reckoned = self._reckoned.sure(T_map_base, ratio)
        return LocalizationFix(
            is_localised=True, reason=found.reason, vertex_id=found.vertex_id, jump_m=jump_m,
            jump_rad=jump_rad,
        )  # fmt: skip

    def _refuse(self, found: RouteLocalization) -> None:
        """Reset the localiser to the estimated pose."""
        assert self._T_map_scan is not None
        T_vertex_map = found.T_vertex_base @ invert_transform(found.T_map_base)
        self._localizer.reset(found.vertex_id, T_vertex_map @ self._T_map_scan)

    def _doubt(self, step: OdometryStep, reason: str) -> LocalizationFix:
        """Drop the estimate after `n_breaks` scans in a row that match nowhere."""
        if self._n_broken >= self._parameters.n_breaks:
            self._T_map_scan, self._n_broken = None, 0
            reason = f"scans do not continue the way, it may have been carried away: {step.reason}"
        return LocalizationFix(is_localised=False, reason=reason)


def _six(twist: Twist) -> FloatArray:
    """Return (vx, vy, vz, wx, wy, wz) of a planar twist."""
    return np.array([twist[0], 0.0, 0.0, 0.0, 0.0, twist[1]])
