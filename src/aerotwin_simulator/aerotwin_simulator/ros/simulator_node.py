# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The simulator as a node: topics, services, pace. `flight.fly` runs one flight to its end.

The loop runs on the main thread and publishes from there. Requests and messages of other nodes are
received on a `CallbackThread` and passed on as `LoopCalls`, which the loop runs between its steps
and wherever it waits: no state of a simulation is touched by two threads, and a flight without
requests pays nothing for its services.
"""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Protocol

from rcl_interfaces.msg import SetParametersResult
from rclpy.executors import ExternalShutdownException
from rclpy.experimental import EventsExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from std_srvs.srv import SetBool, Trigger

from aerotwin_core.frame_gate import FrameGate
from aerotwin_core.loop_calls import LoopCalls
from aerotwin_core.pacing import Pacer
from aerotwin_core.ros.parameters import ConfiguredNode, declare_parameters
from aerotwin_simulator import topics
from aerotwin_simulator.recording import BagSink, add_sensors, bag_sink
from aerotwin_simulator.robot import SimulatedRobot
from aerotwin_simulator.ros.flight_parameters import FlightNodeParameters, followed_vehicles
from aerotwin_simulator.ros.sinks import ForeignTopics, RosSink, header_stamp_ns
from aerotwin_simulator.ros.vehicle_services import (
    VehicleInputs,
    listen_for_cmd_vel,
    offer_services,
    takes_setpoints,
)
from aerotwin_simulator.run_control import ChangeOrder, OrderRefused, RunControl
from aerotwin_simulator.simulation import Simulation
from aerotwin_simulator.surroundings import AwaitedReadings
from aerotwin_simulator.topics import Topic

SERVICES = "aerotwin.simulator_services"
"""Entry points of functions that offer services of other packages for this node."""
IDLE_S = 0.02
"""Longest wait for a call while time stands still, so that the status line and Ctrl-C go on."""
_ANSWER_S = 0.005
_JOIN_S = 5.0
_SPIN_S = 0.5
MOST_REMOVED = 2000
"""Services and subscriptions that are removed at the end of a node: Fast DDS visits all others
each time, in two seconds for a hundred vehicles, in four minutes for a thousand."""


class CallbackThread:
    """Spins a node until it is closed; `calls` is closed together with the thread.

    Executors that wait on a set build it anew, from every entity of the node, at each call: some
    hundred microseconds for one vehicle, 50 ms for a hundred, where a step of one takes forty
    microseconds. This one is told what is ready, and sleeps without Python's lock until then.
    """

    def __init__(self, node: Node, calls: LoopCalls) -> None:
        self._calls = calls
        self._is_closed = False
        self._executor = EventsExecutor()
        self._executor.add_node(node)
        self._thread = threading.Thread(target=self._spin, name="ros callbacks", daemon=True)
        self._thread.start()

    def _spin(self) -> None:
        with suppress(CancelledError, ExternalShutdownException):
            while not self._is_closed:  # without a time-out it would not begin to dispatch
                self._executor.spin_once(timeout_sec=_SPIN_S)

    def close(self) -> None:
        """End the thread; pending calls are cancelled."""
        self._calls.close()
        self._is_closed = True
        self._executor.shutdown()
        self._thread.join(_JOIN_S)


class Closeable(Protocol):
    """Services of another package."""

    def close(self) -> None:
        """End them; pending requests are answered or dropped."""


class SimulatorNode(ConfiguredNode):
    """Connects one `Simulation` to ROS; `fly` drives it."""

    def __init__(self, parameters_type: type[FlightNodeParameters] = FlightNodeParameters) -> None:
        super().__init__("simulator")
        self.parameters = declare_parameters(self, parameters_type)
        self.is_stop_requested = False
        self.control = RunControl(is_paused=self.parameters.start_paused)
        self.simulation: Simulation | None = None
        self._stamp_ns = 0
        self.calls = LoopCalls()
        self.pacer = Pacer(self.parameters.speed, sleep=self.calls.wait)
        self._offered: set[str] = set()
        self._steered: set[str] = set()
        self._callbacks: CallbackThread | None = None
        self._further: list[Closeable] = []
        self.is_left = False  # it ended, and its topics will with the process
        self.sink = RosSink(self)
        self.gates: dict[str, FrameGate] = {}  # by vehicle
        self.absent: list[str] = []  # topics on which no node answered in time
        self.warnings: list[str] = []  # of services of other packages, for the report
        self._make_gates()
        self.bag: BagSink | None = None
        self.foreign: ForeignTopics | None = None
        self.add_on_set_parameters_callback(self._set_parameters)
        self.create_service(SetBool, "~/pause", self._on_loop(self._pause))
        self.create_service(Trigger, "~/step", self._on_loop(self._step))
        self.create_service(Trigger, "~/reset", self._on_loop(self._reset))

    def fly_by(self, parameters: FlightNodeParameters) -> None:
        """Set the parameters of the next flight; services and pace stay as they are."""
        self.parameters = parameters
        self._make_gates()

    def _make_gates(self) -> None:
        """Make a gate for each vehicle that nodes follow; those that exist stay."""
        parameters = self.parameters
        self._followed = followed_vehicles(parameters)
        self.gates = {
            name: self.gates.get(name)
            or FrameGate(
                frames_in_flight=parameters.frames_in_flight,
                limit_s=parameters.wait_frame_s,
                first_limit_s=parameters.wait_start_s,
                meanwhile=self._wait_for_answer,
            )
            for name in self._followed
        }

    @property
    def awaited(self) -> dict[str, AwaitedReadings]:
        """Readings of the vehicles at which nodes are waited for, as `Simulation` takes them."""
        return {
            name: AwaitedReadings(gate.pass_frame, self._followed[name].awaited_sensor)
            for name, gate in self.gates.items()
        }

    def answer_topic(self, vehicle: str) -> Topic:
        """Return the topic that answers the readings of a vehicle."""
        return topics.below(vehicle)(topics.ANSWERS[self.parameters.wait_for])

    def start_recording(self, path: Path) -> BagSink:
        """Write the topics of the flight into a new bag, which the flight closes."""
        self.bag = bag_sink(path, self.parameters)
        return self.bag

    def stop_recording(self) -> None:
        """Close the bag, if one is written."""
        if self.bag is not None:
            self.bag.close()
            self.bag = None

    def leave_simulation(self) -> None:
        """Forget the simulation: until the next one there is no vehicle and no time."""
        self.simulation = None
        self.pacer.restart()
        for gate in self.gates.values():
            gate.restart()

    def listen_for(self, simulation: Simulation, on_offered: Callable[[float], None]) -> None:
        """Offer the services of the vehicles, and subscribe to their inputs; run `calls` then.

        `on_offered` is called before each vehicle with the share of them that is done.

        A simulation that takes the place of another has vehicles of the same names: it takes over
        their services and topics.
        """
        is_first, self.simulation = self._callbacks is None, simulation
        self._stamp_ns = simulation.stamp_ns
        simulation.call_on_change(self._listen_for_joined, self._forget_left)
        self._find_inputs(simulation)
        self._describe(simulation.vehicles)
        if not is_first:
            return
        self._answered = {self.answer_topic(name).name: gate for name, gate in self.gates.items()}
        self.foreign = ForeignTopics(
            self,
            lambda topic, cdr: self.calls.schedule(partial(self._receive_foreign, topic, cdr)),
        )
        self._hear(self.foreign)
        for k, vehicle in enumerate(simulation.vehicles):
            on_offered(k / len(simulation.vehicles))
            self._offer(vehicle)
        self._callbacks = CallbackThread(self, self.calls)
        for entry in entry_points(group=SERVICES):
            if (further := entry.load()(self)) is not None:
                self._further.append(further)

    def _find_inputs(self, simulation: Simulation) -> None:
        """Find the topics that the vehicles read, and record them."""
        own = [(vehicle.name, vehicle.parameters) for vehicle in simulation.vehicles]
        with_slam = {n for n, p in own if isinstance(p, FlightNodeParameters) and p.has_slam}
        self._inputs = VehicleInputs(
            self,
            simulation.vehicles,
            self.parameters.wait_for,
            with_slam=with_slam,
            answered=self.gates,
        )
        if self.bag is not None:
            for topic in self._inputs.topics:
                self.bag.add(topic)

    def _describe(self, vehicles: Sequence[SimulatedRobot]) -> None:
        """Write the sensors of vehicles into configuration and bag of the run."""
        assert self.simulation is not None
        setups = {vehicle.name: vehicle.sensor_setup() for vehicle in vehicles}
        add_sensors(self.simulation.folder, setups)
        if self.bag is not None:
            self.bag.describe(setups)

    def _listen_for_joined(self, vehicle: SimulatedRobot) -> None:
        """Offer the services of a vehicle that joined, and subscribe to its inputs.

        One of a name that was there before takes over its services and topics. Time stands still
        until the nodes that answer it are there.
        """
        assert self.simulation is not None and self.foreign is not None
        self._find_inputs(self.simulation)
        self._hear(self.foreign)
        self._offer(vehicle)
        self._describe([vehicle])
        self.sink.recount()
        self.wait_for_followers()

    def _hear(self, foreign: ForeignTopics) -> None:
        """Receive the topics that the vehicles read."""
        for topic in self._inputs.topics:
            foreign.add(topic, from_others=topic in self._inputs.from_others)

    def _forget_left(self, vehicle: SimulatedRobot) -> None:
        """Wait for the last answers to a vehicle that left, and pass nothing more to it."""
        assert self.simulation is not None
        if (gate := self.gates.get(vehicle.name)) is not None:
            gate.drain()
        self._find_inputs(self.simulation)

    def _offer(self, vehicle: SimulatedRobot) -> None:
        """Offer the services of a vehicle, unless one of its name had them."""
        find = partial(self._vehicle, vehicle.name)
        if vehicle.name not in self._offered:
            self._offered.add(vehicle.name)
            offer_services(self, vehicle.name, find, self._on_loop)
        if takes_setpoints(vehicle) and vehicle.name not in self._steered:
            self._steered.add(vehicle.name)
            listen_for_cmd_vel(self, vehicle.name, find, self.calls.schedule)

    def _vehicle(self, name: str) -> SimulatedRobot | None:
        if self.simulation is None:
            return None
        return next((each for each in self.simulation.vehicles if each.name == name), None)

    def destroy_node(self) -> None:
        """End the callbacks before the node; one with very many topics stays for the process."""
        self.control.close("the simulator ends")
        if self._callbacks is not None:
            self._callbacks.close()
        for further in self._further:
            further.close()
        services, subscriptions = [*self.services], [*self.subscriptions]
        self.is_left = len(services) + len(subscriptions) > MOST_REMOVED
        if self.is_left:
            return
        # Fast DDS visits every reader at each removal: readers before the many writers.
        for service in services:
            self.destroy_service(service)
        for subscription in subscriptions:
            self.destroy_subscription(subscription)
        super().destroy_node()

    def request_stop(self) -> None:
        """End the flight at the next step or check; safe in a signal handler."""
        self.is_stop_requested = True

    # -- callbacks ----------------------------------------------------------------------------

    def _on_loop(self, callback: Callable[..., Any]) -> Callable[..., Any]:
        """Return a callback that runs on the loop and is answered from there."""
        return lambda *arguments: self.calls.ask(callback, *arguments)

    def _set_parameters(self, parameters: list[Parameter]) -> SetParametersResult:
        for parameter in parameters:
            if parameter.name == "speed":
                value = parameter.value
                if not isinstance(value, int | float) or not 0.0 <= value <= 100.0:
                    reason = f"speed must be 0 (free) to 100, got {value}"
                    return SetParametersResult(successful=False, reason=reason)
                self.calls.schedule(partial(self.pacer.set_speed, float(value)))
        return SetParametersResult(successful=True)

    def _pause(self, request: SetBool.Request, reply: SetBool.Response) -> SetBool.Response:
        order = self.control.pause if request.data else self.control.play
        return self._ordered(order, "paused" if request.data else "running", reply)

    def _step(self, _: Trigger.Request, reply: Trigger.Response) -> Trigger.Response:
        done = f"one step of {self.parameters.step_s * 1e3:g} ms"
        return self._ordered(self.control.step_once, done, reply)

    def _reset(self, _: Trigger.Request, reply: Trigger.Response) -> Trigger.Response:
        done = "the vehicle goes back to its start; time goes on"
        return self._ordered(lambda: self.control.order_change(ChangeOrder()), done, reply)

    def _ordered(self, order: Callable[[], object], done: str, reply: Any) -> Any:
        """Give an order, and report that it was taken or why not."""
        try:
            order()
        except OrderRefused as error:
            reply.success, reply.message = False, str(error)
            return reply
        self.pacer.restart()
        reply.success, reply.message = True, done
        return reply

    def _receive_foreign(self, topic: Topic, cdr: bytes) -> None:
        if self.simulation is None:
            return
        if (gate := self._answered.get(topic.name)) is not None:
            gate.answer(header_stamp_ns(cdr))
        if self._inputs.on_topic_message(topic, cdr) and self.bag is not None:
            self.bag.publish_cdr(topic, self._stamp_ns, cdr)

    def _wait_for_answer(self) -> None:
        self.calls.wait(_ANSWER_S)
        if self.is_stop_requested:
            for gate in self.gates.values():
                gate.open()

    # -- the flight ---------------------------------------------------------------------------

    def wait_for_followers(self, show: Callable[[str], None] = lambda _: None) -> None:
        """Wait until the nodes that answer subscribe; those that do not are waited for no more.

        The limit is wall time: this node is the source of simulated time. `show` shows a text.
        """
        deadline = time.monotonic() + self.parameters.wait_start_s
        while absent := [name for name in self.gates if not self._is_followed(name)]:
            if self.is_stop_requested:
                return
            missing = [self.answer_topic(name).name for name in absent]
            if time.monotonic() >= deadline:
                for name in absent:
                    self.gates[name].open()
                self.absent += missing
                return
            show(f"waiting for {', '.join(missing)}")
            self.calls.wait(IDLE_S)
        if self.gates:
            self.sink.recount()

    def _is_followed(self, name: str) -> bool:
        """Return whether a vehicle is answered, or not waited for: it is not there, or given up."""
        if (vehicle := self._vehicle(name)) is None or self.gates[name].is_open:
            return True
        topic = self.resolve_topic_name(self.answer_topic(name).name)
        is_read = any(map(self.sink.n_subscribers, vehicle.awaited_topics))
        return bool(self.count_publishers(topic)) and is_read

    def advance(self, simulation: Simulation, on_wait: Callable[[float], None]) -> bool:
        """Advance by one step unless paused; return whether time moved. A reset calls `on_wait`."""
        change = self.control.change
        if change is not None and change.kind == "vehicles":
            simulation.reset(on_wait)
            self.sink.recount()
            self.pacer.restart()
            self.control.end_change()
        self.control.carry_out_fleet_orders()
        if self.control.is_standing:
            self.calls.wait(IDLE_S)
            return False
        simulation.advance()
        self._stamp_ns = simulation.stamp_ns
        self.control.count_step()
        return True
