# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Subscriptions of the bridge: sensor topics, rejected where they hold impossible values."""

from collections.abc import Callable
from typing import Any

from geometry_msgs.msg import TwistStamped
from rclpy.node import Node
from sensor_msgs.msg import FluidPressure, Imu, MagneticField, NavSatFix

from aerotwin_core.ros.conversions import ns_from_stamp
from aerotwin_core.ros.lockstep import OVERRIDABLE
from aerotwin_core.ros.qos import IMU_DEPTH, reliable
from aerotwin_px4_bridge.messages import Vector
from aerotwin_px4_bridge.ros import conversions as convert
from aerotwin_px4_bridge.ros.flight import BridgeFlight

OnImu = Callable[[int, Vector, Vector], None]


class BridgeInlets:
    """Subscriptions of a bridge node; all but the IMU are stored in the flight for the next step.

    `on_imu` is called with stamp [ns], specific force and angular velocity of each inertial sample.
    """

    def __init__(self, node: Node, flight: BridgeFlight, on_imu: OnImu) -> None:
        self._node, self._flight, self._on_imu = node, flight, on_imu
        self._listen(MagneticField, "imu/mag", self._on_magnetic_field)
        self._listen(FluidPressure, "air_pressure", self._on_pressure)
        self._listen(NavSatFix, "gnss/fix", self._on_gnss_fix)
        self._listen(TwistStamped, "gnss/velocity", self._on_velocity)
        self._listen(Imu, "imu/data_raw", self._on_imu_message)

    def _listen(self, cls: type, topic: str, take: Callable[[Any, int], None]) -> None:
        def guarded(message: Any) -> None:
            try:
                take(message, ns_from_stamp(message.header.stamp))
            except ValueError as error:
                self._flight.count_refused()
                said = f"{topic} refused: {error}"
                self._node.get_logger().warning(said, throttle_duration_sec=5.0)

        self._node.create_subscription(
            cls, topic, guarded, reliable(IMU_DEPTH), qos_overriding_options=OVERRIDABLE
        )

    def _on_magnetic_field(self, message: MagneticField, _: int) -> None:
        self._flight.on_magnetic_field(convert.field_from_message(message))

    def _on_pressure(self, message: FluidPressure, _: int) -> None:
        self._flight.on_pressure(convert.pressure_from_message(message))

    def _on_gnss_fix(self, message: NavSatFix, stamp_ns: int) -> None:
        self._flight.on_gnss_fix(stamp_ns, convert.fix_from_message(message))

    def _on_velocity(self, message: TwistStamped, stamp_ns: int) -> None:
        self._flight.on_velocity(stamp_ns, convert.velocity_from_message(message))

    def _on_imu_message(self, message: Imu, stamp_ns: int) -> None:
        self._on_imu(stamp_ns, *convert.inertial_from_imu(message))
