# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Flies a vehicle to places one after another, by set-points."""

import math
from collections.abc import Sequence

import numpy as np
from geometry_msgs.msg import PoseStamped
from rclpy.node import Node

from aerotwin_core.frames import FloatArray, quaternion_from_yaw
from aerotwin_core.messages import pose_stamped_message, serialize
from aerotwin_core.ros.qos import reliable

REACHED_M, NEARER_M = 0.5, 0.1
PATIENCE_NS = 5_000_000_000
"""Time of the vehicle without coming nearer after which it is said: none passes while it pauses."""
DISARMED = "it is disarmed; take off first"
_HELD = "it comes no nearer: is it on a mission? A run with mission none flies where you say"
_DEPTH = 10


class PlaceFlight:
    """Publishes `command/pose` of a vehicle until the last place is reached; there it stays."""

    def __init__(self, node: Node, vehicle: str, places: Sequence[FloatArray]) -> None:
        self._node = node
        self._places = list(places)
        prefix = f"{vehicle}/" if vehicle else ""
        self._publisher = node.create_publisher(
            PoseStamped, f"{prefix}command/pose", reliable(_DEPTH)
        )
        self._yaw = 0.0
        self._nearest_m, self._nearer_ns = math.inf, 0
        self._n_left = len(self._places)

    def step(self, p_map: FloatArray, stamp_ns: int, *, is_disarmed: bool = False) -> str:
        """Publish the present target from where the vehicle is; return in words where it goes.

        `stamp_ns` is when it was there [ns], by the clock of the vehicle.
        """
        away = self._places[0] - p_map
        distance_m = float(np.linalg.norm(away))
        if distance_m < REACHED_M and len(self._places) > 1:
            self._places.pop(0)
            return self.step(p_map, stamp_ns, is_disarmed=is_disarmed)
        if math.hypot(*away[:2]) > 2.0 * REACHED_M:
            self._yaw = math.atan2(away[1], away[0])
        q_map_body = quaternion_from_yaw(self._yaw)
        now_ns = self._node.get_clock().now().nanoseconds
        message = pose_stamped_message(now_ns, "map", self._places[0], q_map_body)
        self._publisher.publish(serialize(message))
        n_more = len(self._places) - 1
        if distance_m < REACHED_M and not n_more:
            return f"flying to a place {distance_m:.1f} m away: it is there"
        text = f"flying to a place {distance_m:.1f} m away, {n_more} more"
        why = DISARMED if is_disarmed else _HELD
        return f"{text}; {why}" if self._is_held(distance_m, stamp_ns) else text

    def _is_held(self, distance_m: float, stamp_ns: int) -> bool:
        """Return whether the vehicle has not come nearer to its place for a while."""
        if distance_m < self._nearest_m - NEARER_M or self._n_left != len(self._places):
            self._nearest_m, self._nearer_ns, self._n_left = distance_m, stamp_ns, len(self._places)
        return stamp_ns - self._nearer_ns > PATIENCE_NS

    def close(self) -> None:
        """Send no more."""
        self._node.destroy_publisher(self._publisher)
