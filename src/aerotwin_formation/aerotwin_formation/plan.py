# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The plan of a transition: who flies from where to where, from when to when.

Places are relative to the leader. Everyone has gone the same share of its straight way at any time,
on one minimum-jerk curve from a start time that lies in the future when the plan is made.
"""

import functools
import math
from dataclasses import dataclass

import numpy as np

from aerotwin_core.frames import FloatArray
from aerotwin_core.parameters import parameter
from aerotwin_core.time import from_seconds, to_seconds
from aerotwin_formation.assignment import assign_goals
from aerotwin_formation.minimum_jerk import share_of_way, shortest_duration_s
from aerotwin_formation.patterns import FormationPattern
from aerotwin_formation.separation import SeparationParameters, closest_on_lines
from aerotwin_formation.xtdrone import xtdrone_topology

LANDING = "land"
"""Name of the pattern at whose end all land: the places, side by side, from which they came."""
SETTLE_NS = 1_000_000_000
"""From the end of that transition to the landing."""
ROUNDING_M = 1e-9
"""A spacing that is exactly the required one is enough."""


@dataclass(frozen=True, kw_only=True)
class PlanParameters:
    """How fast transitions are, and how long they are announced before."""

    maximum_speed_m_s: float = parameter(
        2.0, unit="m/s", minimum=0.01, maximum=30.0, text="relative to the leader"
    )
    maximum_acceleration_m_s2: float = parameter(
        1.0, unit="m/s^2", minimum=0.01, maximum=30.0, text="relative to the leader"
    )
    notice_s: float = parameter(
        1.5,
        unit="s",
        minimum=0.0,
        maximum=60.0,
        text="from the announcement to the start; must be some reports long",
    )


@dataclass(frozen=True, kw_only=True)
class FormationPlan:
    """A transition of n vehicles, and where they stay after it.

    Attributes
    ----------
    number : int
        Counts the plans of a leader, from 0; a higher one replaces a lower one.
    pattern : str
        Name of the pattern it leads to.
    start_ns, duration_ns : int
        When it begins, and for how long.
    starts, goals : (n, 3) arrays
        Places before and after, relative to the leader [m]; the first is the leader's own, zero.
    """

    number: int
    pattern: str
    start_ns: int
    duration_ns: int
    starts: FloatArray
    goals: FloatArray

    @property
    def end_ns(self) -> int:
        """When the last vehicle is at its place."""
        return self.start_ns + self.duration_ns

    def is_over(self, stamp_ns: int) -> bool:
        """Tell whether vehicles are to land rather than to keep their places."""
        return self.pattern == LANDING and stamp_ns >= self.end_ns + SETTLE_NS

    def offsets(self, stamp_ns: int) -> FloatArray:
        """Return place, velocity and acceleration (3, n, 3) relative to the leader at a time."""
        duration_s = to_seconds(self.duration_ns)
        tau = (stamp_ns - self.start_ns) / self.duration_ns if self.duration_ns > 0 else math.inf
        share, rate, change = share_of_way(tau if stamp_ns >= self.start_ns else 0.0)
        ways = self.goals - self.starts
        moving = np.array([rate, change]) / [max(duration_s, 1e-9), max(duration_s, 1e-9) ** 2]
        return np.array([self.starts + share * ways, moving[0] * ways, moving[1] * ways])

    @classmethod
    def landing_in_place(
        cls, last: "FormationPlan | None", n_vehicles: int, now_ns: int
    ) -> "FormationPlan":
        """Return the plan after the last one by which all land at once where they are."""
        places = np.zeros((n_vehicles, 3)) if last is None else last.goals
        return cls(
            number=0 if last is None else last.number + 1,
            pattern=LANDING,
            start_ns=max(now_ns - SETTLE_NS, 0),
            duration_ns=0,
            starts=places,
            goals=places,
        )

    @functools.cached_property
    def topology(self) -> np.ndarray:
        """Whom each follows under XTDrone's law at the goals; see `xtdrone_topology`."""
        return xtdrone_topology(self.goals)


def plan_transition(
    parameters: PlanParameters,
    separation: SeparationParameters,
    pattern: FormationPattern,
    starts: FloatArray,
    *,
    number: int,
    now_ns: int,
) -> FormationPlan:
    """Return the plan that brings vehicles at starts (n, 3) into a pattern.

    Followers are assigned to the pattern's places, the leader stays where the pattern has it. The
    leader is the one vehicle that cannot exchange its goal, so that a follower might have to pass
    through it: if any two would come too close, all are assigned, the leader with them, and the
    pattern is shifted until the leader's new place is where it is. That shift does not change
    which assignment is the best one.

    Raises
    ------
    ValueError
        If vehicles come closer than 2R and the margin either way: starts or goals are too close.
    """
    if starts.shape != pattern.offsets.shape:
        raise ValueError(
            f"pattern '{pattern.name}' must have a place for each of {len(starts)} vehicles, got "
            f"{pattern.n_vehicles}; choose one for as many"
        )
    scale, required = separation.scale, separation.required_m - ROUNDING_M
    goals = pattern.offsets.copy()
    goals[1:] = goals[1:][assign_goals(starts[1:] * scale, goals[1:] * scale)]
    if closest_on_lines(starts * scale, goals * scale) < required:
        goals = pattern.offsets[assign_goals(starts * scale, pattern.offsets * scale)]
        goals -= goals[0]
    closest = closest_on_lines(starts * scale, goals * scale)
    if closest < required:
        raise ValueError(
            f"pattern '{pattern.name}': vehicles must stay {separation.required_m:.2f} m apart on "
            f"their way, got {closest:.2f} m; start from and scale to a spacing of "
            f"{math.sqrt(2.0) * separation.required_m:.2f} m (vertically "
            f"{separation.downwash_ratio:g} times that)"
        )
    duration_s = shortest_duration_s(
        float(np.linalg.norm(goals - starts, axis=1).max()),
        maximum_speed_m_s=parameters.maximum_speed_m_s,
        maximum_acceleration_m_s2=parameters.maximum_acceleration_m_s2,
    )
    return FormationPlan(
        number=number,
        pattern=pattern.name,
        start_ns=now_ns + from_seconds(parameters.notice_s),
        duration_ns=from_seconds(duration_s),
        starts=starts,
        goals=goals,
    )
