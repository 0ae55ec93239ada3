# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Evaluation of a relay manoeuvre: position errors of both vehicles, and their separation."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aerotwin_core.frames import FloatArray
from aerotwin_core.rms import rms_length
from aerotwin_core.trajectory import Trajectory
from aerotwin_flight_control.relay import RelayReference

WINDOW_S = 2.0  # errors are evaluated from this long before the passing to this long after it
PEGASUS_RMSE_M = 0.072
"""RMSE of the second vehicle of Pegasus, in the same window, from the example's recorded results
(examples/results/statistics_2.npz at bef3c57; the first has 0.0726 m)."""


@dataclass(frozen=True, kw_only=True)
class RelaySide:
    """One vehicle during eq. 17."""

    t: FloatArray  # (n,) of eq. 17 [s], 0 at the passing
    p_map: FloatArray  # (n, 3) true position [m]
    error_map: FloatArray  # (n, 3) true minus desired position [m]

    @property
    def distance(self) -> FloatArray:
        """Size of the error (n,) [m]."""
        return np.linalg.norm(self.error_map, axis=1)

    def metrics(self) -> dict[str, Any]:
        """Return root mean squares and the largest error in the window [m]."""
        errors = self.error_map[np.abs(self.t) <= WINDOW_S]
        return {
            "rmse_m": rms_length(errors),
            "max_m": float(np.linalg.norm(errors, axis=1).max()),
            "rmse_xyz_m": np.sqrt(np.mean(errors**2, axis=0)).tolist(),
        }


@dataclass(frozen=True, kw_only=True)
class RelayResult:
    """One relay flight: its key, heading, description and both vehicles at the same instants."""

    name: str
    title: str
    text: str
    sides: tuple[RelaySide, RelaySide]
    step_s: float  # of the simulation
    bar_rmse_m: float | None = None  # threshold; None if there is none
    bar_separation_m: float | None = None  # threshold; None if there is none

    @property
    def separation(self) -> FloatArray:
        """Distance of the two vehicles (n,) [m]."""
        return np.linalg.norm(self.sides[0].p_map - self.sides[1].p_map, axis=1)

    @property
    def rmse_m(self) -> float:
        """The worse of the two vehicles' errors in the window [m]."""
        return max(side.metrics()["rmse_m"] for side in self.sides)

    @property
    def is_within_thresholds(self) -> bool | None:
        """Whether it meets its thresholds; None if it has none."""
        if self.bar_rmse_m is None and self.bar_separation_m is None:
            return None
        is_near = self.bar_rmse_m is None or self.rmse_m <= self.bar_rmse_m
        apart = float(self.separation.min())
        return is_near and (self.bar_separation_m is None or apart >= self.bar_separation_m)

    def metrics(self) -> dict[str, Any]:
        """Return the numbers for JSON."""
        return {
            "step_s": self.step_s,
            "rmse_m": self.rmse_m,
            "bar_rmse_m": self.bar_rmse_m,
            "separation_min_m": float(self.separation.min()),
            "bar_separation_m": self.bar_separation_m,
            "is_within_bars": self.is_within_thresholds,
            "vehicles": [side.metrics() for side in self.sides],
        }


def relay_sides(
    truths: Sequence[Trajectory], references: Sequence[RelayReference], begins_ns: Sequence[int]
) -> tuple[RelaySide, RelaySide]:
    """Return both vehicles during eq. 17, at the stamps of the first one's truth.

    Each argument holds one entry per vehicle: true motion in map, desired motion, and the time at
    which eq. 17 began [ns]. Raises ValueError if a vehicle did not fly the whole window.
    """
    first, reference = truths[0].stamps_ns, references[0]
    ends_ns = [begin + round(reference.duration * 1e9) for begin in begins_ns]
    last = [int(truth.stamps_ns[-1]) for truth in truths]
    stamps = first[(first >= max(begins_ns)) & (first <= min(*ends_ns, *last))]
    t = (stamps - begins_ns[0]) * 1e-9 - reference.half_s
    if len(t) == 0 or t[0] > -WINDOW_S or t[-1] < WINDOW_S:
        raise ValueError("the vehicles did not fly the whole relay; see how their flight ended")
    sides = []
    for truth, desired, begin_ns in zip(truths, references, begins_ns):
        p_map = truth.interpolate(stamps).p_ref_body
        should = np.array([desired.at((stamp - begin_ns) * 1e-9).p_map for stamp in stamps])
        sides.append(RelaySide(t=t, p_map=p_map, error_map=p_map - should))
    return sides[0], sides[1]
