# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Single commands to an autopilot, for the services of the simulator."""

from math import nan

from pymavlink.dialects.v20 import common as mavlink

from aerotwin_core.errors import UserError
from aerotwin_px4_bridge import OnboardLink


def send_arm(link: OnboardLink, arm: bool) -> None:
    """Command the autopilot to arm or disarm."""
    link.send_command(mavlink.MAV_CMD_COMPONENT_ARM_DISARM, float(arm))


def send_takeoff(link: OnboardLink, height_m: float) -> None:
    """Command a take-off to a height [m] above the present altitude."""
    if link.state.altitude_amsl_m is None:
        raise UserError("the autopilot has not said its altitude yet; try again when it is ready")
    altitude = link.state.altitude_amsl_m + height_m
    link.send_command(mavlink.MAV_CMD_NAV_TAKEOFF, nan, 0.0, 0.0, nan, nan, nan, altitude)
