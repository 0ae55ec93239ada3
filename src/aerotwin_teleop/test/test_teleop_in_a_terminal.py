# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The verbs in a pseudo-terminal, against a vehicle that listens."""

import argparse
import contextlib
import io
import os
import pty
import signal
import subprocess
import sys
import termios
import time

import pytest

from aerotwin_core.errors import ParameterError, UserError
from aerotwin_teleop import SteeredMotion, drive_command, teleop_command
from aerotwin_teleop.parameters import TeleopParameters

pytestmark = pytest.mark.ros
LIMIT_S = 60.0
START = "import sys; from aerotwin_core.cli import main; sys.exit(main({}))"


def arguments(command, *tokens):
    parser = argparse.ArgumentParser()
    command.configure(parser)
    return parser.parse_args(tokens)


def test_the_defaults_of_the_verb_are_those_of_the_parameters(monkeypatch):
    values = vars(arguments(teleop_command))
    defaults = TeleopParameters()
    assert {name: getattr(defaults, name) for name in values} == {**values, "vehicles": ()}
    assert vars(arguments(drive_command))["keys"] == "drive"
    with pytest.raises(ParameterError, match="aerotwin drive: max_speed_m_s"):
        drive_command.run(arguments(drive_command, "--max-speed-m-s", "-1"))
    monkeypatch.setattr("sys.stdin", io.StringIO())
    with pytest.raises(UserError, match="start it in a terminal"):
        teleop_command.run(arguments(teleop_command))


class Vehicle:
    """Listens as one does, and records what it was asked for."""

    def __init__(self, name):
        import rclpy
        from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
        from geometry_msgs.msg import TwistStamped
        from std_msgs.msg import String
        from std_srvs.srv import SetBool, Trigger

        self.node = rclpy.create_node(name or "robot")
        prefix = f"{name}/" if name else ""
        self.requests, self.motions, self.patterns = [], [], []
        self.stands = False
        self.node.create_subscription(TwistStamped, f"{prefix}cmd_vel", self._on_motion, 10)
        self.node.create_subscription(
            String, "formation/pattern", lambda m: self.patterns.append(m.data), 10
        )
        for service, kind in (("arm", SetBool), ("takeoff", Trigger), ("return", Trigger)):
            self.node.create_service(
                kind,
                f"{prefix}{service}",
                lambda request, reply, service=service: self._on_request(service, request, reply),
            )
        status = DiagnosticStatus(message="in the air")
        status.values = [
            KeyValue(key="mode", value="OFFBOARD"),
            KeyValue(key="armed", value="true"),
        ]
        publish = self.node.create_publisher(
            DiagnosticArray, f"{prefix}autopilot/status", 10
        ).publish

        def report():
            ignored = len(self.motions) if self.stands else 0
            count = KeyValue(key="setpoints_ignored", value=str(ignored))
            values = [*status.values, count]
            now = DiagnosticStatus(message=status.message, values=values)
            publish(DiagnosticArray(status=[now]))

        self.node.create_timer(0.1, report)

    def _on_motion(self, message):
        linear = message.twist.linear
        assert message.header.frame_id == "base_link"
        self.motions.append(SteeredMotion(linear.x, linear.y, linear.z, message.twist.angular.z))

    def _on_request(self, service, request, reply):
        self.requests.append((service, getattr(request, "data", None)))
        reply.success, reply.message = True, "sent"
        return reply


class Pilot:
    """The verb in a pseudo-terminal, and the vehicles that hear it."""

    def __init__(self, tokens, names):
        import rclpy

        self.ours, self.theirs = pty.openpty()
        self.before, self.shown = termios.tcgetattr(self.theirs), b""
        os.set_blocking(self.ours, False)
        self.process = subprocess.Popen(
            [sys.executable, "-c", START.format(tokens)], stdin=self.theirs, stdout=self.theirs,
            stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        rclpy.init()
        self.executor = rclpy.executors.SingleThreadedExecutor()
        self.vehicles = [Vehicle(name) for name in names]
        for vehicle in self.vehicles:
            self.executor.add_node(vehicle.node)

    def until(self, condition):
        deadline = time.monotonic() + LIMIT_S
        while not condition():
            assert time.monotonic() < deadline, self.shown[-600:]
            self.executor.spin_once(timeout_sec=0.05)
            with contextlib.suppress(BlockingIOError):
                self.shown += os.read(self.ours, 65536)

    def type(self, keys):
        os.write(self.ours, keys)

    def wait_for_end(self):
        assert self.process.wait(LIMIT_S) == 0, self.process.stderr.read()
        assert termios.tcgetattr(self.theirs) == self.before

    def close(self):
        import rclpy

        for vehicle in self.vehicles:
            vehicle.node.destroy_node()
        rclpy.try_shutdown()
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()
        os.close(self.ours)
        os.close(self.theirs)


@pytest.fixture
def start():
    pilots = []

    def make(tokens, *names):
        pilots.append(Pilot(tokens, names))
        return pilots[0]

    yield make
    for pilot in pilots:
        pilot.close()


def test_keys_fly_the_leader_then_all_and_letting_go_stops(start):
    pilot = start(["teleop", "--keys", "xtdrone"], "uav0", "uav1")
    leader, other = pilot.vehicles
    pilot.until(lambda: b"uav1" in pilot.shown and pilot.shown.count(b"OFFBOARD") > 1)
    pilot.type(b"t")
    pilot.until(lambda: leader.requests == [("arm", True)])
    pilot.type(b"w")
    pilot.until(lambda: SteeredMotion(forward=0.1) in leader.motions)
    pilot.until(lambda: leader.motions[-1] == SteeredMotion())
    assert not other.motions and not other.requests
    pilot.type(b"gvy1")
    pilot.until(lambda: len(other.requests) == 2 and len(leader.requests) == 3)
    assert other.requests == leader.requests[1:] == [("takeoff", None), ("arm", False)]
    pilot.until(lambda: leader.patterns == ["cube"])
    pilot.type(b"n")
    pilot.until(lambda: b"there is no service /uav1/land" in pilot.shown)
    pilot.type(b"d")
    pilot.until(lambda: SteeredMotion(left=-0.1) in other.motions)
    pilot.process.send_signal(signal.SIGINT)
    pilot.until(lambda: leader.motions[-1] == other.motions[-1] == SteeredMotion())
    pilot.wait_for_end()


def test_a_driver_drives_on_until_the_end_which_stops(start):
    pilot = start(["drive"], "")
    robot = pilot.vehicles[0]
    pilot.until(lambda: b"(no namespace)" in pilot.shown)
    pilot.type(b"\x1b[A\x1b[D")
    pilot.until(lambda: robot.motions.count(SteeredMotion(forward=0.25, turn=0.1)) > 30)
    pilot.type(b"q")
    pilot.until(lambda: robot.motions[-1] == SteeredMotion())
    pilot.wait_for_end()


def test_who_is_not_heard_or_does_not_fly_is_said_to_do_so(start):
    pilot = start(["teleop", "--keys", "xtdrone", "uav0", "nobody"], "uav0")
    pilot.until(lambda: b"not heard" in pilot.shown and b"OFFBOARD" in pilot.shown)
    pilot.vehicles[0].stands = True
    pilot.type(b"w")
    pilot.until(lambda: b"uav0 ignores velocities: it lands, or follows" in pilot.shown)
    pilot.type(b"q")
    pilot.process.send_signal(signal.SIGINT)
    pilot.wait_for_end()
