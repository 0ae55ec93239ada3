# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What was known when the place was last sure: the measure for scans that are in doubt."""

import dataclasses
import math
from dataclasses import dataclass

import numpy as np

from aerotwin_core.frames import FloatArray, invert_transform

RECKONED_SHARE = 0.2
"""Of a motion may be wrong in dead reckoning: wheels that skid turn up to 15 % less, and more."""
FIT_SHARE = 0.9
"""A scan of which less than this share of what is usual lies on the map fits worse than before."""
MEMORY_SCANS = 20.0
"""What is usual is what the last two seconds were like."""


@dataclass(frozen=True, kw_only=True)
class DeadReckoning:
    """Where motion leads from the last place that was sure, and how scans fitted there.

    Attributes
    ----------
    T_map_base : (4, 4) array or None
        The pose; None where no place was sure.
    way_m, turn_rad : float
        How far it has moved since [m], [rad].
    usual_ratio : float
        Share of a scan that lay on the map of the route there.
    """

    T_map_base: FloatArray | None = None
    way_m: float = 0.0
    turn_rad: float = 0.0
    usual_ratio: float = 0.0

    def sure(self, T_map_base: FloatArray, ratio: float) -> "DeadReckoning":
        """Return it at a place that is sure, on whose map a share of the scan lies."""
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
        """Tell whether a scan fits as well as before, where motion leads.

        Parameters
        ----------
        T_map_base : (4, 4) array
            Where it was found.
        ratio : float
            Share of it that lies on the map there.
        shift_m, turn_rad : float
            Differences that agree, above the share of the motion that may be wrong [m], [rad].
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
