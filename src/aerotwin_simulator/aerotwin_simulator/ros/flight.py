# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""One flight of a simulator node, from the first wait to the closed bag."""

import gc
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from aerotwin_core.errors import UserError
from aerotwin_core.pacing import RealTimeFactor
from aerotwin_core.status_line import StatusLine
from aerotwin_px4_bridge import AutopilotLost
from aerotwin_px4_bridge.commanders import Commander, outside_commands
from aerotwin_simulator import topics
from aerotwin_simulator.controllers.ardupilot import ArduPilot
from aerotwin_simulator.controllers.ardupilot_parameters import own_sensors_text
from aerotwin_simulator.controllers.topic_commands import TopicCommands
from aerotwin_simulator.parameters import MULTIROTOR, SimulatorParameters
from aerotwin_simulator.recording import write_configuration
from aerotwin_simulator.ros.simulator_node import IDLE_S, SimulatorNode
from aerotwin_simulator.run_control import RunState
from aerotwin_simulator.simulation import Simulation
from aerotwin_worlds import World
from aerotwin_worlds.moved_start import StartSettings

LOOK_PERIOD_S, OTHERS_PERIOD_S = 0.05, 2.0
"""Wall time between two checks of the pace, and of other simulations."""
THINNED_ABOVE = 1.2
"""Real-time factor above which topics are thinned; a run held at real time stays below."""
LAST_MESSAGES_S = 0.4
"""Wall time for the final map, which follows the last frame."""


@dataclass(frozen=True)
class VehicleResult:
    """Result of one vehicle."""

    name: str
    instance: int
    kind: str  # in words
    has_autopilot: bool
    outcome: str  # one line
    is_success: bool  # its task is done, or nothing ended it before the flight
    n_missed: int  # steps without a command in time
    commanders: tuple[Commander, ...] = ()  # outside clients


@dataclass(frozen=True)
class FlightResult:
    """Result of a flight."""

    folder: Path
    outcome: str
    is_success: bool  # the mission was flown, or the requested time is over
    is_interrupted: bool  # by the user
    real_time_factor: float  # simulated over wall time of the whole flight
    duration_s: float  # simulated
    warnings: tuple[str, ...]
    vehicles: tuple[VehicleResult, ...]
    simulation: Simulation


def fly(node: SimulatorNode, world: World, folder: Path) -> FlightResult:
    """Fly one flight to its end and leave a complete bag in any case."""
    status, factor = StatusLine(), RealTimeFactor()
    bags = _Bags(node, folder)
    not_ended: list[str] = []
    simulation: Simulation | None = None
    try:
        simulation = _make(node, world, folder, bags)
        _listen(node, simulation, status)
        status.update(0, 0.0, "starting", None)
        _start(node, simulation)
        node.wait_for_followers(lambda text: status.update(0, 0.0, text, None))
        following: Simulation | None = simulation
        while following is not None:
            simulation = following
            _run(node, simulation, factor, status)
            following = None
            if simulation.outcome is None and not node.is_stop_requested:
                factor.restart()
                following = _change(node, simulation, folder, bags, status, not_ended)
        if node.gates and node.control.state != RunState.NO_WORLD:
            status.update(simulation.stamp_ns, factor.recent, "last answers", 1.0)
            for gate in node.gates.values():
                gate.drain()
            until = time.monotonic() + LAST_MESSAGES_S
            while time.monotonic() < until:
                node.calls.wait(IDLE_S)
    except _Stopped:
        pass
    except AutopilotLost as error:
        if simulation is not None:
            simulation.abort(str(error))
    finally:
        with ExitStack() as stack:  # the last entry first, each even if others fail
            stack.callback(status.close)
            stack.callback(node.control.close, "the flight is over")
            stack.callback(bags.close)
            if simulation is not None:
                stack.callback(_close, simulation, not_ended)
    assert simulation is not None
    return _result(node, simulation, folder, factor, not_ended)


class _Bags:
    """The bag of the flight: each simulation writes `bag`, earlier ones are put aside."""

    def __init__(self, node: SimulatorNode, folder: Path) -> None:
        self._node, self._path = node, folder / "bag"
        self._aside: list[Path] = []

    def begin(self) -> list[topics.MessageSink]:
        """Return the sink of a new bag; none if nothing is recorded."""
        if self._node.parameters.record == "none":
            return []
        return [self._node.start_recording(self._path)]

    def put_aside(self) -> None:
        """Close the bag, and make room for that of the next simulation."""
        if self._node.bag is None:
            return
        self._node.stop_recording()
        self._aside.append(self._path.with_name(f"bag_before_reset_{len(self._aside) + 1}"))
        self._path.rename(self._aside[-1])

    def close(self) -> None:
        """Close the bag; without a world in the end, the last one is that of the flight."""
        self._node.stop_recording()
        if self._aside and not self._path.exists():
            self._aside.pop().rename(self._path)


def _make(node: SimulatorNode, world: World, folder: Path, bags: _Bags) -> Simulation:
    """Return a simulation whose messages are recorded."""
    return Simulation(
        node.parameters,
        world,
        folder,
        [*bags.begin(), node.sink],
        awaited=node.awaited,
        spin=node.calls.wait,
    )


def _listen(node: SimulatorNode, simulation: Simulation, status: StatusLine) -> None:
    """Offer the services of the vehicles and hear their topics: a minute for a thousand."""
    shown_s = time.monotonic() + 2.0

    def check(share: float) -> None:
        _raise_if_stopped(node)
        if time.monotonic() > shown_s:
            status.update(simulation.stamp_ns, 0.0, "offering the services of the vehicles", share)

    node.listen_for(simulation, check)


def _start(node: SimulatorNode, simulation: Simulation) -> None:
    simulation.start(lambda _: _raise_if_stopped(node))
    node.sink.recount()  # the node that the start waited for gets the first readings
    _freeze_garbage()


def _freeze_garbage() -> None:
    """Look for garbage once in world and nodes, and no more in flight: it is a pause of 0.2 s."""
    gc.unfreeze()  # those before a change of the world
    gc.collect()
    gc.freeze()


def _change(
    node: SimulatorNode,
    simulation: Simulation,
    folder: Path,
    bags: _Bags,
    status: StatusLine,
    not_ended: list[str],
) -> Simulation | None:
    """Return the simulation that a client ordered in place of this one; None to end the flight.

    Without a world, or where the new one cannot be flown in, the next order is waited for.
    """
    world = simulation.world
    while not node.is_stop_requested:
        change = node.control.change
        if change is None:
            status.update(0, 0.0, "no world", None)
            node.calls.wait(IDLE_S)
            continue
        _close(simulation, not_ended)
        bags.put_aside()
        node.leave_simulation()
        if change.kind == "unload":
            node.control.end_change()
            continue
        try:
            if change.world is not None:
                world = change.world
                # It starts at the world's own start.
                node.fly_by(
                    replace(node.parameters, world=change.world_name, start=StartSettings())
                )
                write_configuration(folder, node.parameters, world)
            simulation = _make(node, world, folder, bags)
            _listen(node, simulation, status)
            _start(node, simulation)
        except (UserError, AutopilotLost) as error:
            _close(simulation, not_ended)
            bags.put_aside()
            node.leave_simulation()
            node.control.lose_world(str(error))
            continue
        node.control.end_change()
        return simulation
    return None


def _close(simulation: Simulation, not_ended: list[str]) -> None:
    """End the vehicles; errors there do not change the outcome of the flight, but are reported."""
    try:
        simulation.close()
    except UserError as error:
        not_ended.append(str(error))


def _run(
    node: SimulatorNode, simulation: Simulation, factor: RealTimeFactor, status: StatusLine
) -> None:
    next_look_s, others = 0.0, _OtherClocks(node)
    while simulation.outcome is None and not (node.is_stop_requested or node.control.is_ending):
        if not node.advance(simulation, lambda _: _raise_if_stopped(node)):
            continue
        node.pacer.wait_until_due(simulation.stamp_ns)
        node.calls.run()
        if time.monotonic() >= next_look_s:
            factor.update(simulation.stamp_ns)
            _throttle_topics(node, simulation, factor)
            _warn_of_late(node)
            phase, progress = simulation.phase, simulation.progress
            status.update(simulation.stamp_ns, factor.recent, phase, progress)
            others.look()
            next_look_s = time.monotonic() + LOOK_PERIOD_S


class _OtherClocks:
    """Warns once of another simulation, or a played bag, whose topics would mix with these."""

    def __init__(self, node: SimulatorNode) -> None:
        self._node, self._is_known, self._due_s = node, False, 0.0

    def look(self) -> None:
        """Warn if another node publishes the clock, too; a look takes a millisecond."""
        if self._is_known or time.monotonic() < self._due_s:
            return
        self._due_s = time.monotonic() + OTHERS_PERIOD_S
        if self._node.count_publishers(topics.CLOCK.name) < 2:
            return
        self._is_known = True
        found = self._node.get_publishers_info_by_topic(topics.CLOCK.name)
        names = [f"{info.node_namespace.rstrip('/')}/{info.node_name}" for info in found]
        with suppress(ValueError):
            names.remove(self._node.get_fully_qualified_name())
        text = (
            f"another node publishes {topics.CLOCK.name} in ROS domain "
            f"{self._node.context.get_domain_id()} ({', '.join(names)}): its topics mix with those "
            "of this run; end it, or give one of both another ROS_DOMAIN_ID"
        )
        self._node.get_logger().warning(text)
        self._node.warnings.append(text)


def _throttle_topics(node: SimulatorNode, simulation: Simulation, factor: RealTimeFactor) -> None:
    """Thin topics well above real time, unless a node keeps pace.

    The run slows down to real time when a follower fell behind, or when a vehicle is flown by a
    topic without lockstep.
    """
    is_behind = any(gate.is_open for gate in node.gates.values())
    is_followed = bool(node.gates) and not is_behind
    by_topic = [v.backend for v in simulation.vehicles if isinstance(v.backend, TopicCommands)]
    in_step = any(backend.is_lockstep for backend in by_topic)
    is_fast = factor.recent > THINNED_ABOVE
    node.sink.set_thinned(is_fast and not (is_followed or in_step))
    is_driven = any(not backend.is_lockstep for backend in by_topic)
    if (is_behind and not 0.0 < node.pacer.speed <= 1.0) or (is_driven and node.pacer.speed == 0.0):
        node.pacer.set_speed(1.0)


def _warn_of_late(node: SimulatorNode) -> None:
    """Say once that a follower fell behind."""
    late = [node.answer_topic(name).name for name, gate in node.gates.items() if gate.is_open]
    text = (
        f"a frame was not answered on {', '.join(late)} within "
        f"{node.parameters.wait_frame_s:g} s; the flight went on at real time"
    )
    if late and not (node.absent or node.is_stop_requested or text in node.warnings):
        node.get_logger().warning(text)
        node.warnings.append(text)


def _result(
    node: SimulatorNode,
    simulation: Simulation,
    folder: Path,
    factor: RealTimeFactor,
    not_ended: list[str],
) -> FlightResult:
    _warn_of_late(node)
    absent = f"no node answered on {', '.join(node.absent)}; flown at real time"
    warnings = [absent, *node.warnings] if node.absent else [*node.warnings]
    is_interrupted = simulation.outcome is None
    flown = [*simulation.vehicles, *simulation.left]
    for vehicle in flown:
        controller, mission = vehicle.parameters.controller, vehicle.parameters.mission.file
        if controller.is_serial:
            warnings.append(
                f"{vehicle.title}: its flight controller has a clock of its own: this run is not "
                "repeatable to the byte"
            )
        if controller.is_ardupilot:
            warnings.append(f"{vehicle.title}: {own_sensors_text(vehicle.parameters)}")
        if isinstance(vehicle.backend, ArduPilot):
            warnings += [f"{vehicle.title}: {text}" for text in vehicle.backend.warnings()]
        is_requested = mission != "none" and not Path(mission).is_dir()
        if is_requested and not controller.is_autopilot:
            warnings.append(
                f"{vehicle.title}: mission {mission} was not used: controller {controller.kind} "
                "takes none"
            )
        if vehicle.n_missed:
            warnings.append(
                f"{vehicle.title}: {vehicle.n_missed} lockstep answers were missed: this run is "
                "not repeatable to the byte"
            )
        warnings += [
            f"{vehicle.title}: {text}: this run is not repeatable to the byte"
            for text in outside_commands(vehicle.commanders)
        ]
    lost = {} if node.foreign is None else node.foreign.n_lost
    warnings += [
        f"{n} messages on {name} were lost: they came faster than they were taken"
        for name, n in lost.items()
        if n
    ]
    return FlightResult(
        folder=folder,
        outcome=simulation.outcome or "stopped by request before its end",
        is_success=simulation.is_success,
        is_interrupted=is_interrupted,
        real_time_factor=factor.overall,
        duration_s=simulation.stamp_ns * 1e-9,
        warnings=(*warnings, *not_ended),
        vehicles=tuple(
            VehicleResult(
                name=vehicle.name,
                kind=vehicle.kind,
                has_autopilot=_has_autopilot(vehicle.parameters),
                instance=vehicle.parameters.fleet.instance,
                outcome=vehicle.outcome or f"there until the end: {vehicle.backend.phase}",
                is_success=vehicle.outcome is None or vehicle.is_success,
                n_missed=vehicle.n_missed,
                commanders=vehicle.commanders,
            )
            for vehicle in flown
        ),
        simulation=simulation,
    )


def _has_autopilot(parameters: SimulatorParameters) -> bool:
    return parameters.dynamics == MULTIROTOR and parameters.controller.is_autopilot


class _Stopped(Exception):
    """Ctrl-C while waiting for the autopilot."""


def _raise_if_stopped(node: SimulatorNode) -> None:
    node.calls.run()
    if node.is_stop_requested:
        raise _Stopped
