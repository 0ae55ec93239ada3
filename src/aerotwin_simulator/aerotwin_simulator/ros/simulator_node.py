# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The simulator as a node: topics, services, pace. `flight.fly` runs one flight to its end."""

import time
from collections.abc import Callable

from rcl_interfaces.msg import SetParametersResult
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from std_srvs.srv import SetBool, Trigger

from aerotwin_core.ros.parameters import declare_parameters
from aerotwin_simulator import topics
from aerotwin_simulator.frame_gate import FrameGate
from aerotwin_simulator.pacing import Pacer
from aerotwin_simulator.recording import BagOutlet
from aerotwin_simulator.ros.flight_parameters import FlightParameters
from aerotwin_simulator.ros.outlets import ForeignTopics, RosOutlet, header_stamp_ns
from aerotwin_simulator.ros.vehicle_services import VehicleInputs, offer_services
from aerotwin_simulator.simulation import Simulation
from aerotwin_simulator.status_line import StatusLine
from aerotwin_simulator.topics import Topic

IDLE_SPIN_S = 0.02


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
        self._wait_for, self._last_of_frame = self.parameters.wait_for, topics.RIGHT_IMAGE
        self.foreign: ForeignTopics | None = None
        self.add_on_set_parameters_callback(self._set_parameters)
        self.create_service(SetBool, "~/pause", self._pause)
        self.create_service(Trigger, "~/step", self._step)
        self.create_service(Trigger, "~/reset", self._reset)

    def listen_for(self, simulation: Simulation) -> None:
        """Offer the services of the vehicles of a simulation, and hear what concerns them."""
        self._inputs = VehicleInputs(self, simulation.vehicles, self.parameters.wait_for)
        if self.bag is not None:
            for topic in self._inputs.topics:
                self.bag.add(topic)
        if self._wait_for:
            is_scan = self.parameters.waits_at_scans
            leader = simulation.scanner if is_scan else simulation.leader
            place = topics.below(leader.name)
            self._wait_for = place(topics.ANSWERS[self._wait_for]).name
            self._last_of_frame = place(topics.LIDAR_POINTS) if is_scan else leader.last_of_frame
        self.foreign = ForeignTopics(self, self._inputs.topics, self._receive_foreign)
        for vehicle in simulation.vehicles:
            offer_services(self, vehicle)

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
        reply.success, reply.message = True, f"one step of {self.parameters.step_s * 1e3:g} ms"
        return reply

    def _reset(self, _: Trigger.Request, reply: Trigger.Response) -> Trigger.Response:
        self._is_reset_wanted = True
        reply.success, reply.message = True, "the vehicle goes back to its start; time goes on"
        return reply

    def _receive_foreign(self, topic: Topic, cdr: bytes) -> None:
        if self.gate is not None and topic.name == self._wait_for:
            self.gate.answer(header_stamp_ns(cdr))
        self._inputs.receive(topic, cdr)
        if self.bag is not None:
            self.bag.emit(topic, self._stamp_ns, cdr)

    def _spin_while_waiting(self) -> None:
        self.executor_.spin_once(timeout_sec=0.005)
        if self.is_stop_wanted and self.gate is not None:
            self.gate.is_open = True

    def spin_once(self, timeout_s: float) -> None:
        """Deliver one message, waiting for it at most this long."""
        self.executor_.spin_once(timeout_sec=timeout_s)

    def spin_briefly(self, timeout_s: float = 0.0) -> None:
        """Deliver what has come, up to a handful of messages."""
        for _ in range(8):
            self.executor_.spin_once(timeout_sec=timeout_s)
            timeout_s = 0.0

    # -- the flight ---------------------------------------------------------------------------

    def wait_for_follower(self, status: StatusLine) -> bool:
        """Wait until the node behind `wait_for` listens; return whether it came (or was not meant).

        The limit is wall time: this node is the source of simulated time.
        """
        if self.gate is None:
            return True
        deadline = time.monotonic() + self.parameters.wait_start_s
        topic = self.resolve_topic_name(self._wait_for)
        while time.monotonic() < deadline:
            if self.is_stop_wanted:
                return True
            if self.count_publishers(topic) and self.outlet.n_subscribers(self._last_of_frame):
                self.outlet.recount()
                return True
            status.update(0, 0.0, f"waiting for {self._wait_for}", None)
            self.spin_briefly(IDLE_SPIN_S)
        self.gate.is_open = True
        return False

    def advance(self, simulation: Simulation, on_wait: Callable[[float], None]) -> bool:
        """Advance by one step unless paused; return whether time moved.

        A reset waits for the new autopilot; `on_wait` is called meanwhile.
        """
        if self._is_reset_wanted:
            self._is_reset_wanted = False
            simulation.reset(on_wait)
            self.outlet.recount()
            self.pacer.restart()
        if self._is_paused and self._n_single_steps == 0:
            self.spin_briefly(IDLE_SPIN_S)
            return False
        self._n_single_steps = max(0, self._n_single_steps - 1)
        simulation.advance()
        self._stamp_ns = simulation.stamp_ns
        return True
