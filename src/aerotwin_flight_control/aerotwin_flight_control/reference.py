# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The reference of a vehicle: position to its fourth derivative, and yaw, at an instant."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

FloatArray = np.ndarray
N_DERIVATIVES = 5  # position, velocity, acceleration, jerk, snap


@dataclass(frozen=True, kw_only=True)
class FlatState:
    """The flat outputs of a multirotor at one instant (Mellinger and Kumar 2011, sec. III).

    Attributes
    ----------
    p_derivatives_map : (5, 3) array
        Position, velocity, acceleration, jerk and snap in map axes [m], [m/s], … [m/s^4].
    yaw_derivatives : (3,) array
        Yaw from east, counter-clockwise [rad], its rate and acceleration.
    """

    p_derivatives_map: FloatArray
    yaw_derivatives: FloatArray

    @property
    def p_map(self) -> FloatArray:
        """Position (3,) [m]."""
        return self.p_derivatives_map[0]

    @property
    def v_map(self) -> FloatArray:
        """Velocity (3,) [m/s]."""
        return self.p_derivatives_map[1]

    @property
    def yaw(self) -> float:
        """Yaw from east, counter-clockwise [rad]."""
        return float(self.yaw_derivatives[0])


class Reference(Protocol):
    """A motion in time, from 0 to `duration` [s]."""

    duration: float

    def at(self, t: float) -> FlatState:
        """Return the state at t [s]; before 0 and after `duration` it is held or extrapolated."""
        ...


def at_rest(p_map: ArrayLike, yaw: float) -> FlatState:
    """Return the state of hovering at a position (3,) [m] with a yaw [rad]."""
    derivatives = np.zeros((N_DERIVATIVES, 3))
    derivatives[0] = p_map
    return FlatState(p_derivatives_map=derivatives, yaw_derivatives=np.array([yaw, 0.0, 0.0]))


class Sequel:
    """References in order, each on its own time from 0; `begins` are their start times [s]."""

    def __init__(self, parts: Sequence[Reference]) -> None:
        if not parts:
            raise ValueError("parts must hold at least one reference, got none")
        self.parts = list(parts)
        ends = np.cumsum([part.duration for part in parts]).tolist()
        self.begins: list[float] = [0.0, *ends[:-1]]
        self.duration: float = ends[-1]

    def at(self, t: float) -> FlatState:
        """Return the state at t [s]."""
        index = self.index(t)
        return self.parts[index].at(t - self.begins[index])

    def index(self, t: float) -> int:
        """Return the index of the part flown at t [s]."""
        return max(bisect_right(self.begins, t) - 1, 0)
