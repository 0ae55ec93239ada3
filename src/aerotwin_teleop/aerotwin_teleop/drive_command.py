# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Drive a ground robot by the keys of this terminal; `aerotwin teleop --keys drive`.

It publishes cmd_vel (TwistStamped). Up and down (w, s) change the speed, left and right (a, d) the
rate of turn; x goes straight on, space stops, q ends. The last command holds until another key.

Examples
--------
  aerotwin launch launch/teach_drive.launch.yaml world:=campus route:=drive.tum
  aerotwin drive                                        # in a second terminal
  aerotwin teach campus --route drive.tum -o driven
"""

import argparse

from aerotwin_teleop.teleop_command import add_speeds, steer


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(keys="drive")
    add_speeds(parser)


def run(args: argparse.Namespace) -> int:
    """Drive until the driver has had enough."""
    return steer(args, "aerotwin drive")
