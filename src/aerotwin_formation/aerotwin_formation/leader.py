# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The leader: its route, and changes of the pattern.

The leader flies its route as if it was alone: it does not avoid, its followers do. It decides about
patterns from what followers reported, and announces a plan that starts in the future, so that all
start together though some messages are lost (`aerotwin_formation.received`).
"""

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from aerotwin_core.frames import FloatArray
from aerotwin_core.time import from_seconds
from aerotwin_formation.messages import LEADER, NEVER_NS, continued
from aerotwin_formation.patterns import FormationPattern
from aerotwin_formation.plan import FormationPlan, PlanParameters, plan_transition
from aerotwin_formation.received import ReceivedReports
from aerotwin_formation.separation import SeparationParameters

CONTINUED_NS = from_seconds(1.0)
"""Reports of followers that have no plan yet are continued for so long."""


@dataclass(frozen=True, kw_only=True)
class LeaderRoute:
    """The leader's velocity over time, linear between its points and constant outside of them.

    Attributes
    ----------
    times_s : (k,) array
        Increasing.
    velocities : (k, 3) array
        In map axes [m/s].
    """

    times_s: FloatArray
    velocities: FloatArray

    def __post_init__(self) -> None:
        times, velocities = np.array(self.times_s, float), np.array(self.velocities, float)
        if times.ndim != 1 or velocities.shape != (len(times), 3) or len(times) == 0:
            raise ValueError(
                "route must have a velocity (3,) for each of its times, got shapes "
                f"{times.shape}, {velocities.shape}"
            )
        if not (np.isfinite(times).all() and np.isfinite(velocities).all()):
            raise ValueError("times and velocities of a route must be finite")
        if np.any(np.diff(times) <= 0.0):
            raise ValueError("times of a route must increase")
        object.__setattr__(self, "times_s", times)
        object.__setattr__(self, "velocities", velocities)

    @functools.cached_property
    def _ways(self) -> FloatArray:
        """Where it is at each of the times (k, 3) [m]."""
        means = 0.5 * (self.velocities[1:] + self.velocities[:-1])
        ways = np.cumsum(np.diff(self.times_s)[:, None] * means, axis=0)
        return np.vstack([np.zeros(3), ways])

    def motion(self, time_s: float) -> FloatArray:
        """Return position from where it was at the first time, velocity, acceleration (3, 3)."""
        times, velocities = self.times_s, self.velocities
        k = int(np.searchsorted(times, time_s, side="right")) - 1
        if k < 0 or k == len(times) - 1:
            k = max(k, 0)
            acceleration = np.zeros(3)
        else:
            acceleration = (velocities[k + 1] - velocities[k]) / (times[k + 1] - times[k])
        dt = time_s - times[k]
        return np.array(
            [
                self._ways[k] + dt * (velocities[k] + 0.5 * dt * acceleration),
                velocities[k] + dt * acceleration,
                acceleration,
            ]
        )


def constant_route(velocity: ArrayLike) -> LeaderRoute:
    """Return the route of a leader that flies with one velocity (3,) [m/s] at all times."""
    return LeaderRoute(times_s=np.zeros(1), velocities=np.array(velocity, float)[None])


def can_change_pattern(received: ReceivedReports, stamp_ns: int, *, row: int = 0) -> bool:
    """Tell whether the leader may announce a plan now.

    It must have heard every follower, the last plan must have ended, and all must have said that
    they have it. A follower that fails therefore ends the changes.
    """
    plan = received.plan_of(row)
    followers = slice(LEADER + 1, None)
    if not np.all(received.stamps_ns[row, followers] != NEVER_NS):
        return False
    if plan is None:
        return True
    numbers = received.heard_plan_numbers[row, followers]
    return stamp_ns >= plan.end_ns and bool(np.all(numbers >= plan.number))


def change_pattern(
    parameters: PlanParameters,
    separation: SeparationParameters,
    received: ReceivedReports,
    pattern: FormationPattern,
    *,
    stamp_ns: int,
    position: FloatArray,
    row: int = 0,
) -> FormationPlan:
    """Return the plan into a pattern, as the leader makes it from its inbox, a row of `received`.

    Vehicles start from their places in the last plan; for the first one from where they reported
    to be, relative to the leader at `position` (3,).

    Raises
    ------
    ValueError
        If vehicles would come too close (`plan_transition`).
    """
    last = received.plan_of(row)
    if last is None:
        ages = stamp_ns - received.stamps_ns[row]
        starts = continued(received.motion[row], ages, CONTINUED_NS)[:, 0] - position
        starts[LEADER] = 0.0
    else:
        starts = last.goals
    number = 0 if last is None else last.number + 1
    return plan_transition(parameters, separation, pattern, starts, number=number, now_ns=stamp_ns)
