# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Scans in the base frame and wheel odometry, from topics of scans, odom and /tf_static."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from nav_msgs.msg import Odometry

from aerotwin_core.frames import FloatArray, transform_points
from aerotwin_core.ros.conversions import ns_from_stamp, transform_from_pose_message
from aerotwin_core.ros.intake import TopicSource
from aerotwin_core.ros.mounted_scans import LIDAR_POINTS, MountedScan, MountedScans
from aerotwin_core.ros.parameters import ConfiguredNode
from aerotwin_core.ros.qos import IMU_DEPTH

RETAINED_ODOMETRY = 200


@dataclass(frozen=True, kw_only=True)
class BaseScan:
    """A scan as measured, in the base frame, with wheel odometry at its stamp.

    `points_base` (n, 3) are each at its own of `times_s` (n,) since the stamp, the start of the
    scan; zeros where the driver publishes none. `T_base_sensor` is the mounting. `T_odom_base` is
    the pose from the wheels nearest to the stamp, `wheel_twist` their speed and turn rate; None
    without odometry.
    """

    stamp_ns: int
    points_base: np.ndarray
    times_s: np.ndarray
    T_base_sensor: FloatArray
    T_odom_base: FloatArray | None
    wheel_twist: tuple[float, float] | None


class ScanIntake:
    """Subscribes for a node and calls `on_scan` with every `BaseScan`, in the order of arrival.

    Points are transformed to `base_frame`; `sources` are those of `MountedScans`.
    """

    def __init__(
        self,
        node: ConfiguredNode,
        base_frame: str,
        on_scan: Callable[[BaseScan], None],
        sources: Sequence[TopicSource] = (LIDAR_POINTS,),
    ) -> None:
        self._on_scan = on_scan
        self._odometry: deque[tuple[int, Odometry]] = deque(maxlen=RETAINED_ODOMETRY)
        self._scans = MountedScans(node, base_frame, self._handle_scan, sources)
        source = TopicSource(topic="odom", kind=Odometry)
        node.intakes.add(source, self._on_odom, depth=IMU_DEPTH, is_optional=True)

    @property
    def counters(self) -> dict[str, int]:
        """Numbers of scans delivered and skipped."""
        return self._scans.counters

    @property
    def wheel_twist(self) -> tuple[float, float] | None:
        """Last speed and turn rate from the wheels."""
        return _twist(self._odometry[-1][1]) if self._odometry else None

    def _on_odom(self, message: Odometry) -> None:
        self._odometry.append((ns_from_stamp(message.header.stamp), message))

    def _handle_scan(self, scan: MountedScan) -> None:
        odom = self._nearest(scan.stamp_ns)
        self._on_scan(
            BaseScan(
                stamp_ns=scan.stamp_ns,
                points_base=transform_points(scan.T_base_lidar, scan.points_lidar),
                times_s=scan.times_s,
                T_base_sensor=scan.T_base_lidar,
                T_odom_base=None if odom is None else transform_from_pose_message(odom.pose.pose),
                wheel_twist=None if odom is None else _twist(odom),
            )
        )

    def _nearest(self, stamp_ns: int) -> Odometry | None:
        """Return the odometry nearest to a stamp."""
        if not self._odometry:
            return None
        return min(self._odometry, key=lambda item: abs(item[0] - stamp_ns))[1]


def _twist(message: Odometry) -> tuple[float, float]:
    return message.twist.twist.linear.x, message.twist.twist.angular.z
