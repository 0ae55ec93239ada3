# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The record of a formation flight from truth, and its errors.

Three errors are kept apart. With e_i = p_i - p_0 - d_i, zero for the leader:

- the place error, of the followers' e_i as they are;
- the formation error, of e_i minus the mean over all vehicles at each time: the shape, free of any
  shift of the whole. Errors of estimates that all vehicles share are not part of it, nor is a lag
  that all followers have;
- the lag, of -e_i along the leader's velocity while it flies.

While a transition runs, d_i is the place on its curve; errors are given for the times in formation
and in transition apart.
"""

from dataclasses import dataclass

import numpy as np

from aerotwin_core.frames import FloatArray
from aerotwin_core.rms import rms, rms_length
from aerotwin_core.time import to_seconds
from aerotwin_formation.link import LOST
from aerotwin_formation.messages import LEADER
from aerotwin_formation.plan import FormationPlan
from aerotwin_formation.separation import SeparationParameters, closest_distance

FLIES_M_S = 0.1
"""A lag has a direction from this speed of the leader on."""


@dataclass(frozen=True, kw_only=True)
class FormationErrors:
    """Root mean squares over vehicles and times [m]; NaN if there was no such time."""

    place_m: float
    formation_m: float
    lag_m: float
    largest_place_m: float


@dataclass(frozen=True, kw_only=True)
class FormationRecord:
    """A flight of n vehicles, sampled at t commands.

    Attributes
    ----------
    times_s : (t,) array
        Since the start.
    positions, velocities : (t, n, 3) arrays
        Truth in map [m], [m/s].
    offsets : (t, n, 3) array
        Places relative to the leader by the leader's plan [m]; NaN before the first plan and in
        landings.
    in_transition : (t,) array
        Whether the plan's transition runs.
    closest_m : (t,) array
        Smallest E of two vehicles since the last sample [m], from every step.
    n_sent, n_lost : int
        Messages from one vehicle to another one.
    """

    times_s: FloatArray
    positions: FloatArray
    velocities: FloatArray
    offsets: FloatArray
    in_transition: np.ndarray
    closest_m: FloatArray
    n_sent: int
    n_lost: int

    @property
    def errors(self) -> FloatArray:
        """e_i (t, n, 3) [m]."""
        return self.positions - self.positions[:, LEADER, None] - self.offsets

    def formation_errors(
        self, from_s: float = 0.0, until_s: float = np.inf, *, in_transition: bool = False
    ) -> FormationErrors:
        """Return the errors of the times in formation, or in transition, of a part of the flight.

        Times before the first plan do not count.
        """
        is_used = (self.times_s >= from_s) & (self.times_s <= until_s)
        is_used &= (self.in_transition == in_transition) & np.isfinite(self.offsets[:, 0, 0])
        errors, leader = self.errors[is_used], self.velocities[is_used, LEADER]
        speeds = np.linalg.norm(leader, axis=1)
        flies = speeds > FLIES_M_S
        ahead = leader[flies] / speeds[flies, None]
        lags = -np.einsum("tnx,tx->tn", errors[flies, LEADER + 1 :], ahead)
        places = errors[:, LEADER + 1 :].reshape(-1, 3)
        shape = (errors - errors.mean(axis=1, keepdims=True)).reshape(-1, 3)
        return FormationErrors(
            place_m=rms_length(places),
            formation_m=rms_length(shape),
            lag_m=rms(lags),
            largest_place_m=float(np.linalg.norm(places, axis=1).max(initial=0.0)),
        )


class FormationRecorder:
    """Collects the record of a flight."""

    def __init__(self, separation: SeparationParameters) -> None:
        self._scale = separation.scale
        self._rows: list[tuple[float, FloatArray, FloatArray, FloatArray, bool, float]] = []
        self._n_sent = self._n_lost = 0

    def closest_m(self, position: FloatArray) -> float:
        """Return the smallest E of two vehicles at positions (n, 3) [m]."""
        return closest_distance(position * self._scale)

    def count_messages(self, due_ns: np.ndarray) -> None:
        """Count a round of messages by their arrivals (n, n)."""
        n = len(due_ns)
        self._n_sent += n * (n - 1)
        self._n_lost += int(np.count_nonzero(due_ns == LOST)) - n

    def add(
        self,
        time_ns: int,
        position: FloatArray,
        velocity: FloatArray,
        plan: FormationPlan | None,
        closest_m: float,
    ) -> None:
        """Add a sample: positions [m] and velocities [m/s] (n, 3), and E since the last one."""
        if plan is None or plan.is_over(time_ns):
            offsets, in_transition = np.full_like(position, np.nan), False
        else:
            offsets = plan.offsets(time_ns)[0]
            in_transition = plan.start_ns <= time_ns < plan.end_ns
        row = (position, velocity, offsets, in_transition, closest_m)
        self._rows.append((to_seconds(time_ns), *row))

    def record(self) -> FormationRecord:
        """Return what was collected."""
        times, positions, velocities, offsets, in_transition, closest = zip(*self._rows)
        return FormationRecord(
            times_s=np.array(times),
            positions=np.array(positions),
            velocities=np.array(velocities),
            offsets=np.array(offsets),
            in_transition=np.array(in_transition),
            closest_m=np.array(closest),
            n_sent=self._n_sent,
            n_lost=self._n_lost,
        )
