# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The settings a ground station may read and change in flight, under PX4's names."""

import dataclasses
import math

from aerotwin_autopilot.parameters import TunableParameters

PX4_NAMES: dict[str, str] = {
    "MIS_TAKEOFF_ALT": "takeoff_altitude_m",
    "MPC_TKO_SPEED": "takeoff_speed_m_s",
    "MPC_LAND_SPEED": "land_speed_m_s",
    "MPC_XY_CRUISE": "cruise_speed_m_s",
    "MPC_Z_VEL_MAX_UP": "climb_speed_m_s",
    "MPC_Z_VEL_MAX_DN": "descent_speed_m_s",
    "MPC_ACC_HOR": "acceleration_m_s2",
    "MPC_JERK_AUTO": "jerk_m_s3",
    "RTL_RETURN_ALT": "return_altitude_m",
    "COM_OF_LOSS_T": "offboard_timeout_s",
    "COM_DISARM_LAND": "disarm_landed_s",
    "COM_DISARM_PRFLT": "disarm_no_takeoff_s",
    "COM_SPOOLUP_TIME": "spool_up_s",
    "SIM_BAT_DRAIN": "battery_time_s",
    "NAV_ACC_RAD": "acceptance_radius_m",
    "NAV_DLL_ACT": "link_loss_action",
    "COM_DL_LOSS_T": "link_timeout_s",
    "GF_ACTION": "fence_action",
    "GF_MAX_HOR_DIST": "fence_radius_m",
    "GF_MAX_VER_DIST": "fence_height_m",
    "COM_LOW_BAT_ACT": "low_battery_action",
    "BAT_LOW_THR": "battery_low_share",
    "BAT_CRIT_THR": "battery_critical_share",
    "BAT_EMERGEN_THR": "battery_emergency_share",
}
"""Parameter name on the wire -> field of `TunableParameters`."""

INTEGERS = frozenset({"NAV_DLL_ACT", "COM_LOW_BAT_ACT", "GF_ACTION"})
"""Names whose values are whole numbers on the wire (as in PX4)."""


class Settings:
    """A changeable copy of `TunableParameters`: same names, same ranges."""

    takeoff_altitude_m: float
    takeoff_speed_m_s: float
    land_speed_m_s: float
    cruise_speed_m_s: float
    climb_speed_m_s: float
    descent_speed_m_s: float
    acceleration_m_s2: float
    jerk_m_s3: float
    return_altitude_m: float
    offboard_timeout_s: float
    disarm_landed_s: float
    disarm_no_takeoff_s: float
    spool_up_s: float
    battery_time_s: float
    acceptance_radius_m: float
    link_loss_action: int
    link_timeout_s: float
    fence_action: int
    fence_radius_m: float
    fence_height_m: float
    low_battery_action: int
    battery_low_share: float
    battery_critical_share: float
    battery_emergency_share: float

    def __init__(self, parameters: TunableParameters) -> None:
        self._ranges = {
            field.name: (field.metadata["minimum"], field.metadata["maximum"])
            for field in dataclasses.fields(parameters)
        }
        for field in dataclasses.fields(parameters):
            setattr(self, field.name, getattr(parameters, field.name))

    @staticmethod
    def names() -> list[str]:
        """Return the names on the wire, in their order."""
        return sorted(PX4_NAMES)

    def get(self, name: str) -> float:
        """Return a value by its name on the wire."""
        return float(getattr(self, PX4_NAMES[name]))

    def set(self, name: str, value: float) -> bool:
        """Change a value; False when it is out of range or not finite, and then nothing changes."""
        minimum, maximum = self._ranges[PX4_NAMES[name]]
        if not math.isfinite(value):
            return False
        if not (minimum is None or value >= minimum) or not (maximum is None or value <= maximum):
            return False
        setattr(self, PX4_NAMES[name], round(value) if name in INTEGERS else value)
        return True
