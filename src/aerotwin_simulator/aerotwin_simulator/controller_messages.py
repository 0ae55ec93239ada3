# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The messages about a vehicle's controller, serialised by their fixed layout."""

from collections.abc import Sequence
from math import cos, sin

import numpy as np

from aerotwin_core import messages
from aerotwin_core.fixed_layout import FixedLayout
from aerotwin_core.frames import rotation_from_quaternion
from aerotwin_px4_bridge import AutopilotEstimate
from aerotwin_simulator import topics

AUTOPILOT_FRAME = "base_link_autopilot"


class ControllerMessages:
    """Serialises autopilot/odom and command/pose of one vehicle; "" names a single one."""

    def __init__(self, vehicle: str = "") -> None:
        frame = topics.frame(vehicle, AUTOPILOT_FRAME)

        def odometry(stamp_ns: int, v: Sequence[float]) -> object:
            message = messages.odometry_message(
                stamp_ns, "map", frame, v[:3], v[3:7], v[7:10], v[10:13]
            )
            message.pose.covariance = np.array(v[13:49])
            message.twist.covariance = np.array(v[49:85])
            return message

        def pose(stamp_ns: int, v: Sequence[float]) -> object:
            return messages.pose_stamped_message(stamp_ns, "map", v[:3], (0.0, 0.0, v[3], v[4]))

        self._odometry = FixedLayout(odometry, 85)
        self._pose = FixedLayout(pose, 5)

    def odometry(self, estimate: AutopilotEstimate) -> bytes:
        """Return the autopilot's own estimate, twist in body axes; unknown covariances are zero."""
        q_map_body = estimate.q_map_body
        assert q_map_body is not None
        omega = estimate.omega_map_body_in_body
        v_body = rotation_from_quaternion(q_map_body).T @ estimate.v_map
        parts = [estimate.p_map, q_map_body, v_body, np.zeros(3) if omega is None else omega]
        for covariance in (estimate.pose_covariance_map, estimate.twist_covariance_body):
            parts.append(np.zeros(36) if covariance is None else covariance.ravel())
        return self._odometry.pack(estimate.stamp_ns, np.concatenate(parts).tolist())

    def pose(self, stamp_ns: int, p_map: np.ndarray, yaw: float) -> bytes:
        """Return a level pose in map at a yaw [rad]."""
        values = (*p_map.tolist(), sin(yaw / 2.0), cos(yaw / 2.0))
        return self._pose.pack(stamp_ns, values)
