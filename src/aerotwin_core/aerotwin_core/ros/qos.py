# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The QoS profiles of the workspace: reliable, keep last; maps and statics transient local.

Best-effort loses large clouds and meets no default subscriber, hence RELIABLE everywhere. What
other people's nodes publish is received through `intake`, which adapts.
"""

from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

IMU_DEPTH = 200
IMAGE_DEPTH = 10
CLOUD_DEPTH = 5


def reliable(depth: int) -> QoSProfile:
    """Return reliable, volatile, keep last depth."""
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=depth,
        reliability=ReliabilityPolicy.RELIABLE,
        durability=DurabilityPolicy.VOLATILE,
    )


LATCHED = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=1,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)
"""For maps, static transforms and everything a late subscriber must still get."""
