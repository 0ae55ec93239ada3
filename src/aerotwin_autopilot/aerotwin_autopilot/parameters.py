# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The parameters of the autopilot: its model of the airframe, sensors and limits.

They are the autopilot's own file, apart from those of the simulator: a wrong mass or a wrong noise
density here is a model error of the autopilot, as on a real vehicle.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import yaml

from aerotwin_core.documents import PlainDumper
from aerotwin_core.errors import ParameterError
from aerotwin_core.parameters import load_parameters_file, parameter, to_mapping

DEFAULT_FILE = Path(__file__).with_name("iris.yaml")


@dataclass(frozen=True, kw_only=True)
class AirframeParameters:
    """Mass, inertia and rotors; body axes are forward, left, up, rotors in PX4's quad-x order."""

    name: str = parameter(text="airframe")
    mass_kg: float = parameter(text="mass with all parts", unit="kg", minimum=1e-3)
    inertia_kg_m2: tuple[float, float, float] = parameter(
        text="principal moments about x, y, z", unit="kg m^2"
    )
    rotor_x_m: tuple[float, ...] = parameter(text="rotor positions, forward", unit="m")
    rotor_y_m: tuple[float, ...] = parameter(text="rotor positions, left", unit="m")
    rotor_is_ccw: tuple[float, ...] = parameter(
        text="1 counter-clockwise, -1 clockwise, seen from above"
    )
    thrust_coefficient: float = parameter(
        text="thrust per squared rotor speed", unit="N/(rad/s)^2", minimum=1e-12
    )
    moment_ratio_m: float = parameter(text="reaction torque per thrust", unit="m", minimum=0.0)
    command_offset_rad_s: float = parameter(text="rotor speed at command 0", unit="rad/s")
    command_scale_rad_s: float = parameter(
        text="rotor speed gained from command 0 to 1", unit="rad/s", minimum=1.0
    )

    def __post_init__(self) -> None:
        lengths = {len(self.rotor_x_m), len(self.rotor_y_m), len(self.rotor_is_ccw)}
        if len(lengths) != 1 or not lengths <= set(range(4, 17)):
            raise ParameterError(
                "rotor_x_m, rotor_y_m, rotor_is_ccw must have equally many values, 4 to 16, got "
                f"{len(self.rotor_x_m)}, {len(self.rotor_y_m)}, {len(self.rotor_is_ccw)}"
            )

    @property
    def n_rotors(self) -> int:
        """Number of rotors."""
        return len(self.rotor_x_m)


@dataclass(frozen=True, kw_only=True)
class EstimatorParameters:
    """Noise the filter expects, and the treatment of late measurements."""

    accel_noise_m_s2_sqrt_hz: float = parameter(
        0.0041, text="accelerometer noise density", unit="m/s^2/sqrt(Hz)", minimum=1e-6
    )
    gyro_noise_rad_s_sqrt_hz: float = parameter(
        3.5e-4, text="gyroscope noise density", unit="rad/s/sqrt(Hz)", minimum=1e-8
    )
    accel_bias_walk_m_s3_sqrt_hz: float = parameter(
        0.006, text="accelerometer bias random walk", unit="m/s^3/sqrt(Hz)", minimum=0.0
    )
    gyro_bias_walk_rad_s2_sqrt_hz: float = parameter(
        4.0e-5, text="gyroscope bias random walk", unit="rad/s^2/sqrt(Hz)", minimum=0.0
    )
    accel_bias_std_m_s2: float = parameter(
        0.21, text="accelerometer bias at start, 1 sigma", unit="m/s^2", minimum=1e-6
    )
    gyro_bias_std_rad_s: float = parameter(
        2.0e-3, text="gyroscope bias left after alignment, 1 sigma", unit="rad/s", minimum=1e-8
    )
    gnss_delay_s: float = parameter(
        0.11, text="age of a GNSS fix when it arrives", unit="s", minimum=0.0, maximum=0.2
    )
    gnss_position_std_m: tuple[float, float] = parameter(
        (0.2, 0.4), text="white GNSS position noise, horizontal and vertical", unit="m"
    )
    gnss_bias_std_m: tuple[float, float] | None = parameter(
        None,
        text="correlated GNSS position error, horizontal and vertical; none: what the receiver "
        "reports beyond its white noise",
        unit="m",
    )
    gnss_bias_time_s: float = parameter(
        60.0, text="correlation time of that error", unit="s", minimum=0.1
    )
    gnss_velocity_std_m_s: tuple[float, float] = parameter(
        (0.051, 0.1005), text="GNSS velocity noise, horizontal and vertical", unit="m/s"
    )
    barometer_std_m: float = parameter(
        5.5,
        text="barometric height noise per sample; 0.55 m over 1 s weighs as much at 50 Hz",
        unit="m",
        minimum=1e-4,
    )
    barometer_walk_m_sqrt_s: float = parameter(
        0.039, text="drift of the barometric height", unit="m/sqrt(s)", minimum=0.0
    )
    heading_std_rad: float = parameter(
        0.3,
        text="magnetic heading noise per sample; 0.04 rad over 0.3 s (motors) weighs as much at "
        "100 Hz",
        unit="rad",
        minimum=1e-4,
    )
    vision_position_std_m: float = parameter(
        0.05, text="vision position noise where the sender gives none", unit="m", minimum=1e-4
    )
    vision_yaw_std_rad: float = parameter(
        0.02, text="vision yaw noise where the sender gives none", unit="rad", minimum=1e-4
    )
    vision_velocity_std_m_s: float = parameter(
        0.1, text="vision velocity noise where the sender gives none", unit="m/s", minimum=1e-4
    )
    vision_delay_s: float = parameter(
        0.03,
        text="age of a vision pose whose stamp is not on this clock",
        unit="s",
        minimum=0.0,
        maximum=0.5,
    )
    gate_sigma: float = parameter(
        5.0, text="an innovation beyond this is refused", unit="sigma", minimum=1.0
    )
    alignment_s: float = parameter(
        1.0, text="stand-still averaged for the first attitude", unit="s", minimum=0.1
    )
    origin_fixes: int = parameter(
        5, text="GNSS fixes averaged for the local origin", minimum=1, maximum=50
    )
    magnetic_declination_deg: float | None = parameter(
        None, text="east of true north; none: World Magnetic Model at the origin", unit="deg"
    )
    magnetic_model_year: float = parameter(
        2026.0, text="date for the World Magnetic Model", unit="decimal year", minimum=2010.0
    )


@dataclass(frozen=True, kw_only=True)
class ControlParameters:
    """Gains and limits of the cascade position, velocity, attitude, rate."""

    position_gain_1_s: float = parameter(
        2.0, text="position error to velocity", unit="1/s", minimum=0.0
    )
    velocity_gain_1_s: float = parameter(
        5.0, text="velocity error to acceleration", unit="1/s", minimum=0.0
    )
    velocity_integral_1_s2: float = parameter(
        1.2, text="integral of the velocity error", unit="1/s^2", minimum=0.0
    )
    attitude_gain_1_s: float = parameter(
        10.0, text="tilt error to body rate", unit="1/s", minimum=0.0
    )
    yaw_gain_1_s: float = parameter(2.5, text="yaw error to body rate", unit="1/s", minimum=0.0)
    rate_gain_1_s: float = parameter(
        24.0, text="roll and pitch rate error to angular acceleration", unit="1/s", minimum=0.0
    )
    yaw_rate_gain_1_s: float = parameter(
        6.0, text="yaw rate error to angular acceleration", unit="1/s", minimum=0.0
    )
    rate_integral_1_s2: float = parameter(
        20.0, text="integral of the rate error", unit="1/s^2", minimum=0.0
    )
    tilt_limit_rad: float = parameter(
        0.785, text="largest commanded tilt", unit="rad", minimum=0.05, maximum=1.4
    )
    acceleration_limit_m_s2: float = parameter(
        8.0, text="largest commanded horizontal acceleration", unit="m/s^2", minimum=0.1
    )
    climb_acceleration_limit_m_s2: float = parameter(
        4.0, text="largest commanded vertical acceleration", unit="m/s^2", minimum=0.1
    )
    rate_limit_rad_s: float = parameter(
        3.5, text="largest commanded roll or pitch rate", unit="rad/s", minimum=0.1
    )
    yaw_rate_limit_rad_s: float = parameter(
        1.0, text="largest commanded yaw rate", unit="rad/s", minimum=0.05
    )
    speed_limit_m_s: float = parameter(
        12.0, text="largest commanded horizontal speed", unit="m/s", minimum=0.1
    )
    position_correction_limit_m_s: float = parameter(
        3.0, text="largest velocity that a position error asks for", unit="m/s", minimum=0.1
    )
    integral_limit_m_s2: float = parameter(
        6.0, text="largest acceleration of the velocity integral", unit="m/s^2", minimum=0.0
    )


@dataclass(frozen=True, kw_only=True)
class TunableParameters:
    """Defaults of what a ground station may change in flight (PX4's names in brackets)."""

    takeoff_altitude_m: float = parameter(
        2.5, text="take-off height (MIS_TAKEOFF_ALT)", unit="m", minimum=0.5, maximum=80.0
    )
    takeoff_speed_m_s: float = parameter(
        1.5, text="climb during take-off (MPC_TKO_SPEED)", unit="m/s", minimum=0.3, maximum=5.0
    )
    land_speed_m_s: float = parameter(
        0.7, text="descent near the ground (MPC_LAND_SPEED)", unit="m/s", minimum=0.3, maximum=2.0
    )
    cruise_speed_m_s: float = parameter(
        5.0, text="speed between points (MPC_XY_CRUISE)", unit="m/s", minimum=0.5, maximum=20.0
    )
    climb_speed_m_s: float = parameter(
        3.0, text="climb limit (MPC_Z_VEL_MAX_UP)", unit="m/s", minimum=0.5, maximum=8.0
    )
    descent_speed_m_s: float = parameter(
        1.5, text="descent limit (MPC_Z_VEL_MAX_DN)", unit="m/s", minimum=0.5, maximum=4.0
    )
    acceleration_m_s2: float = parameter(
        3.0, text="acceleration between points (MPC_ACC_HOR)", unit="m/s^2", minimum=0.5
    )
    jerk_m_s3: float = parameter(
        10.0, text="jerk between points (MPC_JERK_AUTO)", unit="m/s^3", minimum=1.0
    )
    return_altitude_m: float = parameter(
        30.0, text="height of the way home (RTL_RETURN_ALT)", unit="m", minimum=0.0, maximum=150.0
    )
    offboard_timeout_s: float = parameter(
        1.0, text="gap that ends offboard (COM_OF_LOSS_T)", unit="s", minimum=0.1, maximum=60.0
    )
    disarm_landed_s: float = parameter(
        2.0, text="disarm after landing (COM_DISARM_LAND)", unit="s", minimum=0.1
    )
    disarm_no_takeoff_s: float = parameter(
        10.0, text="disarm without take-off (COM_DISARM_PRFLT)", unit="s", minimum=1.0
    )
    spool_up_s: float = parameter(
        1.0, text="idle between arming and thrust (COM_SPOOLUP_TIME)", unit="s", minimum=0.0
    )
    battery_time_s: float = parameter(
        1800.0,
        text="armed time from full to half charge without battery reports (SIM_BAT_DRAIN)",
        unit="s",
        minimum=1.0,
    )
    acceptance_radius_m: float = parameter(
        1.0,
        text="a way-point this near is reached (NAV_ACC_RAD)",
        unit="m",
        minimum=0.05,
        maximum=200.0,
    )
    link_loss_action: int = parameter(
        0,
        text="when no ground station is heard any more: 0 nothing (as PX4), 1 hold, 2 return, "
        "3 land (NAV_DLL_ACT)",
        minimum=0,
        maximum=3,
    )
    link_timeout_s: float = parameter(
        10.0,
        text="silence of the ground station that counts, in simulated time (COM_DL_LOSS_T)",
        unit="s",
        minimum=1.0,
        maximum=300.0,
    )
    fence_action: int = parameter(
        2,
        text="when the geofence is breached: 0 nothing, 1 warn, 2 hold, 3 return, 4 stop the "
        "rotors, 5 land (GF_ACTION)",
        minimum=0,
        maximum=5,
    )
    fence_radius_m: float = parameter(
        0.0,
        text="largest distance from home, 0 for any (GF_MAX_HOR_DIST)",
        unit="m",
        minimum=0.0,
        maximum=10000.0,
    )
    fence_height_m: float = parameter(
        0.0,
        text="largest height above home, 0 for any (GF_MAX_VER_DIST)",
        unit="m",
        minimum=0.0,
        maximum=10000.0,
    )
    low_battery_action: int = parameter(
        3,
        text="0 warn, 1 and 2 land when critical, 3 return when critical and land in an "
        "emergency (COM_LOW_BAT_ACT)",
        minimum=0,
        maximum=3,
    )
    battery_low_share: float = parameter(
        0.15, text="charge that is low: warns, no arming (BAT_LOW_THR)", minimum=0.0, maximum=1.0
    )
    battery_critical_share: float = parameter(
        0.07, text="charge that is critical (BAT_CRIT_THR)", minimum=0.0, maximum=1.0
    )
    battery_emergency_share: float = parameter(
        0.05, text="charge that is an emergency (BAT_EMERGEN_THR)", minimum=0.0, maximum=1.0
    )
    manual_speed_m_s: float = parameter(
        10.0, text="speed of a full stick (MPC_VEL_MANUAL)", unit="m/s", minimum=3.0, maximum=20.0
    )
    manual_tilt_deg: float = parameter(
        35.0, text="tilt of a full stick (MPC_MAN_TILT_MAX)", unit="deg", minimum=1.0, maximum=45.0
    )
    manual_yaw_rate_deg_s: float = parameter(
        50.0,
        text="turn of a full stick; PX4's default is 150 (MPC_MAN_Y_MAX)",
        unit="deg/s",
        minimum=0.0,
        maximum=150.0,
    )
    manual_thrust_min: float = parameter(
        0.08, text="rotor command of the lowest throttle (MPC_MANTHR_MIN)", minimum=0.0, maximum=1.0
    )
    stick_dead_zone: float = parameter(
        0.1, text="stick that asks for nothing (MPC_HOLD_DZ)", minimum=0.0, maximum=0.9
    )
    stick_expo: float = parameter(
        0.6, text="cubic part of roll and pitch (MPC_XY_MAN_EXPO)", minimum=0.0, maximum=1.0
    )
    throttle_expo: float = parameter(
        0.6, text="cubic part of the throttle (MPC_Z_MAN_EXPO)", minimum=0.0, maximum=1.0
    )
    yaw_expo: float = parameter(
        0.6, text="cubic part of the yaw stick (MPC_YAW_EXPO)", minimum=0.0, maximum=1.0
    )
    manual_timeout_s: float = parameter(
        0.5,
        text="silence of the sticks that counts (COM_RC_LOSS_T)",
        unit="s",
        minimum=0.1,
        maximum=35.0,
    )
    manual_loss_action: int = parameter(
        2,
        text="when sticks are lost in a mode that needs them, after a hold: 1 hold, 2 return, "
        "3 land (NAV_RCL_ACT)",
        minimum=1,
        maximum=3,
    )
    failsafe_delay_s: float = parameter(
        5.0, text="hold before that (COM_FAIL_ACT_T)", unit="s", minimum=0.0, maximum=25.0
    )
    takes_failures: int = parameter(
        0, text="1 accepts MAV_CMD_INJECT_FAILURE (SYS_FAILURE_EN)", minimum=0, maximum=1
    )


@dataclass(frozen=True, kw_only=True)
class AutopilotParameters:
    """Everything the embedded autopilot reads from its file."""

    airframe: AirframeParameters = parameter(text="the vehicle")
    estimator: EstimatorParameters = parameter(EstimatorParameters(), text="the filter")
    control: ControlParameters = parameter(ControlParameters(), text="gains and limits")
    flight: TunableParameters = parameter(TunableParameters(), text="modes")


def load_autopilot_parameters(path: str | Path | None = None) -> AutopilotParameters:
    """Return the parameters of a file, or those of the packaged iris."""
    return load_parameters_file(AutopilotParameters, path if path is not None else DEFAULT_FILE)


def parameters_text(airframe: AirframeParameters, base: AutopilotParameters | None = None) -> str:
    """Return the YAML text of the autopilot's parameters for an airframe.

    Body axes are forward, left, up, rotors in the order of the outputs. `base` provides estimator,
    gains and settings; the packaged ones by default.

    Examples
    --------
    >>> from aerotwin_autopilot import AirframeParameters, parameters_text
    >>> cross = AirframeParameters(
    ...     name="cross",
    ...     mass_kg=1.0,
    ...     inertia_kg_m2=(0.01, 0.01, 0.02),
    ...     rotor_x_m=(0.2, -0.2, 0.0, 0.0),
    ...     rotor_y_m=(0.0, 0.0, 0.2, -0.2),
    ...     rotor_is_ccw=(1.0, 1.0, -1.0, -1.0),
    ...     thrust_coefficient=6e-6,
    ...     moment_ratio_m=0.016,
    ...     command_offset_rad_s=0.0,
    ...     command_scale_rad_s=1000.0,
    ... )
    >>> "mass_kg: 1.0" in parameters_text(cross)
    True
    """
    parameters = replace(base or load_autopilot_parameters(), airframe=airframe)
    text: str = yaml.dump(to_mapping(parameters), Dumper=PlainDumper, sort_keys=False)
    return text
