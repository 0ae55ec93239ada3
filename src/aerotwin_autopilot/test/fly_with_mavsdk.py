# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A MAVSDK program as a user writes it: waits for health, arms, takes off, flies, lands.

Usage: fly_with_mavsdk.py UDP_PORT. Prints what it saw as one JSON line. A process of its own,
because the native library keeps threads that a test runner should not inherit.
"""

import json
import math
import sys
import time

from mavsdk import ComponentType, Configuration, Mavsdk
from mavsdk.plugins.action import Action
from mavsdk.plugins.telemetry import Telemetry

TAKEOFF_ALTITUDE_M = 3.0
NORTH_M = -6.0  # away from the rock at the foot of the cliff, where nobody can land
CLIMB_M = 1.0
LIMIT_S = 40.0
"""Wall time for each wait; the simulation runs faster than real time."""
METRES_PER_DEGREE = 111_180.0


def wait(condition, what: str) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit(f"gave up waiting for {what}")
        time.sleep(0.02)


def main(port: int) -> None:
    mavsdk = Mavsdk(Configuration.create_with_component_type(ComponentType.GROUND_STATION))
    mavsdk.add_any_connection(f"udpin://127.0.0.1:{port}")
    system = mavsdk.first_autopilot(timeout_s=LIMIT_S)
    assert system is not None, "no autopilot on the link"
    telemetry, action = Telemetry(system), Action(system)
    seen = []

    def healthy() -> bool:
        health = telemetry.health()
        return health.is_global_position_ok and health.is_home_position_ok and health.is_armable

    wait(healthy, "health")
    action.set_takeoff_altitude(TAKEOFF_ALTITUDE_M)
    seen.append(telemetry.in_air())
    home = telemetry.position()
    action.arm()
    action.takeoff()
    wait(telemetry.in_air, "take-off")
    seen.append(telemetry.in_air())
    wait(
        lambda: telemetry.position().relative_altitude_m > TAKEOFF_ALTITUDE_M - 0.5, "the altitude"
    )
    goal = (
        home.latitude_deg + NORTH_M / METRES_PER_DEGREE,
        home.longitude_deg,
        home.absolute_altitude_m + TAKEOFF_ALTITUDE_M + CLIMB_M,
    )
    action.goto_location(*goal, 0.0)

    def distance() -> float:
        here = telemetry.position()
        north = (goal[0] - here.latitude_deg) * METRES_PER_DEGREE
        east = (goal[1] - here.longitude_deg) * METRES_PER_DEGREE * math.cos(math.radians(goal[0]))
        return math.hypot(north, east, goal[2] - here.absolute_altitude_m)

    wait(lambda: distance() < 0.5, "the goal")
    action.land()
    wait(lambda: not telemetry.in_air(), "the landing")
    seen.append(telemetry.in_air())
    wait(lambda: not telemetry.armed(), "disarming")
    print(json.dumps({"in_air": seen, "home_altitude_m": home.absolute_altitude_m}), flush=True)
    mavsdk.destroy()


if __name__ == "__main__":
    main(int(sys.argv[1]))
