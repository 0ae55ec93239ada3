# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Where the vehicle is believed to be: odometry from scan to scan, corrected by localisation."""

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
"""A scan of fewer points says nothing of where the vehicle is, nor of where it is not."""


class OdometryStep(Protocol):
    """What an odometry says of a scan, as `aerotwin_teach_repeat.localization.OdometryFrame`."""

    @property
    def T_odom_base(self) -> FloatArray:
        """Pose (4, 4) at the stamp."""

    @property
    def twist(self) -> FloatArray:
        """Velocity and angular velocity (6,) in axes of the base [m/s, rad/s]."""

    @property
    def covariance(self) -> FloatArray:
        """Of position, then rotation vector (6, 6), in odom axes [m, rad]."""

    @property
    def points_base(self) -> NDArray[Any]:
        """The scan without its motion (n, 3) [m]."""

    @property
    def accepted(self) -> bool:
        """Whether the scan continues the way."""

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
        """Return the pose at the stamp, and the scan without its distortion."""

    def restart(self) -> None:
        """Forget what was seen on the way: the next scan is placed by the motion alone."""


class RouteLocalization(Protocol):
    """What a localiser says of a scan, as `aerotwin_teach_repeat.localization.Localization`."""

    @property
    def T_map_base(self) -> FloatArray:
        """Pose (4, 4) in the frame of the route."""

    @property
    def vertex_id(self) -> int:
        """The nearest vertex."""

    @property
    def T_vertex_base(self) -> FloatArray:
        """Pose (4, 4) in the frame of that vertex."""

    @property
    def matched_ratio(self) -> float:
        """Share of the scan that lies on the submap."""

    @property
    def accepted(self) -> bool:
        """Whether the scan was localised."""

    @property
    def reason(self) -> str:
        """Why or why not."""


class RouteLocalizer(Protocol):
    """Place in the submaps of a route, as `aerotwin_teach_repeat.localization.Localizer`."""

    def localize(
        self, points_base: NDArray[Any], stamp_ns: int, T_odom_base: FloatArray,
        odom_covariance: FloatArray,
    ) -> RouteLocalization:  # fmt: skip
        """Return the place near the one before, moved by odometry."""

    def relocalize(self, points_base: NDArray[Any]) -> RouteLocalization:
        """Return the place anywhere on the route."""

    def reset(self, vertex_id: int, T_vertex_base: FloatArray) -> None:
        """Take a place for the present one."""


@dataclass(frozen=True, kw_only=True)
class LocalizationFix:
    """What one scan said of the place.

    Attributes
    ----------
    is_localised : bool
        Whether the localisation was accepted.
    reason : str
        The localiser's words.
    vertex_id : int or None
        The vertex it was found at.
    jump_m, jump_rad : float
        Difference from what was believed before, infinite where nothing was.
    """

    is_localised: bool
    reason: str
    vertex_id: int | None = None
    jump_m: float = math.inf
    jump_rad: float = math.inf


class PoseTracker:
    """Keeps the believed pose; counts how far it was carried by odometry alone.

    A scan that does not continue the way may be of another place. Its localisation is believed only
    where motion leads as well and as much of it fits as before; after some in a row of which none
    is, the place is not known any more.

    Parameters
    ----------
    odometry : Odometry
        Motion from scan to scan.
    localizer : RouteLocalizer
        Place in the submaps.
    parameters : RepeatParameters
        When to give the place up, and what agrees.

    Attributes
    ----------
    twist : (float, float)
        Last measured speed and turn rate [m/s, rad/s].
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
        """Know no place: the vehicle may be anywhere on the route."""
        self._T_map_scan: FloatArray | None = None
        self._reckoned = DeadReckoning()
        self._blind_m = self._since_m = 0.0

    def place(self, vertex_id: int, T_map_vertex: FloatArray, T_vertex_base: ArrayLike) -> None:
        """Believe a place that somebody said."""
        self.forget()
        T = np.asarray(T_vertex_base, dtype=np.float64)
        self._T_map_scan = T_map_vertex @ T
        self._localizer.reset(vertex_id, T)

    @property
    def T_map_base(self) -> FloatArray | None:
        """The belief (4, 4); None before the vehicle was placed or found."""
        return None if self._T_map_scan is None else self._T_map_scan @ self._T_scan_now

    @property
    def speed_m_s(self) -> float:
        """How fast it is: by the wheels where they are read, which no scan can mislead [m/s]."""
        return abs((self._wheel_twist or self.twist)[0])

    @property
    def blind_m(self) -> float:
        """Way since the last accepted localisation [m]."""
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
        """Move the belief by odometry and correct it by localisation, here or on the whole route.

        After a silence of the lidar the odometry is told the mean twist of the way meanwhile.
        Where the place is not known it is sought only if everywhere is asked for.
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
        """Move the belief to a stamp without a scan: by the wheels, or at the last twist."""
        self._wheel_twist = wheel_twist
        if self._scan_ns is None:
            return
        self.twist = self.twist if wheel_twist is None else wheel_twist
        dt = to_seconds(stamp_ns - self._now_ns)
        self._T_scan_now = self._T_scan_now @ T_begin_end(_six(self.twist), dt)
        self._since_m += abs(self.twist[0] * dt)
        self._now_ns = stamp_ns

    def _move(self, step: OdometryStep, stamp_ns: int) -> None:
        """Take over the motion since the last scan, in place of what was extrapolated."""
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
        """Count scans that do not continue the way; what was seen on it is of no use then."""
        if step.accepted:
            self._n_broken = 0
        elif len(step.points_base) >= FEW_POINTS:
            self._n_broken += 1
        if self._n_broken >= self._parameters.n_breaks:
            self._odometry.restart()

    def _accept(
        self, found: RouteLocalization, step: OdometryStep, *, is_sure: bool
    ) -> LocalizationFix:
        """Believe what was found; what is not sure only where motion leads as well."""
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
        """Take the localiser back to where the vehicle is believed to be."""
        assert self._T_map_scan is not None
        T_vertex_map = found.T_vertex_base @ invert_transform(found.T_map_base)
        self._localizer.reset(found.vertex_id, T_vertex_map @ self._T_map_scan)

    def _doubt(self, step: OdometryStep, reason: str) -> LocalizationFix:
        """Give the place up after some scans in a row that fit nowhere."""
        if self._n_broken >= self._parameters.n_breaks:
            self._T_map_scan, self._n_broken = None, 0
            reason = f"scans do not continue the way, it may have been carried away: {step.reason}"
        return LocalizationFix(is_localised=False, reason=reason)


def _six(twist: Twist) -> FloatArray:
    """Return (vx, vy, vz, wx, wy, wz) of a planar twist."""
    return np.array([twist[0], 0.0, 0.0, 0.0, 0.0, twist[1]])
