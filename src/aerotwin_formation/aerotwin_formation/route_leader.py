# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A leader that flies a mission: it gathers the formation, flies its route, changes patterns.

It climbs to its first way-point and waits there until it has heard all followers, announces the
first pattern, and begins its route when that is formed. A pattern can also be ordered in flight;
the patterns of the mission that are due meanwhile wait for it.
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
        self._ordered: FormationPattern | str | None = None
        self._home = np.zeros(3)
        self._first_starts: FloatArray | None = None
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
        self._ordered = (
            LANDING if name == LANDING else self._mission.pattern(name, self._n_vehicles)
        )

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
        if self._begin_ns is not None or is_there:
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

    def _announce(self, stamp_ns: int, position: FloatArray) -> None:
        """Change to the next pattern when it is due and can be flown."""
        if not self._controller.can_change_pattern(stamp_ns):
            return
        pattern = self._next_pattern(stamp_ns)
        if pattern is None:
            return
        try:
            plan = self._controller.change_pattern(pattern, stamp_ns, position)
        except ValueError as error:
            self.refused = str(error)
            return
        self.refused = ""
        if self._first_starts is None:
            self._first_starts = plan.starts

    def _next_pattern(self, stamp_ns: int) -> FormationPattern | None:
        """Return the pattern that is due: an ordered one first, to land last; None for none."""
        if self.plan is not None and self.plan.pattern == LANDING:
            return None
        ordered, self._ordered = self._ordered, None
        if isinstance(ordered, FormationPattern):
            return ordered
        begin_ns = self._begin_ns
        time_s = -1.0 if begin_ns is None else to_seconds(stamp_ns - begin_ns)
        if ordered is None and self._waiting and self._waiting[0][0] <= time_s:
            return self._waiting.popleft()[1]
        is_over = not self._waiting and time_s >= self._end_s and self._mission.lands
        if self._first_starts is not None and (ordered is not None or is_over):
            return landing_pattern(self._first_starts)
        return None
