# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""One vehicle of a formation from take-off to landing, whatever carries its messages.

A pilot is asked at each estimate of its vehicle what to do: it takes off, flies in formation by
commands of velocity, reports at its own rate, and lands when the plan says so. What others say
comes through the link model, by the stamps of the messages: what a pilot knows at a time does not
depend on how fast messages were carried, as long as they came earlier than the link delivers them.
"""

import heapq
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from aerotwin_core.frames import FloatArray
from aerotwin_core.parameters import parameter
from aerotwin_core.time import from_seconds, to_seconds
from aerotwin_formation.controllers import FollowerController
from aerotwin_formation.link import LOST, VehicleLinkParameters, arrival
from aerotwin_formation.messages import LEADER, VehicleReport
from aerotwin_formation.mission import FormationMission
from aerotwin_formation.parameters import FormationParameters
from aerotwin_formation.plan import FormationPlan
from aerotwin_formation.route_leader import RouteLeader

FLYING_M = 2.0
"""Above its start a vehicle has taken off, and follows commands."""
STANDS_M_S, LIFTED_M = 0.3, 1.0
"""Slower than this a vehicle stands at its start; so far above it, it hovers instead."""
ORDER_NS = 2_000_000_000
"""An order that has no effect is repeated after this."""
DESCENDS_M_S = -0.2
HOVERS_NS = 1_000_000_000
"""After its last command a vehicle hovers within this, unless it obeys the order to land."""
MOST_IN_FLIGHT = 100_000
"""Messages that the link holds; others are lost."""
FUTURE_NS = 1_000_000_000
"""A message that is so much later than the own time is skipped."""
PAUSE_NS, JUMP_M = 500_000_000, 0.5
"""No estimate for so long, or one so much farther than it could fly: a flight does not go on so."""

Order = Literal["", "take_off", "land"]


@dataclass(frozen=True, kw_only=True)
class PilotParameters(FormationParameters):
    """A formation of vehicles with autopilots."""

    report_period_s: float = parameter(
        0.1, unit="s", minimum=0.01, maximum=10.0, text="between two reports of a vehicle"
    )

    def __post_init__(self) -> None:
        self.check_hold(self.report_period_s)


@dataclass(frozen=True, kw_only=True)
class PilotAction:
    """What a pilot does at a time: an order to its autopilot, a velocity [m/s], a report."""

    order: Order = ""
    velocity: FloatArray | None = None
    report: VehicleReport | None = None


class FormationGuidance(Protocol):
    """What steers a vehicle in formation: a `FollowerController`, or a `RouteLeader`."""

    @property
    def plan(self) -> FormationPlan | None:
        """The newest plan that it knows."""

    def receive(self, report: VehicleReport) -> None:
        """Add a message."""

    def command(self, stamp_ns: int, position: FloatArray, velocity: FloatArray) -> FloatArray:
        """Return the velocity (3,) to fly at a time [m/s], from the own motion, (3,) each."""

    def report(self, stamp_ns: int, position: FloatArray, velocity: FloatArray) -> VehicleReport:
        """Return what it says at a time."""


class ReceivingLink:
    """What one vehicle receives over the link: messages wait here until they are due.

    The number of a message is its stamp in report periods. Its range counts from the position in
    the message to the receiver's own at its last step: no truth is needed.
    """

    def __init__(
        self, parameters: VehicleLinkParameters, *, seed: int, receiver: int, period_s: float
    ) -> None:
        self._parameters, self._seed, self._receiver = parameters, seed, receiver
        self._period_ns = from_seconds(period_s)
        self._waiting: list[tuple[int, int, int, int, VehicleReport]] = []
        self._n_sent = 0

    def send(self, report: VehicleReport, own_position: FloatArray) -> None:
        """Add a message on its way; it may be lost."""
        due_ns = arrival(
            self._parameters,
            self._seed,
            sender=report.sender,
            receiver=self._receiver,
            number=report.stamp_ns // self._period_ns,
            stamp_ns=report.stamp_ns,
            distance_m=float(np.linalg.norm(report.motion[0] - own_position)),
        )
        if due_ns != LOST and len(self._waiting) < MOST_IN_FLIGHT:
            self._n_sent += 1
            key = due_ns, report.stamp_ns, report.sender, self._n_sent
            heapq.heappush(self._waiting, (*key, report))

    def arrived(self, stamp_ns: int) -> list[VehicleReport]:
        """Return the messages that are due by a time, in the order of arrival."""
        found = []
        while self._waiting and self._waiting[0][0] <= stamp_ns:
            found.append(heapq.heappop(self._waiting)[-1])
        return found


class FormationPilot:
    """One vehicle of a formation.

    It begins anew where its vehicle is back at its start, as after a reset of the simulation, or
    where time goes back.

    Parameters
    ----------
    parameters : PilotParameters
        Of the formation.
    n_vehicles, number : int
        Vehicles of the formation, and which one this is; 0 is the leader.
    mission : FormationMission, optional
        Of the leader; followers need none.
    seed : int
        Of the link.

    Attributes
    ----------
    n_skipped : int
        Messages of a time that its own estimate had not come near.
    """

    def __init__(
        self,
        parameters: PilotParameters,
        n_vehicles: int,
        number: int,
        *,
        mission: FormationMission | None,
        seed: int,
    ) -> None:
        if number == LEADER and mission is None:
            raise ValueError("mission must be given for the leader, got None")
        self.number, self._n_vehicles = number, n_vehicles
        self._parameters, self._mission, self._seed = parameters, mission, seed
        self._period_ns = from_seconds(parameters.report_period_s)
        self.n_skipped = 0
        self._begin()

    def _begin(self) -> None:
        """Stand on the ground and know nothing."""
        p, n = self._parameters, self._n_vehicles
        self._link = ReceivingLink(
            p.link, seed=self._seed, receiver=self.number, period_s=p.report_period_s
        )
        self.leader: RouteLeader | None = None
        if self._mission is not None:
            self.leader = RouteLeader(n, p, self._mission)
        separation = p.separation if p.avoids else None
        self._guidance: FormationGuidance = self.leader or FollowerController(
            n, self.number, p.follower, separation
        )
        self._last_period = -1
        self._start: FloatArray | None = None
        self._position = np.zeros(3)
        self._begin_ns = self._stamp_ns = -1
        self._order_due_ns = 0
        self._is_flying = self._descends = False
        self._obeys_from_ns: int | None = None

    @property
    def plan(self) -> FormationPlan | None:
        """The newest plan that it knows."""
        return self._guidance.plan

    @property
    def phase(self) -> str:
        """What it does, in words."""
        if not self._is_flying:
            return "taking off"
        if self._is_landing:
            return "landing"
        return "hovering" if self.plan is None else f"in pattern {self.plan.pattern}"

    def receive(self, report: VehicleReport) -> None:
        """Give a message of another vehicle to the link, unless it is much later than the own time.

        That is so where this vehicle's own estimate fails to come, or the sender's time is wrong.
        What was said before this one began counts no more. Raises ValueError if it is of this
        vehicle.
        """
        if report.sender == self.number:
            raise ValueError(f"sender must be another vehicle, got {report.sender}")
        if self._begin_ns < 0 or report.stamp_ns < self._begin_ns:
            return
        if max(report.stamp_ns, report.leader_stamp_ns) > self._stamp_ns + FUTURE_NS:
            self.n_skipped += 1
            return
        self._link.send(report, self._position)

    def step(self, stamp_ns: int, position: FloatArray, velocity: FloatArray) -> PilotAction:
        """Return what to do at a time [ns] with an own motion in map [m], [m/s], (3,) each."""
        if self._is_back(stamp_ns, position, velocity):
            self._begin()
        if self._begin_ns < 0:
            self._begin_ns = stamp_ns
        self._stamp_ns, self._position = stamp_ns, position
        for arrived in self._link.arrived(stamp_ns):
            self._guidance.receive(arrived)
        if not self._is_flying:
            return PilotAction(order=self._take_off(position, velocity))
        if self._is_landing:
            order, command = self._land(velocity), None
        else:
            order, command = "", self._guidance.command(stamp_ns, position, velocity)
        report = self._report(stamp_ns, position, velocity)  # in a landing for those who lack it
        return PilotAction(order=order, velocity=command, report=report)

    def _is_back(self, stamp_ns: int, position: FloatArray, velocity: FloatArray) -> bool:
        """Return whether time went back, or it stands at its start without having flown there.

        An estimate that jumps in the air is none of both: it is not slow, or not near the start.
        """
        if stamp_ns < self._stamp_ns:
            return True
        if not self._is_flying or self._start is None:
            return False
        passed_ns = stamp_ns - self._stamp_ns
        reach_m = JUMP_M + self._parameters.follower.maximum_speed_m_s * to_seconds(passed_ns)
        jumped = np.linalg.norm(position - self._position) > reach_m
        before_m = float(np.linalg.norm(self._position - self._start))
        is_near = np.linalg.norm(position - self._start) < max(LIFTED_M, 0.5 * before_m)
        is_slow = np.linalg.norm(velocity) < STANDS_M_S
        return bool((jumped or passed_ns > PAUSE_NS) and is_near and is_slow)

    def _take_off(self, position: FloatArray, velocity: FloatArray) -> Order:
        """Return the order to take off as long as it stands; an estimate may drift there."""
        is_slow = bool(np.linalg.norm(velocity) < STANDS_M_S)
        rise_m = 0.0 if self._start is None else float(position[2] - self._start[2])
        self._is_flying = rise_m > FLYING_M or (is_slow and rise_m > LIFTED_M)
        if self._is_flying or not is_slow:
            return ""
        self._start = position.copy()
        if self.leader is not None:
            self.leader.set_home(self._start)
        return self._ordered("take_off")

    def _land(self, velocity: FloatArray) -> Order:
        """Return the order to land until it is obeyed; a vehicle may sink before it hears one."""
        if self._obeys_from_ns is not None and self._stamp_ns >= self._obeys_from_ns:
            self._descends |= bool(velocity[2] < DESCENDS_M_S)
        order = "" if self._descends else self._ordered("land")
        if order and self._obeys_from_ns is None:
            self._obeys_from_ns = self._stamp_ns + HOVERS_NS
        return order

    @property
    def _is_landing(self) -> bool:
        return self.plan is not None and self.plan.is_over(self._stamp_ns)

    def _ordered(self, order: Order) -> Order:
        """Return an order when it is due."""
        if self._stamp_ns < self._order_due_ns:
            return ""
        self._order_due_ns = self._stamp_ns + ORDER_NS
        return order

    def _report(
        self, stamp_ns: int, position: FloatArray, velocity: FloatArray
    ) -> VehicleReport | None:
        """Return a report, once in each period."""
        period = stamp_ns // self._period_ns
        if period == self._last_period:
            return None
        self._last_period = period
        return self._guidance.report(stamp_ns, position, velocity)
