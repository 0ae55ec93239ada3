# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""UDP ports of ArduPilot's SITL: those of every further vehicle lie ten higher.

Reference: ArduPilot libraries/AP_HAL_SITL/SITL_cmdline.cpp, Tools/autotest/sim_vehicle.py.
"""

JSON_PORT, RC_PORT, GROUND_STATION_PORT = 9002, 5501, 14550
PORTS_APART = 10


def json_port(instance: int) -> int:
    """Return the UDP port to which ArduPilot number `instance` (from 0) sends its outputs."""
    return JSON_PORT + PORTS_APART * instance


def radio_port(instance: int) -> int:
    """Return the UDP port of the radio input of ArduPilot number `instance` (from 0)."""
    return RC_PORT + PORTS_APART * instance


def ground_station_port(instance: int) -> int:
    """Return the UDP port where a ground station listens to ArduPilot number `instance`."""
    return GROUND_STATION_PORT + PORTS_APART * instance
