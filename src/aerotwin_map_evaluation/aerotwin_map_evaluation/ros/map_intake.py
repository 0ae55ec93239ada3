# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Clouds of a topic, from volatile and latched publishers alike; invalid points are counted."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions
from sensor_msgs.msg import PointCloud2

from aerotwin_core.ros.conversions import points_from_cloud
from aerotwin_core.ros.lockstep import OVERRIDABLE
from aerotwin_core.ros.qos import LATCHED

# Matches every publisher, also best effort and volatile ones.
_ANY = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
_LATCHED_ID = "latched"


@dataclass(frozen=True, kw_only=True)
class ReceivedCloud:
    """The finite points (n, 3) of a message, in `frame_id` [m].

    `n_invalid` points were NaN or infinite, and are left out.
    """

    points: np.ndarray
    n_invalid: int
    frame_id: str


def received_cloud(message: PointCloud2) -> ReceivedCloud:
    """Return the points of a message.

    Raises `ValueError` if it has no fields x, y, z, or is shorter than declared.
    """
    points, _, n_invalid = points_from_cloud(message)
    return ReceivedCloud(
        points=points.astype(np.float64), n_invalid=n_invalid, frame_id=message.header.frame_id
    )


def subscribe_clouds(node: Node, topic: str, callback: Callable[[PointCloud2], None]) -> None:
    """Subscribe to every new cloud of a topic, once, whatever its publisher's QoS is.

    Two subscriptions: a best-effort, volatile one matches every publisher; a transient-local one
    receives what was published before. Duplicates are dropped.
    """
    last: list[PointCloud2] = []

    def once(message: PointCloud2) -> None:
        if last and last[0] == message:
            return
        last[:] = [message]
        callback(message)

    node.create_subscription(PointCloud2, topic, once, _ANY, qos_overriding_options=OVERRIDABLE)
    node.create_subscription(
        PointCloud2,
        topic,
        once,
        LATCHED,
        qos_overriding_options=QoSOverridingOptions.with_default_policies(entity_id=_LATCHED_ID),
        # It does not match a volatile publisher, which is expected: the other one does.
        event_callbacks=SubscriptionEventCallbacks(use_default_callbacks=False),
    )
