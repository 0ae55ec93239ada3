# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What the MAVSDK examples share: the plugins, waiting with a limit, results by name."""

import math
import time
from collections.abc import Callable
from typing import Any

from mavsdk import ComponentType, Configuration, Mavsdk, MavsdkError
from mavsdk.plugins.action import Action
from mavsdk.plugins.follow_me import FollowMe
from mavsdk.plugins.ftp import Ftp
from mavsdk.plugins.geofence import Geofence
from mavsdk.plugins.info import Info
from mavsdk.plugins.log_files import LogFiles
from mavsdk.plugins.mission import Mission
from mavsdk.plugins.mission_raw import MissionRaw
from mavsdk.plugins.offboard import Offboard
from mavsdk.plugins.param import Param
from mavsdk.plugins.telemetry import Telemetry

LIMIT_S = 60.0
"""Wall time for each wait; the simulation runs faster than real time."""
METRES_PER_DEGREE = 111_180.0
ALTITUDE_M = 5.0
OFFBOARD_GAP_S = 30.0
"""In simulated time: MAVSDK sends set-points by the wall clock of a machine that may be busy."""


class Client:
    """The plugins that the examples use, and what they share."""

    def __init__(self, port: int) -> None:
        self.mavsdk = Mavsdk(Configuration.create_with_component_type(ComponentType.GROUND_STATION))
        self.mavsdk.add_any_connection(f"udpin://127.0.0.1:{port}")
        system = self.mavsdk.first_autopilot(timeout_s=LIMIT_S)
        assert system is not None, "no autopilot on the link"
        self.system = system
        self.telemetry, self.action = Telemetry(system), Action(system)
        self.offboard, self.mission = Offboard(system), Mission(system)
        self.raw, self.fence = MissionRaw(system), Geofence(system)
        self.params, self.logs, self.ftp = Param(system), LogFiles(system), Ftp(system)
        self.info, self.follow = Info(system), FollowMe(system)

    def wait(self, condition: Callable[[], Any], what: str) -> None:
        deadline = time.monotonic() + LIMIT_S
        while not condition():
            if time.monotonic() > deadline:
                raise TimeoutError(f"gave up waiting for {what}")
            time.sleep(0.01)

    @property
    def mode(self) -> str:
        return self.telemetry.flight_mode().name

    @property
    def ned(self) -> tuple[float, float, float]:
        p = self.telemetry.position_velocity_ned().position
        return p.north_m, p.east_m, p.down_m

    def healthy(self) -> bool:
        health = self.telemetry.health()
        return health.is_global_position_ok and health.is_home_position_ok and health.is_armable

    def near(self, north_m: float, east_m: float, down_m: float, within_m: float) -> bool:
        return math.dist(self.ned, (north_m, east_m, down_m)) < within_m

    def offset(self, north_m: float, east_m: float) -> tuple[float, float]:
        """Return latitude and longitude of a place so far from home."""
        home = self.telemetry.home()
        scale = METRES_PER_DEGREE * math.cos(math.radians(home.latitude_deg))
        return (
            home.latitude_deg + north_m / METRES_PER_DEGREE,
            home.longitude_deg + east_m / scale,
        )

    @property
    def from_home(self) -> tuple[float, float]:
        """North and east of home [m]; each arming makes another home."""
        home, here = self.telemetry.home(), self.telemetry.position()
        scale = METRES_PER_DEGREE * math.cos(math.radians(home.latitude_deg))
        return (
            (here.latitude_deg - home.latitude_deg) * METRES_PER_DEGREE,
            (here.longitude_deg - home.longitude_deg) * scale,
        )

    def be_flying(self) -> None:
        """Take off where it stands on the ground."""
        if self.telemetry.in_air():
            return
        self.action.hold()  # PX4 stays in the mode that it landed in, and is not armed in RETURN
        self.wait(self.healthy, "health")
        self.action.set_takeoff_altitude(ALTITUDE_M)
        self.params.set_param_float("COM_OF_LOSS_T", OFFBOARD_GAP_S)
        self.action.arm()
        self.action.takeoff()
        height = self.telemetry.position
        self.wait(lambda: height().relative_altitude_m > ALTITUDE_M - 1.0, "the take-off")
        self.wait(lambda: self.mode == "HOLD", "hold")


def outcome(call: Callable[..., Any], *arguments: Any) -> str:
    """Return the name of the result of a call, as the plugin calls it."""
    try:
        call(*arguments)
    except MavsdkError as error:
        return str(error.result.name)
    return "SUCCESS"
