# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The autopilot process that the parameters name, and the processor it shares with the loop."""

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from aerotwin_core.errors import ParameterError
from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_core.parameters import load_parameters_file
from aerotwin_multirotor_dynamics import load_airframe
from aerotwin_px4_bridge import (
    AutopilotProcess,
    HilLink,
    Mission,
    embedded_process,
    hil_port,
    px4_process,
)
from aerotwin_px4_bridge.process import rotor_parameters
from aerotwin_sensor_models import load_preset
from aerotwin_simulator.parameters import SimulatorParameters
from aerotwin_worlds.loading import find_world


def loop_cpu(parameters: SimulatorParameters) -> int | None:
    """Return the processor that loop and autopilot share, None if they are not pinned.

    One processor for both is three times faster than two: the cost of a step is waking the other
    side.
    """
    if parameters.pin_cpu == -2:
        return None
    allowed = sorted(os.sched_getaffinity(0))
    return allowed[-1] if parameters.pin_cpu == -1 else parameters.pin_cpu


def check_before_flight(parameters: SimulatorParameters) -> None:
    """Refuse, before anything slow begins, what would end the flight at its start.

    Raises
    ------
    UserError
        If the world or mission does not exist or is wrong, PX4 was not built, or a port is taken.
    """
    allowed = os.sched_getaffinity(0)
    if parameters.pin_cpu >= 0 and parameters.pin_cpu not in allowed:
        raise ParameterError(
            f"pin_cpu: expected one of the processors {sorted(allowed)}, -1 or -2 (none), "
            f"found {parameters.pin_cpu}"
        )
    find_world(parameters.world.partition("@")[0])
    if parameters.mission != "none":
        load_parameters_file(Mission, parameters.mission)
    nowhere = GeodeticPoint(latitude_deg=0.0, longitude_deg=0.0)
    with TemporaryDirectory(prefix="aerotwin-") as folder:
        make_autopilot(parameters, nowhere, Path(folder))
    HilLink(hil_port(parameters.instance)).close()


def make_autopilot(
    parameters: SimulatorParameters, home: GeodeticPoint, folder: Path
) -> AutopilotProcess:
    """Return PX4 or the embedded autopilot, ready to start; its log goes to the folder.

    PX4 is told the delay of the GNSS and the geometry of the rotors, which its own airframe files
    do not have.

    Raises
    ------
    UserError
        If PX4 is asked for and its folder holds no built SITL.
    """
    cpu = loop_cpu(parameters)
    if parameters.autopilot == "px4":
        airframe = load_airframe(parameters.airframe)
        rotors = [(rotor.position_m, rotor.spin) for rotor in airframe.rotors]
        return px4_process(
            Path(parameters.px4_dir or "PX4-Autopilot"),
            parameters.instance,
            folder,
            home=home,
            speed_factor=parameters.speed,
            gnss_delay_s=load_preset("gnss", parameters.gnss).delay_s,
            parameters=rotor_parameters(rotors, airframe.propeller.torque_per_thrust_m),
            model=parameters.px4_model,
            cpu=cpu,
        )
    command = [sys.executable, "-m", "aerotwin_autopilot.embedded_autopilot"]
    return embedded_process(parameters.instance, folder, cpu=cpu, command=command)
