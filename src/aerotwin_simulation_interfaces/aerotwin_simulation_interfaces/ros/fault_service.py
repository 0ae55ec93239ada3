# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults and weather that a client injects while a simulation runs.

No standard interface of simulators has them. The service takes what an events file has, by a type
that every installation of ROS brings: a parameter without value ends a fault, as it deletes one.
"""

from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass

from diagnostic_msgs.msg import DiagnosticArray
from rcl_interfaces.msg import Parameter, ParameterType, SetParametersResult
from rcl_interfaces.srv import SetParameters
from rclpy.publisher import Publisher

from aerotwin_core.errors import ParameterError
from aerotwin_core.messages import diagnostics_message, serialize
from aerotwin_core.parameters import to_mapping
from aerotwin_core.ros.lockstep import create_wall_timer
from aerotwin_core.ros.qos import LATCHED
from aerotwin_core.time import to_seconds
from aerotwin_faults import KINDS, ActiveFault, FaultEntry, read_fault_entry
from aerotwin_faults.entry import check_name, end_faults, is_going_on
from aerotwin_faults.fault import AIR, GROUND_STATION
from aerotwin_simulation_interfaces.ros.host import SimulatorHost
from aerotwin_simulator import topics
from aerotwin_simulator.events.begun_fault import begin_fault
from aerotwin_simulator.robot import SimulatedRobot
from aerotwin_simulator.signals import signals_of
from aerotwin_simulator.simulation import Simulation

MOST_FAULTS = 100
"""Of a vehicle, ended ones included."""
PUBLISHED_S = 0.2
ENDED, ACTIVE = 0, 1
"""Levels of the statuses of `~/faults`."""
_PLACES = sorted({kind.place for kind in KINDS.values()})
_KIND_NAMES = {kind: name for name, kind in KINDS.items()}
Status = tuple[str, int, str, dict[str, str]]
"""What a message says of a fault: name, level, kind, values."""


@dataclass(kw_only=True)
class _Said:
    """What `~/faults` says of a fault; but for the level it stays until a client ends it.

    It holds the fault, so that no other one has its identity.
    """

    active: ActiveFault
    kind: str
    values: dict[str, str]
    level: int = ACTIVE

    @property
    def status(self) -> Status:
        return self.active.name, self.level, self.kind, self.values

    def has_ended(self, stamp_ns: int) -> bool:
        """Return whether it has ended since the last call."""
        if self.level == ENDED or self.active.moment(stamp_ns) is not None:
            return False
        self.level = ENDED
        return True


@dataclass(kw_only=True)
class _Injected:
    """What clients did in this run, as one line of its report however much that is."""

    n_begun: int = 0
    n_ended: int = 0
    last: str = ""

    def count(self, last: str, *, n_begun: int, n_ended: int) -> None:
        """Add what a client did last."""
        self.n_begun, self.n_ended = self.n_begun + n_begun, self.n_ended + n_ended
        self.last = last

    @property
    def text(self) -> str:
        return (
            f"clients began {self.n_begun} faults and ended {self.n_ended}, last {self.last}: this "
            "run is not repeatable to the byte, but by events"
        )


class FaultService:
    """The service `~/set_faults` and the topic `~/faults` of a simulator's node."""

    def __init__(self, node: SimulatorHost) -> None:
        self._node = node
        self._said: dict[int, _Said] = {}  # nothing is published before the first fault
        self._injected = _Injected()
        self._is_looking = False
        self._publisher: Publisher = node.create_publisher(DiagnosticArray, "~/faults", LATCHED)
        node.create_service(
            SetParameters,
            "~/set_faults",
            lambda request, reply: node.calls.ask(self._set_faults, request, reply),
        )
        self._timer = create_wall_timer(node, PUBLISHED_S, self._look_soon)

    def close(self) -> None:
        """Publish no more."""
        self._timer.cancel()

    # -- on the thread of the callbacks ---------------------------------------------------------

    def _look_soon(self) -> None:
        if not self._is_looking:
            self._is_looking = True
            with suppress(CancelledError):
                self._node.calls.schedule(self._look)

    # -- in the loop ----------------------------------------------------------------------------

    def _set_faults(
        self, request: SetParameters.Request, reply: SetParameters.Response
    ) -> SetParameters.Response:
        for parameter in request.parameters:
            result = SetParametersResult(successful=True)
            try:
                result.reason = self._set_fault(parameter)
            except ParameterError as error:
                result.successful, result.reason = False, str(error)
            reply.results.append(result)
        self._look()
        return reply

    def _set_fault(self, parameter: Parameter) -> str:
        """Begin or end a fault; return what was done. Raises ParameterError if it cannot be."""
        name, value, simulation = parameter.name, parameter.value, self._node.simulation
        check_name(name, where="set_faults")
        if simulation is None:
            raise ParameterError(f"{name}: there is no world; load one first")
        if value.type == ParameterType.PARAMETER_NOT_SET:
            return self._end(simulation, name)
        if value.type != ParameterType.PARAMETER_STRING:
            raise ParameterError(f"{name}: expected YAML as string, as '{{do: gnss_loss}}'")
        entry = read_fault_entry(value.string_value, where=name)
        values = _begin(simulation, name, entry)
        self._publish_events(simulation.stamp_ns, [(name, 0, entry.do, values)])
        text = f"{name}: {entry.do} from {to_seconds(simulation.stamp_ns):.3f} s on"
        self._warn(text, n_begun=1)
        return text

    def _end(self, simulation: Simulation, name: str) -> str:
        """End a fault; the events then hold it again, with the duration that it had."""
        stamp_ns = simulation.stamp_ns
        found = _ended(simulation, name)
        ends = [_what_is_said(robot, fault) for robot, fault in found]
        self._publish_events(stamp_ns, [(name, 0, each.kind, each.values) for each in ends])
        text = f"{name}: ends at {to_seconds(stamp_ns):.3f} s"
        self._warn(text, n_ended=1)
        return text

    def _warn(self, text: str, *, n_begun: int = 0, n_ended: int = 0) -> None:
        warnings, injected = self._node.warnings, self._injected
        if injected.text in warnings:
            warnings.remove(injected.text)
        injected.count(text, n_begun=n_begun, n_ended=n_ended)
        warnings.append(injected.text)

    def _publish_events(self, stamp_ns: int, statuses: list[Status]) -> None:
        """Publish and record them as events of a file are."""
        message = serialize(diagnostics_message(stamp_ns, statuses))
        for sink in (self._node.sink, self._node.bag):
            if sink is not None:
                sink.add(topics.EVENTS)
                sink.publish_cdr(topics.EVENTS, stamp_ns, message)

    def _look(self) -> None:
        """Publish which faults there are, if that has changed."""
        self._is_looking = False
        simulation, before = self._node.simulation, self._said
        stamp_ns = 0 if simulation is None else simulation.stamp_ns
        self._said = {
            id(active): before.get(id(active)) or _what_is_said(robot, active)
            for robot, active in ([] if simulation is None else _faults_of(simulation))
        }
        n_ended = sum(said.has_ended(stamp_ns) for said in self._said.values())
        if n_ended or self._said.keys() != before.keys():
            statuses = [said.status for said in self._said.values()]
            self._publisher.publish(serialize(diagnostics_message(stamp_ns, statuses)))


def _begin(simulation: Simulation, name: str, entry: FaultEntry) -> dict[str, str]:
    """Begin a fault as an event of its name would; return its parameters."""
    fault = entry.fault(name)
    if fault.place == GROUND_STATION:
        raise ParameterError(f"{name}: {entry.do} needs a ground station, which events bring")
    robots = _concerned(simulation, name, entry.vehicle, is_weather=fault.place == AIR)
    for robot in robots:
        robot.faults.check(name, fault)
    _check_is_new(simulation, name, robots)
    begin_fault(robots, name, fault, entry.timing(simulation.stamp_ns))
    timing = {"ramp_s": entry.ramp_s, "duration_s": entry.lasting_s, "vehicle": entry.vehicle}
    return {key: str(value) for key, value in (to_mapping(fault) | timing).items()}


def _check_is_new(simulation: Simulation, name: str, robots: list[SimulatedRobot]) -> None:
    """Refuse a name that an events file of this run could not have beside the others."""
    n_faults = dict.fromkeys(map(id, robots), 0)
    for robot, active in _faults_of(simulation):
        if active.name == name:
            raise ParameterError(
                f"{name}: {robot.title} has or had a fault of this name; give this one another"
            )
        if id(robot) in n_faults:
            n_faults[id(robot)] += 1
    for robot in robots:
        if n_faults[id(robot)] >= MOST_FAULTS:
            raise ParameterError(f"{name}: {robot.title} had {MOST_FAULTS} faults; reset first")
    if simulation.events is not None and name in simulation.events.instants_s:
        raise ParameterError(f"{name}: an event has this name; give the fault another")
    if name in signals_of([robot.name for robot in simulation.vehicles]):
        raise ParameterError(f"{name}: a signal has this name; give the fault another")


def _ended(simulation: Simulation, name: str) -> list[tuple[SimulatedRobot, ActiveFault]]:
    """End the faults of a name; return them as they are then. Raises ParameterError for none."""
    found, stamp_ns = [], simulation.stamp_ns
    for robot in simulation.vehicles:
        for place in _PLACES:
            faults = robot.faults.of(place)
            going_on = [k for k, each in enumerate(faults) if is_going_on(each, name, stamp_ns)]
            end_faults(faults, name, stamp_ns)
            found += [(robot, faults[k]) for k in going_on]
    if not found:
        raise ParameterError(f"{name}: no fault of this name is active")
    return found


def _concerned(
    simulation: Simulation, name: str, vehicle: str, *, is_weather: bool
) -> list[SimulatedRobot]:
    """Return the vehicles on which a fault acts: weather without a name on all."""
    if not vehicle:
        return simulation.vehicles if is_weather else simulation.vehicles[:1]
    found = [robot for robot in simulation.vehicles if robot.name == vehicle]
    if not found:
        known = ", ".join(robot.title for robot in simulation.vehicles)
        raise ParameterError(f"{name}: vehicle: no such vehicle; the vehicles are {known}")
    return found


def _faults_of(simulation: Simulation) -> Iterator[tuple[SimulatedRobot, ActiveFault]]:
    """Yield all faults that have begun since the last reset, those of events included."""
    for robot in simulation.vehicles:
        for place in _PLACES:
            for active in robot.faults.of(place):
                yield robot, active


def _what_is_said(robot: SimulatedRobot, active: ActiveFault) -> _Said:
    fault, timing = active.fault, active.timing
    values = {name: str(value) for name, value in to_mapping(fault).items()} | {
        "at_s": repr(to_seconds(timing.begin_ns)),
        "ramp_s": str(timing.ramp_s),
        "duration_s": str(timing.duration_s),
        "vehicle": robot.name,
    }
    return _Said(active=active, kind=_KIND_NAMES[type(fault)], values=values)


def offer_faults(node: SimulatorHost) -> FaultService:
    """Offer the service; an entry point."""
    return FaultService(node)
