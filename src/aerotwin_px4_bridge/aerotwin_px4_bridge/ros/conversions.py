# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Sensor messages as values, rotor commands and the autopilot's estimate as messages.

Pure functions. Input messages are read by attribute, be they rclpy's or those of
`aerotwin_core.messages`; output messages are CDR bytes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, sqrt
from typing import Any

import numpy as np

from aerotwin_core import messages
from aerotwin_core.fixed_layout import FixedLayout
from aerotwin_core.frames import quaternion_from_yaw, rotation_from_quaternion
from aerotwin_core.messages import serialize
from aerotwin_px4_bridge.autopilot_state import AutopilotEstimate
from aerotwin_px4_bridge.messages import ActuatorControls, Vector
from aerotwin_px4_bridge.path import PathSetpoint

AUTOPILOT_FRAME = "base_link_autopilot"
SEA_LEVEL_PA, SEA_LEVEL_K, LAPSE_EXPONENT = 101325.0, 288.15, 0.190263
"""ISO 2533, table 1 and eq. 12: T / T0 = (p / p0) ** (R L / g) below 11 km."""
FIX_3D, NO_FIX = 3, 0
_NO_FIX_STATUS = -1  # sensor_msgs/NavSatStatus.STATUS_NO_FIX


@dataclass(frozen=True, kw_only=True)
class GnssFix:
    """A GNSS position: WGS84 [deg], altitude [m], one-sigma accuracies [m], MAVLink's fix type."""

    latitude_deg: float
    longitude_deg: float
    altitude_m: float
    eph_m: float
    epv_m: float
    fix_type: int


def pressure_from_message(message: Any) -> float:
    """Return the pressure [Pa] of sensor_msgs/FluidPressure."""
    pressure_pa = float(message.fluid_pressure)
    if not (isfinite(pressure_pa) and pressure_pa > 0.0):
        raise ValueError(f"air_pressure must be above 0 Pa, got {pressure_pa}")
    return pressure_pa


def temperature_of_standard_air(pressure_pa: float) -> float:
    """Return the temperature [K] where the standard atmosphere has this pressure.

    FluidPressure has none, HIL_SENSOR needs it.
    """
    return SEA_LEVEL_K * (pressure_pa / SEA_LEVEL_PA) ** LAPSE_EXPONENT


def fix_from_message(message: Any) -> GnssFix:
    """Return the position of sensor_msgs/NavSatFix; its fix type shows a missing fix."""
    values = (message.latitude, message.longitude, message.altitude)
    covariance = message.position_covariance
    has_fix = int(message.status.status) != _NO_FIX_STATUS and all(map(isfinite, values))
    latitude, longitude, altitude = values if has_fix else (0.0, 0.0, 0.0)
    return GnssFix(
        latitude_deg=float(latitude),
        longitude_deg=float(longitude),
        altitude_m=float(altitude),
        eph_m=sqrt(max(float(covariance[0]), 0.0)),
        epv_m=sqrt(max(float(covariance[8]), 0.0)),
        fix_type=FIX_3D if has_fix else NO_FIX,
    )


def vector_from_message(message: Any) -> Vector:
    """Return a finite geometry_msgs/Vector3."""
    values = (float(message.x), float(message.y), float(message.z))
    if not all(map(isfinite, values)):
        raise ValueError(f"a sensor message must hold finite values, got {values}")
    return values


def rotor_speeds(
    answer: ActuatorControls, n_rotors: int, armed_speed_rad_s: float, per_command_rad_s: float
) -> list[float]:
    """Return the rotor speeds [rad/s] that an answer of the autopilot commands; 0 when disarmed."""
    if not answer.is_armed:
        return [0.0] * n_rotors
    controls = answer.controls[:n_rotors]
    return [armed_speed_rad_s + per_command_rad_s * min(max(u, 0.0), 1.0) for u in controls]


class BridgeMessages:
    """Serialises command/rotors, autopilot/odom and command/pose."""

    def __init__(self, n_rotors: int) -> None:
        names = [f"rotor_{i}" for i in range(n_rotors)]

        def rotors(stamp_ns: int, v: Sequence[float]) -> object:
            return messages.joint_state_message(stamp_ns, "base_link", names, v)

        self._rotors = FixedLayout(rotors, n_rotors)

    def rotors(self, stamp_ns: int, speeds: Sequence[float]) -> bytes:
        """Return sensor_msgs/JointState of the desired speeds [rad/s]."""
        return self._rotors.pack(stamp_ns, speeds)

    @staticmethod
    def odometry(estimate: AutopilotEstimate) -> bytes:
        """Return the autopilot's own estimate in map, stamped by its clock; twist in body axes."""
        q_map_body = estimate.q_map_body
        if q_map_body is None:
            raise ValueError("the estimate must hold an attitude, got none")
        omega = estimate.omega_map_body_in_body
        return serialize(
            messages.odometry_message(
                estimate.stamp_ns,
                "map",
                AUTOPILOT_FRAME,
                estimate.p_map,
                q_map_body,
                rotation_from_quaternion(q_map_body).T @ estimate.v_map,
                np.zeros(3) if omega is None else omega,
            )
        )

    @staticmethod
    def setpoint(stamp_ns: int, setpoint: PathSetpoint) -> bytes:
        """Return the mission's set-point as a level pose in map."""
        attitude = quaternion_from_yaw(setpoint.yaw)
        return serialize(messages.pose_stamped_message(stamp_ns, "map", setpoint.p_map, attitude))
