# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The process of an ArduCopter, and the parameters that it is started with.

References: ArduPilot libraries/AP_HAL_SITL/SITL_cmdline.cpp (options), UARTDriver.cpp (devices of
serial ports), libraries/AP_Motors/AP_MotorsMulticopter.cpp (thrust curve: MOT_THST_EXPO),
libraries/SITL/SITL.cpp (SIM_*).
"""

from collections.abc import Mapping
from math import isfinite
from pathlib import Path

from aerotwin_ardupilot_bridge.ardupilot_install import find_ardupilot
from aerotwin_ardupilot_bridge.frames import ArduPilotFrame
from aerotwin_ardupilot_bridge.json_state import ArduPilotHome
from aerotwin_core.errors import UserError
from aerotwin_px4_bridge import AutopilotProcess

PWM_OFF_US, PWM_FULL_US = 1000, 2000
RATE_HZ = 1000
"""Steps a second: ArduCopter's loop runs at 400 Hz, and each step must be finer."""
UNTHROTTLED = 1000.0
"""SIM_SPEEDUP above all that is reached: the simulator paces, ArduPilot does not sleep."""
START_OF_CLOCK_UNIX_S = 1_767_225_600
"""2026-01-01: the time of its GNSS does not depend on when a flight is made."""
DEFAULTS = "parameters.parm"
_UNUSED_PORTS = (1, 2, 5, 6, 7)
"""Serial ports that would listen on all network cards; 3 and 4 are those of its GNSS."""
_LONGEST_NAME = 16


def ardupilot_process(
    path: str,
    instance: int,
    run_folder: Path,
    *,
    home: ArduPilotHome,
    client_port: int,
    parameters: Mapping[str, float],
    heading_deg: float = 0.0,
    ground_station_port: int | None = None,
    rate_hz: int = RATE_HZ,
    cpu: int | None = None,
) -> AutopilotProcess:
    """Return the process of an ArduCopter, not yet started.

    It listens on no TCP port: its MAVLink goes out to `client_port`, and to the ground station, on
    the loopback.

    Parameters
    ----------
    path : str
        As for `find_ardupilot`.
    instance : int
        Vehicle number: it sends outputs to UDP 9002 + 10 instance; its system id is one more.
    run_folder : Path
        It runs, and logs, in its subfolder `ardupilot_<instance>`, which must not be there yet.
    home : ArduPilotHome
        Where it starts.
    client_port : int
        UDP port of the companion (SERIAL0).
    parameters : mapping
        By name, as from `frame_parameters`.
    heading_deg : float
        At the start, clockwise from north.
    ground_station_port : int, optional
        UDP port of a ground station (SERIAL1).
    rate_hz : int, optional
        Steps a second with which it will be answered; above the 400 of its loop.
    cpu : int, optional
        The core it shares with the simulator.

    Raises
    ------
    UserError
        If no ArduCopter is there, or a parameter cannot be one.
    """
    install = find_ardupilot(path)
    folder = (Path(run_folder) / f"ardupilot_{instance}").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / DEFAULTS).write_text(parameter_text(parameters), encoding="utf-8")
    place = f"{home.latitude_deg:.7f},{home.longitude_deg:.7f},{home.altitude_m:.2f}"
    devices = dict.fromkeys(_UNUSED_PORTS, "none:unused")
    devices[0] = f"udpclient:127.0.0.1:{client_port}"
    if ground_station_port is not None:
        devices[1] = f"udpclient:127.0.0.1:{ground_station_port}"
    serial = [token for k, device in devices.items() for token in (f"--serial{k}", device)]
    return AutopilotProcess(
        [
            str(install.program), "--model", "JSON:127.0.0.1", "-I", str(instance),
            "--sysid", str(instance + 1), "--speedup", f"{UNTHROTTLED:g}", "-r", str(rate_hz),
            "--home", f"{place},{heading_deg:.2f}", "--start-time", str(START_OF_CLOCK_UNIX_S),
            "--defaults", str(folder / DEFAULTS), "--wipe", *serial,
        ],
        log_path=folder / "ardupilot.log",
        cwd=folder,
        cpu=cpu,
        name=f"ArduPilot {instance}",
    )  # fmt: skip


def frame_parameters(
    frame: ArduPilotFrame, *, hover_thrust: float, speed_offset: float
) -> dict[str, float]:
    """Return the parameters that tell ArduPilot the airframe.

    Its outputs are pulses of 1000 to 2000 us for commands of 0 to 1, not scaled by the battery. Its
    curve of thrust T over the command u, T = (1 - e) u + e u^2, is fitted to rotors whose speed is
    linear in the command, (offset + (1 - offset) u)^2 without what turns at u = 0:
    e = (1 - offset) / (1 + offset).

    Parameters
    ----------
    frame : ArduPilotFrame
        From `find_frame`.
    hover_thrust : float
        Weight over the largest thrust.
    speed_offset : float
        Speed of the rotors at command 0 over that at 1.
    """
    return {
        "FRAME_CLASS": frame.frame_class,
        "FRAME_TYPE": frame.frame_type,
        "MOT_PWM_MIN": PWM_OFF_US,
        "MOT_PWM_MAX": PWM_FULL_US,
        "MOT_THST_EXPO": (1.0 - speed_offset) / (1.0 + speed_offset),
        "MOT_THST_HOVER": hover_thrust,
        "MOT_SPIN_ARM": 0.05,
        "MOT_SPIN_MIN": 0.08,
        "MOT_BAT_VOLT_MIN": 0.0,
        "MOT_BAT_VOLT_MAX": 0.0,
    }


def parameter_text(parameters: Mapping[str, float]) -> str:
    """Return a file of parameters, as ArduPilot reads it.

    Raises UserError if a name cannot be one of ArduPilot's, or a value is not finite.
    """
    for name, value in parameters.items():
        if not name.replace("_", "").isalnum() or len(name) > _LONGEST_NAME:
            raise UserError(f"ArduPilot parameter '{name}': expected at most 16 letters, digits, _")
        if not isfinite(value):
            raise UserError(f"ArduPilot parameter {name}: expected a number, found {value}")
    return "".join(f"{name} {value:.9g}\n" for name, value in parameters.items())
