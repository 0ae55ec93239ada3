# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The node between ROS topics: images in, odometry of the body out."""

import time

import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy")
pytestmark = pytest.mark.ros

TIMEOUT_S = 60.0  # a loaded machine that compiles kernels first
N_FRAMES = 24
N_RAW = 12
RAW_ERROR_M = 0.02  # of 0.88 m; without rectification it is 0.19 m off
FRAME_NS = 50_000_000
N_MAP_POINTS = 100
T_BASE_OPTICAL = np.array(
    [[0.0, 0.0, 1.0, 0.1], [-1.0, 0.0, 0.0, 0.055], [0.0, -1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
)


class Driver:
    """A node under test, a node that feeds and listens, and one executor."""

    def __init__(self, rig):
        from diagnostic_msgs.msg import DiagnosticArray
        from nav_msgs.msg import Odometry
        from rclpy.executors import SingleThreadedExecutor
        from sensor_msgs.msg import CameraInfo, Image, PointCloud2
        from tf2_msgs.msg import TFMessage

        from aerotwin_core.ros.qos import LATCHED, reliable
        from aerotwin_stereo_odometry.ros.stereo_odometry_node import StereoOdometryNode

        self.rig = rig
        self.node = StereoOdometryNode()
        self.peer = rclpy.create_node("peer")
        self.got = {"odom": [], "map": [], "tf": [], "diagnostics": []}
        for kind, name, topic, qos in [
            (Odometry, "odom", "slam/odom", reliable(100)),
            (PointCloud2, "map", "slam/map", LATCHED),
            (TFMessage, "tf", "/tf", reliable(100)),
            (DiagnosticArray, "diagnostics", "/diagnostics", reliable(100)),
        ]:
            self.peer.create_subscription(kind, topic, self.got[name].append, qos)
        publisher = self.peer.create_publisher
        self.image = {s: publisher(Image, f"stereo/{s}/image_raw", reliable(10)) for s in SIDES}
        self.info = {s: publisher(CameraInfo, f"stereo/{s}/camera_info", LATCHED) for s in SIDES}
        self.static = publisher(TFMessage, "/tf_static", LATCHED)
        self.executor = SingleThreadedExecutor()
        self.executor.add_node(self.node)
        self.executor.add_node(self.peer)
        self.spin(lambda: self.image["right"].get_subscription_count() > 0)

    def spin(self, is_done):
        end = time.monotonic() + TIMEOUT_S
        while not is_done():
            assert time.monotonic() < end, "nothing came in time"
            self.executor.spin_once(timeout_sec=0.1)

    def send_info(self, camera=None, **wrong):
        """Send what the pair is: that of the rig, or raw cameras with the rig's P."""
        from sensor_msgs.msg import CameraInfo

        ideal = self.rig.camera
        camera = camera or ideal
        for side, baseline in (("left", 0.0), ("right", self.rig.baseline_m)):
            p = [ideal.fx, 0, ideal.cx, -ideal.fx * baseline, 0, ideal.fy, ideal.cy, 0]
            values = {
                "distortion_model": camera.distortion_model,
                "d": [float(value) for value in camera.distortion],
                "k": camera.matrix.ravel(),
                "r": np.eye(3).ravel(),
                "p": [*map(float, p), 0.0, 0.0, 1.0, 0.0],
            }
            message = CameraInfo(width=ideal.width, height=ideal.height, **{**values, **wrong})
            message.header.frame_id = "stereo_left_optical"
            self.info[side].publish(message)

    def send_static(self):
        from geometry_msgs.msg import TransformStamped
        from tf2_msgs.msg import TFMessage

        from aerotwin_core.ros.conversions import message_from_transform

        T_base_left, T_left_optical = T_BASE_OPTICAL.copy(), T_BASE_OPTICAL.copy()
        T_base_left[:3, :3] = np.eye(3)
        T_left_optical[:3, 3] = 0.0
        items = []
        for parent, child, T in [
            ("stereo_left", "stereo_left_optical", T_left_optical),
            ("base_link", "stereo_left", T_base_left),
        ]:
            item = TransformStamped(child_frame_id=child, transform=message_from_transform(T))
            item.header.frame_id = parent
            items.append(item)
        self.static.publish(TFMessage(transforms=items))

    def send_pair(self, stamp_ns, pair):
        from aerotwin_core.ros.conversions import image_from_array

        for side, image in zip(SIDES, pair):
            self.image[side].publish(image_from_array(image, stamp_ns, "stereo_left_optical"))

    def close(self):
        self.executor.shutdown()
        self.node.destroy_node()
        self.peer.destroy_node()


SIDES = ("left", "right")


@pytest.fixture
def driver(wall):
    rclpy.init()
    driver = Driver(wall.rig)
    yield driver
    driver.close()
    rclpy.try_shutdown()


def stamps(messages):
    from aerotwin_core.ros.conversions import ns_from_stamp

    return [ns_from_stamp(m.header.stamp) for m in messages]


def test_every_pair_gets_its_odometry_in_the_body_frame(driver, sequence):
    from aerotwin_core.point_clouds import point_cloud_arrays
    from aerotwin_core.ros.conversions import transform_from_pose_message

    poses, pairs = sequence
    dark = np.zeros_like(pairs[0][0])
    pairs = [[dark, dark] if k in (15, 16) else p for k, p in enumerate(pairs[:N_FRAMES])]
    driver.send_pair(FRAME_NS, pairs[0])  # before anything is known of the cameras
    driver.send_info()
    driver.send_static()
    for k, pair in enumerate(pairs[1:], start=1):
        driver.spin(lambda k=k: len(driver.got["odom"]) >= k)
        driver.send_pair((k + 1) * FRAME_NS, pair)
    driver.spin(lambda: len(driver.got["odom"]) == N_FRAMES)
    # Where the machine paused between two pairs, a map of the first keyframe came before: empty.
    driver.spin(lambda: driver.got["map"] and driver.got["map"][-1].width > N_MAP_POINTS)
    driver.spin(lambda: len(driver.got["diagnostics"]) == N_FRAMES)
    driver.spin(lambda: len(driver.got["tf"]) == N_FRAMES)
    odom = driver.got["odom"]
    assert stamps(odom) == [(k + 1) * FRAME_NS for k in range(N_FRAMES)]
    assert {(m.header.frame_id, m.child_frame_id) for m in odom} == {("odom", "base_link")}
    first = transform_from_pose_message(odom[0].pose.pose)
    np.testing.assert_allclose(first, np.eye(4), atol=1e-9)
    last = transform_from_pose_message(odom[-1].pose.pose)
    T_base_optical = T_BASE_OPTICAL
    expected = T_base_optical @ poses[N_FRAMES - 1] @ np.linalg.inv(T_base_optical)
    np.testing.assert_allclose(last[:3, 3], expected[:3, 3], atol=0.03)
    twist = odom[-1].twist.twist.linear
    # to the right of the camera is -y of the body, 0.08 m each 0.05 s
    np.testing.assert_allclose([twist.x, twist.y], [0.14, -1.6], atol=0.2)
    covariance = np.array(odom[16].pose.covariance).reshape(6, 6)
    assert covariance[0, 0] > 100 * odom[14].pose.covariance[0]
    levels = [m.status[0].level for m in driver.got["diagnostics"]]
    assert [k for k, level in enumerate(levels) if level != b"\x00"] == [15, 16]
    values = {v.key: v.value for v in driver.got["diagnostics"][-1].status[0].values}
    assert values["n_frames"] == str(N_FRAMES)
    assert values["n_lost"] == "2"
    cloud = driver.got["map"][-1]
    points = point_cloud_arrays(cloud)
    assert cloud.header.frame_id == "odom"
    # the wall stands 6 m ahead: x of odom, which is forward
    assert 4.0 < np.median(points["x"]) < 8.0
    tf = driver.got["tf"][-1].transforms[0]
    assert (tf.header.frame_id, tf.child_frame_id) == ("odom", "base_link")
    np.testing.assert_allclose(tf.transform.translation.x, last[0, 3])


def test_time_that_goes_back_starts_again_at_the_origin(driver, sequence):
    driver.send_info()
    driver.send_static()
    _, pairs = sequence
    for k, stamp in enumerate([100, 101, 102, 50, 51]):
        driver.send_pair(stamp * FRAME_NS, pairs[k])
        driver.spin(lambda k=k: len(driver.got["odom"]) > k)
    p = driver.got["odom"][3].pose.pose.position
    np.testing.assert_allclose([p.x, p.y, p.z], 0.0, atol=1e-9)
    assert stamps(driver.got["odom"])[3:] == [50 * FRAME_NS, 51 * FRAME_NS]


def test_a_pair_that_comes_twice_or_has_another_size_is_skipped_and_counted(driver, sequence):
    driver.send_info()
    driver.send_static()
    _, pairs = sequence
    small = [image[:, :-1] for image in pairs[0]]
    for stamp, pair in [(1, small), (2, pairs[0]), (2, pairs[0]), (3, pairs[1])]:
        driver.send_pair(stamp * FRAME_NS, pair)
    driver.spin(lambda: len(driver.got["diagnostics"]) == 2)
    assert stamps(driver.got["odom"]) == [2 * FRAME_NS, 3 * FRAME_NS]
    values = {v.key: v.value for v in driver.got["diagnostics"][-1].status[0].values}
    assert values["n_skipped"] == "2"
    assert values["n_restarts"] == "0"


def test_pictures_of_a_distorted_lens_are_rectified(driver, wall):
    from aerotwin_core.camera import BrownCamera
    from aerotwin_core.ros.conversions import transform_from_pose_message

    lens = BrownCamera(**vars(wall.rig.camera), k1=-0.25, k2=0.05, p1=0.001, p2=-0.001)
    driver.send_info(lens)
    driver.send_static()
    rng, poses = np.random.default_rng(5), wall.poses(N_RAW)
    for k, T in enumerate(poses):
        driver.send_pair((k + 1) * FRAME_NS, wall.pair(T, rng, camera=lens))
        driver.spin(lambda k=k: len(driver.got["odom"]) > k)
    last = transform_from_pose_message(driver.got["odom"][-1].pose.pose)
    expected = T_BASE_OPTICAL @ poses[-1] @ np.linalg.inv(T_BASE_OPTICAL)
    np.testing.assert_allclose(last[:3, 3], expected[:3, 3], atol=RAW_ERROR_M)


def test_a_camera_info_that_cannot_be_used_is_reported_and_its_pairs_are_counted(driver, sequence):
    wrong = {"distortion_model": "rational_polynomial", "d": [0.1] * 8}
    driver.send_info(**wrong)
    driver.send_static()
    _, pairs = sequence
    driver.send_pair(FRAME_NS, pairs[0])
    driver.spin(lambda: driver.node._counters.n_skipped == 1)
    assert set(driver.node._calibration.refusals) == set(SIDES)
    driver.send_info()  # calibrated meanwhile
    driver.spin(lambda: driver.node._calibration.rig is not None)
    driver.send_pair(2 * FRAME_NS, pairs[1])
    driver.spin(lambda: len(driver.got["diagnostics"]) == 1)
    values = {v.key: v.value for v in driver.got["diagnostics"][0].status[0].values}
    assert (values["n_skipped"], values["n_frames"]) == ("1", "1")


def test_a_bad_parameter_ends_the_node_with_one_line():
    from aerotwin_core.errors import ParameterError
    from aerotwin_stereo_odometry.ros.stereo_odometry_node import StereoOdometryNode

    rclpy.init(args=["--ros-args", "-p", "patch_px:=1000"])
    try:
        with pytest.raises(ParameterError, match="patch_px"):
            StereoOdometryNode()
    finally:
        rclpy.try_shutdown()
