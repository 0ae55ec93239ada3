# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The scenario of launch/dense_localization.launch.yaml: map a wall, scan it without GNSS."""

import signal
import sys

import rclpy
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from aerotwin_bringup.dense_localization.mission.mission import DenseMission, MissionParameters
from aerotwin_core.cli import say, say_fatal
from aerotwin_core.errors import ParameterError, UserError
from aerotwin_core.ros.node import EXIT_FAILURE, EXIT_PARAMETER, init_rclpy
from aerotwin_core.ros.parameters import declare_parameters
from aerotwin_core.stop_request import EXIT_INTERRUPTED, is_interrupt


def read_parameters(arguments: list[str] | None = None) -> MissionParameters:
    """Return what the node `dense_localization` was given; it does not live longer."""
    init_rclpy(args=arguments, signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = Node("dense_localization")
        try:
            return declare_parameters(node, MissionParameters)
        finally:
            node.destroy_node()
    finally:
        rclpy.try_shutdown()


def _stop(number: int, frame: object) -> None:
    for each in (signal.SIGINT, signal.SIGTERM):  # another one must not break the ending
        signal.signal(each, signal.SIG_IGN)
    raise KeyboardInterrupt


def main() -> None:
    """Entry point of the executable `dense_localization`."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stop)
    try:
        is_flown = DenseMission(read_parameters()).run()
        code = 0 if is_flown else EXIT_FAILURE
    except (UserError, OSError) as error:
        say_fatal(error)
        code = EXIT_PARAMETER if isinstance(error, ParameterError) else EXIT_FAILURE
    except (KeyboardInterrupt, SystemError) as error:
        if not is_interrupt(error):
            raise
        say("stopped: what was whole is in the run folder, there is no report")
        code = EXIT_INTERRUPTED
    sys.exit(code)
