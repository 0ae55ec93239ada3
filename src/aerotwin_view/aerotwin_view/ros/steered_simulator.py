# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Which node is the simulator that orders go to."""

from rclpy.node import Node

_NOT_YET_KNOWN = "_NODE_NAME_UNKNOWN_"
"""The middleware's name of a node whose endpoints it knows already."""


def owner_of_time(node: Node) -> str:
    """Return the full name of the one node that publishes /clock; empty for none, or several."""
    owners = {
        f"{each.node_namespace.rstrip('/')}/{each.node_name}"
        for each in node.get_publishers_info_by_topic("/clock")
        if each.node_name != _NOT_YET_KNOWN
    }
    return owners.pop() if len(owners) == 1 else ""
