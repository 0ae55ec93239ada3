# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Routes, graphs and commands as messages, through their bytes; no node is started."""

import numpy as np
import pytest
from sample_graphs import graph_of, planar, straight

from aerotwin_teach_repeat.route_graph import Edge, RouteGraph, relative_pose

pytest.importorskip("rclpy")
pytestmark = pytest.mark.ros

N, EVERY, AT = 7, 3, (2.0, -1.0, 0.4)
"""Vertices half a metre apart with a submap at every third, and the pose of the first."""


def through_bytes(message):
    """Return a message as a subscriber gets it."""
    from rclpy.serialization import deserialize_message, serialize_message

    return deserialize_message(serialize_message(message), type(message))


def places(points):
    return np.array([[p.x, p.y, p.z] for p in points])


def markers_of(graph):
    from aerotwin_teach_repeat.ros.route_messages import graph_markers

    return {m.id: m for m in through_bytes(graph_markers(graph, "map")).markers}


@pytest.fixture(scope="module")
def poses():
    return straight(N, *AT)


def test_a_graph_shows_its_edges_vertices_and_submaps_where_they_are(poses):
    from visualization_msgs.msg import Marker

    markers = markers_of(graph_of(poses, every=EVERY))
    assert {m.header.frame_id for m in markers.values()} == {"map"}
    assert {m.action for m in markers.values()} == {Marker.ADD}
    assert all(m.pose.orientation.w == 1.0 and m.color.a == 1.0 for m in markers.values())
    p = np.array([T[:3, 3] for T in poses])
    edges, vertices, submaps = markers[0], markers[2], markers[3]
    assert edges.type == Marker.LINE_LIST
    assert np.array_equal(places(edges.points), np.repeat(p, 2, axis=0)[1:-1])
    assert vertices.type == submaps.type == Marker.SPHERE_LIST
    assert np.array_equal(places(vertices.points), p)
    assert np.array_equal(places(submaps.points), p[::EVERY])
    assert submaps.scale.x > vertices.scale.x > edges.scale.x > 0.0


def test_spatial_edges_have_a_marker_of_their_own_colour_and_none_is_empty(poses):
    plain = graph_of(poses, every=EVERY)
    assert sorted(markers_of(plain)) == [0, 2, 3]
    loop = Edge(
        from_id=0, to_id=N - 1, T_from_to=relative_pose(poses[0], poses[-1]), kind="spatial"
    )
    markers = markers_of(RouteGraph(plain.vertices, [*plain.edges, loop], plain.submaps))
    assert sorted(markers) == [0, 1, 2, 3]
    ends = np.array([poses[0][:3, 3], poses[-1][:3, 3]])
    assert np.array_equal(places(markers[1].points), ends)
    assert markers[1].color != markers[0].color


def test_a_route_is_a_path_of_its_poses(poses):
    from aerotwin_core.ros.conversions import transform_from_pose_message
    from aerotwin_teach_repeat.ros.route_messages import path_message

    path = through_bytes(path_message(np.array(poses), "map"))
    assert path.header.frame_id == "map"
    got = np.array([transform_from_pose_message(p.pose) for p in path.poses])
    assert np.allclose(got, poses, rtol=0.0, atol=1e-12)  # rounding of quaternions


def test_commands_and_edges_of_the_tree_carry_stamp_and_frames():
    from aerotwin_core.ros.conversions import ns_from_stamp
    from aerotwin_teach_repeat.ros.route_messages import command_message, edge_message

    command = through_bytes(command_message(0.7, -0.2, 12_000_000_034, "base_link"))
    assert (command.twist.linear.x, command.twist.angular.z) == (0.7, -0.2)
    assert ns_from_stamp(command.header.stamp) == 12_000_000_034
    assert command.header.frame_id == "base_link"
    (edge,) = through_bytes(edge_message(planar(1.0, 2.0), 5, ("map", "odom"))).transforms
    assert (edge.header.frame_id, edge.child_frame_id) == ("map", "odom")
    assert (edge.transform.translation.x, edge.transform.translation.y) == (1.0, 2.0)
    assert ns_from_stamp(edge.header.stamp) == 5
