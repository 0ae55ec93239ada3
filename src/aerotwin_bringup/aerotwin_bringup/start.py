# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Entry points of the scenarios, whose imports take seconds: Ctrl-C ends them quietly meanwhile."""

from aerotwin_core.start import run


def sitl_flight() -> None:
    """Run the process of launch/sitl_flight.launch.yaml."""
    run("aerotwin_bringup.ros.sitl_flight")


def fleet_slams() -> None:
    """Run the SLAMs of a fleet in launch/sitl_flight.launch.yaml."""
    run("aerotwin_bringup.ros.fleet_slams")


def recorded_flight() -> None:
    """Run the process of launch/recorded_flight.launch.yaml."""
    run("aerotwin_bringup.ros.recorded_flight")


def dense_localization() -> None:
    """Run the process of launch/dense_localization.launch.yaml."""
    run("aerotwin_bringup.ros.dense_localization")


def relay() -> None:
    """Run the process of launch/relay.launch.yaml."""
    run("aerotwin_bringup.ros.relay")


def replay() -> None:
    """Run aerotwin_run_evaluation's `replay`; deprecated, removed in the next version."""
    run("aerotwin_run_evaluation.ros.replay")
