# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Driving by the keys of a terminal."""

import argparse
import io
import os
import pty
import subprocess
import sys
import termios
import time

import pytest

from aerotwin_core.errors import ParameterError, UserError
from aerotwin_ground_dynamics import VelocityCommand
from aerotwin_ground_simulator import drive_command
from aerotwin_ground_simulator.keys import KeyDrive, KeyParameters

UP, DOWN, RIGHT, LEFT = b"\x1b[A", b"\x1b[B", b"\x1b[C", b"\x1b[D"
LIMIT_S = 60.0
DRIVE = "import sys; from aerotwin_core.cli import main; sys.exit(main(['drive']))"


def driven(*keys):
    drive = KeyDrive(KeyParameters())
    for key in keys:
        drive.on_keys(key)
    return drive


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ([UP], VelocityCommand(0.25, 0.0)),
        ([UP + UP + LEFT], VelocityCommand(0.5, 0.1)),
        ([b"wwd"], VelocityCommand(0.5, -0.1)),
        ([DOWN, b"s"], VelocityCommand(-0.5, 0.0)),
        ([UP * 20, RIGHT * 20], VelocityCommand(1.5, -0.5)),
        ([b"wwaa", b"x"], VelocityCommand(0.5, 0.0)),
        ([b"wwaa", b" "], VelocityCommand(0.0, 0.0)),
        ([UP, b"\x1b[Z", b"\x1bOP", b"k", b"\xff"], VelocityCommand(0.25, 0.0)),
    ],
)
def test_keys_change_speed_and_turn_within_limits_and_others_do_nothing(keys, expected):
    drive = driven(*keys)
    assert drive.command == expected and not drive.is_over


@pytest.mark.parametrize("key", [b"q", b"\x04"])
def test_the_end_stops(key):
    drive = driven(b"ww", key)
    assert drive.is_over and drive.command == VelocityCommand(0.0, 0.0)


def arguments(*tokens):
    parser = argparse.ArgumentParser()
    drive_command.configure(parser)
    return parser.parse_args(tokens)


@pytest.mark.ros
def test_the_defaults_of_the_verb_are_those_of_the_parameters(monkeypatch):
    assert KeyParameters(**vars(arguments())) == KeyParameters()
    with pytest.raises(ParameterError, match="aerotwin drive: max_speed_m_s"):
        drive_command.run(arguments("--max-speed-m-s", "-1"))
    monkeypatch.setattr("sys.stdin", io.StringIO())
    with pytest.raises(UserError, match="start it in a terminal"):
        drive_command.run(arguments())


@pytest.mark.ros
def test_keys_typed_in_a_terminal_arrive_as_commands_and_the_terminal_is_left_as_it_was():
    import rclpy
    from geometry_msgs.msg import TwistStamped

    ours, theirs = pty.openpty()
    before = termios.tcgetattr(theirs)
    process = subprocess.Popen([sys.executable, "-c", DRIVE], stdin=theirs, stderr=subprocess.PIPE)
    rclpy.init()
    try:
        node, heard = rclpy.create_node("test_keyboard"), []
        node.create_subscription(TwistStamped, "cmd_vel", heard.append, 10)
        deadline = time.monotonic() + LIMIT_S
        while not heard and time.monotonic() < deadline:
            rclpy.spin_once(node, timeout_sec=0.1)
        os.write(ours, UP + LEFT)
        while heard[-1].twist.linear.x == 0.0 and time.monotonic() < deadline:
            rclpy.spin_once(node, timeout_sec=0.1)
        os.write(ours, b"q")
        assert process.wait(LIMIT_S) == 0, process.stderr.read()
        assert termios.tcgetattr(theirs) == before
        node.destroy_node()
    finally:
        rclpy.try_shutdown()
        process.kill()
        process.wait()
        process.stderr.close()
        os.close(ours)
        os.close(theirs)
    assert heard[0].twist.linear.x == 0.0
    assert any(
        (m.twist.linear.x, m.twist.angular.z, m.header.frame_id) == (0.25, 0.1, "base_link")
        for m in heard
    )
