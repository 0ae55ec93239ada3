# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Drive and fly by the keys of this terminal, or by a joystick.

It publishes cmd_vel (TwistStamped) while a key is held, and stops the vehicle when it is let go;
commands (arm, take off, land ...) are the services of the simulator. The state of the vehicles is
shown below. Without names it finds the vehicles that are there; the first is the leader.

Examples
--------
  aerotwin launch launch/sitl_flight.launch.yaml mission:=none camera:=false slam:=none speed:=1.0
  aerotwin teleop                                       # in a second terminal
  aerotwin teleop --keys xtdrone --all
  aerotwin teleop drone_3 --joy                         # topic joy of joy_node
"""

import argparse
import sys

from aerotwin_core.errors import UserError

_MAPS = ("twist", "xtdrone", "drive")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("vehicles", nargs="*", metavar="NAME", help="namespaces, the leader first (all heard)")
    add("--all", dest="commands_all", action="store_true", help="all of them, not the leader")
    add("--keys", default="twist", choices=_MAPS,
        help="teleop_twist_keyboard's, XTDrone's, or those of aerotwin drive (twist)")  # fmt: skip
    add("--joy", action="store_true", help="the topic joy (sensor_msgs/Joy) flies, too")
    add("--joy-axes", type=int, nargs=4, default=(4, 3, 1, 0), metavar="K",
        help="axes of forward, left, up, turn (4 3 1 0)")  # fmt: skip
    add_speeds(parser)


def add_speeds(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments that the map of the keys has defaults for."""
    add = parser.add_argument
    add("--speed-step-m-s", type=float, help="of a key (twist 0.5, xtdrone 0.1, drive 0.25)")
    add("--turn-step-rad-s", type=float, help="of a key (twist 1, xtdrone 0.05, drive 0.1)")
    add("--max-speed-m-s", type=float, help="in each direction (20, drive 1.5)")
    add("--max-turn-rad-s", type=float, help="to either side (3, drive 0.5)")
    add("--release-s", type=float,
        help="without a key for so long it stops; 0: it goes on (0.25, drive 0)")  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Steer until the pilot has had enough."""
    return steer(args, "aerotwin teleop")


def steer(args: argparse.Namespace, name: str) -> int:
    """Steer by the values of a verb's arguments; `name` is the verb's, for errors."""
    from aerotwin_core.parameters import load_parameters
    from aerotwin_teleop.parameters import TeleopParameters
    from aerotwin_teleop.ros.teleop_node import run_teleop

    parameters = load_parameters(TeleopParameters, vars(args), where=name)
    if not parameters.joy and not sys.stdin.isatty():
        raise UserError(f"{name} reads keys: start it in a terminal, without a pipe")
    return run_teleop(parameters)
