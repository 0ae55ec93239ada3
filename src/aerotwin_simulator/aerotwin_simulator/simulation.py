# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""One flight of one vehicle or a fleet: the loop that owns time.

`motor commands -> dynamics -> sensors -> controller`, in direct calls. The caller drives it step by
step and decides about pace, pauses and the end. All vehicles move before any of them measures, and
send their readings before any answer is waited for: their autopilots compute in parallel.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from aerotwin_core import messages
from aerotwin_core.errors import UserError
from aerotwin_core.fixed_layout import FixedLayout
from aerotwin_core.geodesy import LocalTangentPlane
from aerotwin_core.messages import serialize
from aerotwin_core.time import Schedule, to_seconds
from aerotwin_px4_bridge.common_start import CommonStart
from aerotwin_rendering import WorldQueries
from aerotwin_simulator import topics
from aerotwin_simulator.collision import check_together
from aerotwin_simulator.controllers.autopilot_process import make_host
from aerotwin_simulator.events.engine import EventEngine
from aerotwin_simulator.events.plan import Event, load_events
from aerotwin_simulator.fleet import VehiclePlan, placing_errors, plan_vehicles
from aerotwin_simulator.fleet_starts import place_side_by_side
from aerotwin_simulator.obstacles import ObstacleCourse
from aerotwin_simulator.parameters import MULTIROTOR, NO_FILE, SimulatorParameters
from aerotwin_simulator.pinned_cpu import pinned_cpu
from aerotwin_simulator.present_vehicles import PresentVehicles
from aerotwin_simulator.robot import LANDED, SimulatedRobot
from aerotwin_simulator.robot_kinds import RobotKinds
from aerotwin_simulator.surroundings import AwaitedReadings, Surroundings, check_awaited
from aerotwin_simulator.topics import MessageSink, SinkGroup
from aerotwin_simulator.traffic import VehicleTraffic
from aerotwin_simulator.vehicle import STATUS_RATE_HZ, SimulatedVehicle
from aerotwin_worlds import Obstacle, World
from aerotwin_worlds.world_follower import Renderer, WorldFollower

CLOCK_RATE_HZ = 100.0
_NAMED_PHASES = 4
"""Vehicles whose phases fit one line by name."""


class Simulation:
    """The vehicles in a world, on one clock.

    The flight ends when every vehicle with a task that ends has finished it, when the requested
    time is over, or when any vehicle crashes or is lost; each vehicle has an `outcome` of its own.

    Parameters
    ----------
    folder : path
        Folder of the autopilots' logs.
    sinks : sequence of MessageSink
        Receivers of the messages.
    awaited : mapping of str to AwaitedReadings, optional
        Readings that nodes answer, by the name of the vehicle ("" for a single one).
    events : sequence of Event, optional
        What happens during the flight; those of the file that the parameters name by default.
    spin : callable, optional
        Delivers messages of other nodes for at most the requested wall time [s]; called while a
        vehicle waits for commands from a topic.

    Attributes
    ----------
    vehicles, left : lists of SimulatedRobot
        Those that are in the world now, in the order of the fleet, and those that left it.
    stamp_ns : int
        Simulated time.
    events : EventEngine or None
        What happens, and the record of the flight's signals; None without events.
    outcome, is_success : str or None, bool
        How the flight ended, None while it lasts, and whether that is the intended end.
    """

    def __init__(
        self,
        parameters: SimulatorParameters,
        world: World,
        folder: Path,
        sinks: Sequence[MessageSink],
        *,
        awaited: Mapping[str, AwaitedReadings] | None = None,
        events: Sequence[Event] | None = None,
        spin: Callable[[float], None] | None = None,
    ) -> None:
        self.parameters, self.world = parameters, world
        self._sinks = SinkGroup(sinks)
        self._step_ns = parameters.step_ns
        self._clock_due = Schedule(CLOCK_RATE_HZ)
        self._status_due = Schedule(STATUS_RATE_HZ)
        self._clock = FixedLayout(lambda stamp_ns, _: messages.clock_message(stamp_ns), 0)
        self.stamp_ns = 0
        self.outcome: str | None = None
        self.is_success = False
        self.events: EventEngine | None = None
        self._awaited = awaited or {}
        self.folder, self._spin = folder, spin or (lambda _: None)
        self._kinds = RobotKinds()
        has_downwash = parameters.wind.downwash
        self._traffic = VehicleTraffic(parameters.step_s, has_downwash=has_downwash)
        self._present = PresentVehicles(parameters, self._make, self._traffic, self._sinks)
        self.vehicles, self.left = self._present.vehicles, self._present.left
        self._make_vehicles(events)
        self._declare_topics()

    def _make_vehicles(self, events: Sequence[Event] | None) -> None:
        self._plane = LocalTangentPlane(self.world.origin)
        queries = WorldQueries(self.world, objects_at=lambda now_ns: self._obstacles.at(now_ns))
        self._queries, self._common_start = queries, CommonStart()
        self._obstacles: ObstacleCourse = ObstacleCourse(queries, self._sinks)
        self._renderer = Renderer(self.world, self._obstacles.at)
        self._follower = WorldFollower(self.world, [self._renderer, queries, self._obstacles])
        plans = place_side_by_side(plan_vehicles(self.parameters), self.world, queries)
        if events is None and self.parameters.events != NO_FILE:
            events = load_events(self.parameters.events, vehicles=[plan.name for plan in plans])
        check_awaited({plan.name: plan.parameters for plan in plans}, self._awaited)
        self._with_station = {e.vehicle or plans[0].name for e in events or () if e.needs_station}
        multirotors = [p.parameters for p in plans if p.parameters.dynamics == MULTIROTOR]
        self._host = make_host(multirotors, self.folder, pinned_cpu(self.parameters))
        try:
            self._present.begin(plans)
            if events is not None:
                self.events = EventEngine(
                    events,
                    self.vehicles,
                    queries,
                    self._plane,
                    obstacles=self,
                    sinks=self._sinks,
                )
        except BaseException:
            self.close()
            raise

    def _make(self, plan: VehiclePlan, stamp_ns: int) -> SimulatedRobot:
        """Return a robot that begins at an instant [ns]."""
        objects_at = self._traffic.seen_by(plan.name, self._obstacles.at)
        surroundings = Surroundings(
            world=self.world,
            queries=self._queries,
            sight=self._queries.showing(objects_at),
            renderer=self._renderer.showing(objects_at),
            plane=self._plane,
            folder=self.folder,
            sinks=self._sinks,
            awaited=self._awaited.get(plan.name),
            spin=self._spin,
            with_station=self._with_station,
            host=self._host,
            common_start=self._common_start if plan.is_alike else None,
        )
        with placing_errors(plan.entry):
            return self._kinds.make(plan, surroundings, stamp_ns)

    def _declare_topics(self) -> None:
        self._sinks.add(topics.OF_THE_WORLD)
        for vehicle in self.vehicles:
            self._sinks.add(vehicle.published)

    @property
    def multirotor(self) -> SimulatedVehicle:
        """The vehicle of a simulation of one multirotor."""
        (vehicle,) = self.vehicles
        assert isinstance(vehicle, SimulatedVehicle)
        return vehicle

    @property
    def is_repeatable(self) -> bool:
        """Whether no wait for a command timed out; otherwise the run cannot be repeated exactly."""
        return self.n_missed == 0

    @property
    def n_missed(self) -> int:
        """Steps of all vehicles for which no command came in time, over all resets."""
        return sum(vehicle.n_missed for vehicle in (*self.vehicles, *self.left))

    @property
    def phase(self) -> str:
        """Phases of the vehicles, as text: of each by name, of many how many are in each."""
        if len(self.vehicles) == 1:
            return self.vehicles[0].backend.phase
        if len(self.vehicles) <= _NAMED_PHASES:
            return ", ".join(f"{v.name} {v.backend.phase}" for v in self.vehicles)
        phases = Counter(v.backend.phase for v in self.vehicles)
        return ", ".join(f"{n} {phase}" for phase, n in phases.most_common())

    @property
    def progress(self) -> float | None:
        """Finished share of the slowest vehicle's task; None if no vehicle reports it."""
        shares = [v.backend.progress for v in self.vehicles if v.backend.progress is not None]
        return min(shares, default=None)

    # -- life ---------------------------------------------------------------------------------

    def start(self, on_wait: Callable[[float], None] | None = None) -> None:
        """Start the autopilots, wait for their connections and publish the static transforms.

        Raises
        ------
        AutopilotLost
            If an autopilot does not connect in time.
        UserError
            If an autopilot cannot be started.
        """
        self._present.start(self.stamp_ns, on_wait)

    def call_on_change(
        self,
        on_joined: Callable[[SimulatedRobot], None],
        on_left: Callable[[SimulatedRobot], None],
    ) -> None:
        """Call functions with each vehicle that joins or leaves from now on."""
        self._present.call_on_change(on_joined, on_left)

    @property
    def instances(self) -> set[int]:
        """Numbers of the vehicles that are here, or known to join."""
        return self._present.instances

    def join(self, plan: VehiclePlan) -> SimulatedRobot:
        """Let a vehicle join between two steps; time stands still while its autopilot starts.

        Raises
        ------
        AutopilotLost
            If its autopilot does not connect in time.
        UserError
            If there is one of its name or number, it would start in something, or cannot be made.
        """
        return self._present.join(plan, self.stamp_ns)

    def leave(self, name: str) -> None:
        """Take a vehicle out of the world between two steps, and end its autopilot.

        Raises
        ------
        UserError
            If there is none of the name, or it is the last one.
        """
        self._present.leave(name, self.stamp_ns)

    def _follow_schedule(self, now_ns: int) -> None:
        """Let those join and leave whose time has come; a failure ends the run."""
        try:
            self._present.follow_schedule(now_ns)
        except UserError as error:
            self._end(str(error), is_success=False)

    def add_obstacle(self, obstacle: Obstacle, stamp_ns: int) -> None:
        """Add an obstacle that comes into the world at a simulated time [ns].

        That is later or now: not before the step in progress.

        Sensors see it and vehicles can hit it from then on; `/obstacles/NAME/odom` is its true
        motion. A reset removes it.

        Raises
        ------
        ValueError
            If the time is over.
        UserError
            If its name is taken, its kind is not known, or its way leaves the world.
        """
        if stamp_ns < self.stamp_ns - self._step_ns:
            raise ValueError(
                f"stamp_ns must not be before the simulated time {self.stamp_ns}, got {stamp_ns}"
            )
        self._obstacles.add(obstacle, stamp_ns)
        self._queries.stamp_ns = self.stamp_ns
        self._look_again()

    def check_obstacle(self, obstacle: Obstacle) -> None:
        """Refuse an obstacle that could not be added; errors as those of `add_obstacle`.

        Whether its way is on the ground is known at once only where the world does not stream.
        """
        if self.world.stream is None:
            self._obstacles.check(obstacle)

    def _look_again(self) -> None:
        for vehicle in self.vehicles:
            vehicle.look_again()

    def reset(self, on_wait: Callable[[float], None] | None = None) -> None:
        """Reset the vehicles to their starts, with fresh controllers; time goes on.

        All obstacles are removed.
        """
        self._present.unpin()
        self._obstacles.clear(self.stamp_ns)
        self._follower.restart(self.stamp_ns, self.world.start_p_map)
        for vehicle in self.vehicles:
            vehicle.reset(self.stamp_ns)
        self._present.meet_again(self.stamp_ns)
        if self.events is not None:
            self.events.restart(self.stamp_ns)
        self.outcome, self.is_success = None, False
        self.start(on_wait)

    def close(self) -> None:
        """End the autopilots and free the ports; safe to call twice.

        All are ended even if one fails to; its error is raised afterwards.
        """
        with ExitStack() as stack:
            stack.callback(self._present.unpin)
            if self.events is not None:
                stack.callback(self.events.close)
            for vehicle in reversed(self.vehicles):
                stack.callback(vehicle.close)

    def abort(self, reason: str) -> None:
        """End the flight as failed."""
        self._end(reason, is_success=False)

    # -- one step -----------------------------------------------------------------------------

    def advance(self) -> None:
        """Advance by one step; sets `outcome` when the flight is over."""
        begin_ns = self.stamp_ns
        end_ns = self.stamp_ns = begin_ns + self._step_ns
        if not self._sinks.is_empty:
            for stamp_ns in self._clock_due.until(end_ns):
                self._sinks.publish_cdr(topics.CLOCK, stamp_ns, self._clock.pack(stamp_ns, ()))
        if self._present.has_schedule:
            self._follow_schedule(begin_ns)
        if self.events is not None:
            self.events.advance(begin_ns)
        if self._follower.is_due(begin_ns):
            self._follower.follow(np.array([vehicle.p_map_body for vehicle in self.vehicles]))
        if not self._obstacles.is_empty:
            self._move_obstacles(begin_ns, end_ns)
        is_traffic = len(self.vehicles) > 1
        if is_traffic:
            self._traffic.blow()
        moved = [stepped for stepped in self._present.stepped if stepped.move(begin_ns, end_ns)]
        self._check_walls()
        if is_traffic:
            self._queries.stamp_ns = end_ns
            self._traffic.meet(begin_ns, end_ns)
        for stepped in moved:
            stepped.measure()
            stepped.send_readings()
        for stepped in self._present.stepped:
            stepped.receive_command(end_ns)
        if not self._sinks.is_empty:
            self._publish_status(end_ns)
        self._check_end()
        if self.outcome is not None and self.events is not None:
            self.events.finish(end_ns)

    def _check_walls(self) -> None:
        """Let multirotors that moved hit anything but the ground; others look for themselves."""
        due = [vehicle for vehicle in self._present.multirotors if vehicle.is_check_due()]
        found = check_together(self._queries, [(v.watch, v.truth) for v in due]) if due else []
        for vehicle, met in zip(due, found, strict=True):
            if met is not None:
                vehicle.hit(met)

    def _move_obstacles(self, begin_ns: int, end_ns: int) -> None:
        self._queries.stamp_ns = end_ns
        if self._obstacles.appears(begin_ns, end_ns):
            self._look_again()
        if not self._sinks.is_empty:
            self._obstacles.publish(end_ns)

    def _publish_status(self, end_ns: int) -> None:
        for stamp_ns in self._status_due.until(end_ns):
            statuses = [vehicle.publish_status(stamp_ns) for vehicle in self.vehicles]
            cdr = serialize(messages.diagnostics_message(stamp_ns, statuses))
            self._sinks.publish_cdr(topics.DIAGNOSTICS, stamp_ns, cdr)

    def _check_end(self) -> None:
        with_end = [vehicle for vehicle in self.vehicles if vehicle.backend.has_end]
        limit_s = self.parameters.duration_s
        for vehicle in self.vehicles:
            if vehicle.outcome is not None and not vehicle.is_success:
                name = f"{vehicle.name}: " if vehicle.name else ""
                self._end(f"{name}{vehicle.outcome}", is_success=False)
                return
        is_done = with_end and self._present.are_complete
        if is_done and all(vehicle.is_success for vehicle in with_end):
            outcomes = {str(vehicle.outcome) for vehicle in with_end}
            several = "all have landed" if outcomes == {LANDED} else "all missions are flown"
            self._end(several if len(with_end) > 1 else outcomes.pop())
        elif limit_s > 0.0 and to_seconds(self.stamp_ns) >= limit_s:
            self._end(f"{limit_s:g} s are over{', in the air' * self._present.are_in_air}")

    def _end(self, outcome: str, *, is_success: bool = True) -> None:
        if self.outcome is None:
            self.outcome, self.is_success = outcome, is_success
