# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The vehicles that are in the world: they start together, and may join and leave later."""

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack

from aerotwin_core.errors import UserError
from aerotwin_core.foreign_text import printable
from aerotwin_core.messages import serialize, transform_message
from aerotwin_core.time import from_seconds, to_seconds
from aerotwin_multirotor_dynamics import layout
from aerotwin_simulator import topics
from aerotwin_simulator.alike_vehicles import computed_together
from aerotwin_simulator.fleet import VehiclePlan
from aerotwin_simulator.parameters import SimulatorParameters
from aerotwin_simulator.pinned_cpu import pinned_cpu
from aerotwin_simulator.robot import SINGLE, SimulatedRobot, Stepped
from aerotwin_simulator.topics import SinkGroup
from aerotwin_simulator.traffic import VehicleTraffic
from aerotwin_simulator.vehicle import SimulatedVehicle

OnWait = Callable[[float], None]
"""Gets the seconds that an autopilot was waited for; may raise."""


class PresentVehicles:
    """The vehicles of one simulation, and those that left it.

    `make` returns the robot of a plan at an instant [ns].

    Attributes
    ----------
    vehicles, left : lists of SimulatedRobot
        Those in the world now, in the order of the fleet, and those that left it.
    stepped : list of Stepped
        What steps them.
    multirotors : list of SimulatedVehicle
        Those of `vehicles`.
    """

    def __init__(
        self,
        parameters: SimulatorParameters,
        make: Callable[[VehiclePlan, int], SimulatedRobot],
        traffic: VehicleTraffic,
        sinks: SinkGroup,
    ) -> None:
        self._parameters, self._make = parameters, make
        self._traffic, self._sinks = traffic, sinks
        self.vehicles: list[SimulatedRobot] = []
        self.left: list[SimulatedRobot] = []
        self.stepped: list[Stepped] = []
        self.multirotors: list[SimulatedVehicle] = []
        self._on_joined: Callable[[SimulatedRobot], None] = lambda _: None
        self._on_left: Callable[[SimulatedRobot], None] = lambda _: None
        self._on_wait: OnWait | None = None
        self._schedule: list[tuple[int, bool, VehiclePlan]] = []
        self._was_traffic = False
        self._free_cpus: set[int] = set()

    def call_on_change(
        self,
        on_joined: Callable[[SimulatedRobot], None],
        on_left: Callable[[SimulatedRobot], None],
    ) -> None:
        """Call functions with each vehicle that joins or leaves from now on."""
        self._on_joined, self._on_left = on_joined, on_left

    def begin(self, plans: Sequence[VehiclePlan]) -> None:
        """Make those that are there from the start, and note when others come and go."""
        joins = [(from_seconds(p.joins_at_s), False, p) for p in plans if p.joins_at_s > 0.0]
        leaves = [
            (from_seconds(p.leaves_at_s), True, p) for p in plans if p.leaves_at_s is not None
        ]
        self._schedule = sorted([*joins, *leaves], key=lambda each: each[:2])
        for plan in plans:
            if plan.joins_at_s == 0.0:
                self.vehicles.append(self._make(plan, 0))
        self.meet_again(0)

    def meet_again(self, stamp_ns: int) -> None:
        """Step the present vehicles from now on, and let them see and hit each other."""
        self.multirotors = [v for v in self.vehicles if isinstance(v, SimulatedVehicle)]
        self.stepped = [*dict.fromkeys(vehicle.stepped for vehicle in self.vehicles)]
        if len(self.vehicles) > 1 or self._was_traffic:
            self._was_traffic = True
            self.stepped = computed_together(self.stepped, self._sinks, stamp_ns)
            self._traffic.restart(self.stepped, stamp_ns)

    def start(self, stamp_ns: int, on_wait: OnWait | None) -> None:
        """Start the autopilots, wait for them, and publish the frames; see `Simulation.start`."""
        self._on_wait = on_wait
        for vehicle in self.vehicles:
            vehicle.warm_up()
        for vehicle in self.vehicles:
            vehicle.backend.start()
        for vehicle in self.vehicles:
            vehicle.backend.wait(on_wait)
        self._pin()
        if stamp_ns == 0:
            self._publish_fixed(stamp_ns)
            for vehicle in self.vehicles:
                vehicle.publish_description()

    # -- later --------------------------------------------------------------------------------

    @property
    def has_schedule(self) -> bool:
        """Whether any will join or leave at a known time."""
        return bool(self._schedule)

    @property
    def are_complete(self) -> bool:
        """Whether none is known to join later."""
        return all(leaves for _, leaves, _ in self._schedule)

    @property
    def instances(self) -> set[int]:
        """Numbers of the vehicles that are here, or known to join."""
        later = {plan.parameters.fleet.instance for _, leaves, plan in self._schedule if not leaves}
        return later | {vehicle.parameters.fleet.instance for vehicle in self.vehicles}

    def follow_schedule(self, now_ns: int) -> None:
        """Let those join and leave whose time has come, who joins first; errors as `join`."""
        while self._schedule and self._schedule[0][0] <= now_ns:
            _, leaves, plan = self._schedule.pop(0)
            if leaves:
                self.leave(plan.name, now_ns)
            else:
                self.join(plan, now_ns)

    def join(self, plan: VehiclePlan, stamp_ns: int) -> SimulatedRobot:
        """Let a vehicle join between two steps; see `Simulation.join`."""
        self._refuse_twin(plan)
        vehicle = self._make(plan, stamp_ns)
        self.vehicles.append(vehicle)
        try:
            self.meet_again(stamp_ns)
            self.unpin()
            vehicle.warm_up()
            self._sinks.add(vehicle.published)
            vehicle.backend.start()
            vehicle.backend.wait(self._on_wait)
        except BaseException:
            self.vehicles.remove(vehicle)
            with ExitStack() as stack:
                stack.callback(self.meet_again, stamp_ns)
                stack.callback(vehicle.leave)
            raise
        finally:
            self._pin()
        self._publish_fixed(stamp_ns)
        vehicle.publish_description()
        self._on_joined(vehicle)
        return vehicle

    @property
    def are_in_air(self) -> bool:
        """Whether any multirotor touches nothing."""
        return not all(vehicle.truth[layout.N_CONTACTS] for vehicle in self.multirotors)

    def _refuse_twin(self, plan: VehiclePlan) -> None:
        for other in self.vehicles:
            name = other.name or SINGLE
            if plan.name == name:
                raise UserError(f"{name}: there is a vehicle '{name}'; give it another name")
            if other.parameters.fleet.link_number == plan.parameters.fleet.link_number:
                number = plan.parameters.fleet.instance
                raise UserError(f"{plan.name}: instance: {name} has {number}; give it another")

    def leave(self, name: str, stamp_ns: int) -> None:
        """Take a vehicle out of the world between two steps; see `Simulation.leave`."""
        vehicle = next((v for v in self.vehicles if name == (v.name or SINGLE)), None)
        if vehicle is None:
            known = ", ".join(each.name or SINGLE for each in self.vehicles)
            raise UserError(f"no vehicle '{printable(name)}'; there are: {known}")
        if len(self.vehicles) == 1:
            raise UserError(f"{name}: it is the last one, which cannot leave")
        self.vehicles.remove(vehicle)
        self.left.append(vehicle)
        self._schedule = [each for each in self._schedule if not each[1] or each[2].name != name]
        if vehicle.outcome is None:
            vehicle.end(f"removed at {to_seconds(stamp_ns):.1f} s", is_success=True)
        with ExitStack() as stack:
            stack.callback(self._on_left, vehicle)
            stack.callback(self._publish_fixed, stamp_ns)
            stack.callback(self.meet_again, stamp_ns)
            stack.callback(vehicle.leave)

    def _publish_fixed(self, stamp_ns: int) -> None:
        """Publish the frames fixed to all vehicles."""
        fixed = [edge for vehicle in self.vehicles for edge in vehicle.static_transforms()]
        self._sinks.publish_cdr(topics.TF_STATIC, stamp_ns, serialize(transform_message(fixed)))

    def _pin(self) -> None:
        """Share one processor with the autopilots, if there are any."""
        cpu = pinned_cpu(self._parameters)
        own = [vehicle.parameters.controller for vehicle in self.multirotors]
        if cpu is not None and any(controller.is_autopilot for controller in own):
            self._free_cpus = self._free_cpus or os.sched_getaffinity(0)
            os.sched_setaffinity(0, {cpu})  # this thread only: rendering keeps all processors

    def unpin(self) -> None:
        """Use all processors again."""
        if self._free_cpus:
            os.sched_setaffinity(0, self._free_cpus)
            self._free_cpus = set()
