# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Node `sensors`: truth in; IMU, magnetometer, barometer, GNSS and the IMU's mounting out."""

import sys
from functools import partial
from typing import Any

import numpy as np
from geometry_msgs.msg import AccelStamped, TwistStamped
from nav_msgs.msg import Odometry
from sensor_msgs.msg import FluidPressure, Imu, MagneticField, NavSatFix
from tf2_msgs.msg import TFMessage

from aerotwin_core.frames import quaternion_from_rotation
from aerotwin_core.messages import serialize, transform_message, transform_stamped
from aerotwin_core.ros.lockstep import OVERRIDABLE, InputWatch, publish_diagnostics
from aerotwin_core.ros.node import run_node
from aerotwin_core.ros.parameters import ConfiguredNode, declare_parameters
from aerotwin_core.ros.qos import IMU_DEPTH, LATCHED, reliable
from aerotwin_sensor_models.presets import load_preset
from aerotwin_sensor_models.ros import sensor_suite
from aerotwin_sensor_models.ros.parameters import SensorsParameters
from aerotwin_sensor_models.ros.sensor_suite import SensorSuite
from aerotwin_sensor_models.ros.truth import truth_from_messages

TRUTH = {"truth/odom": Odometry, "truth/accel": AccelStamped}
VIBRATION = {"truth/vibration/accel": AccelStamped, "truth/vibration/twist": TwistStamped}
"""Messages of one instant, in the order of `truth_from_messages`."""
TYPES = {
    sensor_suite.FIELD: MagneticField,
    sensor_suite.PRESSURE: FluidPressure,
    sensor_suite.FIX: NavSatFix,
    sensor_suite.VELOCITY: TwistStamped,
    sensor_suite.IMU: Imu,
}
OK, WARN = 0, 1


class SensorsNode(ConfiguredNode):
    """Wires topics to a `SensorSuite`."""

    def __init__(self) -> None:
        super().__init__("sensors")
        parameters = declare_parameters(self, SensorsParameters)
        self._suite = SensorSuite(parameters)
        self._truth = TRUTH | (VIBRATION if parameters.vibration else {})
        self._together: dict[str, Any] = {}
        self._n_refused = 0
        self._wire(parameters)
        self._watch = InputWatch(
            self, "truth/odom", parameters.input_timeout_s, "is its publisher still alive?"
        )
        publish_diagnostics(self, self._report)
        self.get_logger().info(f"sensors with {parameters}")

    def _wire(self, parameters: SensorsParameters) -> None:
        qos = {"qos_overriding_options": OVERRIDABLE}
        deep = reliable(IMU_DEPTH)
        self._publish = {
            topic: self.create_publisher(cls, topic, deep, **qos).publish
            for topic, cls in TYPES.items()
        }
        if parameters.imu != sensor_suite.NONE:
            self._static = self.create_publisher(TFMessage, "/tf_static", LATCHED, **qos)
            self._static.publish(serialize(_mounting(parameters)))
        for topic, cls in self._truth.items():
            on_truth = partial(self._on_truth, topic)
            self.create_subscription(cls, topic, on_truth, deep, **qos)

    def _on_truth(self, topic: str, message: Any) -> None:
        """Sample once all messages of an instant are there."""
        self._together[topic] = message
        stamp = message.header.stamp
        there = [m for m in self._together.values() if m.header.stamp == stamp]
        if len(there) < len(self._truth):
            return
        odometry, accel, *vibration = (self._together[topic] for topic in self._truth)
        self._together.clear()
        self._watch.mark_received()
        self._sample(odometry, accel, (vibration[0], vibration[1]) if vibration else None)

    def _sample(
        self,
        odometry: Odometry,
        accel: AccelStamped,
        vibration: tuple[AccelStamped, TwistStamped] | None,
    ) -> None:
        try:
            readings = self._suite.sample(truth_from_messages(odometry, accel, vibration))
        except ValueError as error:
            self._n_refused += 1
            self.get_logger().warning(str(error), throttle_duration_sec=5.0)
            return
        for topic, cdr in readings:
            self._publish[topic](cdr)

    def _report(self) -> tuple[int, str, dict[str, str]]:
        counters = self._suite.counters
        values = {name: str(getattr(counters, name)) for name in counters.__slots__}
        values["n_refused"] = str(self._n_refused)
        n_lost = counters.n_repeated + self._n_refused
        return (WARN if n_lost else OK), f"{n_lost} steps lost", values


def _mounting(parameters: SensorsParameters) -> Any:
    """Return the place of the IMU on the body as TFMessage."""
    imu, frames = load_preset("imu", parameters.imu), (parameters.body_frame, parameters.imu_frame)
    q_body_imu = quaternion_from_rotation(imu.R_body_imu)
    return transform_message([transform_stamped(0, *frames, np.array(imu.lever_arm_m), q_body_imu)])


def main() -> int:
    """Run the node."""
    return run_node(SensorsNode)


if __name__ == "__main__":
    sys.exit(main())
