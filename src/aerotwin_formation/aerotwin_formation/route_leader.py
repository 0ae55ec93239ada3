# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A leader that flies a mission: it gathers the formation, flies its route, changes patterns.

It climbs to its first way-point and waits there until it has heard all followers, announces the
first pattern, and begins its route when that is formed. A pattern can also be ordered in flight;
the patterns of the mission that are due meanwhile wait for it. All land above their starts; where
they are, if these are not known yet or cannot be flown to, or the first pattern cannot be flown.
"""

from collections import deque

import numpy as np

from aerotwin_core.frames import FloatArray
from aerotwin_core.time import to_seconds
from aerotwin_formation.controllers import LeaderController
from aerotwin_formation.follower import tracking_velocity
from aerotwin_formation.limits import limited
from aerotwin_formation.messages import VehicleReport
from aerotwin_formation.mission import FormationMission, landing_pattern
from aerotwin_formation.parameters import FormationParameters
from aerotwin_formation.patterns import FormationPattern
from aerotwin_formation.plan import LANDING, FormationPlan

ARRIVED_M, ARRIVED_M_S = 0.5, 0.3
"""Within these the leader is where the formation gathers."""
SLOWEST_CLIMB_M_S = 1.0
"""On the way to there a slow mission is not waited for."""
PATIENCE_NS = 5_000_000_000
"""After its route and its last transition it waits so long for followers that are silent."""


class RouteLeader:
    """The leader of a mission; as a `FollowerController` it receives, commands and reports.

    Attributes
    ----------
    refused : str
        Why the last pattern could not be flown; "" if it was.
    """

    def __init__(
        self, n_vehicles: int, parameters: FormationParameters, mission: FormationMission
    ) -> None:
        p = parameters
        self._law, self._mission = p.follower, mission
        self._controller = LeaderController(n_vehicles, p.plan, p.separation)
        self._route = mission.route()
        times = mission.times_of_waypoints()
        self._waiting = deque(
            (mission.due_s(order, times), mission.pattern(order.pattern, n_vehicles))
            for order in mission.patterns
        )
        self._end_s = float(self._route.times_s[-1])
        self._n_vehicles = n_vehicles
        self._ordered: FormationPattern | None = None
        self._must_land = False
        self._home = np.zeros(3)
        self._starts: FloatArray | None = None
        self._begin_ns: int | None = None
        self._acceleration = np.zeros(3)
        self.refused = ""

    @property
    def plan(self) -> FormationPlan | None:
        """The newest plan that it made."""
        return self._controller.plan

    def receive(self, report: VehicleReport) -> None:
        """Add a message."""
        self._controller.receive(report)

    def order(self, name: str) -> None:
        """Change to a pattern as soon as possible: a shipped one, that of a file, or to land.

        Raises
        ------
        aerotwin_core.errors.ParameterError
            If there is none of this name for as many vehicles.
        """
        if name == LANDING:
            self._must_land = True
        else:
            self._ordered = self._mission.pattern(name, self._n_vehicles)

    def set_home(self, position: FloatArray) -> None:
        """Set its start, to which the way-points are relative."""
        self._home = position.copy()

    def command(self, stamp_ns: int, position: FloatArray, velocity: FloatArray) -> FloatArray:
        """Return the velocity (3,) to fly at a time [m/s]; it also announces patterns."""
        place = self._place(stamp_ns)
        self._acceleration = place[2]
        own = np.array([[position, velocity]])
        error = place[None, 0] - own[:, 0]
        is_there = np.linalg.norm(error) < ARRIVED_M and np.linalg.norm(velocity) < ARRIVED_M_S
        if self._lands_now(stamp_ns):
            self._land(stamp_ns, position)
        elif self._begin_ns is not None or is_there:
            self._announce(stamp_ns, position)
        most = self._law.maximum_speed_m_s
        if self._begin_ns is None:
            most = min(most, max(self._mission.speed_m_s, SLOWEST_CLIMB_M_S))
        return limited(tracking_velocity(self._law, place[None], own, error), most)[0]

    def report(self, stamp_ns: int, position: FloatArray, velocity: FloatArray) -> VehicleReport:
        """Return what it says at a time."""
        return self._controller.report(stamp_ns, np.array([position, velocity, self._acceleration]))

    def _place(self, stamp_ns: int) -> FloatArray:
        """Return where it should be, with velocity and acceleration (3, 3)."""
        plan = self.plan
        if self._begin_ns is None and plan is not None and stamp_ns >= plan.end_ns:
            self._begin_ns = stamp_ns
        place = np.zeros((3, 3))
        if self._begin_ns is not None:
            place = self._route.motion(to_seconds(stamp_ns - self._begin_ns))
        place[0] += self._home + np.array(self._mission.waypoints_m[0])
        return place

    def _lands_now(self, stamp_ns: int) -> bool:
        """Return whether to land: when it is ordered, or the mission is over."""
        plan = self.plan
        if plan is None:
            return self._must_land
        if plan.pattern == LANDING or stamp_ns < plan.end_ns:
            return False
        if self._must_land:
            return True
        if not self._mission.lands or self._route_s(stamp_ns) < self._end_s:
            return False
        if self._waiting or self._ordered is not None:
            is_stuck = not self._controller.can_change_pattern(stamp_ns)
            return is_stuck and stamp_ns >= plan.end_ns + PATIENCE_NS
        return True

    def _land(self, stamp_ns: int, position: FloatArray) -> None:
        """Let all land above their starts, or where they are."""
        try:
            pattern = None if self._starts is None else landing_pattern(self._starts)
            self._controller.land(stamp_ns, position, pattern)
        except ValueError as error:
            self.refused = f"{error}; all land where they are"
            self._controller.land(stamp_ns, position, None)

    def _announce(self, stamp_ns: int, position: FloatArray) -> None:
        """Change to the next pattern when it is due and can be flown."""
        if not self._controller.can_change_pattern(stamp_ns):
            return
        is_ordered = self._ordered is not None
        pattern = self._next_pattern(stamp_ns)
        if pattern is None:
            return
        try:
            plan = self._controller.change_pattern(pattern, stamp_ns, position)
        except ValueError as error:
            self.refused = str(error)
            if self.plan is None and not is_ordered:
                self.refused += "; it is the first one, so all land where they are"
                self._land(stamp_ns, position)
            return
        self.refused = ""
        if self._starts is None:  # from its own start, wherever they gather
            self._starts = plan.starts + position - self._home

    def _next_pattern(self, stamp_ns: int) -> FormationPattern | None:
        """Return the pattern that is due: an ordered one first; None for none."""
        if self.plan is not None and self.plan.pattern == LANDING:
            return None
        ordered, self._ordered = self._ordered, None
        if ordered is not None:
            return ordered
        if self._waiting and self._waiting[0][0] <= self._route_s(stamp_ns):
            return self._waiting.popleft()[1]
        return None

    def _route_s(self, stamp_ns: int) -> float:
        """Return the time since the begin of the route [s]; before it is -1."""
        return -1.0 if self._begin_ns is None else to_seconds(stamp_ns - self._begin_ns)
