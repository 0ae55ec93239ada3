# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The process: one TCP link to the simulator, three UDP links, one autopilot between them.

Example: embedded_autopilot --instance 0 --parameters iris.yaml
"""

import argparse
import os
import signal
import socket
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from types import FrameType

from aerotwin_autopilot.parameters import AutopilotParameters, load_autopilot_parameters
from aerotwin_autopilot.session import Session
from aerotwin_autopilot.udp_links import HOST, UdpLinks
from aerotwin_core.errors import UserError
from aerotwin_px4_bridge.messages import pack_heartbeat

HIL_PORT = 4560
RETRY_S = 0.05


def connect(instance: int, timeout_s: float) -> socket.socket:
    """Connect to the simulator, retrying until it listens.

    Raises UserError if it does not listen in time.
    """
    port = HIL_PORT + instance
    deadline = time.monotonic() + timeout_s
    while True:
        link = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            link.connect((HOST, port))
        except OSError as error:
            link.close()
            if time.monotonic() > deadline:
                raise UserError(
                    f"embedded autopilot: no simulator listens on TCP port {port} within "
                    f"{timeout_s:g} s ({error.strerror}); start it, or give --connect-timeout-s"
                ) from error
            time.sleep(RETRY_S)
            continue
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return link


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the embedded autopilot; return the exit code."""
    options = _parse(arguments)
    _stop_on_signals()
    try:
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
            link.sendall(pack_heartbeat(mav_type=2, autopilot=12, system_id=instance + 1,
                                        component_id=1))  # fmt: skip
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
    options = parser.parse_args(arguments)
    if not 0 <= options.instance <= 250:
        parser.error(f"--instance must be in 0...250, got {options.instance}")
    return options


if __name__ == "__main__":
    sys.exit(main())
