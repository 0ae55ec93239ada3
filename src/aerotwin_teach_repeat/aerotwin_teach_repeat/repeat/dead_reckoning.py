# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Dead reckoning from the last confirmed pose, against which doubtful scans are checked."""

import dataclasses
import math
from dataclasses import dataclass

import numpy as np

from aerotwin_core.frames import FloatArray, invert_transform

RECKONED_SHARE = 0.2
"""Relative error of dead reckoning: skidding wheels turn up to 15 % less, or more."""
FIT_SHARE = 0.9
"""A scan whose matched ratio is below this fraction of the usual one fits worse than before."""
MEMORY_SCANS = 20.0
"""The usual ratio is that of the last two seconds."""


@dataclass(frozen=True, kw_only=True)
class DeadReckoning:
    """Dead reckoning since the last confirmed pose, and the usual match quality there.

    `T_map_base` (4, 4) is the predicted pose, None without a confirmed one; `way_m` and `turn_rad`
    are distance and rotation since then [m], [rad]; `usual_ratio` is the usual matched fraction of
    a scan.
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
        way_m, turn_rad = between(np.eye(4), T_before_now)
        return dataclasses.replace(
            self, T_map_base=self.T_map_base @ T_before_now, way_m=self.way_m + way_m,
            turn_rad=self.turn_rad + turn_rad,
        )  # fmt: skip

    def agrees(self, T_map_base: FloatArray, ratio: float, shift_m: float, turn_rad: float) -> bool:
        """Return whether a scan matches as well as before, at the predicted pose.

        `T_map_base` is the pose that was found, `ratio` the fraction of the scan on the map there;
        `shift_m` and `turn_rad` are tolerances on top of the motion's own error [m], [rad].
        """
        if self.T_map_base is None:
            return False
        shift, turn = between(self.T_map_base, T_map_base)
        return (
            shift <= shift_m + RECKONED_SHARE * self.way_m
            and turn <= turn_rad + RECKONED_SHARE * self.turn_rad
            and ratio >= FIT_SHARE * self.usual_ratio
        )


def between(T_a: FloatArray, T_b: FloatArray) -> tuple[float, float]:
    """Return distance [m] and angle [rad] between two poses."""
    T = invert_transform(T_a) @ T_b
    cosine = float(np.clip((np.trace(T[:3, :3]) - 1.0) / 2.0, -1.0, 1.0))
    return float(np.linalg.norm(T[:3, 3])), math.acos(cosine)
