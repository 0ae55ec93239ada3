# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults and weather that a client injects while a simulation runs.

No standard interface of simulators has them. The service takes what an events file has, by a type
that every installation of ROS brings: a parameter without value ends a fault, as it deletes one.
"""

from concurrent.futures import CancelledError
from contextlib import suppress

from diagnostic_msgs.msg import DiagnosticArray
from rcl_interfaces.msg import Parameter, ParameterType, SetParametersResult
from rcl_interfaces.srv import SetParameters
from rclpy.publisher import Publisher

from aerotwin_core.errors import ParameterError
from aerotwin_core.messages import diagnostics_message, serialize
from aerotwin_core.parameters import to_mapping
from aerotwin_core.ros.lockstep import create_wall_timer
from aerotwin_core.ros.qos import LATCHED
from aerotwin_core.seeds import seed_sequence
from aerotwin_core.time import to_seconds
from aerotwin_faults import KINDS, ActiveFault, FaultEntry, activated, read_fault_entry
from aerotwin_faults.entry import check_name, end_faults
from aerotwin_faults.fault import AIR, GROUND_STATION
from aerotwin_simulation_interfaces.ros.host import SimulatorHost
from aerotwin_simulator import topics
from aerotwin_simulator.robot import SimulatedRobot
from aerotwin_simulator.simulation import Simulation

MOST_FAULTS = 100
"""Of a vehicle, ended ones included."""
PUBLISHED_S = 0.2
ENDED, ACTIVE = 0, 1
"""Levels of the statuses of `~/faults`."""
_PLACES = sorted({kind.place for kind in KINDS.values()})
_KIND_NAMES = {kind: name for name, kind in KINDS.items()}
Said = list[tuple[str, int, str, dict[str, str]]]
"""What `~/faults` says: (name, level, kind, values) of each fault."""


class FaultService:
    """The service `~/set_faults` and the topic `~/faults` of a simulator's node."""

    def __init__(self, node: SimulatorHost) -> None:
        self._node = node
        self._said: Said = []  # nothing is published before the first fault
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
            return _end(simulation, name)
        if value.type != ParameterType.PARAMETER_STRING:
            raise ParameterError(f"{name}: expected YAML as string, as '{{do: gnss_loss}}'")
        entry = read_fault_entry(value.string_value, where=name)
        values = _begin(simulation, name, entry)
        self._publish_event(simulation.stamp_ns, name, entry.do, values)
        text = f"{name}: {entry.do} from {to_seconds(simulation.stamp_ns):.3f} s on"
        self._node.warnings.append(
            f"a client injected {text}: this run is not repeatable to the byte, but by events"
        )
        return text

    def _publish_event(self, stamp_ns: int, name: str, do: str, values: dict[str, str]) -> None:
        """Publish and record it as an event of a file is."""
        message = serialize(diagnostics_message(stamp_ns, [(name, 0, do, values)]))
        for sink in (self._node.sink, self._node.bag):
            if sink is not None:
                sink.add(topics.EVENTS)
                sink.publish_cdr(topics.EVENTS, stamp_ns, message)

    def _look(self) -> None:
        """Publish which faults there are, if that has changed."""
        self._is_looking = False
        simulation = self._node.simulation
        said = [] if simulation is None else _faults_of(simulation)
        if said != self._said:
            stamp_ns = 0 if simulation is None else simulation.stamp_ns
            self._publisher.publish(serialize(diagnostics_message(stamp_ns, said)))
            self._said = said


def _begin(simulation: Simulation, name: str, entry: FaultEntry) -> dict[str, str]:
    """Begin a fault as an event of its name would; return its parameters."""
    fault = entry.fault(name)
    if fault.place == GROUND_STATION:
        raise ParameterError(f"{name}: {entry.do} needs a ground station, which events bring")
    robots = _concerned(simulation, name, entry.vehicle, is_weather=fault.place == AIR)
    for robot in robots:
        robot.faults.check(name, fault)
        names = [each.name for place in _PLACES for each in robot.faults.of(place)]
        if name in names:
            raise ParameterError(
                f"{name}: {robot.title} has or had a fault of this name; give this one another"
            )
        if len(names) >= MOST_FAULTS:
            raise ParameterError(f"{name}: {robot.title} had {MOST_FAULTS} faults; reset first")
    for robot in robots:
        own = robot.parameters
        rng = seed_sequence(own.seed, own.fleet.instance, f"event {name}")
        robot.faults.add(activated(name, fault, entry.timing(simulation.stamp_ns), rng))
    timing = {"ramp_s": entry.ramp_s, "duration_s": entry.lasting_s, "vehicle": entry.vehicle}
    return {key: str(value) for key, value in (to_mapping(fault) | timing).items()}


def _end(simulation: Simulation, name: str) -> str:
    found = [
        end_faults(robot.faults.of(place), name, simulation.stamp_ns)
        for robot in simulation.vehicles
        for place in _PLACES
    ]
    if not any(found):
        raise ParameterError(f"{name}: no fault of this name is active")
    return f"{name}: ends at {to_seconds(simulation.stamp_ns):.3f} s"


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


def _faults_of(simulation: Simulation) -> Said:
    """Return all faults that have begun since the last reset, those of events included."""
    return [
        _said(robot, fault, simulation.stamp_ns)
        for robot in simulation.vehicles
        for place in _PLACES
        for fault in robot.faults.of(place)
    ]


def _said(
    robot: SimulatedRobot, active: ActiveFault, stamp_ns: int
) -> tuple[str, int, str, dict[str, str]]:
    fault, timing = active.fault, active.timing
    level = ENDED if active.moment(stamp_ns) is None else ACTIVE
    values = {name: str(value) for name, value in to_mapping(fault).items()} | {
        "at_s": repr(to_seconds(timing.begin_ns)),
        "ramp_s": str(timing.ramp_s),
        "duration_s": str(timing.duration_s),
        "vehicle": robot.name,
    }
    return active.name, level, _KIND_NAMES[type(fault)], values


def offer_faults(node: SimulatorHost) -> FaultService:
    """Offer the service; an entry point."""
    return FaultService(node)
