# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Transforms of an autopilot's estimate, and to whom their frames belong."""

import numpy as np
import pytest

from aerotwin_core.messages import deserialize, serialize, transform_message, transform_stamped
from aerotwin_px4_bridge.autopilot_state import AutopilotEstimate
from aerotwin_px4_bridge.odometry_transforms import ANSWERS_WITHOUT_TRANSFORM, OdometryTransforms

HALF = np.sqrt(0.5)
TURNED_LEFT = (0.0, 0.0, HALF, HALF)
LEVEL = (0.0, 0.0, 0.0, 1.0)


def estimate(stamp_ns=50_000_000, **changes):
    values = {
        "p_map": np.array([10.0, 20.0, 30.0]),
        "v_map": np.zeros(3),
        "q_map_body": np.array(TURNED_LEFT),
        "p_map_odom": np.array([1.0, -2.0, 0.5]),
    }
    return AutopilotEstimate(stamp_ns=stamp_ns, **{**values, **changes})


def edges_of(cdr):
    """Return (parent, child, stamp [ns], position, rotation) of each edge of a message."""
    found = []
    for edge in deserialize(cdr, "tf2_msgs/msg/TFMessage").transforms:
        p, q, stamp = edge.transform.translation, edge.transform.rotation, edge.header.stamp
        stamp_ns = stamp.sec * 1_000_000_000 + stamp.nanosec
        frames = edge.header.frame_id, edge.child_frame_id
        found.append((*frames, stamp_ns, (p.x, p.y, p.z), (q.x, q.y, q.z, q.w)))
    return found


def children(transforms, stamp_ns):
    cdr = transforms.pack(estimate(stamp_ns))
    return [] if cdr is None else [child for _, child, *_ in edges_of(cdr)]


def of_another(*frames, stamp_ns=50_000_000, p=(0.0, 0.0, 0.0)):
    """Return a received message with an edge of another node."""
    cdr = serialize(transform_message([transform_stamped(stamp_ns, *frames, p, LEVEL)]))
    return deserialize(cdr, "tf2_msgs/msg/TFMessage")


@pytest.mark.parametrize("prefix", ["", "uav1/"])
def test_the_edges_lead_from_map_over_the_autopilots_own_frame_to_the_body(prefix):
    odom, base = edges_of(OdometryTransforms(prefix).pack(estimate()))
    assert odom == ("map", f"{prefix}odom", 50_000_000, (1.0, -2.0, 0.5), LEVEL)
    assert base == (
        f"{prefix}odom",
        f"{prefix}base_link",
        50_000_000,
        (9.0, 22.0, 29.5),
        TURNED_LEFT,
    )


def test_an_estimate_is_published_once_and_not_before_it_has_an_attitude():
    transforms = OdometryTransforms()
    assert transforms.pack(None) is None
    assert transforms.pack(estimate(q_map_body=None)) is None
    assert transforms.pack(estimate()) is not None
    assert transforms.pack(estimate()) is None
    assert transforms.pack(estimate(40_000_000)) is None
    assert transforms.pack(estimate(51_000_000)) is not None


def test_own_messages_that_come_back_change_nothing():
    transforms = OdometryTransforms()
    for k in range(1, 4):
        cdr = transforms.pack(estimate(k))
        assert transforms.on_transforms(deserialize(cdr, "tf2_msgs/msg/TFMessage")) == (False, "")
    assert children(transforms, 5) == ["odom", "base_link"]


@pytest.mark.parametrize("parent", ["odom", "map", "world"])
def test_a_body_that_another_node_places_is_left_to_it_with_a_warning(parent):
    transforms = OdometryTransforms()
    assert children(transforms, 50_000_000) == ["odom", "base_link"]
    is_foreign, warning = transforms.on_transforms(of_another(parent, "base_link"))
    assert is_foreign
    assert f"another node publishes {parent} -> base_link" in warning
    assert children(transforms, 60_000_000) == []
    assert transforms.on_transforms(of_another(parent, "base_link")) == (True, "")


def test_a_localisation_over_the_autopilots_odometry_keeps_its_edge_from_map():
    """As AMCL does over the odometry of wheels."""
    transforms = OdometryTransforms()
    assert children(transforms, 50_000_000) == ["odom", "base_link"]
    transforms.on_transforms(of_another("map", "odom", p=(1.0, -2.0, 0.6)))
    cdr = transforms.pack(estimate(60_000_000))
    assert edges_of(cdr) == [("odom", "base_link", 60_000_000, (9.0, 22.0, 29.5), TURNED_LEFT)]
    own = deserialize(cdr, "tf2_msgs/msg/TFMessage")
    assert transforms.on_transforms(own) == (False, "")


def test_edges_to_other_frames_are_no_concern():
    transforms = OdometryTransforms("uav1/")
    for frames in (("map", "base_link"), ("uav0/odom", "uav0/base_link"), ("base_link", "arm")):
        assert transforms.on_transforms(of_another(*frames)) == (True, "")
    assert children(transforms, 1) == ["uav1/odom", "uav1/base_link"]


def test_frames_are_reserved_for_a_slam_until_it_is_known_to_publish_none():
    transforms = OdometryTransforms()
    transforms.reserve()
    for k in range(ANSWERS_WITHOUT_TRANSFORM):
        assert children(transforms, k + 1) == []
        transforms.on_pose_of_slam()
    assert children(transforms, 1000) == ["odom", "base_link"]


def test_a_slam_that_publishes_transforms_keeps_them_without_a_warning():
    transforms = OdometryTransforms()
    transforms.reserve()
    assert transforms.on_transforms(of_another("odom", "base_link")) == (True, "")
    for k in range(2 * ANSWERS_WITHOUT_TRANSFORM):
        transforms.on_pose_of_slam()
        assert children(transforms, k + 1) == []
