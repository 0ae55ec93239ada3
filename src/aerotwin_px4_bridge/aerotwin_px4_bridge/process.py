# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Processes of the autopilots: the embedded one, and PX4 with its parameters and links."""

import os
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from aerotwin_core.errors import UserError
from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_px4_bridge.program import AutopilotProcess
from aerotwin_px4_bridge.px4_files import LINKS, mavlink_script, parameter_script
from aerotwin_px4_bridge.px4_install import find_px4

EMBEDDED_COMMAND = "embedded_autopilot"
PX4_MODEL = "none_iris"
FASTEST = 30.0
"""Real-time factor to prepare PX4 for when none is requested: the highest seen in flight."""
_FUNCTION_MOTOR_1, _MOST_ROTORS = 101, 12
"""PX4 v1.14, src/lib/mixer_module/output_functions.yaml and control_allocator module.yaml."""


def embedded_process(
    instance: int,
    run_folder: Path,
    *,
    parameters_path: Path | None = None,
    cpu: int | None = None,
    command: Sequence[str] | None = None,
) -> AutopilotProcess:
    """Return the process of the embedded autopilot, not yet started.

    Ports and system id follow from `instance`, its log is `autopilot_<instance>.log` in the run
    folder, and `cpu` is the core it shares with the simulator. The default command is the program
    `embedded_autopilot` beside this Python or on PATH.
    """
    program = list(command) if command else [_beside_python(EMBEDDED_COMMAND)]
    arguments = ["--instance", str(instance)]
    if parameters_path is not None:
        arguments += ["--parameters", str(parameters_path)]
    return AutopilotProcess(
        [*program, *arguments],
        log_path=embedded_log(run_folder, instance),
        cpu=cpu,
        name="embedded autopilot",
    )


def embedded_host_process(
    parameters_paths: Mapping[int, Path],
    run_folder: Path,
    *,
    command: Sequence[str],
    lane: socket.socket | None = None,
) -> AutopilotProcess:
    """Return the one process of several embedded autopilots, not yet started.

    The parameter files are by instance. Each autopilot has its own log, as that of
    `embedded_process`; the output of the process itself is `autopilots.log`. `lane` is the end of a
    `SharedLane` that the process inherits.
    """
    vehicles = [
        text
        for instance, path in parameters_paths.items()
        for text in ("--vehicle", str(instance), str(path), str(embedded_log(run_folder, instance)))
    ]
    by_lane = [] if lane is None else ["--lane", str(lane.fileno())]
    return AutopilotProcess(
        [*command, *by_lane, *vehicles],
        log_path=Path(run_folder) / "autopilots.log",
        inherited=[] if lane is None else [lane],
        name="the process of the embedded autopilots",
    )


def embedded_log(run_folder: Path, instance: int) -> Path:
    """Return the log of an embedded autopilot."""
    return Path(run_folder) / f"autopilot_{instance}.log"


def px4_process(
    px4_dir: Path | str,
    instance: int,
    run_folder: Path,
    *,
    home: GeodeticPoint,
    speed_factor: float = 1.0,
    gnss_delay_s: float = 0.0,
    parameters: Mapping[str, float] | None = None,
    model: str = PX4_MODEL,
    namespace: str | None = None,
    links: Sequence[str] | None = None,
    has_battery: bool = False,
    cpu: int | None = None,
) -> AutopilotProcess:
    """Return the process of a PX4 SITL, not yet started.

    Parameters
    ----------
    px4_dir : Path or str
        A source tree, a build folder or an installed prefix; "" for the one that `find_px4` finds.
    instance : int
        Vehicle number: PX4 connects to TCP 4560 + instance, its system id is one more.
    run_folder : Path
        PX4 runs, and logs, in its subfolder `px4_<instance>`.
    home : GeodeticPoint
        Start position of the vehicle.
    speed_factor : float
        Expected real-time factor, 0 for as fast as possible; PX4 stretches some timeouts by it.
    gnss_delay_s : float
        Age of the simulated GNSS readings: EKF2_GPS_DELAY, 0.11 s by default in PX4.
    parameters : mapping, optional
        Further PX4 parameters, set before the modules start (`rotor_parameters`, ...).
    model, namespace : str
        Airframe (`none_<name>` waits for a simulator on the HIL link) and ROS namespace of the
        uXRCE-DDS topics, default `px4_<instance>`.
    links : sequence of str, optional
        MAVLink ports besides the onboard one: any of `px4_files.LINKS`. Default: all in real time,
        none otherwise. Each link without a client costs 5 to 20 us of every step, all together as
        much as half of PX4.
    has_battery : bool
        Whether the simulator reports a battery on the onboard link (`OnboardLink.send_battery`):
        PX4's own simulated battery is then stopped.
    cpu : int, optional
        The core it shares with the simulator: three times faster than spread over two.

    Raises
    ------
    UserError
        If no PX4 is there, it was built without lockstep, or a parameter or link does not exist.
    """
    install = find_px4(str(px4_dir))
    if install.has_lockstep is False:
        raise UserError(
            f"{install.program}: built without lockstep (CONFIG_BOARD_NOLOCKSTEP): it would not "
            "wait for simulated time; build 'make px4_sitl_default'"
        )
    folder = (Path(run_folder) / f"px4_{instance}").resolve()
    if links is None:
        links = tuple(LINKS) if speed_factor == 1.0 else ()
    chosen = {"EKF2_GPS_DELAY": 1000.0 * gnss_delay_s}
    if has_battery:
        chosen |= BATTERY_PARAMETERS
    chosen |= parameters or {}
    scripts = {
        "px4-rc.params": parameter_script(chosen),
        "px4-rc.mavlink": mavlink_script(links, has_battery=has_battery),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in scripts.items():
        (folder / name).write_text(text, encoding="utf-8")
    environment = {
        "PX4_SIM_MODEL": model,
        "PX4_HOME_LAT": f"{home.latitude_deg:.9f}",
        "PX4_HOME_LON": f"{home.longitude_deg:.9f}",
        "PX4_HOME_ALT": f"{home.altitude_m:.3f}",
        "PX4_SIM_SPEED_FACTOR": f"{max(speed_factor, 1.0) if speed_factor else FASTEST:g}",
        "PX4_UXRCE_DDS_NS": namespace or f"px4_{instance}",
        "HEADLESS": "1",
        "PATH": f"{folder}:{os.environ.get('PATH', '')}",  # PX4 sources its scripts from PATH
    }
    return AutopilotProcess(
        [str(install.program), "-i", str(instance), "-d", str(install.build / "etc")],
        log_path=folder / "px4.log",
        cwd=folder,
        environment=environment,
        cpu=cpu,
        name=f"PX4 {instance}",
    )


def rotor_parameters(
    rotors: Sequence[tuple[Sequence[float], int]], torque_per_thrust_m: float
) -> dict[str, float]:
    """Return the PX4 parameters that describe these rotors and the outputs that drive them.

    Output i of the simulator link drives motor i (functions 101 to 112): the start-up script of
    PX4's own airframe assigns four outputs only, so that six rotors would get four commands.

    Parameters
    ----------
    rotors : sequence of ((3,) position, spin)
        Position in body axes FLU [m]; spin +1 when counter-clockwise seen from above.
    torque_per_thrust_m : float
        Reaction torque per thrust.

    Raises
    ------
    UserError
        If there are more rotors than PX4's control allocation supports.
    """
    if len(rotors) > _MOST_ROTORS:
        raise UserError(
            f"airframe: PX4 flies at most {_MOST_ROTORS} rotors, found {len(rotors)}; fly it with "
            "another controller"
        )
    values: dict[str, float] = {"CA_ROTOR_COUNT": len(rotors)}
    for i, ((x, y, _), spin) in enumerate(rotors):
        values[f"PWM_MAIN_FUNC{i + 1}"] = _FUNCTION_MOTOR_1 + i
        values[f"CA_ROTOR{i}_PX"] = x
        values[f"CA_ROTOR{i}_PY"] = -y
        values[f"CA_ROTOR{i}_KM"] = spin * torque_per_thrust_m
    return values


def external_vision_parameters(
    *, delay_s: float = 0.0, with_gnss: bool = False
) -> dict[str, float]:
    """Return the PX4 parameters to fly on external vision: position, velocity, height and yaw.

    `delay_s` is the age of the poses when they are sent (EKF2_EV_DELAY). With GNSS, it is fused too
    and gives the height. Without it PX4 1.14 needs its position once: `OnboardLink.needs_fix`.
    """
    values: dict[str, float] = {
        "EKF2_EV_CTRL": 15,
        "EKF2_EV_DELAY": 1000.0 * delay_s,
        "EKF2_EV_NOISE_MD": 0,  # use the variances of the messages
    }
    if not with_gnss:
        values |= {"EKF2_GPS_CTRL": 0, "EKF2_HGT_REF": 3, "EKF2_GPS_CHECK": 0}
        values["EKF2_MAG_TYPE"] = 5  # none: its declination is not known without a position
    return values


OPTICAL_FLOW_PARAMETERS = {"EKF2_OF_CTRL": 1}
"""PX4 parameters to fuse the flow of the simulator link; it fuses a range finder by default."""
BATTERY_PARAMETERS = {"RTL_TIME_MARGIN": -1e6}
"""PX4 v1.14 reads the remaining flight time of a battery on MAVLink as zero and returns at once
(`MavlinkReceiver::handle_message_battery_status` leaves it out): this disables that check. Charge
thresholds (BAT_LOW_THR, ...) and COM_LOW_BAT_ACT stay in effect."""
RC_PARAMETERS = {
    "COM_RC_IN_MODE": 0,
    "RC_MAP_ROLL": 1,
    "RC_MAP_PITCH": 2,
    "RC_MAP_THROTTLE": 3,
    "RC_MAP_YAW": 4,
}
"""PX4 parameters to fly by the channels of `pack_rc_channels`."""

COMPANION_PARAMETERS = {
    "COM_OF_LOSS_T": 1.0,
    "COM_OBC_LOSS_T": 5.0,
    "COM_OBL_RC_ACT": 5,  # hold
    "COM_POSCTL_NAVL": 1,  # land, or descend
}
"""PX4 parameters to be flown by a companion in simulated time, with no remote control at hand.

PX4's rcS stretches the first two by PX4_SIM_SPEED_FACTOR, for companions in wall time; these are
their defaults. By default the other two fall back to modes that need sticks (`Failsafe::
checkModeFallback`, v1.14): POSITION without set-points, ALTITUDE without a position."""


def _beside_python(program: str) -> str:
    """Return the program installed with this interpreter, or its bare name for PATH."""
    beside = Path(sys.executable).parent / program
    return str(beside) if beside.exists() else program
