# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A formation of point masses in one process: leader, followers, link, wind, truth.

Vehicles know of each other what came over the link. Truth moves them, delays and drops their
messages by distance, and is recorded; their estimates of themselves are truth plus errors.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from aerotwin_core.frames import FloatArray
from aerotwin_core.parameters import group, parameter
from aerotwin_core.seeds import seed_sequence
from aerotwin_core.time import from_seconds, to_seconds
from aerotwin_formation.avoidance import safe_velocities
from aerotwin_formation.fleet_noise import (
    EstimateErrorParameters,
    FleetWindParameters,
    estimate_errors,
    gusts,
)
from aerotwin_formation.follower import FollowerCommands, follower_commands, tracking_velocity
from aerotwin_formation.leader import LeaderRoute, can_change_pattern, change_pattern
from aerotwin_formation.link import LOST, arrivals
from aerotwin_formation.messages import LEADER
from aerotwin_formation.parameters import FormationParameters
from aerotwin_formation.patterns import FormationPattern
from aerotwin_formation.point_mass import PointMassParameters, at_rest, point_mass_step
from aerotwin_formation.received import ReceivedReports, ReportRound
from aerotwin_formation.record import FormationRecord, FormationRecorder


@dataclass(frozen=True, kw_only=True)
class FormationFlightParameters(FormationParameters):
    """All of a formation flight of point masses but its route and patterns."""

    step_s: float = parameter(
        0.01, unit="s", minimum=0.001, maximum=0.1, text="of the point masses"
    )
    steps_per_command: int = parameter(
        4, minimum=1, maximum=100, text="commands come every so many steps"
    )
    commands_per_report: int = parameter(
        2, minimum=1, maximum=100, text="reports are sent every so many commands"
    )
    vehicle: PointMassParameters = group(PointMassParameters)
    wind: FleetWindParameters = group(FleetWindParameters)
    estimate: EstimateErrorParameters = group(EstimateErrorParameters)

    def __post_init__(self) -> None:
        self.check_hold(self.step_s * self.steps_per_command * self.commands_per_report)


@dataclass(frozen=True, kw_only=True)
class PatternChange:
    """A pattern that the leader changes to at a time [s], or as soon as it can after it."""

    time_s: float
    pattern: FormationPattern


class FormationFlight:
    """A formation in flight.

    Parameters
    ----------
    parameters : FormationFlightParameters
        Of vehicles, law, link, wind.
    starts : (n, 3) array
        Where the vehicles hover at first, in map [m]; the first is the leader.
    route : LeaderRoute
        Of the leader, from its start.
    changes : sequence of PatternChange
        In order of time.
    seed : int
        Of wind, link and estimates.

    Attributes
    ----------
    time_ns : int
        Since the start.
    state : PointMassState
        True motion of all vehicles.
    received : ReceivedReports
        All inboxes; row i is that of vehicle i.
    """

    def __init__(
        self,
        parameters: FormationFlightParameters,
        starts: FloatArray,
        route: LeaderRoute,
        changes: Sequence[PatternChange],
        seed: int,
    ) -> None:
        starts = np.array(starts, dtype=np.float64)
        if starts.ndim != 2 or starts.shape[1] != 3 or not np.isfinite(starts).all():
            raise ValueError(f"starts must be finite points (n, 3), got shape {starts.shape}")
        n = len(starts)
        p = parameters
        self._steady_wind = np.array([p.wind.east_m_s, p.wind.north_m_s, 0.0])
        self.parameters, self.time_ns = parameters, 0
        self.state = at_rest(starts, wind=self._steady_wind)
        self.received = ReceivedReports(n, range(n))
        self._route, self._changes, self._seed = route, deque(changes), seed
        self._start, self._n_rounds, self._n_commands = starts[LEADER].copy(), 0, 0
        self._in_flight: deque[tuple[ReportRound, np.ndarray]] = deque()
        self._gusts = gusts(p.wind, n, seed_sequence(seed, 0, "gusts"))
        self._errors = estimate_errors(p.estimate, n, seed_sequence(seed, 0, "estimates"))
        self.recorder = FormationRecorder(p.separation)

    def run_until(self, time_s: float) -> FormationRecord:
        """Fly until a time [s] and return the record since the start."""
        while self.time_ns < from_seconds(time_s):
            self.command_period()
        return self.recorder.record()

    def command_period(self) -> None:
        """Fly from one command to the next."""
        estimate = self.state.position + self._errors.values
        self._deliver()
        self._lead(estimate)
        commands = self._commands(estimate)
        if self._n_commands % self.parameters.commands_per_report == 0:
            self._send(estimate, commands)
        self._n_commands += 1
        closest_m = self._move(self._avoided(estimate, commands))
        plan = self.received.plan_of(LEADER)
        self.recorder.add(self.time_ns, self.state.position, self.state.velocity, plan, closest_m)

    def _deliver(self) -> None:
        """Hand over the messages that have arrived by now."""
        latest_ns = self.parameters.link.longest_delay_ns
        for reports, due_ns in self._in_flight:
            arrived = due_ns <= self.time_ns
            if arrived.any():
                self.received.receive_round(reports, arrived)
                due_ns[arrived] = LOST
        while self._in_flight and self._in_flight[0][0].stamp_ns + latest_ns <= self.time_ns:
            self._in_flight.popleft()

    def _lead(self, estimate: FloatArray) -> None:
        """Let the leader announce the next pattern when it is time and it can."""
        p, now_ns = self.parameters, self.time_ns
        if not self._changes or now_ns < from_seconds(self._changes[0].time_s):
            return
        if can_change_pattern(self.received, now_ns, row=LEADER):
            pattern = self._changes.popleft().pattern
            plan = change_pattern(
                p.plan,
                p.separation,
                self.received,
                pattern,
                stamp_ns=now_ns,
                position=estimate[LEADER],
                row=LEADER,
            )
            self.received.set_own_plan(plan)

    def _commands(self, estimate: FloatArray) -> FollowerCommands:
        """Return what all would fly without others in their way; the leader along its route."""
        p, velocity = self.parameters.follower, self.state.velocity
        commands = follower_commands(
            p, self.received, stamp_ns=self.time_ns, position=estimate, velocity=velocity
        )
        place = self._route.motion(to_seconds(self.time_ns))
        place[0] += self._start
        own = np.array([[estimate[LEADER], velocity[LEADER]]])
        error = place[None, 0] - own[:, 0]
        commands.velocity[LEADER] = tracking_velocity(p, place[None], own, error)[0]
        commands.acceleration[LEADER] = place[2]
        motion = np.array([estimate[LEADER], velocity[LEADER], place[2]])
        self.received.set_own_leader_state(self.time_ns, motion)
        return commands

    def _send(self, estimate: FloatArray, commands: FollowerCommands) -> None:
        """Give the reports of all vehicles to the link."""
        motion = np.stack([estimate, self.state.velocity, commands.acceleration], axis=1)
        reports = self.received.reports(self.time_ns, motion)
        due_ns = arrivals(
            self.parameters.link,
            self._seed,
            number=self._n_rounds,
            stamp_ns=self.time_ns,
            distances=cdist(self.state.position, self.state.position),
        )
        self._n_rounds += 1
        self._in_flight.append((reports, due_ns))
        self.recorder.count_messages(due_ns)

    def _avoided(self, estimate: FloatArray, commands: FollowerCommands) -> FloatArray:
        p = self.parameters
        if not p.avoids:
            return commands.velocity
        return safe_velocities(
            p.separation,
            self.received,
            stamp_ns=self.time_ns,
            hold_s=p.follower.hold_s,
            position=estimate,
            velocity=self.state.velocity,
            desired=commands.velocity,
        )

    def _move(self, velocities: FloatArray) -> float:
        """Move all until the next command and return how near two were, E in metres."""
        p, closest_m = self.parameters, np.inf
        for _ in range(p.steps_per_command):
            wind = self._steady_wind + self._gusts.values
            self.state = point_mass_step(p.vehicle, self.state, velocities, p.step_s, wind=wind)
            self._gusts.advance(p.step_s)
            self._errors.advance(p.step_s)
            self.time_ns += from_seconds(p.step_s)
            closest_m = min(closest_m, self.recorder.closest_m(self.state.position))
        return closest_m


def fly_formation(
    parameters: FormationFlightParameters,
    starts: FloatArray,
    route: LeaderRoute,
    changes: Sequence[PatternChange],
    *,
    seed: int,
    duration_s: float,
) -> FormationRecord:
    """Return the record of a flight; arguments as of `FormationFlight`, the same for each seed."""
    return FormationFlight(parameters, starts, route, changes, seed).run_until(duration_s)
