# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""IMU samples for the inertial filter, from `imu/data_raw` and /tf_static."""

import numpy as np
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import Imu

from aerotwin_core.frames import FloatArray
from aerotwin_core.ros.conversions import ns_from_stamp
from aerotwin_core.ros.lockstep import OVERRIDABLE
from aerotwin_core.ros.qos import IMU_DEPTH
from aerotwin_dense_localization.localization import InertialFilter, reading_of
from aerotwin_dense_localization.ros.mounting import Mounting

_SAMPLES = QoSProfile(depth=IMU_DEPTH, reliability=ReliabilityPolicy.BEST_EFFORT)
"""A lost sample is bridged. Reliable, those after it wait until it is sent again: in flights they
came 0.2 to 0.6 s late."""


class ImuIntake:
    """Subscribes to an IMU and feeds a filter; `base_frame` is the body that carries the IMU.

    `counters`: `n_imu` samples that were accepted, `n_imu_refused` that were not.
    """

    def __init__(self, node: Node, base_frame: str, inertial: InertialFilter) -> None:
        self._node, self._base_frame, self._inertial = node, base_frame, inertial
        self._mounting = Mounting(node, base_frame, ())
        self._mounted: FloatArray | None = None
        self.counters = {"n_imu": 0, "n_imu_refused": 0}
        self._subscription = node.create_subscription(
            Imu, "imu/data_raw", self._on_imu, _SAMPLES, qos_overriding_options=OVERRIDABLE
        )

    def pop_waiting(self) -> None:
        """Process the samples queued while the node was busy: an image must not overtake them."""
        handle = self._subscription.handle
        with handle:
            while (taken := handle.take_message(Imu, False)) is not None:
                self._on_imu(taken[0])

    def _on_imu(self, message: Imu) -> None:
        try:
            self._mount(message.header.frame_id)
            self._inertial.add(ns_from_stamp(message.header.stamp), *reading_of(message))
        except ValueError as error:
            self.counters["n_imu_refused"] += 1
            self._node.get_logger().warning(f"imu refused: {error}", throttle_duration_sec=5.0)
        else:
            self.counters["n_imu"] += 1

    def _mount(self, frame_id: str) -> None:
        """Set a new pose of the IMU in the filter; ValueError if /tf_static does not hold it."""
        T_base_imu = self._mounting.find(frame_id)
        if T_base_imu is None:
            raise ValueError(
                f"/tf_static does not tell where {frame_id!r} sits on {self._base_frame!r}; "
                "publish it"
            )
        if self._mounted is None or not np.array_equal(T_base_imu, self._mounted):
            self._inertial.mount(T_base_imu)
            self._mounted = T_base_imu
