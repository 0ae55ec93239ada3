# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Files of PX4: the start-up scripts that it reads, and its ULog.

PX4's own start-up sources `px4-rc.params` and `px4-rc.mavlink` from PATH, as users' settings. Ours
come first there.

Reference: PX4 v1.14 ROMFS/px4fmu_common/init.d-posix: rcS, px4-rc.mavlink (ports and rates of the
links).
"""

import os
import shutil
from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path

from aerotwin_core.errors import ParameterError, UserError
from aerotwin_core.parameters import read_yaml

MANY = 10
"""From this instance on a vehicle's offboard port follows another rule: 14540 + 10 is already the
port of ground stations, and PX4 itself uses one port, 14549, for all these vehicles."""
_OFFBOARD_PORT, _OFFBOARD_PORT_OF_MANY = 14540, 24540
_LONGEST_NAME = 16

_ONBOARD = (
    "mavlink start -x -u $((14280+px4_instance)) -r 8000 -f -m custom -o $((14030+px4_instance))"
)
_GROUND_STREAMS_HZ = {
    "POSITION_TARGET_LOCAL_NED": 50,
    "LOCAL_POSITION_NED": 50,
    "GLOBAL_POSITION_INT": 50,
    "ATTITUDE": 50,
    "ATTITUDE_QUATERNION": 50,
    "ATTITUDE_TARGET": 50,
    "SERVO_OUTPUT_RAW_0": 50,
    "RC_CHANNELS": 20,
}

LINKS: dict[str, tuple[str, ...]] = {
    "ground": (
        "mavlink start -x -u $((18570+px4_instance)) -r 4000000 -f",
        *(
            f"mavlink stream -r {rate} -s {name} -u $((18570+px4_instance))"
            for name, rate in _GROUND_STREAMS_HZ.items()
        ),
    ),
    "offboard": (
        f"offboard_port=$(({_OFFBOARD_PORT}+px4_instance))",
        f"[ $px4_instance -ge {MANY} ] && offboard_port=$(({_OFFBOARD_PORT_OF_MANY}+px4_instance))",
        "mavlink start -x -u $((14580+px4_instance)) -r 4000000 -f -m onboard -o $offboard_port",
    ),
    "gimbal": (
        "mavlink start -x -u $((13030+px4_instance)) -r 400000 -m gimbal "
        "-o $((13280+px4_instance))",
    ),
}
"""Optional links besides the onboard one -> their lines in the start-up script."""


def offboard_port(instance: int) -> int:
    """Return the UDP port to which vehicle `instance` sends its offboard API (MAVSDK, MAVROS)."""
    return (_OFFBOARD_PORT if instance < MANY else _OFFBOARD_PORT_OF_MANY) + instance


def mavlink_script(links: Sequence[str], *, has_battery: bool = False) -> str:
    """Return the start-up script that opens the onboard link and these.

    PX4 sources it after its modules have started: with `has_battery` its own simulated battery is
    stopped, so that the one of the airframe, on the onboard link, is the only one. Raises UserError
    if there is no such link.
    """
    unknown = set(links) - set(LINKS)
    if unknown:
        raise UserError(
            f"PX4 links: expected some of {', '.join(LINKS)}, found {', '.join(sorted(unknown))}"
        )
    battery = ["battery_simulator stop"] if has_battery else []
    lines = [*battery, _ONBOARD, *(line for name in LINKS if name in links for line in LINKS[name])]
    return "#!/bin/sh\n" + "\n".join(lines) + "\n"


def parameter_script(parameters: Mapping[str, float]) -> str:
    """Return the start-up script that sets parameters after the airframe's own.

    Raises UserError if a name cannot be one of PX4's, or a value is not finite.
    """
    for name, value in parameters.items():
        if not name.replace("_", "").isalnum() or len(name) > _LONGEST_NAME:
            raise UserError(f"PX4 parameter '{name}': expected a name of at most 16 letters, _")
        if not isfinite(value):
            raise UserError(f"PX4 parameter {name}: expected a number, found {value}")
    lines = [f"param set {name} {value:.9g}" for name, value in parameters.items()]
    return "#!/bin/sh\n" + "\n".join(lines) + "\n"


def read_parameter_file(path: str) -> dict[str, float]:
    """Return an autopilot's parameters by name from a YAML file; none for an empty path.

    Raises ParameterError if it holds anything but numbers by name.
    """
    content = read_yaml(path) if path else {}
    if not isinstance(content, Mapping):
        raise ParameterError(f"{path}: expected names with numbers, found {type(content).__name__}")
    for name, value in content.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ParameterError(f"{path}: {name}: expected a number, found {value!r}")
    return {str(name): float(value) for name, value in content.items()}


def collect_ulogs(run_folder: Path, instance: int) -> list[Path]:
    """Copy the ULogs of a PX4 that has ended beside the other files of the run.

    PX4 begins a log at each arming (or at boot, as SDLOG_MODE says). The copies are
    `px4_<instance>.ulg`, `px4_<instance>_2.ulg` and so on, in the order of their start, in the
    `run_folder` of `px4_process`; none when PX4 wrote none.
    """
    logs = (Path(run_folder) / f"px4_{instance}" / "log").glob("**/*.ulg")
    found = sorted(path for path in logs if path.stat().st_size > 0)  # named by date and time
    targets = [ulog_path(run_folder, instance, number) for number in range(len(found))]
    for source, target in zip(found, targets, strict=True):
        unfinished = target.with_suffix(".ulg.part")
        shutil.copyfile(source, unfinished)
        os.replace(unfinished, target)
    return targets


def ulog_path(run_folder: Path, instance: int, number: int = 0) -> Path:
    """Return the target of `collect_ulogs` for log `number` (from 0) of a vehicle."""
    suffix = f"_{number + 1}" if number else ""
    return Path(run_folder) / f"px4_{instance}{suffix}.ulg"
