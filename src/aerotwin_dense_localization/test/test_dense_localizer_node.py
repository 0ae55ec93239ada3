# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The node `localizer` between its topics, before the painted wall."""

import numpy as np
import pytest

from support.painted_wall import Wall, pose, waves

pytestmark = pytest.mark.ros
rclpy = pytest.importorskip("rclpy")

from geometry_msgs.msg import PoseWithCovarianceStamped  # noqa: E402
from rclpy.qos import HistoryPolicy  # noqa: E402
from ros_partner import Partner, image_of, imu_of, info_of, odometry_of  # noqa: E402

from aerotwin_core.camera import BrownCamera, PinholeCamera  # noqa: E402
from aerotwin_core.errors import ParameterError, UserError  # noqa: E402
from aerotwin_core.ros.conversions import ns_from_stamp, pose_message  # noqa: E402
from aerotwin_dense_localization.localization import reading_of  # noqa: E402
from aerotwin_dense_localization.mapping import (  # noqa: E402
    DenseMapError,
    SplatMapBuilder,
    save_map,
)
from aerotwin_dense_localization.ros.localizer_node import LocalizerNode  # noqa: E402

SCAN = PinholeCamera(width=300, height=200, fx=180.0, fy=180.0, cx=149.5, cy=99.5)
WALL = Wall(normal=(0.0, 0.0, 1.0), offset_m=3.0, paint=lambda x, y: waves(2.0 * x, 2.0 * y))
NEAR_M = 0.01
"""From the wall's 1 m; its map has pixels of 1.5 cm."""
RAW_M = 0.02
"""The same of pictures that were rectified here."""
ROUNDING = 1e-9
T_BASE_OPTICAL = pose([0.2, -1.1, 0.4], [0.1, 0.05, -0.2])
FRAME_NS = 50_000_000
T_BASE_IMU = pose([0.1, 0.2, -0.3], [0.05, -0.1, 0.02])
IMU_NS = 4_000_000
AHEAD_M_S2, GRAVITY_M_S2 = 2.0, 9.80665
NEAR_M_S, NEAR_RAD_S = 0.06, 0.02
"""Of ten images that are off by up to NEAR_M, in half a second; of a bias of 0.009 rad/s."""


def taken_at(k):
    """Return where the camera is at image k: along the wall, 1 m before it."""
    return pose([0.0, 0.0, 0.01], [0.4 + 0.05 * k, 0.02, 2.0])


def base_at(k):
    return taken_at(k) @ np.linalg.inv(T_BASE_OPTICAL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return the folder of a map of the wall, with the scan path beside it."""
    builder = SplatMapBuilder()
    for k in range(8):
        T = pose([0, 0, 0], [0.4 * k, 0.0, 0.0])
        builder.add(WALL.keyframe(T, stamp_ns=k, sigma_m=0.005, seed=k))
    folder = tmp_path_factory.mktemp("map")
    save_map(folder, builder.finished())
    (folder / "path.tum").write_text("0 0.0 0 2 0 0 0 1\n1 2.8 0 2 0 0 0 1\n")
    return folder


@pytest.fixture
def start(folder):
    """Return a function that starts the node with parameters, and those of every test."""
    partners = []

    def make(**changes):
        provided = {
            "map": folder, "path": folder / "path.tum", "standoff_m": 1.0, "setback_m": 0.5,
            "start": "[]", **changes,
        }  # fmt: skip
        tokens = [f"{name}:={value}" for name, value in provided.items() if value != "[]"]
        rclpy.init(args=["--ros-args", *(part for token in tokens for part in ("-p", token))])
        partners.append(Partner(LocalizerNode))
        return partners[-1]

    yield make
    for partner in partners:
        partner.close()
    rclpy.try_shutdown()


def show(partner, k, T=None, *, picture=None, encoding="mono8", camera=SCAN):
    """Send an image and wait until the node is done with it."""
    if picture is None:
        grey = WALL.seen(camera, taken_at(k) if T is None else T)[0]
        picture = np.clip(grey, 0, 255).round().astype(np.uint8)
    n = len(partner.heard["step/ack"])
    partner.send("camera/image_raw", image_of(picture, k * FRAME_NS, "scan_optical", encoding))
    partner.spin(lambda: len(partner.heard["step/ack"]) > n)
    assert ns_from_stamp(partner.heard["step/ack"][-1].stamp) == k * FRAME_NS


def introduce(partner, **wrong):
    """Tell what the camera is and where it sits: on a mast on the body."""
    T_base_mast = pose([0.0, 0.0, 0.3], [0.0, 0.0, 0.5])
    T_mast_optical = np.linalg.inv(T_base_mast) @ T_BASE_OPTICAL
    partner.send_edge("mast", "scan_optical", T_mast_optical)
    partner.send_edge("base_link", "mast", T_base_mast)
    partner.send("camera/camera_info", info_of(SCAN, **wrong))
    partner.spin(lambda: partner.node._camera._mounting.find("scan_optical") is not None)


def as_lists(T):
    p, q = pose_message(T).position, pose_message(T).orientation
    return f"[{p.x!r}, {p.y!r}, {p.z!r}, {q.x!r}, {q.y!r}, {q.z!r}, {q.w!r}]"


def odometry_at(k):
    """Return where odometry, which began elsewhere, has the body."""
    T_map_odom = pose([0.3, 0.1, -0.7], [5.0, -3.0, 1.0])
    return np.linalg.inv(T_map_odom) @ base_at(k), T_map_odom


def test_poses_of_the_body_and_map_to_odom_are_those_of_the_images(start):
    partner = start()
    introduce(partner)
    partner.spin(lambda: partner.node._camera._ideal is not None)
    for k in range(5):
        show(partner, k)
        partner.send("odom", odometry_of(k * FRAME_NS, odometry_at(k)[0]))
        partner.spin(lambda k=k: len(partner.edges()[0]) > k)
    messages = partner.heard["localization/odom"]
    assert [ns_from_stamp(m.header.stamp) for m in messages] == [k * FRAME_NS for k in range(5)]
    assert {(m.header.frame_id, m.child_frame_id) for m in messages} == {("map", "base_link")}
    statuses = [status.message for status in partner.statuses()]
    assert statuses == ["relocalized"] + 4 * ["tracked"]
    names, edges = partner.edges()
    assert names == 5 * [("map", "odom")]
    for k, (T_map_base, T_map_odom) in enumerate(zip(partner.poses(), edges, strict=True)):
        np.testing.assert_allclose(T_map_base[:3, 3], base_at(k)[:3, 3], atol=2 * NEAR_M)
        T_odom_base = odometry_at(k)[0]
        # R_map_odom = R_map_base R_odom_base^T; p_map_odom = p_map_base - R_map_odom p_odom_base
        R = T_map_base[:3, :3] @ T_odom_base[:3, :3].T
        np.testing.assert_allclose(T_map_odom[:3, :3], R, atol=ROUNDING)
        p = T_map_base[:3, 3] - R @ T_odom_base[:3, 3]
        np.testing.assert_allclose(T_map_odom[:3, 3], p, atol=ROUNDING)
        stamp = partner.heard["/tf"][k].transforms[0].header.stamp
        assert ns_from_stamp(stamp) == k * FRAME_NS
    covariance = np.array(messages[-1].pose.covariance).reshape(6, 6)
    assert np.linalg.eigvalsh(covariance).min() > 0.0
    assert 0.02 < np.sqrt(covariance[0, 0]) < 0.1
    assert not np.any(messages[-1].twist.covariance)


def test_of_a_lost_image_nothing_is_published_but_why(start):
    partner = start(mounting=as_lists(T_BASE_OPTICAL), tf="base")
    partner.send("camera/camera_info", info_of(SCAN))
    partner.spin(lambda: partner.node._camera._ideal is not None)
    dark = np.zeros((SCAN.height, SCAN.width), np.uint8)
    show(partner, 0)
    show(partner, 1, picture=dark)
    show(partner, 2, picture=dark)
    show(partner, 3)
    partner.spin(lambda: len(partner.statuses()) == 4 and len(partner.edges()[0]) == 2)
    stamps = [ns_from_stamp(m.header.stamp) for m in partner.heard["localization/odom"]]
    assert stamps == [0, 3 * FRAME_NS]
    tokens = [status.message.partition(": ") for status in partner.statuses()]
    assert [found for found, _, _ in tokens] == ["relocalized", "lost", "lost", "tracked"]
    assert tokens[1][2]
    names, edges = partner.edges()
    assert names == 2 * [("map", "base_link")]
    np.testing.assert_allclose(edges[1], partner.poses()[1], atol=ROUNDING)
    np.testing.assert_allclose(edges[1][:3, 3], base_at(3)[:3, 3], atol=NEAR_M)


def test_odometry_bridges_images_that_are_lost(start):
    partner = start(mounting=as_lists(T_BASE_OPTICAL), n_candidates=1)
    partner.send("camera/camera_info", info_of(SCAN))
    partner.spin(lambda: partner.node._camera._ideal is not None)
    dark = np.zeros((SCAN.height, SCAN.width), np.uint8)
    for k in range(0, 30, 3):  # 1.35 m of the way
        partner.send("odom", odometry_of(k * FRAME_NS, odometry_at(k)[0]))
        partner.spin(lambda k=k: partner.node._odometry.has_passed(k * FRAME_NS))
        show(partner, k, picture=None if k in (0, 27) else dark)
    partner.spin(lambda: len(partner.statuses()) == 10)
    assert partner.statuses()[-1].message == "tracked"
    np.testing.assert_allclose(partner.poses()[-1][:3, 3], base_at(27)[:3, 3], atol=NEAR_M)


def faster_at(seconds):
    """Return where the camera is, and how fast the body: speeding up along the map's x."""
    T = taken_at(0.5 * AHEAD_M_S2 * seconds**2 / 0.05)
    v_map = np.array([AHEAD_M_S2 * seconds, 0.0, 0.0])
    return T, base_at(0)[:3, :3].T @ v_map


def sense(partner, begin_ns, end_ns):
    """Send what the IMU reads after one time up to another, all at once."""
    R_map_imu = base_at(0)[:3, :3] @ T_BASE_IMU[:3, :3]
    force = R_map_imu.T @ [AHEAD_M_S2, 0.0, GRAVITY_M_S2]
    for stamp_ns in range(begin_ns + IMU_NS, end_ns + 1, IMU_NS):
        partner.send("imu/data_raw", imu_of(stamp_ns, [0.0, 0.0, 0.0], force))


def test_with_an_imu_images_are_expected_where_it_leads_and_the_twist_is_reported(start):
    partner = start(mounting=as_lists(T_BASE_OPTICAL), imu=True, n_candidates=1, map_sigma_m=0.0)
    partner.send_edge("base_link", "imu_link", T_BASE_IMU)
    partner.send("camera/camera_info", info_of(SCAN))
    partner.spin(lambda: partner.node._camera._ideal is not None)
    partner.spin(lambda: partner.node._imu._mounting.find("imu_link") is not None)
    dark = np.zeros((SCAN.height, SCAN.width), np.uint8)
    last_ns = -IMU_NS
    for k in (*range(11), 15, 19, 20):  # blind for half a second, in which it moves on by 75 cm
        sense(partner, last_ns, last_ns := k * FRAME_NS // IMU_NS * IMU_NS)
        show(partner, k, faster_at(k * 0.05)[0], picture=dark if k in (15, 19) else None)
    n_sent = last_ns // IMU_NS + 1
    assert partner.node._imu.counters["n_imu"] > n_sent - 6  # of 13 at once; few may be lost
    sense(partner, last_ns, 21 * FRAME_NS)
    show(partner, 21, faster_at(0.3)[0])  # this cannot be
    partner.spin(lambda: len(partner.statuses()) == 15)
    statuses = [status.message.partition(":")[0] for status in partner.statuses()]
    assert statuses == ["relocalized"] + 10 * ["tracked"] + 2 * ["lost"] + ["tracked", "lost"]
    assert "from where the IMU led" in partner.statuses()[-1].message
    messages = partner.heard["localization/odom"]
    assert len(messages) == 12
    T_map_cam, v_base = faster_at(1.0)
    expected = T_map_cam @ np.linalg.inv(T_BASE_OPTICAL)
    np.testing.assert_allclose(partner.poses()[-1], expected, atol=2 * NEAR_M)
    twist = messages[-1].twist
    v, omega = twist.twist.linear, twist.twist.angular
    np.testing.assert_allclose([v.x, v.y, v.z], v_base, atol=NEAR_M_S)
    np.testing.assert_allclose([omega.x, omega.y, omega.z], 0.0, atol=NEAR_RAD_S)
    for covariance, largest in ((twist.covariance, NEAR_M_S), (messages[-1].pose.covariance, 0.02)):
        variances = np.linalg.eigvalsh(np.reshape(covariance, (6, 6)))
        assert variances.min() > 0.0 and variances.max() < largest**2
    partner.spin(lambda: partner.values().get("n_imu_refused") == "0")
    assert partner.values()["inertial"] == "fused"


def test_samples_of_an_imu_that_are_of_no_use_are_reported(start, capfd):
    partner = start(mounting=as_lists(T_BASE_OPTICAL), imu=True)
    partner.send("camera/camera_info", info_of(SCAN))
    partner.spin(lambda: partner.node._camera._ideal is not None)
    level = ([0.0, 0.0, 0.0], [0.0, 0.0, GRAVITY_M_S2])
    partner.send("imu/data_raw", imu_of(0, *level))  # nobody says where it sits
    partner.spin(lambda: partner.node._imu.counters["n_imu_refused"] == 1)
    assert "/tf_static does not tell where 'imu_link' sits on 'base_link'" in capfd.readouterr().err
    partner.send_edge("base_link", "imu_link", T_BASE_IMU)
    partner.spin(lambda: partner.node._imu._mounting.find("imu_link") is not None)
    partner.send("imu/data_raw", imu_of(0, [0.0, np.nan, 0.0], level[1]))
    for name in ("angular_velocity", "linear_acceleration"):
        without = imu_of(0, *level)
        getattr(without, f"{name}_covariance")[0] = -1.0
        with pytest.raises(ValueError, match=f"it has no {name}"):
            reading_of(without)
        partner.send("imu/data_raw", without)
    show(partner, 0)
    assert partner.node._imu.counters == {"n_imu": 0, "n_imu_refused": 4}
    partner.spin(lambda: partner.values().get("n_images") == "1")
    assert partner.values()["inertial"] == "no sample of the IMU has come"
    partner.spin(partner.poses)
    assert not np.any(partner.heard["localization/odom"][0].twist.covariance)


@pytest.mark.parametrize("n_waiting", [1, 4])
def test_of_images_that_wait_only_the_last_ones_are_retained(start, n_waiting):
    partner = start(mounting=as_lists(T_BASE_OPTICAL), n_waiting_images=n_waiting)
    (images,) = (s for s in partner.node.subscriptions if s.topic_name == "/camera/image_raw")
    assert images.qos_profile.depth == n_waiting
    assert images.qos_profile.history == HistoryPolicy.KEEP_LAST


def test_an_initial_pose_says_where_it_begins_anew(start):
    partner = start(mounting=as_lists(T_BASE_OPTICAL))
    partner.send("camera/camera_info", info_of(SCAN))
    show(partner, 0)
    for frame, k in (("odom", 1), ("map", 2)):
        message = PoseWithCovarianceStamped()
        message.header.frame_id = frame
        message.pose.pose = pose_message(base_at(40))
        before = partner.node._start
        partner.send("initialpose", message)
        partner.spin(lambda k=k, before=before: k == 1 or partner.node._start is not before)
        show(partner, k, taken_at(40))
    partner.spin(lambda: len(partner.statuses()) == 3)
    # Without: 2 m from where it was, so it had to be looked for.
    assert [s.message for s in partner.statuses()][1:] == ["relocalized", "tracked"]


def test_a_start_is_reported_by_parameter_and_holds_when_time_goes_back(start):
    yaw_deg = 90.0
    T_map_base = np.eye(4)
    T_map_base[:3, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    T_map_base[:3, 3] = [0.5, 0.2, 0.9]
    mounting = as_lists(np.linalg.inv(T_map_base) @ taken_at(4))
    partner = start(mounting=mounting, start=f"[0.5, 0.2, 0.9, {yaw_deg}]")
    partner.send("camera/camera_info", info_of(SCAN))
    partner.spin(lambda: partner.node._camera._ideal is not None)
    show(partner, 10, taken_at(4))
    show(partner, 11, taken_at(40))
    show(partner, 2, taken_at(4))
    partner.spin(lambda: len(partner.statuses()) == 3)
    found = [s.message for s in partner.statuses()]
    assert found == ["tracked", "relocalized", "tracked"]
    np.testing.assert_allclose(partner.poses()[2], T_map_base, atol=2 * NEAR_M)


def test_what_is_no_picture_is_skipped_and_counted(start):
    partner = start(mounting=as_lists(T_BASE_OPTICAL))
    show(partner, 0)  # no camera_info yet
    partner.send("camera/camera_info", info_of(SCAN, distortion_model="rational", d=[0.1] * 8))
    show(partner, 1)
    partner.send("camera/camera_info", info_of(SCAN))
    partner.spin(lambda: partner.node._camera._ideal is not None)
    show(partner, 2, picture=np.zeros((200, 300), np.float32), encoding="32FC1")
    show(partner, 3, picture=np.zeros((100, 300), np.uint8))
    colour = np.repeat(WALL.seen(SCAN, taken_at(4))[0][..., None], 3, axis=2).round()
    for k, encoding in ((4, "rgb8"), (5, "bgr8")):
        show(partner, k, picture=np.clip(colour, 0, 255).astype(np.uint8), encoding=encoding)
    partner.spin(lambda: partner.values().get("n_images") == "2")
    assert partner.values()["n_images_skipped"] == "4"
    assert [s.message for s in partner.statuses()] == ["relocalized", "tracked"]


def test_pictures_of_a_distorted_lens_are_rectified(start):
    lens = BrownCamera(**vars(SCAN), k1=-0.25, k2=0.05, p1=0.001, p2=-0.001)
    partner = start(mounting=as_lists(T_BASE_OPTICAL))
    partner.send("camera/camera_info", info_of(lens))
    partner.spin(lambda: partner.node._camera._ideal is not None)
    for k in range(3):
        show(partner, k, camera=lens)
    partner.spin(lambda: len(partner.poses()) == 3)
    np.testing.assert_allclose(partner.poses()[-1][:3, 3], base_at(2)[:3, 3], atol=RAW_M)


def test_without_a_path_views_stand_where_the_map_was_made(start):
    partner = start(path="none", mounting=as_lists(T_BASE_OPTICAL))
    partner.send("camera/camera_info", info_of(SCAN))
    far = pose([0, 0, 0], [1.0, 0.1, 0.2])
    partner.spin(lambda: partner.node._camera._ideal is not None)
    show(partner, 0, far)
    partner.spin(lambda: partner.poses())
    expected = far @ np.linalg.inv(T_BASE_OPTICAL)
    np.testing.assert_allclose(partner.poses()[0][:3, 3], expected[:3, 3], atol=2 * NEAR_M)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"map": "nowhere"}, DenseMapError, "nowhere/manifest.json: cannot be read"),
        ({"path": "nowhere.tum"}, UserError, "nowhere.tum: cannot be read"),
        ({"start": "[1.0, 2.0]"}, ParameterError, "start: expected 4 numbers or none, found 2"),
        ({"alignment.n_levels": 0}, ParameterError, r"alignment\.n_levels: expected at least 1"),
    ],
)
def test_wrong_parameters_end_the_node_with_their_name(start, changes, error, message):
    with pytest.raises(error, match=message):
        start(**changes)


def test_a_damaged_map_ends_the_node_with_the_name_of_the_file(start, folder, tmp_path):
    import shutil

    damaged = shutil.copytree(folder, tmp_path / "damaged")
    surface = next((damaged / "surfaces").iterdir())
    content = bytearray(surface.read_bytes())
    content[len(content) // 2] ^= 1
    surface.write_bytes(content)
    with pytest.raises(DenseMapError, match=f"{surface.name}: its SHA-256"):
        start(map=damaged)
