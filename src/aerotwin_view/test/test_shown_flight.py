# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Bags as flights that can be shown, and the shapes of their robots."""

import numpy as np
import pytest

from aerotwin_core.bag import BagWriter
from aerotwin_core.errors import UserError
from aerotwin_core.messages import serialize, string_message
from aerotwin_view.recorded.shown_flight import bag_folder, read_flight
from aerotwin_view.scene.robot_model import robot_model
from support.motion_bag import LEVEL, SECOND, write_motion

TURNED = (0.0, 0.0, 2**-0.5, 2**-0.5)  # a quarter turn to the left
BOX = '<visual><geometry><box size="1 2 3"/></geometry></visual>'
BASE = f"<link name='a'>{BOX}</link>"


def robot(*links, joints=""):
    return f"<robot name='r'>{''.join(links)}{joints}</robot>"


def test_a_fleet_is_read_with_names_shapes_and_its_world(tmp_path):
    along = [((float(k), 0.0, 1.0), LEVEL) for k in range(5)]
    (tmp_path / "config.yaml").write_text("parameters: {world: meadow}\n")
    shape = robot("<link name='{0}base_link'>" + BOX + "</link>")
    flight = read_flight(
        write_motion(
            tmp_path,
            {"/uav0/truth/odom": along, "/uav1/truth/odom": along, "/uav1/slam/odom": along},
            descriptions=[
                ("/uav0/robot_description", shape.format("uav0/")),
                ("/uav1/robot_description", shape.format("uav1/")),
            ],
        )
    )
    assert [each.name for each in flight.robots] == ["uav0", "uav1"]
    assert flight.robots[0].model is flight.robots[1].model  # drawn together
    np.testing.assert_allclose(flight.robots[0].model.extents, (1.0, 2.0, 3.0))
    assert [(path.topic, path.kind) for path in flight.paths] == [("/uav1/slam/odom", "slam/odom")]
    assert (flight.start_ns, flight.end_ns, flight.world) == (0, 4 * SECOND, "meadow")


def test_a_path_in_a_frame_of_its_own_is_placed_at_its_first_pose(tmp_path):
    truth = [((10.0, 5.0 + k, 1.0), TURNED) for k in range(4)]
    own = [((float(k), 0.0, 0.0), LEVEL) for k in range(4)]
    bag = write_motion(tmp_path, {"/truth/odom": truth, "/slam/odom": own}, slam_frame="odom")
    (path,) = read_flight(bag).paths
    assert path.is_placed
    np.testing.assert_allclose(path.trajectory.p_ref_body, [p for p, _ in truth], atol=1e-9)
    np.testing.assert_allclose(np.abs(path.trajectory.q_ref_body @ TURNED), 1.0)


def test_the_bag_of_a_robot_without_truth_shows_its_odometry(tmp_path):
    along = [((float(k), 0.0, 0.0), LEVEL) for k in range(3)]
    (shown,) = read_flight(write_motion(tmp_path, {"/odom": along})).robots
    assert (shown.topic, shown.name, shown.model) == ("/odom", "", None)


def test_run_folders_and_bags_are_told_from_worlds(tmp_path):
    bag = write_motion(tmp_path, {"/odom": [((0.0, 0.0, 0.0), LEVEL)]})
    assert bag_folder(tmp_path) == bag == bag_folder(bag)
    assert bag_folder(tmp_path / "cliff") is None


def test_a_bag_without_motion_is_refused(tmp_path):
    with BagWriter(tmp_path / "bag") as bag:
        bag.add_topic("/chatter", "std_msgs/msg/String")
        bag.write("/chatter", 0, serialize(string_message("hello")))
    with pytest.raises(UserError, match="expected a topic with poses"):
        read_flight(tmp_path / "bag")


def test_shapes_stand_where_joints_and_origins_place_them():
    urdf = robot(
        "<link name='base'/>",
        "<link name='arm'><visual><origin xyz='1 0 0' rpy='0 0 0'/>"
        "<geometry><cylinder radius='0.5' length='4'/></geometry></visual></link>",
        joints="<joint name='j' type='fixed'><parent link='base'/><child link='arm'/>"
        "<origin xyz='0 0 10' rpy='0 1.5707963267948966 0'/></joint>",
    )
    low, high = robot_model(urdf).bounds
    # The joint turns the arm's z to the base's x, and its x to the base's -z.
    np.testing.assert_allclose(low, (-2.0, -0.5, 8.5), atol=0.01)
    np.testing.assert_allclose(high, (2.0, 0.5, 9.5), atol=0.01)


@pytest.mark.parametrize(
    ("urdf", "why"),
    [
        ("<robot", "no URDF"),
        (robot(BASE.replace("1 2 3", "1 2")), "3 numbers"),
        (robot(BASE.replace("1 2 3", "1 2 nan")), "3 numbers"),
        (
            robot(
                BASE,
                "<link name='b'/>",
                joints="<joint name='j'><parent link='b'/><child link='a'/></joint>"
                "<joint name='k'><parent link='a'/><child link='b'/></joint>",
            ),
            "own parent",
        ),
        (robot("<link name='a'>", BOX * 2001, "</link>"), "2001 parts"),
        (" " * (1 << 20) + "<robot/>", "bytes"),
    ],
)  # fmt: skip
def test_descriptions_that_cannot_be_shown_are_refused(urdf, why):
    with pytest.raises(UserError, match=why):
        robot_model(urdf)


def test_a_robot_without_known_shapes_has_none():
    assert robot_model(robot("<link name='a'/>")) is None
