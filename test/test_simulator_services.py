# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Pause, single step, speed factor, reset and set-points of a running flight, over ROS."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.services import ASK_AGAIN_S, ONCE, answer_of

pytestmark = [pytest.mark.ros, pytest.mark.slow]

FLIGHT = Path(__file__).resolve().parent.parent / "launch" / "sitl_flight.launch.yaml"
INSTANCE = 91
LIMIT_S = 240.0
CLOCK_STEPS_NS = 20_000_000  # /clock ticks at 100 Hz, before and after
STEP_NS, N_STEPS = 4_000_000, 50
SLOW = 0.1
LATE_S = 0.5  # simulated time of what is under way when the test begins to listen


class Client:
    """A node of the test's own that watches the clock and the truth, and calls services."""

    def __init__(self) -> None:
        import rclpy
        from nav_msgs.msg import Odometry
        from rclpy.executors import SingleThreadedExecutor
        from rosgraph_msgs.msg import Clock

        rclpy.init()
        self.node = rclpy.create_node("test_client")
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self.node)
        self._clients: dict[str, Any] = {}
        self.clock_ns = -1
        self.height_m = self.forward_m_s = self.left_m_s = 0.0
        self.node.create_subscription(Clock, "/clock", self._take_clock, 10)
        self.node.create_subscription(Odometry, "truth/odom", self._take_truth, 10)

    def _take_clock(self, message: Any) -> None:
        self.clock_ns = message.clock.sec * 10**9 + message.clock.nanosec

    def _take_truth(self, message: Any) -> None:
        self.height_m = message.pose.pose.position.z
        velocity = message.twist.twist.linear  # in body axes
        self.forward_m_s, self.left_m_s = velocity.x, velocity.y

    def spin(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._executor.spin_once(timeout_sec=0.02)

    def wait(self, condition: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + LIMIT_S
        while not condition():
            assert time.monotonic() < end, f"gave up waiting for {what}"
            self._executor.spin_once(timeout_sec=0.02)

    def call(self, kind: Any, name: str, request: Any, ask_again_s: float = ASK_AGAIN_S) -> Any:
        if name not in self._clients:
            self._clients[name] = self.node.create_client(kind, name)
        return answer_of(
            self._clients[name],
            request,
            lambda: self._executor.spin_once(timeout_sec=0.02),
            patience_s=LIMIT_S,
            ask_again_s=ask_again_s,
        )

    def publish_until(self, topic: str, message: Any, condition: Callable[[], bool]) -> None:
        """Publish a message ten times a second until its effect is seen."""
        publisher = self.node.create_publisher(type(message), topic, 10)
        end = time.monotonic() + LIMIT_S
        while not condition():
            assert time.monotonic() < end, f"{topic} had no effect"
            publisher.publish(message)
            self.spin(0.1)
        self.node.destroy_publisher(publisher)

    def advance(self, seconds: float) -> float:
        """Return by how much the clock moves within some wall time [s]."""
        first_ns = self.clock_ns
        self.spin(seconds)
        return (self.clock_ns - first_ns) * 1e-9

    def wait_for_standstill(self) -> None:
        """Wait until what was under way has come."""
        self.wait(lambda: self.advance(1.0) == 0.0, "the clock to stand still")

    def close(self) -> None:
        import rclpy

        self.node.destroy_node()
        rclpy.try_shutdown()


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    """A flight at real time that waits for a client, and that client."""
    tokens = {"mission": "none", "slam": "none", "camera": "false", "speed": 1.0}
    arguments = [f"{name}:={value}" for name, value in tokens.items()]
    flight = subprocess.Popen(
        [sys.executable, "-m", "aerotwin_core.cli", "launch", str(FLIGHT), *arguments,
         f"instance:={INSTANCE}", f"runs_dir:={tmp_path}"],
        start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    client = Client()
    try:
        client.wait(lambda: client.clock_ns > 4 * 10**9, "the clock")
        yield client
    finally:
        client.close()
        os.killpg(flight.pid, signal.SIGINT)
        flight.wait(LIMIT_S)


def steer(client: Client) -> None:
    """Fly forward as teleoperation does, stop by letting go, and fly left as Nav2 does."""
    from geometry_msgs.msg import Twist, TwistStamped

    forward = Twist()
    forward.linear.x = 1.0
    client.publish_until("cmd_vel", forward, lambda: client.forward_m_s > 0.8)
    client.wait(lambda: abs(client.forward_m_s) < 0.2, "the stop when the key is let go")
    left = TwistStamped()
    left.header.frame_id = "base_link"
    left.twist.linear.y = 1.0
    client.publish_until("command/velocity", left, lambda: client.left_m_s > 0.8)


def test_a_flight_is_paused_stepped_sped_up_and_reset(client):
    from rcl_interfaces.msg import Parameter, ParameterValue
    from rcl_interfaces.srv import SetParameters
    from std_srvs.srv import SetBool, Trigger

    def set_speed(factor: float) -> None:
        value = ParameterValue(type=3, double_value=factor)
        request = SetParameters.Request(parameters=[Parameter(name="speed", value=value)])
        (result,) = client.call(SetParameters, "/simulator/set_parameters", request).results
        assert result.successful

    assert client.call(SetBool, "/simulator/pause", SetBool.Request(data=True)).success
    assert client.call(Trigger, "/simulator/step", Trigger.Request()).success
    client.wait_for_standstill()
    paused_ns = client.clock_ns
    for _ in range(N_STEPS):  # it has answered before: none of its answers is lost
        assert client.call(Trigger, "/simulator/step", Trigger.Request(), ONCE).success
    client.wait_for_standstill()
    assert abs(client.clock_ns - paused_ns - N_STEPS * STEP_NS) <= CLOCK_STEPS_NS
    assert client.call(SetBool, "/simulator/pause", SetBool.Request(data=False)).success
    client.wait(lambda: client.clock_ns > paused_ns + 2 * N_STEPS * STEP_NS, "the flight to go on")

    # How fast a machine flies is its own; how slow it flies on request is not.
    set_speed(SLOW)
    client.spin(1.0)
    start = time.monotonic()
    advanced_s = client.advance(5.0)
    assert 0.0 < advanced_s < SLOW * (time.monotonic() - start) + LATE_S
    set_speed(0.0)

    ground_m = client.height_m
    assert client.call(SetBool, "/arm", SetBool.Request(data=True)).success
    assert client.call(Trigger, "/takeoff", Trigger.Request()).success
    client.wait(lambda: client.height_m > ground_m + 1.5, "the take-off")
    set_speed(2.0)
    steer(client)
    assert client.call(Trigger, "/hold", Trigger.Request()).success
    before_ns = client.clock_ns
    assert client.call(Trigger, "/simulator/reset", Trigger.Request()).success
    client.wait(lambda: client.height_m < ground_m + 0.1, "the reset")
    client.wait(lambda: client.clock_ns > before_ns + 10**9, "time to go on")


def test_a_client_injects_a_fault_and_ends_it(client):
    from diagnostic_msgs.msg import DiagnosticArray
    from rcl_interfaces.msg import Parameter, ParameterValue
    from rcl_interfaces.srv import SetParameters
    from sensor_msgs.msg import NavSatFix

    from aerotwin_core.ros.qos import LATCHED

    said, has_fix = [], []

    def take_faults(message: Any) -> None:
        said[:] = [(s.name, s.message, s.level == b"\x01") for s in message.status]

    def set_fault(name: str, text: str | None) -> Any:
        value = ParameterValue() if text is None else ParameterValue(type=4, string_value=text)
        request = SetParameters.Request(parameters=[Parameter(name=name, value=value)])
        (result,) = client.call(SetParameters, "/simulator/set_faults", request, ONCE).results
        return result

    client.node.create_subscription(DiagnosticArray, "/simulator/faults", take_faults, LATCHED)
    client.node.create_subscription(
        NavSatFix, "gnss/fix", lambda m: has_fix.append(m.status.status >= 0), 10
    )
    client.wait(lambda: bool(has_fix) and has_fix[-1], "a fix")
    assert set_fault("dark", "{do: gnss_loss}").successful
    client.wait(lambda: ("dark", "gnss_loss", True) in said, "the fault to be said")
    client.spin(1.0)
    has_fix.clear()
    client.spin(2.0)
    assert not any(has_fix)
    again = set_fault("dark", "{do: gnss_loss}")
    assert not again.successful and "has or had a fault of this name" in again.reason
    assert set_fault("dark", None).successful
    client.wait(lambda: ("dark", "gnss_loss", False) in said, "the end to be said")
    client.wait(lambda: bool(has_fix) and has_fix[-1], "the fix again")
    for name, text, reason in (
        ("dark", None, "no fault of this name is active"),
        ("off", "{do: motor_power, parameters: {rotor: 9}}", "rotor: expected 0 to 3"),
        ("off", "{do: gnss_los}", "did you mean gnss_loss"),
        ("off", "{do: gnss_loss, vehicle: uav7}", "no such vehicle"),
        ("o f", "{do: gnss_loss}", "is no name"),
        ("off", "{do: ground_station_loss}", "needs a ground station"),
    ):
        result = set_fault(name, text)
        assert not result.successful and reason in result.reason, result.reason
