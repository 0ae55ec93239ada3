# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Trajectories of every kind of topic, with their covariances, and through chains of TF."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_core import messages
from aerotwin_core.bag import BagReader, BagWriter
from aerotwin_core.bag.pose_layout import LAYOUTS, read_pose_row
from aerotwin_core.bag.poses import rows_of_message
from aerotwin_core.errors import UserError
from aerotwin_core.frames import invert_transform, transform_from_pose
from aerotwin_core.messages import TYPESTORE

ROUNDING = 1e-12
SECOND = 1_000_000_000
T = TYPESTORE.types
N = 20


def pose_at(k: float) -> tuple[np.ndarray, np.ndarray]:
    """Position and quaternion of a turn about the vertical."""
    q = Rotation.from_euler("ZY", [0.1 * k, 0.2]).as_quat()
    return np.array([np.cos(0.1 * k), np.sin(0.1 * k), 0.3 * k]), q


def covariance(k: int) -> np.ndarray:
    half = np.random.default_rng(k).normal(size=(6, 6))
    return half @ half.T


def ros_pose(k: float):
    return messages.pose_stamped_message(0, "", *pose_at(k)).pose


def odometry(k: int):
    message = messages.odometry_message(k * SECOND, "/odom", "base", *pose_at(k), [0] * 3, [0] * 3)
    message.pose.covariance[:] = covariance(k).ravel()
    return message


def pose_with_covariance(k: int):
    covariant = T["geometry_msgs/msg/PoseWithCovariance"](
        pose=ros_pose(k), covariance=covariance(k).ravel()
    )
    kind = T["geometry_msgs/msg/PoseWithCovarianceStamped"]
    return kind(header=messages.header(k * SECOND, "odom"), pose=covariant)


def path(k: int):
    items = [messages.pose_stamped_message(j * SECOND, "odom", *pose_at(j)) for j in range(k + 1)]
    return T["nav_msgs/msg/Path"](header=messages.header(k * SECOND, "odom"), poses=items)


MAKERS = {
    "nav_msgs/msg/Odometry": odometry,
    "geometry_msgs/msg/PoseWithCovarianceStamped": pose_with_covariance,
    "geometry_msgs/msg/PoseStamped": lambda k: messages.pose_stamped_message(
        k * SECOND, "odom", *pose_at(k)
    ),
    "geometry_msgs/msg/TransformStamped": lambda k: messages.transform_stamped(
        k * SECOND, "odom", "base", *pose_at(k)
    ),
    "nav_msgs/msg/Path": path,
}


def write(folder, entries):
    """Write (topic, stamp, message) and open the bag."""
    with BagWriter(folder / "bag") as writer:
        for topic, stamp, message in entries:
            writer.add_topic(topic, message.__msgtype__)
            writer.write(topic, stamp, messages.serialize(message))
    return BagReader(folder / "bag")


@pytest.mark.parametrize("kind", MAKERS)
def test_every_kind_of_topic_gives_its_poses_and_covariances(tmp_path, kind):
    bag = write(tmp_path, [("/p", k, MAKERS[kind](k)) for k in range(N)])
    found = bag.poses("/p")
    assert bag.trajectory_topics() == ("/p",)
    assert found.trajectory.stamps_ns.tolist() == [k * SECOND for k in range(N)]
    expected = [np.concatenate(pose_at(k)) for k in range(N)]
    rows = np.hstack([found.trajectory.p_ref_body, found.trajectory.q_ref_body])
    np.testing.assert_allclose(rows, expected, atol=ROUNDING)
    assert (found.frame, found.problems, bag.problems) == ("odom", (), ())
    covariances = found.covariances
    if "Covariance" in kind or "Odometry" in kind:
        np.testing.assert_array_equal(covariances, [covariance(k) for k in range(N)])
    else:
        assert covariances is None


def test_many_topics_are_read_in_one_pass_as_each_alone(tmp_path):
    topics = {f"/p{n}": kind for n, kind in enumerate(k for k in MAKERS if "TFM" not in k)}
    entries = [(name, k, MAKERS[kind](k)) for k in range(N) for name, kind in topics.items()]
    bag = write(tmp_path, entries)
    for name, found in bag.trajectories(topics).items():
        alone = bag.trajectory(name)
        np.testing.assert_array_equal(found.stamps_ns, alone.stamps_ns)
        np.testing.assert_array_equal(found.p_ref_body, alone.p_ref_body)
        np.testing.assert_array_equal(found.q_ref_body, alone.q_ref_body)
    assert bag.trajectories([]) == {}


@pytest.mark.parametrize("kind", LAYOUTS)
@pytest.mark.parametrize("frame", ["", "a", "map", "odom", "a/long/frame", "möp"])
def test_poses_straight_from_the_bytes_are_those_of_the_deserialiser(kind, frame):
    for k, child in enumerate(("", "b", "base", "base_link")):
        message = MAKERS[kind](k)
        message.header.frame_id = frame
        if hasattr(message, "child_frame_id"):
            message.child_frame_id = child
        cdr = messages.serialize(message)
        (expected,) = rows_of_message(messages.deserialize(cdr, kind))
        for padding in (0, 1, 3):
            found = read_pose_row(cdr + bytes(padding), kind)
            assert (found.stamp_ns, found.pose) == (expected.stamp_ns, expected.pose)
            assert (found.frame, found.child_frame) == (expected.frame, expected.child_frame)
            np.testing.assert_array_equal(found.covariance, expected.covariance)
        assert read_pose_row(cdr[:-1], kind) is None
        assert read_pose_row(cdr + bytes(8), kind) is None
        assert read_pose_row(cdr[:12] + b"\xff\xff\xff\xff" + cdr[16:], kind) is None


def test_covariances_that_were_never_filled_in_are_none(tmp_path):
    message = odometry(1)
    message.pose.covariance[:] = 0.0
    assert write(tmp_path, [("/p", 0, message)]).poses("/p").covariances is None


def test_poses_that_are_no_numbers_repeat_or_have_no_direction_are_counted(tmp_path):
    broken = [odometry(k) for k in range(6)]
    broken[1].pose.pose.position.x = float("nan")
    broken[2].pose.pose.orientation = T["geometry_msgs/msg/Quaternion"](x=0, y=0, z=0, w=0)
    broken[4].header = broken[3].header
    bag = write(tmp_path, [("/p", k, message) for k, message in enumerate(broken)])
    stamps = bag.trajectory("/p").stamps_ns
    assert stamps.tolist() == [0, 3 * SECOND, 5 * SECOND]
    lines = "\n".join(bag.problems)
    assert "2 of 6 poses are not numbers or have no direction" in lines
    assert "1 of 4 poses repeat a stamp" in lines
    assert bag.trajectory("/p").p_ref_body[1] == pytest.approx(pose_at(3)[0])
    assert len(bag.problems) == 2  # asking twice says nothing twice


def test_a_topic_of_which_no_pose_is_left_is_refused(tmp_path):
    message = odometry(0)
    message.pose.pose.position.y = float("inf")
    with pytest.raises(UserError, match=r"holds no usable pose; .*1 of 1 poses are not numbers"):
        write(tmp_path, [("/p", 0, message)]).trajectory("/p")


def test_of_several_topics_one_without_usable_poses_is_left_out(tmp_path):
    broken = odometry(1)
    broken.pose.pose.orientation = T["geometry_msgs/msg/Quaternion"](x=0, y=0, z=0, w=0)
    rows = [("/p", 0, odometry(0)), ("/q", 1, broken), ("/p", 2, odometry(2))]
    bag = write(tmp_path, rows)
    assert set(bag.trajectories(["/p", "/q"])) == {"/p"}
    assert "topic /q: 1 of 1 poses are not numbers or have no direction" in bag.problems[0]


def test_headers_without_stamps_give_way_to_the_times_of_recording(tmp_path):
    message = messages.pose_stamped_message(0, "odom", *pose_at(0))
    bag = write(tmp_path, [("/p", 5 + k, message) for k in range(3)])
    assert bag.trajectory("/p").stamps_ns.tolist() == [5, 6, 7]
    assert "no stamps in the headers; the times of recording are used" in bag.problems[0]


def test_a_topic_without_poses_is_named_with_those_that_have_some(tmp_path):
    bag = write(tmp_path, [("/p", 0, odometry(0)), ("/clock", 0, messages.clock_message(0))])
    with pytest.raises(UserError, match=r"topic /clock carries no pose .*; of this bag /p does"):
        bag.trajectory("/clock")


def tf(*items):
    return messages.transform_message(
        [messages.transform_stamped(int(s * SECOND), *names, p, q) for s, *names, p, q in items]
    )


@pytest.fixture
def tf_bag(tmp_path):
    """map -> odom every 2 s, odom -> base.link every second, a lidar upside down on it."""
    entries = [("/tf", k, tf((k, "odom", "base.link", *pose_at(k)))) for k in range(1, 8)]
    entries += [("/tf", k, tf((k, "map", "odom", [k, 0, 0], [0, 0, 0, 1]))) for k in (2, 4, 6)]
    mount = tf((0, "base.link", "lidar", [0.1, 0, 0.2], [1, 0, 0, 0]))
    return write(tmp_path, [("/tf_static", 0, mount), *sorted(entries, key=lambda e: e[1])])


def test_chains_of_moving_and_fixed_transforms_are_multiplied_at_the_stamps_of_the_last(tf_bag):
    found = tf_bag.poses("/tf:map.lidar")
    assert found.trajectory.stamps_ns.tolist() == [k * SECOND for k in range(2, 7)]
    T_base_lidar = transform_from_pose([0.1, 0, 0.2], [1, 0, 0, 0])
    expected = [
        transform_from_pose([k, 0, 0], [0, 0, 0, 1])
        @ transform_from_pose(*pose_at(k))
        @ T_base_lidar
        for k in range(2, 7)  # odom moves along x by 1 m each second: exact between its stamps
    ]
    np.testing.assert_allclose(found.trajectory.transforms(), expected, atol=ROUNDING)
    assert (found.frame, found.child_frame) == ("map", "lidar")
    assert (
        "2 of 7 stamps of lidar lie outside of the time of the other transforms"
        in found.problems[0]
    )


def test_a_path_up_the_tree_is_the_inverse(tf_bag):
    down = tf_bag.trajectory("/tf:odom.base.link").transforms()
    up = tf_bag.trajectory("/tf:base.link.odom").transforms()
    np.testing.assert_allclose(up, [invert_transform(one) for one in down], atol=ROUNDING)
    np.testing.assert_allclose(down[0], transform_from_pose(*pose_at(1)), atol=ROUNDING)


def test_fixed_transforms_are_found_and_moving_ones_are_not_fixed(tf_bag):
    expected = transform_from_pose([0.1, 0, 0.2], [1, 0, 0, 0])
    np.testing.assert_allclose(tf_bag.fixed_transform("base.link", "/lidar"), expected)
    assert tf_bag.fixed_transform("map", "lidar") is None


@pytest.mark.parametrize(
    ("topic", "message"),
    [
        ("/tf", "must be PARENT.CHILD"),
        ("/tf:map.drone", r"moving are map\.odom, odom\.base\.link"),
        ("/tf:base.link.lidar", "nothing moves between base.link and lidar"),
        ("/clock:a.b", "no topic /clock"),
    ],
)
def test_frames_that_give_no_poses_are_reported(tf_bag, topic, message):
    with pytest.raises(UserError, match=message):
        tf_bag.trajectory(topic)


def test_frames_that_are_not_connected_are_reported(tmp_path):
    bag = write(tmp_path, [("/tf", 1, tf((1, "a", "b", *pose_at(1)), (1, "c", "d", *pose_at(1))))])
    with pytest.raises(UserError, match="a and d are not connected; from a one reaches b"):
        bag.trajectory("/tf:a.d")
