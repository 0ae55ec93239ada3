# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""One flight of one vehicle or a fleet: the loop that owns time.

`motor commands -> dynamics -> sensors -> controller`, in direct calls. The caller drives it step by
step and decides about pace, pauses and the end. All vehicles move before any of them measures, and
send their readings before any answer is waited for: their autopilots compute in parallel.
"""

import os
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from aerotwin_core import messages
from aerotwin_core.errors import ParameterError, UserError
from aerotwin_core.fixed_layout import FixedLayout
from aerotwin_core.foreign_text import printable
from aerotwin_core.geodesy import LocalTangentPlane
from aerotwin_core.messages import serialize
from aerotwin_core.time import Schedule, from_seconds, to_seconds
from aerotwin_rendering import WorldQueries
from aerotwin_simulator import topics
from aerotwin_simulator.controllers.autopilot_process import make_host
from aerotwin_simulator.events.engine import EventEngine
from aerotwin_simulator.events.plan import Event, load_events
from aerotwin_simulator.fleet import VehiclePlan, plan_vehicles
from aerotwin_simulator.fleet_starts import place_side_by_side
from aerotwin_simulator.loop_cpu import loop_cpu
from aerotwin_simulator.obstacles import Obstacle, ObstacleCourse
from aerotwin_simulator.parameters import MULTIROTOR, NO_FILE, SimulatorParameters
from aerotwin_simulator.robot import LANDED, SINGLE, MakeRobot, SimulatedRobot, Stepped
from aerotwin_simulator.surroundings import AwaitedReadings, Surroundings
from aerotwin_simulator.topics import MessageSink, SinkGroup
from aerotwin_simulator.traffic import VehicleTraffic
from aerotwin_simulator.vehicle import STATUS_RATE_HZ, SimulatedVehicle
from aerotwin_simulator.world_follower import Renderer, WorldFollower
from aerotwin_worlds import World

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
    kinds : mapping, optional
        What makes the robots of each `dynamics`, multirotors always.

    Attributes
    ----------
    vehicles, left : lists of SimulatedRobot
        Those that are in the world now, in the order of the fleet, and those that left it.
    on_joined : callable
        Called with each vehicle that joins the running simulation.
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
        kinds: Mapping[str, MakeRobot] | None = None,
    ) -> None:
        self.parameters, self.world = parameters, world
        self._sinks = SinkGroup(sinks)
        self._step_ns = parameters.step_ns
        self._free_cpus: set[int] = set()
        self._clock_due = Schedule(CLOCK_RATE_HZ)
        self._status_due = Schedule(STATUS_RATE_HZ)
        self._clock = FixedLayout(lambda stamp_ns, _: messages.clock_message(stamp_ns), 0)
        self.stamp_ns = 0
        self.outcome: str | None = None
        self.is_success = False
        self.vehicles: list[SimulatedRobot] = []
        self.left: list[SimulatedRobot] = []
        self.on_joined: Callable[[SimulatedRobot], None] = lambda _: None
        self._joining: deque[tuple[int, VehiclePlan]] = deque()
        self._leaving: deque[tuple[int, str]] = deque()
        self._on_wait: Callable[[float], None] | None = None
        self._stepped: list[Stepped] = []
        self.events: EventEngine | None = None
        self._awaited = awaited or {}
        self._folder, self._spin = folder, spin or (lambda _: None)
        self._kinds: dict[str, MakeRobot] = {MULTIROTOR: SimulatedVehicle, **(kinds or {})}
        has_downwash = parameters.wind.downwash
        self._traffic = VehicleTraffic(parameters.step_s, has_downwash=has_downwash)
        self._make_vehicles(events)
        self._declare_topics()

    def _make_vehicles(self, events: Sequence[Event] | None) -> None:
        self._plane = LocalTangentPlane(self.world.origin)
        queries = WorldQueries(self.world, objects_at=lambda stamp_ns: self._obstacles.at(stamp_ns))
        self._queries = queries
        self._obstacles: ObstacleCourse = ObstacleCourse(queries, self._sinks)
        self._renderer = Renderer(self.world, self._obstacles.at)
        self._follower = WorldFollower(self.world, [self._renderer, queries, self._obstacles])
        plans = place_side_by_side(plan_vehicles(self.parameters), self.world, queries)
        if events is None and self.parameters.events != NO_FILE:
            events = load_events(self.parameters.events, vehicles=[plan.name for plan in plans])
        _check_awaited(plans, self._awaited)
        self._with_station = {e.vehicle or plans[0].name for e in events or () if e.needs_station}
        multirotors = [p.parameters for p in plans if p.parameters.dynamics == MULTIROTOR]
        self._host = make_host(multirotors, self._folder)
        try:
            for plan in plans:
                self._schedule(plan)
                if plan.joins_at_s == 0.0:
                    self.vehicles.append(self._make(plan))
            self._meet_again()
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

    def _schedule(self, plan: VehiclePlan) -> None:
        """Note when a vehicle of the fleet joins and leaves."""
        if plan.joins_at_s > 0.0:
            self._joining.append((from_seconds(plan.joins_at_s), plan))
        if plan.leaves_at_s is not None:
            self._leaving.append((from_seconds(plan.leaves_at_s), plan.name))
        self._joining = deque(sorted(self._joining, key=lambda each: each[0]))
        self._leaving = deque(sorted(self._leaving))

    def _make(self, plan: VehiclePlan) -> SimulatedRobot:
        """Return a robot that begins now."""
        objects_at = self._traffic.seen_by(plan.name, self._obstacles.at)
        surroundings = Surroundings(
            world=self.world,
            queries=self._queries,
            sight=self._queries.showing(objects_at),
            renderer=self._renderer.showing(objects_at),
            plane=self._plane,
            folder=self._folder,
            sinks=self._sinks,
            awaited=self._awaited.get(plan.name),
            spin=self._spin,
            with_station=self._with_station,
            host=self._host,
        )
        make = self._kinds.get(plan.parameters.dynamics)
        if make is None:
            raise ParameterError(
                f"dynamics: expected {', '.join(self._kinds)} here, found "
                f"{plan.parameters.dynamics}; start launch/sitl_flight.launch.yaml for it"
            )
        return make(plan, surroundings, self.stamp_ns)

    def _meet_again(self) -> None:
        """Step the present robots, and let them see and hit each other."""
        self._stepped = [*dict.fromkeys(vehicle.stepped for vehicle in self.vehicles)]
        if len(self.vehicles) > 1 or self.left:
            self._traffic.restart(self.vehicles, self.stamp_ns)

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
        return sum(vehicle.n_missed for vehicle in self.vehicles)

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
        self._on_wait = on_wait
        for vehicle in self.vehicles:
            vehicle.warm_up()
        for vehicle in self.vehicles:
            vehicle.backend.start()
        for vehicle in self.vehicles:
            vehicle.backend.wait(on_wait)
        self._pin()
        if self.stamp_ns == 0:
            self._publish_fixed()
            for vehicle in self.vehicles:
                vehicle.publish_description()

    def _publish_fixed(self) -> None:
        """Publish the frames fixed to all vehicles."""
        fixed = [edge for vehicle in self.vehicles for edge in vehicle.static_transforms()]
        cdr = serialize(messages.transform_message(fixed))
        self._sinks.publish_cdr(topics.TF_STATIC, self.stamp_ns, cdr)

    def _pin(self) -> None:
        """Share one processor with the autopilots."""
        cpu = loop_cpu(self.parameters)
        if cpu is not None and any(v.parameters.controller.is_autopilot for v in self.vehicles):
            self._free_cpus = self._free_cpus or os.sched_getaffinity(0)
            os.sched_setaffinity(0, {cpu})  # this thread only: rendering keeps all processors

    def _unpin(self) -> None:
        if self._free_cpus:
            os.sched_setaffinity(0, self._free_cpus)
            self._free_cpus = set()

    def join(self, plan: VehiclePlan) -> SimulatedRobot:
        """Let a vehicle join between two steps; time stands still while its autopilot starts.

        Raises
        ------
        AutopilotLost
            If its autopilot does not connect in time.
        UserError
            If there is one of its name or number, it would start in something, or cannot be made.
        """
        for other in self.vehicles:
            if plan.name == (other.name or SINGLE):
                raise UserError(
                    f"{plan.name}: there is a vehicle '{plan.name}'; give it another name"
                )
            if other.parameters.fleet.link_number == plan.parameters.fleet.link_number:
                raise UserError(
                    f"{plan.name}: instance: {other.name or SINGLE} has "
                    f"{plan.parameters.fleet.instance}; give it another"
                )
        vehicle = self._make(plan)
        self.vehicles.append(vehicle)
        try:
            self._meet_again()
            self._unpin()
            vehicle.warm_up()
            self._sinks.add(vehicle.published)
            vehicle.backend.start()
            vehicle.backend.wait(self._on_wait)
            self._pin()
        except BaseException:
            self.vehicles.remove(vehicle)
            vehicle.leave()
            self._meet_again()
            raise
        self._publish_fixed()
        vehicle.publish_description()
        self.on_joined(vehicle)
        return vehicle

    def leave(self, name: str) -> None:
        """Take a vehicle out of the world between two steps, and end its autopilot.

        Raises
        ------
        UserError
            If there is none of the name, or it is the last one.
        """
        vehicle = next((v for v in self.vehicles if name == (v.name or SINGLE)), None)
        if vehicle is None:
            known = ", ".join(each.name or SINGLE for each in self.vehicles)
            raise UserError(f"no vehicle '{printable(name)}'; there are: {known}")
        if len(self.vehicles) == 1:
            raise UserError(f"{name}: it is the last one, which cannot leave")
        self.vehicles.remove(vehicle)
        self.left.append(vehicle)
        vehicle.end("it left the world", is_success=True)
        vehicle.leave()
        self._meet_again()
        self._publish_fixed()

    def _join_and_leave(self, now_ns: int) -> None:
        """Let those join and leave whose time has come; a failure ends the run."""
        try:
            while self._leaving and self._leaving[0][0] <= now_ns:
                self.leave(self._leaving.popleft()[1])
            while self._joining and self._joining[0][0] <= now_ns:
                self.join(self._joining.popleft()[1])
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
        self._unpin()
        self._obstacles.clear(self.stamp_ns)
        self._follower.restart(self.stamp_ns, self.world.start_p_map)
        for vehicle in self.vehicles:
            vehicle.reset(self.stamp_ns)
        self._meet_again()
        if self.events is not None:
            self.events.restart(self.stamp_ns)
        self.outcome, self.is_success = None, False
        self.start(on_wait)

    def close(self) -> None:
        """End the autopilots and free the ports; safe to call twice.

        All are ended even if one fails to; its error is raised afterwards.
        """
        with ExitStack() as stack:
            stack.callback(self._unpin)
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
        if self._joining or self._leaving:
            self.stamp_ns = begin_ns
            self._join_and_leave(begin_ns)
            self.stamp_ns = end_ns
        if self.events is not None:
            self.events.advance(begin_ns)
        if self._follower.is_due(begin_ns):
            self._follower.follow(np.array([vehicle.p_map_body for vehicle in self.vehicles]))
        if not self._obstacles.is_empty:
            self._move_obstacles(begin_ns, end_ns)
        is_traffic = len(self.vehicles) > 1
        if is_traffic:
            self._traffic.blow()
        moved = [stepped for stepped in self._stepped if stepped.move(begin_ns, end_ns)]
        if is_traffic:
            self._queries.stamp_ns = end_ns
            self._traffic.meet(begin_ns, end_ns)
        for stepped in moved:
            stepped.measure()
        for stepped in self._stepped:
            stepped.receive_command(end_ns)
        if not self._sinks.is_empty:
            self._publish_status(end_ns)
        self._check_end()
        if self.outcome is not None and self.events is not None:
            self.events.finish(end_ns)

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
        is_done = with_end and not self._joining
        if is_done and all(vehicle.is_success for vehicle in with_end):
            outcomes = {str(vehicle.outcome) for vehicle in with_end}
            plural = len(with_end) > 1
            several = "all have landed" if outcomes == {LANDED} else "all missions are flown"
            self._end(several if plural else outcomes.pop())
        elif limit_s > 0.0 and to_seconds(self.stamp_ns) >= limit_s:
            self._end(f"{limit_s:g} s are over")

    def _end(self, outcome: str, *, is_success: bool = True) -> None:
        self.outcome, self.is_success = outcome, is_success


def _check_awaited(plans: Sequence[VehiclePlan], awaited: Mapping[str, AwaitedReadings]) -> None:
    """Refuse readings of a vehicle or a sensor that does not exist."""
    by_name = {plan.name: plan.parameters for plan in plans}
    for name, readings in awaited.items():
        if name not in by_name:
            raise ValueError(f"awaited must name vehicles ({', '.join(by_name)}), got {name!r}")
        sensor = readings.sensor
        if sensor != topics.CAMERA and not by_name[name].has(sensor):
            raise ParameterError(
                f"wait_at: {name or 'the vehicle'} has no {sensor}; mount one by {sensor}.preset, "
                "or wait at another sensor"
            )
