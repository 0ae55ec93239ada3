# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""IMU samples for the inertial filter, from `imu/data_raw` or `imu/data` and /tf_static."""

import numpy as np
from sensor_msgs.msg import Imu

from aerotwin_core.frames import FloatArray
from aerotwin_core.ros.conversions import ns_from_stamp
from aerotwin_core.ros.parameters import ConfiguredNode
from aerotwin_core.ros.qos import IMU_DEPTH
from aerotwin_core.ros.sources import imu_sources
from aerotwin_core.ros.waiting_messages import waiting_messages
from aerotwin_dense_localization.localization import InertialFilter, reading_of
from aerotwin_dense_localization.ros.mounting import Mounting


class ImuIntake:
    """Subscribes to an IMU and feeds a filter; `base_frame` is the body that carries the IMU.

    `counters`: `n_imu` samples that were accepted, `n_imu_refused` that were not.
    """

    def __init__(self, node: ConfiguredNode, base_frame: str, inertial: InertialFilter) -> None:
        self._node, self._base_frame, self._inertial = node, base_frame, inertial
        self._mounting = Mounting(node, base_frame, ())
        self._mounted: FloatArray | None = None
        self.counters = {"n_imu": 0, "n_imu_refused": 0}
        # A lost sample is bridged. Reliable, those after it wait until it is sent again: in flights
        # they came 0.2 to 0.6 s late.
        self._intake = node.intakes.add(
            imu_sources(), self._on_imu, depth=IMU_DEPTH, prefers_best_effort=True
        )

    def pop_waiting(self) -> None:
        """Process the samples queued while the node was busy: an image must not overtake them."""
        if self._intake.subscription is not None:
            for message in waiting_messages(self._intake.subscription):
                self._on_imu(message)

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
