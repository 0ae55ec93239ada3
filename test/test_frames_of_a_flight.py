# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The tf tree of a launched flight: connected, and every frame with one parent and publisher."""

from xml.etree import ElementTree

import pytest

from support.graph_observer import observed_launch

pytest.importorskip("rclpy")
pytestmark = [pytest.mark.ros, pytest.mark.slow]

INSTANCE = 97
OF_AUTOPILOT = {("map", "odom"), ("odom", "base_link")}
SIMULATOR = """
/**:
  ros__parameters:
    camera: {width: 64, height: 48, focal_px: 40.0}
"""
CAMERAS = "cameras:\n  - {name: down, pitch_deg: 90.0, rate_hz: 5.0}\n"


def test_without_a_slam_one_tree_leads_from_map_to_every_sensor(coarse_world, tmp_path):
    from std_msgs.msg import String
    from tf2_msgs.msg import TFMessage

    from aerotwin_core.messages import serialize, transform_message, transform_stamped
    from aerotwin_core.ros.qos import LATCHED

    (tmp_path / "simulator.yaml").write_text(SIMULATOR)
    (tmp_path / "cameras.yaml").write_text(CAMERAS)
    words = [
        f"world:={coarse_world}", "slam:=none", "lidar:=spinning_16", "record:=none",
        f"simulator_parameters:={tmp_path / 'simulator.yaml'}", f"instance:={INSTANCE}",
        f"cameras:={tmp_path / 'cameras.yaml'}", "range_finder:=lidar_lite_v3",
        f"runs_dir:={tmp_path}",
    ]  # fmt: skip
    with observed_launch("sitl_flight.launch.yaml", words, tmp_path) as (observer, process):
        frames, descriptions = observer.frames, []
        observer.node.create_subscription(String, "robot_description", descriptions.append, LATCHED)
        observer.run(
            process,
            lambda: (
                frames["/tf"] >= OF_AUTOPILOT
                and all((frames["/tf_static"], frames["/range"], descriptions))
            ),
        )
        moving, fixed = set(frames["/tf"]), set(frames["/tf_static"])
        named = {frame for edges in frames.values() for edge in edges for frame in edge}
        publishers = {key for key in observer.published if key[0] in ("/tf", "/tf_static")}

        other = observer.node.create_publisher(TFMessage, "/tf", 10)
        edge = transform_stamped(1, "odom", "base_link", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))
        rival = serialize(transform_message([edge]))

        def is_left():
            other.publish(rival)
            return "another node publishes odom -> base_link" in observer.log.read_text()

        observer.run(process, is_left)
        assert is_left(), observer.log.read_text()
    joints = ElementTree.fromstring(descriptions[0].data).findall("joint")
    assert fixed == {(j.find("parent").get("link"), j.find("child").get("link")) for j in joints}
    assert moving == OF_AUTOPILOT
    assert publishers == {("/tf", "simulator"), ("/tf_static", "simulator")}
    parents = {child: parent for parent, child in moving | fixed}
    assert len(parents) == len(moving) + len(fixed)
    assert {"lidar", "down_optical", "stereo_left_optical", "imu_link"} <= set(parents)
    in_tree = {frame for frame in named if not frame.startswith("base_link_")}  # truth is in none
    for frame in in_tree - {"map", ""}:
        while frame != "map":
            assert frame in parents, (frame, parents)
            frame = parents[frame]
