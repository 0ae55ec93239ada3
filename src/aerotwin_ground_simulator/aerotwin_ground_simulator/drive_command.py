# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Drive a ground robot by the keys of this terminal.

It publishes cmd_vel (TwistStamped) ten times a second. Up and down (w, s) change the speed, left
and right (a, d) the rate of turn; x goes straight on, space stops, q ends. The last command
holds until another key: a terminal reports no release.

Examples
--------
  aerotwin launch launch/teach_drive.launch.yaml world:=campus route:=drive.tum
  aerotwin drive                                        # in a second terminal
  aerotwin teach campus --route drive.tum -o driven
"""

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from aerotwin_core.errors import UserError


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("--speed-step-m-s", type=float, default=0.25, help="what a key changes (0.25)")
    add("--turn-step-rad-s", type=float, default=0.1, help="what a key changes (0.1)")
    add("--max-speed-m-s", type=float, default=1.5, help="ahead and back (1.5)")
    add("--max-turn-rad-s", type=float, default=0.5, help="to either side (0.5)")


def run(args: argparse.Namespace) -> int:
    """Drive until the driver has had enough."""
    from aerotwin_core.cli import say
    from aerotwin_core.parameters import load_parameters
    from aerotwin_core.ros.node import run_node
    from aerotwin_ground_simulator.keys import KeyParameters
    from aerotwin_ground_simulator.ros.keyboard_node import KeyboardNode

    values = {name: value for name, value in vars(args).items() if name.split("_")[-1] == "s"}
    parameters = load_parameters(KeyParameters, values, where="aerotwin drive")
    if not sys.stdin.isatty():
        raise UserError("aerotwin drive reads keys: start it in a terminal, without a pipe")
    descriptor = sys.stdin.fileno()
    say("arrows or w a s d drive, x straight on, space stops, q ends")
    with _key_by_key(descriptor):
        return run_node(lambda: KeyboardNode(descriptor, parameters))


@contextmanager
def _key_by_key(descriptor: int) -> Iterator[None]:
    """Let a terminal hand out every key at once and unseen, for as long as it takes."""
    import termios
    import tty

    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor)
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
