# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Input streams: set-points of offboard flight, and poses of external vision."""

from typing import Any

from aerotwin_autopilot.autopilot import Autopilot
from aerotwin_autopilot.mavlink.targets import (
    target_from_attitude,
    target_from_global,
    target_from_local,
)
from aerotwin_autopilot.mavlink.vision import pose_from_odometry, pose_from_vision
from aerotwin_autopilot.mission import HIGHEST_M, LOWEST_M
from aerotwin_core.geodesy import GeodeticPoint


class MavlinkInputs:
    """Passes set-points and poses to the autopilot."""

    def __init__(self, autopilot: Autopilot) -> None:
        self._autopilot = autopilot
        self.handlers = {
            "SET_POSITION_TARGET_LOCAL_NED": self._on_local_target,
            "SET_POSITION_TARGET_GLOBAL_INT": self._on_global_target,
            "SET_ATTITUDE_TARGET": self._on_attitude_target,
            "ODOMETRY": self._on_odometry,
            "VISION_POSITION_ESTIMATE": self._on_vision,
            "SET_GPS_GLOBAL_ORIGIN": self._on_origin,
        }

    def _receive(self, target: Any) -> None:
        if target is not None:
            self._autopilot.modes.offboard.on_target(target, self._autopilot.arrival_s)

    def _on_local_target(self, _: Any, message: Any) -> None:
        modes = self._autopilot.modes
        if self._autopilot.estimator.is_initialised:
            self._receive(target_from_local(message, modes.position, modes.yaw))

    def _on_global_target(self, _: Any, message: Any) -> None:
        plane = self._autopilot.estimator.plane
        if plane is not None:
            self._receive(target_from_global(message, plane, self._autopilot.modes.home))

    def _on_attitude_target(self, _: Any, message: Any) -> None:
        self._receive(target_from_attitude(message))

    def _on_odometry(self, _: Any, message: Any) -> None:
        a = self._autopilot
        pose = pose_from_odometry(message, a.arrival_s, a.parameters.estimator.vision_delay_s)
        if pose is not None:
            a.on_external_odometry(pose)

    def _on_vision(self, _: Any, message: Any) -> None:
        a = self._autopilot
        delay_s = a.parameters.estimator.vision_delay_s
        a.on_external_odometry(pose_from_vision(message, a.arrival_s, delay_s))

    def _on_origin(self, _: Any, message: Any) -> None:
        """Set the origin on Earth of the vision frame."""
        latitude, longitude = message.latitude * 1e-7, message.longitude * 1e-7
        altitude = message.altitude * 1e-3
        is_plausible = LOWEST_M <= altitude <= HIGHEST_M
        if is_plausible and abs(latitude) <= 90.0 and abs(longitude) <= 180.0:
            self._autopilot.estimator.set_origin(
                GeodeticPoint(latitude_deg=latitude, longitude_deg=longitude, altitude_m=altitude)
            )
