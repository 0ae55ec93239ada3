# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The process: one TCP link to the simulator, three UDP links, one autopilot between them.

Or those of several vehicles: each --vehicle has its number, parameter file, and log.

Examples: embedded_autopilot --instance 0 --parameters iris.yaml
embedded_autopilot --vehicle 0 iris.yaml 0.log --vehicle 1 x500.yaml 1.log
"""

import argparse
import os
import signal
import socket
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import FrameType

from aerotwin_autopilot.hil_connection import connect
from aerotwin_autopilot.host import HostedVehicle, run_host
from aerotwin_autopilot.parameters import AutopilotParameters, load_autopilot_parameters
from aerotwin_autopilot.session import Session
from aerotwin_autopilot.udp_links import UdpLinks
from aerotwin_core.errors import UserError

HIGHEST_INSTANCE = 250


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the embedded autopilot; return the exit code."""
    options = _parse(arguments)
    _stop_on_signals()
    try:
        if options.vehicle:
            lane = None if options.lane is None else socket.socket(fileno=options.lane)
            run_host(options.vehicle, options.connect_timeout_s, lane)
            return 0
        parameters = load_autopilot_parameters(options.parameters)
        if options.magnetic_declination_deg is not None:
            estimator = replace(
                parameters.estimator, magnetic_declination_deg=options.magnetic_declination_deg
            )
            parameters = replace(parameters, estimator=estimator)
        _run(parameters, options.instance, options.connect_timeout_s)
    except UserError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


def _run(parameters: AutopilotParameters, instance: int, timeout_s: float) -> None:
    udp = UdpLinks(instance)
    try:
        session = Session(parameters, instance)
        with connect(instance, timeout_s) as link:
            session.run(link, udp)
    finally:
        udp.close()


def _stop_on_signals() -> None:
    """Exit at once on Ctrl-C or SIGTERM: there is no clean-up.

    An exception would interrupt a compiled function.
    """

    def stop(_number: int, _frame: FrameType | None) -> None:
        os._exit(0)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="embedded_autopilot",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--instance", type=int, default=0, help="number of the vehicle (0)")
    parser.add_argument("--parameters", help="YAML file (the packaged iris)")
    parser.add_argument(
        "--magnetic-declination-deg",
        type=float,
        help="east of true north (World Magnetic Model at the first GNSS fixes)",
    )
    parser.add_argument(
        "--connect-timeout-s", type=float, default=60.0, help="wait for the simulator (60)"
    )
    parser.add_argument(
        "--vehicle",
        nargs=3,
        action="append",
        default=[],
        metavar=("INSTANCE", "PARAMETERS", "LOG"),
        help="one of several vehicles that this process flies, instead of --instance",
    )
    parser.add_argument(
        "--lane",
        type=int,
        metavar="DESCRIPTOR",
        help="inherited socket for the frames of all vehicles (each on its own link)",
    )
    options = parser.parse_args(arguments)
    if options.vehicle and (options.instance or options.parameters):
        parser.error("--vehicle has its own instance and parameters; leave out the others")
    if options.vehicle and options.magnetic_declination_deg is not None:
        parser.error("--magnetic-declination-deg is for one vehicle, not for those of --vehicle")
    options.vehicle = [
        HostedVehicle(instance=_instance(parser, i), parameters=Path(file), log=Path(log))
        for i, file, log in options.vehicle
    ]
    options.instance = _instance(parser, options.instance)
    return options


def _instance(parser: argparse.ArgumentParser, text: str | int) -> int:
    """Return the number of a vehicle; a wrong one ends the program."""
    try:
        instance = int(text)
    except ValueError:
        instance = -1
    if not 0 <= instance <= HIGHEST_INSTANCE:
        parser.error(f"instance must be a number in 0...{HIGHEST_INSTANCE}, got {text}")
    return instance


if __name__ == "__main__":
    sys.exit(main())
