# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The messages about a vehicle's controller."""

from collections.abc import Sequence
from math import cos, sin

import numpy as np

from aerotwin_core import messages
from aerotwin_core.fixed_layout import FixedLayout
from aerotwin_core.frames import rotation_from_quaternion
from aerotwin_px4_bridge import AutopilotEstimate
from aerotwin_simulator import topics
from aerotwin_simulator.topics import SinkGroup

AUTOPILOT_FRAME = "base_link_autopilot"


class ControllerOutlets:
    """Publishes autopilot/odom and command/pose of one vehicle; "" names a single one."""

    def __init__(self, sinks: SinkGroup, vehicle: str = "") -> None:
        frame, place = topics.frame(vehicle, AUTOPILOT_FRAME), topics.below(vehicle)

        def odometry(stamp_ns: int, v: Sequence[float]) -> object:
            message = messages.odometry_message(
                stamp_ns, "map", frame, v[:3], v[3:7], v[7:10], v[10:13]
            )
            message.pose.covariance = np.array(v[13:49])
            message.twist.covariance = np.array(v[49:85])
            return message

        def pose(stamp_ns: int, v: Sequence[float]) -> object:
            return messages.pose_stamped_message(stamp_ns, "map", v[:3], (0.0, 0.0, v[3], v[4]))

        self._odometry = sinks.outlet(place(topics.AUTOPILOT_ODOM), FixedLayout(odometry, 85))
        self._pose = sinks.outlet(place(topics.SETPOINT), FixedLayout(pose, 5))
        self._values = np.zeros(85)

    def publish_odometry(self, sent_ns: int, estimate: AutopilotEstimate) -> None:
        """Publish the own estimate, twist in body axes; covariances that are not known are zero."""
        q_map_body, values = estimate.q_map_body, self._values
        assert q_map_body is not None
        omega = estimate.omega_map_body_in_body
        values[:3], values[3:7] = estimate.p_map, q_map_body
        values[7:10] = rotation_from_quaternion(q_map_body).T @ estimate.v_map
        values[10:13] = 0.0 if omega is None else omega
        covariances = estimate.pose_covariance_map, estimate.twist_covariance_body
        for place, covariance in zip((slice(13, 49), slice(49, 85)), covariances, strict=True):
            values[place] = 0.0 if covariance is None else covariance.ravel()
        self._odometry.publish(estimate.stamp_ns, values, sent_ns)

    def publish_pose(self, stamp_ns: int, p_map: np.ndarray, yaw: float) -> None:
        """Publish a level pose in map at a yaw [rad]."""
        self._pose.publish(stamp_ns, [*p_map.tolist(), sin(yaw / 2.0), cos(yaw / 2.0)])
