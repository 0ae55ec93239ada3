# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The controllers of one vehicle each, for nodes: what comes in are messages, what goes out, too.

A simulation of many vehicles does the same for all at once (`aerotwin_formation.flight`); its rows
equal these controllers.
"""

import numpy as np

from aerotwin_core.frames import FloatArray
from aerotwin_formation.avoidance import safe_velocities
from aerotwin_formation.follower import FollowerParameters, follower_commands
from aerotwin_formation.leader import can_change_pattern, change_pattern
from aerotwin_formation.messages import LEADER, VehicleReport
from aerotwin_formation.patterns import FormationPattern
from aerotwin_formation.plan import FormationPlan, PlanParameters
from aerotwin_formation.received import ReceivedReports
from aerotwin_formation.separation import SeparationParameters


class FollowerController:
    """One follower: it knows its own motion and what it received.

    Parameters
    ----------
    n_vehicles, number : int
        Vehicles of the formation, and which one this is, from 1.
    parameters : FollowerParameters
        Of the law.
    separation : SeparationParameters, optional
        Of the avoidance; None for none.
    """

    def __init__(
        self,
        n_vehicles: int,
        number: int,
        parameters: FollowerParameters,
        separation: SeparationParameters | None,
    ) -> None:
        if not LEADER < number < n_vehicles:
            raise ValueError(f"number must be 1 to {n_vehicles - 1}, got {number}")
        self._parameters, self._separation = parameters, separation
        self._received = ReceivedReports(n_vehicles, [number])
        self._acceleration = np.zeros(3)

    @property
    def plan(self) -> FormationPlan | None:
        """The newest plan that it received."""
        return self._received.plan_of(0)

    def receive(self, report: VehicleReport) -> None:
        """Add a message."""
        self._received.receive(report)

    def command(self, stamp_ns: int, position: FloatArray, velocity: FloatArray) -> FloatArray:
        """Return the velocity (3,) to fly at a time [m/s], from its own motion, (3,) each."""
        own = {"position": position[None], "velocity": velocity[None]}
        commands = follower_commands(self._parameters, self._received, stamp_ns=stamp_ns, **own)
        self._acceleration = commands.acceleration[0]
        if self._separation is None:
            return commands.velocity[0]
        return safe_velocities(
            self._separation,
            self._received,
            stamp_ns=stamp_ns,
            hold_s=self._parameters.hold_s,
            desired=commands.velocity,
            **own,
        )[0]

    def report(self, stamp_ns: int, position: FloatArray, velocity: FloatArray) -> VehicleReport:
        """Return what it says at a time."""
        motion = np.array([[position, velocity, self._acceleration]])
        return self._received.report_of(self._received.reports(stamp_ns, motion), 0)


class LeaderController:
    """The leader: it announces its motion and the plans it makes from what it received."""

    def __init__(
        self, n_vehicles: int, parameters: PlanParameters, separation: SeparationParameters
    ) -> None:
        self._n_vehicles = n_vehicles
        self._parameters, self._separation = parameters, separation
        self._received = ReceivedReports(n_vehicles, [LEADER])

    @property
    def plan(self) -> FormationPlan | None:
        """The newest plan that it made."""
        return self._received.plan_of(0)

    def receive(self, report: VehicleReport) -> None:
        """Add a message."""
        self._received.receive(report)

    def can_change_pattern(self, stamp_ns: int) -> bool:
        """Tell whether all were heard and the last transition has ended."""
        return can_change_pattern(self._received, stamp_ns)

    def change_pattern(
        self, pattern: FormationPattern, stamp_ns: int, position: FloatArray
    ) -> FormationPlan:
        """Return the plan into a pattern, which its reports carry from now on.

        Raises
        ------
        ValueError
            If it cannot be flown (`plan_transition`), or it is not time (`can_change_pattern`).
        """
        if not self.can_change_pattern(stamp_ns):
            raise ValueError(
                "pattern must be changed when all followers were heard and the last transition has "
                "ended; ask can_change_pattern before"
            )
        return self._change(pattern, stamp_ns, position)

    def land(self, stamp_ns: int, position: FloatArray, pattern: FormationPattern | None) -> None:
        """Let all land after a change to a pattern; with None at once, where they are.

        Unlike other changes it does not wait for followers, one of which may be lost. Raises
        ValueError if the change cannot be flown.
        """
        if pattern is None:
            plan = FormationPlan.landing_in_place(self.plan, self._n_vehicles, stamp_ns)
            self._received.set_own_plan(plan)
        else:
            self._change(pattern, stamp_ns, position)

    def _change(
        self, pattern: FormationPattern, stamp_ns: int, position: FloatArray
    ) -> FormationPlan:
        plan = change_pattern(
            self._parameters,
            self._separation,
            self._received,
            pattern,
            stamp_ns=stamp_ns,
            position=position,
        )
        self._received.set_own_plan(plan)
        return plan

    def report(self, stamp_ns: int, motion: FloatArray) -> VehicleReport:
        """Return what it says at a time, from its position, velocity, acceleration (3, 3)."""
        self._received.set_own_leader_state(stamp_ns, motion)
        return self._received.report_of(self._received.reports(stamp_ns, motion[None]), 0)
