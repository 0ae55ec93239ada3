# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What all faults have in common: parameters, a place, and a timing."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from aerotwin_core.time import to_seconds

ROTOR, BATTERY, GNSS, IMU, BAROMETER, MAGNETOMETER, POSE = (
    "rotor", "battery", "gnss", "imu", "barometer", "magnetometer", "pose",
)  # fmt: skip
COMPANION, GROUND_STATION, AIR = "companion", "ground_station", "air"
CAMERA, LIDAR, RADAR = "camera", "lidar", "radar"


class Moment(NamedTuple):
    """An instant of a fault.

    Attributes
    ----------
    level : float
        How far it has grown, in [0, 1].
    elapsed_s : float
        Time since it began [s].
    weighted_s : float
        Integral of the level since it began [s]: of what grows at a rate.
    """

    level: float
    elapsed_s: float
    weighted_s: float


@dataclass(frozen=True, kw_only=True)
class FaultTiming:
    """When a fault begins, how it grows, and when it ends.

    From `begin_ns` on the level grows linearly to 1 within `ramp_s`, at once if that is 0; after
    `duration_s` it falls at the same rate. An infinite duration lasts until the end of the run.
    """

    begin_ns: int
    ramp_s: float = 0.0
    duration_s: float = math.inf

    def moment(self, stamp_ns: int) -> Moment | None:
        """Return the moment of an instant [ns]; None before the beginning and after the end."""
        elapsed_s = to_seconds(stamp_ns - self.begin_ns)
        if elapsed_s < 0.0:
            return None
        grown_s = min(elapsed_s, self.duration_s)
        top, weighted_s = self._grown(grown_s)
        if elapsed_s < self.duration_s:
            return Moment(top, elapsed_s, weighted_s)
        falling_s = elapsed_s - self.duration_s
        if falling_s >= top * self.ramp_s:
            return None
        level = top - falling_s / self.ramp_s
        return Moment(level, elapsed_s, weighted_s + 0.5 * (top + level) * falling_s)

    def _grown(self, elapsed_s: float) -> tuple[float, float]:
        """Return the level while it grows or stays, and its integral."""
        if elapsed_s >= self.ramp_s:
            return 1.0, elapsed_s - 0.5 * self.ramp_s
        level = elapsed_s / self.ramp_s
        return level, 0.5 * level * elapsed_s


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A fault of one place on a vehicle, or around it; its fields were made by `parameter`.

    `place` says which protocol of this package its effect follows.
    """

    place: ClassVar[str]

    def effect(self, rng: np.random.Generator) -> Any:
        """Return what applies it from its beginning to its end; `rng` is its own."""
        return self


@dataclass(frozen=True, kw_only=True)
class ActiveFault:
    """A fault that has begun or will begin, with its effect."""

    name: str
    fault: Fault
    timing: FaultTiming
    effect: Any

    def moment(self, stamp_ns: int) -> Moment | None:
        """Return the moment of an instant [ns]; None before the beginning and after the end."""
        return self.timing.moment(stamp_ns)


def activated(
    name: str, fault: Fault, timing: FaultTiming, rng: np.random.Generator
) -> ActiveFault:
    """Return a fault with a fresh effect."""
    return ActiveFault(name=name, fault=fault, timing=timing, effect=fault.effect(rng))
