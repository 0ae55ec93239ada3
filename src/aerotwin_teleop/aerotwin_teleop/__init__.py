# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Driving and flying by hand: keys of a terminal and joysticks as motions and requests.

Motions are velocities in the level body's axes: forward, left, up, and a turn to the left. No ROS
here; `ros/` connects them to the topics and services of vehicles.
"""

from aerotwin_teleop.joystick import Joystick
from aerotwin_teleop.key_maps import FORMATIONS, KEY_MAPS, Formation, KeyMap, Request
from aerotwin_teleop.key_pilot import KeyPilot
from aerotwin_teleop.motion import AT_REST, SteeredMotion
from aerotwin_teleop.parameters import TeleopParameters

__all__ = [
    "AT_REST",
    "FORMATIONS",
    "KEY_MAPS",
    "Formation",
    "Joystick",
    "KeyMap",
    "KeyPilot",
    "Request",
    "SteeredMotion",
    "TeleopParameters",
]
