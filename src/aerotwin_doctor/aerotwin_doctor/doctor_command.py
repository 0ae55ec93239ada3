# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Say what is wrong with this installation, or with the link of a vehicle that will not fly.

First the installation: Python, packages and versions, system libraries, nodes and verbs, compiled
kernels, processors, disk, shared memory, the settings of DDS, who holds the ports, PX4's build
(--px4-dir, PX4_DIR or a usual place) and ArduPilot's (--ardupilot, ARDUPILOT_DIR). Then, if a
vehicle flies or tries to, its link, as a ground station hears it on UDP 14540 + instance, 14550 and
14550 + 10 instance: mode and arming with the autopilot's own reasons, missing, frozen and
impossible sensor values, GNSS, battery, estimator, and whether its rotors (PX4's CA_ROTOR,
ArduPilot's FRAME_CLASS) are those of the airframe that is simulated. ArduPilot's SITL makes
barometer, magnetometer and GNSS itself: the line sensors.own says with what parameters. A flight is
not disturbed: the doctor reads, and only a disarmed autopilot is asked to run its arming checks.

  aerotwin doctor                             everything, vehicle 0
  aerotwin doctor --instance 2 --duration-s 20
  aerotwin doctor --only link --airframe x500 --json link.json
  PX4_DIR=~/PX4-Autopilot aerotwin doctor --only installation

Each line is one look:  ok | warn | fail  area.thing: what was found; the way out.
Exit code 0 when nothing failed, else 1. A port that a ground station holds cannot be listened to:
the line says who holds it; --port names another one. JSON: checks[].{name,ok,message}, besides
status and way_out.
"""

import argparse
import math
import os
from collections.abc import Iterator
from pathlib import Path

from aerotwin_doctor.check import FAIL, Check

DEFAULT_DURATION_S = 6.0


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "--instance", type=_instance, default=0, help="number of the vehicle, 0 to 200 (0)"
    )
    parser.add_argument(
        "--port", type=_port, help="listen on this UDP port (14540 + instance and 14550)"
    )
    parser.add_argument(
        "--duration-s", type=_duration, default=DEFAULT_DURATION_S, help="how long to listen (6)"
    )
    parser.add_argument(
        "--airframe", default="iris", help="what is simulated: name, or path of its YAML (iris)"
    )
    parser.add_argument(
        "--px4-dir", default="", help="PX4's source tree, build folder or prefix (PX4_DIR)"
    )
    parser.add_argument(
        "--ardupilot", default="", help="ArduPilot's tree, or its arducopter (ARDUPILOT_DIR)"
    )
    parser.add_argument(
        "--only", choices=("installation", "link"), help="one half; link: silence is a failure"
    )
    parser.add_argument("--json", metavar="FILE", help="write the checks as JSON (- = stdout)")


def _instance(text: str) -> int:
    return _whole_number(text, 0, 200)


def _port(text: str) -> int:
    return _whole_number(text, 1, 65535)


def _whole_number(text: str, lowest: int, highest: int) -> int:
    if not text.isdecimal() or not lowest <= int(text) <= highest:
        raise argparse.ArgumentTypeError(f"'{text}' is no whole number from {lowest} to {highest}")
    return int(text)


def _duration(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0.0 < seconds < math.inf:
        raise argparse.ArgumentTypeError(f"'{text}' is no finite number of seconds above 0")
    return seconds


def run(arguments: argparse.Namespace) -> int:
    """Check, print, and return 1 if something failed."""
    from aerotwin_core.cli import say, write_json

    checks = []
    for check in _checks(arguments):
        checks.append(check)
        if arguments.json != "-":
            say(check.line())
    n_failed = sum(check.status == FAIL for check in checks)
    if arguments.json != "-":
        say(f"{len(checks)} looked at, {n_failed or 'none'} failed")
    write_json(arguments.json, {"checks": [check.record() for check in checks]})
    return 1 if n_failed else 0


def _checks(arguments: argparse.Namespace) -> Iterator[Check]:
    if arguments.only != "link":
        yield from installation_checks(arguments.instance, arguments.px4_dir, arguments.ardupilot)
    if arguments.only != "installation":
        from aerotwin_doctor.running_checks import running_checks

        yield from running_checks(
            arguments.instance,
            airframe=arguments.airframe,
            port=arguments.port,
            duration_s=arguments.duration_s,
            is_silence_failure=arguments.only == "link",
        )


def installation_checks(instance: int, px4_dir: str, ardupilot: str = "") -> Iterator[Check]:
    """Yield the checks of the installation."""
    from aerotwin_doctor import installation, machine, ports

    root = installation.workspace_root()
    prefixes = os.environ.get("AMENT_PREFIX_PATH", "")
    yield installation.python_check()
    yield installation.import_check(installation.needed_modules(prefixes))
    if root is not None:
        is_apt = os.environ.get("ROS_DISTRO") and not (root / ".venv/lib/librcl.so").exists()
        file = root / ("requirements-ros.txt" if is_apt else "requirements.txt")
        yield installation.version_check(
            installation.pinned_versions(file.read_text(encoding="utf-8"))
        )
    yield installation.setuptools_check(installation.find_version("setuptools"))
    yield installation.library_check()
    yield installation.commands_check()
    yield installation.nodes_check(prefixes)
    if root is not None:
        yield installation.kernels_check(root / "src")
    yield machine.processor_check()
    yield machine.disk_check(Path.cwd())
    yield machine.shared_memory_check()
    yield machine.dds_settings_check()
    yield machine.domain_check(set(ports.udp_ports(instance).values()))
    yield ports.ports_check(ports.endpoints(), instance)
    yield installation.px4_check(px4_dir)
    yield installation.ardupilot_check(ardupilot)
