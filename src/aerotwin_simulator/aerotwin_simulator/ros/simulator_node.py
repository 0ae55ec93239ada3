# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The simulator as a node: topics, services, pace; `fly` runs one flight to its end."""

import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import rclpy
from rcl_interfaces.msg import SetParametersResult
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions
from std_srvs.srv import SetBool, Trigger

from aerotwin_core.cli import say, say_fatal, write_text_atomically
from aerotwin_core.errors import ParameterError, UserError
from aerotwin_core.parameters import to_mapping
from aerotwin_core.ros.node import EXIT_FAILURE, EXIT_PARAMETER
from aerotwin_core.ros.parameters import declare_parameters
from aerotwin_px4_bridge import AutopilotLost
from aerotwin_simulator import onboard, topics
from aerotwin_simulator.autopilot import check_before_flight
from aerotwin_simulator.frame_gate import FrameGate, FrameLatency
from aerotwin_simulator.pacing import Pacer, RealTimeFactor
from aerotwin_simulator.recording import BagOutlet
from aerotwin_simulator.ros.flight_parameters import FlightParameters
from aerotwin_simulator.ros.outlets import ForeignTopics, RosOutlet, header_stamp_ns
from aerotwin_simulator.run_folder import make_run_folder, run_configuration
from aerotwin_simulator.simulation import Simulation
from aerotwin_simulator.status_line import StatusLine
from aerotwin_simulator.topics import Topic
from aerotwin_worlds import World, load_world

SPIN_EVERY_STEPS = 5
IDLE_SPIN_S = 0.02
THINNED_ABOVE = 1.2
"""Real-time factor above which topics are thinned; a run held at real time stays below."""
TAKEOFF_HEIGHT_M = 2.5
"""MIS_TAKEOFF_ALT of PX4, for the service `takeoff`."""


@dataclass
class FlightResult:
    """How a flight went.

    Attributes
    ----------
    folder : Path
        The run folder.
    outcome : str
        One line.
    is_success : bool
        The mission was flown or the wanted time is over.
    is_interrupted : bool
        Somebody stopped it.
    is_repeatable : bool
        No wait ran out, nobody was left behind.
    real_time_factor : float
        Simulated over wall time of the whole flight.
    latencies : list of FrameLatency
        Wall time of the SLAM under test per frame.
    warnings : list of str
        What a reader of the results must know.
    """

    folder: Path
    outcome: str
    is_success: bool
    is_interrupted: bool
    is_repeatable: bool
    real_time_factor: float
    duration_s: float
    latencies: list[FrameLatency] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


class SimulatorNode(Node):
    """Wires one `Simulation` to ROS; `fly` drives it."""

    def __init__(self, parameters_type: type[FlightParameters] = FlightParameters) -> None:
        super().__init__("simulator")
        self.parameters = declare_parameters(self, parameters_type)
        self.is_stop_wanted = False
        self._is_paused = self.parameters.start_paused
        self._n_single_steps = 0
        self._is_reset_wanted = False
        self._stamp_ns = 0
        self.pacer = Pacer(self.parameters.speed)
        self.executor_ = SingleThreadedExecutor()
        self.executor_.add_node(self)
        self.outlet = RosOutlet(self)
        self.gate: FrameGate | None = None
        if self.parameters.is_followed:
            self.gate = FrameGate(
                frames_in_flight=self.parameters.frames_in_flight,
                limit_s=self.parameters.wait_frame_s,
                first_limit_s=self.parameters.wait_start_s,
                meanwhile=self._spin_while_waiting,
            )
        self.bag: BagOutlet | None = None
        self.simulation: Simulation | None = None
        self._foreign = ForeignTopics(self, self._receive_foreign)
        self.add_on_set_parameters_callback(self._set_parameters)
        self._make_services()

    def _make_services(self) -> None:
        self.create_service(SetBool, "~/pause", self._pause)
        self.create_service(Trigger, "~/step", self._step)
        self.create_service(Trigger, "~/reset", self._reset)
        self.create_service(SetBool, "arm", self._arm)
        for name, send in (
            ("takeoff", lambda link: onboard.send_takeoff(link, TAKEOFF_HEIGHT_M)),
            ("land", onboard.send_land),
            ("hold", onboard.send_hold),
        ):
            self.create_service(
                Trigger, name, lambda _, reply, send=send: self._command(send, reply)
            )

    # -- callbacks ----------------------------------------------------------------------------

    def _set_parameters(self, parameters: list[Parameter]) -> SetParametersResult:
        for parameter in parameters:
            if parameter.name == "speed":
                value = parameter.value
                if not isinstance(value, int | float) or not 0.0 <= value <= 100.0:
                    reason = f"speed must be 0 (free) to 100, got {value}"
                    return SetParametersResult(successful=False, reason=reason)
                self.pacer.speed = float(value)
        return SetParametersResult(successful=True)

    def _pause(self, request: SetBool.Request, reply: SetBool.Response) -> SetBool.Response:
        self._is_paused = request.data
        self.pacer.restart()
        reply.success, reply.message = True, "paused" if request.data else "running"
        return reply

    def _step(self, _: Trigger.Request, reply: Trigger.Response) -> Trigger.Response:
        self._is_paused = True
        self._n_single_steps += 1
        reply.success, reply.message = True, "one step of 4 ms"
        return reply

    def _reset(self, _: Trigger.Request, reply: Trigger.Response) -> Trigger.Response:
        self._is_reset_wanted = True
        reply.success, reply.message = True, "the vehicle goes back to its start; time goes on"
        return reply

    def _arm(self, request: SetBool.Request, reply: SetBool.Response) -> SetBool.Response:
        return self._command(lambda link: onboard.send_arm(link, request.data), reply)

    def _command(self, send: Callable[[onboard.OnboardLink], None], reply: object) -> object:
        if self.simulation is None or not self.simulation.link.is_connected:
            reply.success, reply.message = False, "no autopilot is connected"  # type: ignore[attr-defined]
            return reply
        send(self.simulation.client.link)
        reply.success, reply.message = True, "sent to the autopilot"  # type: ignore[attr-defined]
        return reply

    def _receive_foreign(self, topic: Topic, cdr: bytes) -> None:
        if self.gate is not None and topic.name == self.parameters.wait_for:
            self.gate.answer(header_stamp_ns(cdr))
        if self.bag is not None:
            self.bag.emit(topic, self._stamp_ns, cdr)

    def _spin_while_waiting(self) -> None:
        self.executor_.spin_once(timeout_sec=0.005)
        if self.is_stop_wanted and self.gate is not None:
            self.gate.is_open = True

    def spin_briefly(self, timeout_s: float = 0.0) -> None:
        """Deliver what has come, up to a handful of messages."""
        for _ in range(8):
            self.executor_.spin_once(timeout_sec=timeout_s)
            timeout_s = 0.0

    # -- the flight ---------------------------------------------------------------------------

    def wait_for_follower(self, status: StatusLine) -> bool:
        """Wait until the node behind `wait_for` listens; return whether it came."""
        if self.gate is None:
            return True
        deadline = self.get_clock().now().nanoseconds + round(self.parameters.wait_start_s * 1e9)
        topic = self.parameters.wait_for
        while self.get_clock().now().nanoseconds < deadline and not self.is_stop_wanted:
            answers = self.count_publishers(self.resolve_topic_name(topic))
            listens = self.outlet.n_subscribers(topics.RIGHT_IMAGE)
            if answers and listens:
                return True
            status.update(0, 0.0, f"waiting for {topic}", None)
            self.spin_briefly(IDLE_SPIN_S)
        self.gate.is_open = True
        return False

    def advance(self, simulation: Simulation) -> bool:
        """Advance by one step unless paused; return whether time moved."""
        if self._is_reset_wanted:
            self._is_reset_wanted = False
            simulation.reset()
            self.pacer.restart()
        if self._is_paused and self._n_single_steps == 0:
            self.spin_briefly(IDLE_SPIN_S)
            return False
        self._n_single_steps = max(0, self._n_single_steps - 1)
        self._stamp_ns = simulation.stamp_ns
        simulation.advance()
        return True


def fly(node: SimulatorNode, world: World, folder: Path) -> FlightResult:
    """Fly one flight to its end and leave a whole bag, whatever happens on the way."""
    parameters, gate = node.parameters, node.gate
    status, factor = StatusLine(), RealTimeFactor()
    warnings: list[str] = []
    outlets: list[topics.Outlet] = [node.outlet]
    if parameters.record != "none":
        node.bag = BagOutlet(folder / "bag", record=parameters.record)
        outlets.insert(0, node.bag)
    before_frame = gate.pass_frame if gate is not None else None
    simulation: Simulation | None = None
    try:
        simulation = Simulation(parameters, world, folder, outlets, before_frame=before_frame)
        status.update(0, 0.0, "starting the autopilot", None)
        simulation.start(lambda _: _raise_if_stopped(node))
        node.simulation = simulation
        if not node.wait_for_follower(status):
            warnings.append(f"nobody answered on {parameters.wait_for}; flown without waiting")
        _run(node, simulation, factor, status)
        if gate is not None:
            status.update(simulation.stamp_ns, factor.recent, "last answers", 1.0)
            gate.drain()
            for _ in range(20):  # the final map follows the last frame
                node.spin_briefly(IDLE_SPIN_S)
    except _Stopped:
        pass
    except AutopilotLost as error:
        if simulation is not None:
            simulation.outcome = str(error)
    finally:
        if simulation is not None:
            simulation.close()
        if node.bag is not None:
            node.bag.close()
        status.close()
    assert simulation is not None
    return _result(node, simulation, folder, factor, warnings)


def _run(
    node: SimulatorNode, simulation: Simulation, factor: RealTimeFactor, status: StatusLine
) -> None:
    n_steps = 0
    while simulation.outcome is None and not node.is_stop_wanted:
        if not node.advance(simulation):
            continue
        n_steps += 1
        node.pacer.keep(simulation.stamp_ns, lambda: node.spin_briefly())
        if n_steps % SPIN_EVERY_STEPS == 0:
            node.spin_briefly()
            factor.update(simulation.stamp_ns)
            is_followed = node.gate is not None and not node.gate.is_open
            node.outlet.is_thinned = not is_followed and factor.recent > THINNED_ABOVE
            client = simulation.client
            status.update(simulation.stamp_ns, factor.recent, client.phase, client.progress)


def _result(
    node: SimulatorNode,
    simulation: Simulation,
    folder: Path,
    factor: RealTimeFactor,
    warnings: list[str],
) -> FlightResult:
    gate, link = node.gate, simulation.link
    is_interrupted = simulation.outcome is None
    if gate is not None and gate.is_open and not is_interrupted and not warnings:
        warnings.append(
            f"a frame was not answered on {node.parameters.wait_for} within "
            f"{node.parameters.wait_frame_s:g} s; the flight went on without waiting"
        )
    if not link.is_repeatable:
        warnings.append(
            f"{link.n_missed} lockstep answers were missed: this run is not repeatable to the byte"
        )
    return FlightResult(
        folder=folder,
        outcome=simulation.outcome or "stopped by request before its end",
        is_success=simulation.is_success,
        is_interrupted=is_interrupted,
        is_repeatable=link.is_repeatable and not (gate is not None and gate.is_open),
        real_time_factor=factor.overall,
        duration_s=simulation.stamp_ns * 1e-9,
        latencies=[] if gate is None else gate.latencies,
        warnings=warnings,
    )


class _Stopped(Exception):
    """Ctrl-C while waiting for the autopilot."""


def _raise_if_stopped(node: SimulatorNode) -> None:
    node.spin_briefly()
    if node.is_stop_wanted:
        raise _Stopped


class Scenario(Protocol):
    """What happens around a flight: measuring while it lasts, reporting when it is over."""

    def begin(self, node: SimulatorNode) -> None:
        """Start what accompanies the flight."""

    def end(self, result: FlightResult, parameters: FlightParameters, world: World) -> int:
        """Report, and return the exit code of the process."""


def run_simulator(
    scenario: Scenario | None = None, parameters_type: type[FlightParameters] = FlightParameters
) -> int:
    """Make the node, fly, and let the scenario report; return the exit code.

    SIGINT and SIGTERM end the flight, not the process: the bag is closed and the report made.
    """
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node: SimulatorNode | None = None
    wanted: list[int] = []

    def stop(number: int, _: object) -> None:
        wanted.append(number)
        if node is not None:
            node.is_stop_wanted = True

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    try:
        node = SimulatorNode(parameters_type)
        node.is_stop_wanted = bool(wanted)
        parameters = node.parameters
        check_before_flight(parameters)
        world = load_world(parameters.world)
        folder = make_run_folder(Path(parameters.runs_dir), parameters.name)
        configuration = run_configuration(to_mapping(parameters), world)
        write_text_atomically(folder / "config.yaml", configuration)
        if scenario is not None:
            scenario.begin(node)
        result = fly(node, world, folder)
        node.executor_.shutdown()
        node.destroy_node()
        rclpy.try_shutdown()
        say(f"flight: {result.outcome} ({result.duration_s:.1f} s, {folder})")
        if scenario is not None:
            return scenario.end(result, parameters, world)
        return 0 if result.is_success else EXIT_FAILURE
    except UserError as error:
        say_fatal(error)
        return EXIT_PARAMETER if isinstance(error, ParameterError) else EXIT_FAILURE
    finally:
        rclpy.try_shutdown()


def main() -> None:
    """Entry point of the executable `simulator`."""
    sys.exit(run_simulator())
