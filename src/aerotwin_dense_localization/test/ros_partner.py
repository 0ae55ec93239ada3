# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Feeds a node under test and hears what it publishes, in one executor."""

import time

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import TransformStamped, Vector3
from nav_msgs.msg import Odometry
from rclpy.executors import SingleThreadedExecutor
from sensor_msgs.msg import CameraInfo, Image, Imu, PointCloud2
from std_msgs.msg import Header
from tf2_msgs.msg import TFMessage

from aerotwin_core.ros.conversions import (
    fill,
    message_from_transform,
    pose_message,
    stamp_from_ns,
    transform_from_message,
    transform_from_pose_message,
)
from aerotwin_core.ros.qos import LATCHED, reliable

TIMEOUT_S = 120.0  # of a loaded machine; no test waits for it to pass
HEARD = {
    "localization/odom": Odometry, "localization/status": DiagnosticArray, "/tf": TFMessage,
    "/diagnostics": DiagnosticArray, "step/ack": Header, "slam/map": PointCloud2,
}  # fmt: skip


class Partner:
    """A node under test, a node that feeds and listens, and one executor."""

    def __init__(self, make_node):
        self.node, self.peer = make_node(), rclpy.create_node("partner")
        self.heard = {name: [] for name in HEARD}
        for name, kind in HEARD.items():
            qos = LATCHED if name == "slam/map" else reliable(100)
            self.peer.create_subscription(kind, name, self.heard[name].append, qos)
        self._publishers = {}
        self.executor = SingleThreadedExecutor()
        for node in (self.node, self.peer):
            self.executor.add_node(node)

    def send(self, topic, message, qos=None):
        """Publish when the node listens."""
        if topic not in self._publishers:
            made = self.peer.create_publisher(type(message), topic, qos or reliable(100))
            self._publishers[topic] = made
            self.spin(made.get_subscription_count)
        self._publishers[topic].publish(message)

    def spin(self, is_done):
        end = time.monotonic() + TIMEOUT_S
        while not is_done():
            assert time.monotonic() < end, "nothing came in time"
            self.executor.spin_once(timeout_sec=0.05)

    def close(self):
        self.executor.shutdown()
        self.node.destroy_node()
        self.peer.destroy_node()

    def send_edge(self, parent, child, T):
        edge = TransformStamped(child_frame_id=child, transform=message_from_transform(T))
        edge.header.frame_id = parent
        self.send("/tf_static", TFMessage(transforms=[edge]), LATCHED)

    def poses(self):
        return [transform_from_pose_message(m.pose.pose) for m in self.heard["localization/odom"]]

    def edges(self):
        found = [edge for message in self.heard["/tf"] for edge in message.transforms]
        names = [(edge.header.frame_id, edge.child_frame_id) for edge in found]
        return names, [transform_from_message(edge.transform) for edge in found]

    def statuses(self):
        return [message.status[0] for message in self.heard["localization/status"]]

    def values(self):
        """Return the values of the last diagnostics of the node under test."""
        name = self.node.get_name()
        reported = [s for m in self.heard["/diagnostics"] for s in m.status if s.name == name]
        return {value.key: value.value for value in reported[-1].values} if reported else {}


def image_of(picture, stamp_ns, frame_id, encoding="mono8"):
    data = np.ascontiguousarray(picture)
    message = Image(
        height=data.shape[0], width=data.shape[1], encoding=encoding,
        step=data[0].size * data.itemsize, data=fill(data),
    )  # fmt: skip
    message.header.stamp, message.header.frame_id = stamp_from_ns(stamp_ns), frame_id
    return message


def info_of(camera, baseline_m=0.0, **wrong):
    p = np.column_stack([camera.matrix, [-camera.fx * baseline_m, 0.0, 0.0]])
    p[0, 1] = 0.0
    values = {
        "distortion_model": camera.distortion_model,
        "d": [float(value) for value in camera.distortion],
        "k": camera.matrix.ravel(),
        "r": np.eye(3).ravel(),
        "p": p.ravel(),
    }
    return CameraInfo(width=camera.width, height=camera.height, **{**values, **wrong})


def odometry_of(stamp_ns, T, frame_id="odom"):
    message = Odometry(child_frame_id="base_link")
    message.header.stamp, message.header.frame_id = stamp_from_ns(stamp_ns), frame_id
    message.pose.pose = pose_message(T)
    return message


def imu_of(stamp_ns, omega, force):
    message = Imu(
        angular_velocity=Vector3(**dict(zip("xyz", map(float, omega), strict=True))),
        linear_acceleration=Vector3(**dict(zip("xyz", map(float, force), strict=True))),
    )
    message.header.stamp, message.header.frame_id = stamp_from_ns(stamp_ns), "imu_link"
    return message
