# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""ArduPilot's parameters for a vehicle: its airframe, its limits without a radio, its sensors.

ArduPilot makes barometer, magnetometer and GNSS itself, so that our models of the three are not
what it flies on. Where it has a parameter for a noise of ours, it gets that of the preset.

References: ArduPilot libraries/SITL/SITL.cpp, SIM_GPS.cpp (SIM_*), AP_Baro_SITL.cpp and
AP_Compass_SITL.cpp (noise is uniform between plus and minus the parameter).
"""

from math import sqrt

from aerotwin_ardupilot_bridge import ArduPilotFrame, find_frame
from aerotwin_ardupilot_bridge.process import frame_parameters
from aerotwin_core.errors import UserError
from aerotwin_faults.fault import BAROMETER, GNSS, MAGNETOMETER
from aerotwin_multirotor_dynamics import Airframe, hover_command
from aerotwin_px4_bridge.px4_files import read_parameter_file
from aerotwin_sensor_models import load_preset
from aerotwin_simulator.controllers.backend import BackendSetup
from aerotwin_simulator.parameters import NO_GNSS, NO_PRESET, SimulatorParameters

PASCAL_PER_M = 12.0
"""Of the standard atmosphere at sea level."""
MILLIGAUSS_PER_TESLA = 1e7
SAMPLES_HZ = 100.0
"""Rate of ArduPilot's simulated barometer and magnetometer."""
OWN_SENSORS = (BAROMETER, MAGNETOMETER, GNSS)
"""What ArduPilot makes itself, as places of faults."""
NO_RADIO = {"FS_THR_ENABLE": 0}
"""It flies without a radio, commanded over MAVLink."""
ORIENTATIONS = {
    (1.0, 0.0, 0.0): 0, (0.0, -1.0, 0.0): 2, (-1.0, 0.0, 0.0): 4, (0.0, 1.0, 0.0): 6,
    (0.0, 0.0, 1.0): 24, (0.0, 0.0, -1.0): 25,
}  # fmt: skip
"""ArduPilot's AP_Math/rotations.h by direction in body axes: forward, right, back, left, up, down.
"""
RESERVED = ("MAV_SYSID", "SYSID_THISMAV", "SIM_RATE_HZ", "SIM_SPEEDUP")
_SIMULATED_RANGE_FINDER = 100
CALIBRATED = {"INS_ACCOFFS_X": 0.001, "INS_ACCSCAL_X": 1.001}
"""It arms only with an accelerometer calibration that is not that of a new vehicle."""


def frame_of(airframe: Airframe) -> ArduPilotFrame:
    """Return ArduPilot's frame of an airframe. Raises UserError if it has none."""
    return find_frame([(rotor.position_m, rotor.spin) for rotor in airframe.rotors])


def ardupilot_parameters(setup: BackendSetup) -> dict[str, float]:
    """Return the parameters to start it with; those of the user's file come last.

    Raises UserError if the airframe is none of ArduPilot's, or the file cannot be read.
    """
    airframe, parameters = setup.airframe, setup.parameters
    motor = airframe.motor
    full = motor.armed_speed_rad_s + motor.speed_per_command_rad_s
    offset = motor.armed_speed_rad_s / full
    hover_speed = offset + (1.0 - offset) * hover_command(
        airframe, altitude_m=setup.home.altitude_m
    )
    return {
        **frame_parameters(frame_of(airframe), hover_thrust=hover_speed**2, speed_offset=offset),
        **(NO_RADIO if parameters.rc == "none" else {}),
        **CALIBRATED,
        **sensor_parameters(parameters),
        **range_finder_parameters(parameters),
        **vision_parameters(parameters),
        **_own_parameters(parameters.ardupilot.parameters),
    }


def _own_parameters(file: str) -> dict[str, float]:
    """Return the user's parameters. Raises UserError if one would break the link."""
    own = read_parameter_file(file)
    if taken := [name for name in own if name in RESERVED]:
        raise UserError(
            f"{file}: {', '.join(taken)}: expected none of {', '.join(RESERVED)}, by which "
            "aerotwin finds and steps the vehicle; leave it out, and set ardupilot.rate_hz or "
            "instance"
        )
    return own


def range_finder_parameters(parameters: SimulatorParameters) -> dict[str, float]:
    """Return what makes it read our range finder, as its first one."""
    if parameters.sensors.range_finder == NO_PRESET:
        return {}
    finder = load_preset("range_finder", parameters.sensors.range_finder)
    return {
        "RNGFND1_TYPE": _SIMULATED_RANGE_FINDER,
        "RNGFND1_ORIENT": ORIENTATIONS[finder.direction],
        "RNGFND1_MIN": finder.min_range_m,
        "RNGFND1_MAX": finder.max_range_m,
    }


def vision_parameters(parameters: SimulatorParameters) -> dict[str, float]:
    """Return what makes its filter fly on external vision, in place of GNSS and compass.

    ArduPilot's AP_NavEKF_Source.h: 6 is external navigation; AP_VisualOdom.h: 1 is MAVLink.
    """
    if parameters.vision.source == "none":
        return {}
    sources = ("POSXY", "VELXY", "POSZ", "VELZ", "YAW")
    return {"VISO_TYPE": 1, **{f"EK3_SRC1_{name}": 6 for name in sources}}


def own_sensors_text(parameters: SimulatorParameters) -> str:
    """Return which of our models ArduPilot does not fly on, and with what its own were set."""
    values = ", ".join(f"{k} {v:.3g}" for k, v in sensor_parameters(parameters).items())
    flies_on = "flies on barometer, magnetometer and GNSS"
    if parameters.vision.source != "none":
        flies_on = "flies on the poses of external_odom; it has barometer, magnetometer and GNSS"
    return (
        f"ArduPilot {flies_on} of its own, ours are recorded only ({values}); ArduPilot does not "
        "repeat itself exactly: this run is not repeatable to the byte"
    )


def sensor_parameters(parameters: SimulatorParameters) -> dict[str, float]:
    """Return the noise of ArduPilot's own barometer, magnetometer and GNSS, as of our presets."""
    barometer = load_preset("barometer", parameters.sensors.barometer)
    magnetometer = load_preset("magnetometer", parameters.sensors.magnetometer)
    pressure_std = barometer.noise_density_pa * sqrt(SAMPLES_HZ)
    field_std = magnetometer.noise_density_t * sqrt(SAMPLES_HZ)
    values = {
        "SIM_BARO_RND": sqrt(3.0) * pressure_std / PASCAL_PER_M,
        "SIM_MAG_RND": sqrt(3.0) * field_std * MILLIGAUSS_PER_TESLA,
    }
    if parameters.sensors.gnss == NO_GNSS:
        return {**values, "SIM_GPS1_ENABLE": 0, "GPS1_TYPE": 0}
    gnss = load_preset("gnss", parameters.sensors.gnss)
    return {
        **values,
        "SIM_GPS1_HZ": min(max(round(gnss.rate_hz), 1), 20),
        "SIM_GPS1_LAG_MS": round(1000.0 * gnss.delay_s),
        "SIM_GPS1_ACC": max(gnss.white_horizontal_m, 0.01),  # only reported
        "SIM_GPS1_NOISE": sqrt(2.0) * gnss.white_vertical_m,  # a slow sine of the altitude
        "SIM_GPS1_VERR_X": sqrt(3.0) * gnss.velocity_horizontal_m_s,
        "SIM_GPS1_VERR_Y": sqrt(3.0) * gnss.velocity_horizontal_m_s,
        "SIM_GPS1_VERR_Z": sqrt(3.0) * gnss.velocity_vertical_m_s,
    }
