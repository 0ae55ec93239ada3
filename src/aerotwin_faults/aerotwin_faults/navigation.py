# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of satellite navigation, and of poses from a SLAM or a tracker."""

from dataclasses import dataclass
from math import cos, radians, sin
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from aerotwin_core.parameters import parameter
from aerotwin_faults.fault import GNSS, POSE, Fault, Moment

LARGEST_M = 1e5
Pose = tuple[np.ndarray, np.ndarray]
"""Position (3,) [m] and attitude quaternion xyzw (4,), both in map."""


class GnssError(NamedTuple):
    """Error of a reading, in map axes: east, north, up.

    `shift_m` and `shift_m_s` are those of the place and velocity that the receiver takes for its
    own; `noise_m` and `noise_m_s` standard deviations of noise that it reports.
    """

    shift_m: np.ndarray
    shift_m_s: np.ndarray
    noise_m: float = 0.0
    noise_m_s: float = 0.0
    has_fix: bool = True


NO_SHIFT = np.zeros(3)


class GnssEffect(Protocol):
    """What a fault at place `gnss` does."""

    def error(self, moment: Moment) -> GnssError:
        """Return the error of a reading."""


@dataclass(frozen=True, kw_only=True)
class GnssLoss(Fault):
    """The receiver has no fix, and says so."""

    place: ClassVar[str] = GNSS

    def error(self, moment: Moment) -> GnssError:
        """Return that there is no fix."""
        return GnssError(NO_SHIFT, NO_SHIFT, has_fix=False)


@dataclass(frozen=True, kw_only=True)
class GnssJump(Fault):
    """The position jumps, by a reflection for instance; velocity and accuracy do not."""

    place: ClassVar[str] = GNSS
    east_m: float = parameter(0.0, text="east", unit="m", minimum=-LARGEST_M, maximum=LARGEST_M)
    north_m: float = parameter(0.0, text="north", unit="m", minimum=-LARGEST_M, maximum=LARGEST_M)
    up_m: float = parameter(0.0, text="up", unit="m", minimum=-LARGEST_M, maximum=LARGEST_M)

    def error(self, moment: Moment) -> GnssError:
        """Return the jump."""
        shift_m = moment.level * np.array([self.east_m, self.north_m, self.up_m])
        return GnssError(shift_m, NO_SHIFT)


@dataclass(frozen=True, kw_only=True)
class GnssSpoofing(Fault):
    """A forged signal carries the position away; velocity and accuracy agree with it."""

    place: ClassVar[str] = GNSS
    east_m_s: float = parameter(0.0, text="east", unit="m/s", minimum=-100.0, maximum=100.0)
    north_m_s: float = parameter(0.0, text="north", unit="m/s", minimum=-100.0, maximum=100.0)
    up_m_s: float = parameter(0.0, text="up", unit="m/s", minimum=-100.0, maximum=100.0)

    def error(self, moment: Moment) -> GnssError:
        """Return how far it was carried, and how fast it goes on."""
        velocity = np.array([self.east_m_s, self.north_m_s, self.up_m_s])
        return GnssError(moment.weighted_s * velocity, moment.level * velocity)


@dataclass(frozen=True, kw_only=True)
class GnssJamming(Fault):
    """A jammer drowns the signal: noise, which the receiver reports; no fix at its peak."""

    place: ClassVar[str] = GNSS
    noise_m: float = parameter(
        5.0, text="sigma of the position, each axis", unit="m", minimum=0.0, maximum=1000.0
    )
    noise_m_s: float = parameter(
        1.0, text="sigma of the velocity, each axis", unit="m/s", minimum=0.0, maximum=100.0
    )
    lost_above: float = parameter(
        1.0, text="level, in its ramp, above which there is no fix; 1 = never",
        minimum=0.0, maximum=1.0,
    )  # fmt: skip

    def error(self, moment: Moment) -> GnssError:
        """Return the noise."""
        level, has_fix = moment.level, moment.level <= self.lost_above
        return GnssError(
            NO_SHIFT, NO_SHIFT, level * self.noise_m, level * self.noise_m_s, has_fix=has_fix
        )


class PoseEffect(Protocol):
    """What a fault at place `pose` does."""

    def changed(self, pose: Pose, moment: Moment) -> Pose | None:
        """Return the pose that is passed on; None for none."""


@dataclass(frozen=True, kw_only=True)
class SlamLoss(Fault):
    """The SLAM or tracker gives no poses."""

    place: ClassVar[str] = POSE

    def changed(self, pose: Pose, moment: Moment) -> Pose | None:
        """Return nothing."""
        return None


@dataclass(frozen=True, kw_only=True)
class SlamJump(Fault):
    """The frame of the SLAM jumps, as after a wrong loop closure."""

    place: ClassVar[str] = POSE
    east_m: float = parameter(0.0, text="east", unit="m", minimum=-LARGEST_M, maximum=LARGEST_M)
    north_m: float = parameter(0.0, text="north", unit="m", minimum=-LARGEST_M, maximum=LARGEST_M)
    up_m: float = parameter(0.0, text="up", unit="m", minimum=-LARGEST_M, maximum=LARGEST_M)
    yaw_deg: float = parameter(
        0.0, text="turn about the vehicle, to the left", unit="deg", minimum=-180.0, maximum=180.0
    )

    def changed(self, pose: Pose, moment: Moment) -> Pose | None:
        """Return the pose in the frame that has jumped."""
        p_map, q_map_body = pose
        p_map = p_map + moment.level * np.array([self.east_m, self.north_m, self.up_m])
        half = 0.5 * radians(moment.level * self.yaw_deg)
        x, y, z, w = q_map_body
        s, c = sin(half), cos(half)
        return p_map, np.array([c * x - s * y, c * y + s * x, c * z + s * w, c * w - s * z])


@dataclass(frozen=True, kw_only=True)
class SlamFreeze(Fault):
    """The SLAM gives the same pose again and again, with new stamps."""

    place: ClassVar[str] = POSE

    def effect(self, rng: np.random.Generator) -> Any:
        """Return what remembers the pose."""
        return _Frozen()


class _Frozen:
    def __init__(self) -> None:
        self._pose: Pose | None = None

    def changed(self, pose: Pose, moment: Moment) -> Pose | None:
        if self._pose is None:
            p_map, q_map_body = pose
            self._pose = p_map.copy(), q_map_body.copy()
        return self._pose
