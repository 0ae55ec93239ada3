# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Routes, graphs and commands as messages; pure functions."""

import numpy as np
from geometry_msgs.msg import Point, PoseStamped, TransformStamped, TwistStamped
from nav_msgs.msg import Path
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import Marker, MarkerArray

from aerotwin_core.frames import FloatArray
from aerotwin_core.ros.conversions import message_from_transform, pose_message, stamp_from_ns
from aerotwin_teach_repeat.route_graph import RouteGraph

EDGE_WIDTH_M, VERTEX_SIZE_M, SUBMAP_SIZE_M = 0.05, 0.1, 0.3
GREEN, BLUE, ORANGE = (0.2, 0.7, 0.3, 1.0), (0.2, 0.4, 0.9, 1.0), (0.95, 0.6, 0.1, 1.0)


def command_message(v_m_s: float, omega_rad_s: float, stamp_ns: int, frame_id: str) -> TwistStamped:
    """Return cmd_vel for a speed and a turn rate."""
    message = TwistStamped()
    message.header.stamp, message.header.frame_id = stamp_from_ns(stamp_ns), frame_id
    message.twist.linear.x, message.twist.angular.z = v_m_s, omega_rad_s
    return message


def edge_message(T_parent_child: FloatArray, stamp_ns: int, frames: tuple[str, str]) -> TFMessage:
    """Return one edge of the tf tree, from parent to child frame."""
    edge = TransformStamped(child_frame_id=frames[1])
    edge.header.stamp, edge.header.frame_id = stamp_from_ns(stamp_ns), frames[0]
    edge.transform = message_from_transform(T_parent_child)
    return TFMessage(transforms=[edge])


def path_message(poses_map: FloatArray, frame_id: str) -> Path:
    """Return a route (n, 4, 4) as a path."""
    message = Path()
    message.header.frame_id = frame_id
    for T in poses_map:
        message.poses.append(PoseStamped(header=message.header, pose=pose_message(T)))
    return message


def graph_markers(graph: RouteGraph, frame_id: str) -> MarkerArray:
    """Return temporal edges and vertices green, spatial edges orange, submaps blue."""
    places = {v.id: v.T_map_vertex[:3, 3] for v in graph.vertices}
    markers = []
    for kind, colour in (("temporal", GREEN), ("spatial", ORANGE)):
        ends = [places[k] for e in graph.edges if e.kind == kind for k in (e.from_id, e.to_id)]
        markers.append(_marker(len(markers), Marker.LINE_LIST, EDGE_WIDTH_M, colour, ends))
    points = list(places.values())
    markers.append(_marker(2, Marker.SPHERE_LIST, VERTEX_SIZE_M, GREEN, points))
    centres = [places[k] for k in graph.submap_ids]
    markers.append(_marker(3, Marker.SPHERE_LIST, SUBMAP_SIZE_M, BLUE, centres))
    for marker in markers:
        marker.header.frame_id = frame_id
    return MarkerArray(markers=[marker for marker in markers if marker.points])


def _marker(number: int, kind: int, size_m: float, rgba, points: list[np.ndarray]) -> Marker:
    marker = Marker(ns="route_graph", id=number, type=kind, action=Marker.ADD)
    marker.scale.x = marker.scale.y = marker.scale.z = size_m
    marker.color.r, marker.color.g, marker.color.b, marker.color.a = rgba
    marker.pose.orientation.w = 1.0
    marker.points = [Point(x=float(x), y=float(y), z=float(z)) for x, y, z in points]
    return marker
