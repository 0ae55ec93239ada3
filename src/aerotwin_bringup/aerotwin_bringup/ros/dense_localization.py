# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The scenario of launch/dense_localization.launch.yaml: map a wall, scan it without GNSS."""

import sys

import rclpy
from rclpy.signals import SignalHandlerOptions

from aerotwin_core.cli import say, say_fatal
from aerotwin_core.errors import EXIT_FAILURE, UserError, exit_code_of
from aerotwin_core.ros.node import init_rclpy
from aerotwin_core.ros.parameters import ConfiguredNode, declare_parameters
from aerotwin_core.stop_request import EXIT_INTERRUPTED, Stopped, StopRequest
from aerotwin_scenarios.dense_localization.mission.mission import DenseMission, MissionParameters


def read_parameters(arguments: list[str] | None = None) -> MissionParameters:
    """Return the parameters of the node `dense_localization`, which exists only for this call."""
    init_rclpy(args=arguments, signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = ConfiguredNode("dense_localization")
        try:
            return declare_parameters(node, MissionParameters)
        finally:
            node.destroy_node()
    finally:
        rclpy.try_shutdown()


def main() -> None:
    """Entry point of the executable `dense_localization`.

    Until the run has a folder a signal ends the process at once; afterwards it ends the flight or
    the mapping in progress, but not the report.
    """
    stop = StopRequest(ends_at_once=True)
    try:
        mission = DenseMission(read_parameters(), stop)
        stop.wait_for_end()
        code = 0 if mission.run() else EXIT_FAILURE
    except (UserError, OSError) as error:
        say_fatal(error)
        code = exit_code_of(error)
    except Stopped:
        say("stopped: what was whole is in the run folder, there is no report")
        code = EXIT_INTERRUPTED
    sys.exit(code)
