# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What the topics of a bag are, what of them is played, and how fast."""

import numpy as np
import pytest

from aerotwin_core import camera_messages, messages
from aerotwin_core.bag import BagReader, BagWriter
from aerotwin_core.errors import UserError
from aerotwin_core.trajectory import Trajectory
from aerotwin_run_evaluation.bag.frames import FrameCollector, collect_frames
from aerotwin_run_evaluation.bag.pace import LastAnswers, RealTimePace
from aerotwin_run_evaluation.bag.playing import RecordedQos, plan_playing, read_recorded_qos
from aerotwin_run_evaluation.bag.poses import truth_within
from aerotwin_run_evaluation.bag.roles import find_roles, parse_renames
from aerotwin_run_evaluation.bag.vehicles import vehicles_of
from aerotwin_trajectory_evaluation.slam_poses import (
    frames_of_estimate,
    header_stamp_ns,
    read_poses,
)

IMAGE, INFO = "sensor_msgs/msg/Image", "sensor_msgs/msg/CameraInfo"
CLOUD, IMU = "sensor_msgs/msg/PointCloud2", "sensor_msgs/msg/Imu"
ODOMETRY, POSE = "nav_msgs/msg/Odometry", "geometry_msgs/msg/PoseStamped"
TF = "tf2_msgs/msg/TFMessage"

EUROC = {
    "/cam0/image_raw": IMAGE,
    "/cam1/image_raw": IMAGE,
    "/imu0": IMU,
    "/vicon/firefly_sbx/firefly_sbx": "geometry_msgs/msg/TransformStamped",
}
OWN = {
    "/stereo/left/image_raw": IMAGE,
    "/stereo/right/image_raw": IMAGE,
    "/stereo/left/camera_info": INFO,
    "/stereo/right/camera_info": INFO,
    "/depth/image_rect": IMAGE,
    "/lidar/points": CLOUD,
    "/slam/map": CLOUD,
    "/slam/odom": ODOMETRY,
    "/truth/odom": ODOMETRY,
    "/autopilot/odom": ODOMETRY,
    "/command/pose": POSE,
    "/tf": TF,
    "/tf_static": TF,
}
NEWER_COLLEGE = {
    "/ouster/points": CLOUD,
    "/global_map": CLOUD,
    "/ground_truth/pose": POSE,
    "/lio_sam/mapping/odometry": ODOMETRY,
    "/alphasense_driver_ros/imu": IMU,
}
REALSENSE = {
    "/camera/infra1/image_rect_raw": IMAGE,
    "/camera/infra1/camera_info": INFO,
    "/camera/infra2/image_rect_raw": IMAGE,
    "/camera/infra2/camera_info": INFO,
    "/camera/color/image_raw": IMAGE,
    "/camera/depth/image_rect_raw": IMAGE,
    "/vrpn_client_node/drone/pose": POSE,
}


def roles_of(topics, **counts):
    return find_roles(topics, {name: counts.get(name, 1) for name in topics})


@pytest.mark.parametrize(
    ("topics", "expected"),
    [
        (
            EUROC,
            {
                "left": "/cam0/image_raw",
                "right": "/cam1/image_raw",
                "truth": "/vicon/firefly_sbx/firefly_sbx",
                "frames": "/cam0/image_raw",
                "left_info": None,
            },
        ),
        (
            OWN,
            {
                "left": "/stereo/left/image_raw",
                "right": "/stereo/right/image_raw",
                "right_info": "/stereo/right/camera_info",
                "lidar": "/lidar/points",
                "truth": "/truth/odom",
                "estimates": ("/slam/odom",),
                "map": "/slam/map",
            },
        ),
        (
            NEWER_COLLEGE,
            {
                "left": None,
                "lidar": "/ouster/points",
                "map": "/global_map",
                "truth": "/ground_truth/pose",
                "estimates": ("/lio_sam/mapping/odometry",),
                "frames": "/ouster/points",
            },
        ),
        (
            REALSENSE,
            {
                "left": "/camera/infra1/image_rect_raw",
                "right": "/camera/infra2/image_rect_raw",
                "left_info": "/camera/infra1/camera_info",
                "truth": "/vrpn_client_node/drone/pose",
                "estimates": (),
            },
        ),
        ({"/camera/image_raw": IMAGE}, {"left": "/camera/image_raw", "right": None}),
        ({}, {"frames": None, "truth": None}),
    ],
)
def test_the_roles_of_known_recordings_are_found(topics, expected):
    roles = roles_of(topics)
    assert {name: getattr(roles, name) for name in expected} == expected


def test_a_topic_without_messages_plays_no_role():
    topics = {"/lidar/points": CLOUD, "/velodyne_points": CLOUD}
    assert find_roles(topics, {"/lidar/points": 0, "/velodyne_points": 9}).lidar == (
        "/velodyne_points"
    )


def fleet_of(*vehicles):
    """Return the topics of vehicles that have all those of one, and the shared ones."""
    shared = {"/tf", "/tf_static"}
    own = {
        f"/{vehicle}{name}": kind
        for vehicle in vehicles
        for name, kind in OWN.items()
        if name not in shared
    }
    return {**own, "/clock": "rosgraph_msgs/msg/Clock", "/tf": TF, "/tf_static": TF}


def test_a_vehicle_of_a_fleet_has_the_roles_that_it_has_alone():
    topics, alone = fleet_of("uav1", "uav10"), roles_of(OWN)
    found = find_roles(topics, dict.fromkeys(topics, 1), "uav1")
    assert found.vehicle == "uav1"
    for name in ("left", "right", "left_info", "right_info", "lidar", "truth", "map"):
        assert getattr(found, name) == f"/uav1{getattr(alone, name)}"
    assert found.estimates == ("/uav1/slam/odom",)


def test_the_vehicles_of_a_fleet_are_those_with_a_true_pose():
    assert vehicles_of({**fleet_of("uav1", "uav0"), "/map/points": CLOUD}) == ["uav0", "uav1"]
    assert vehicles_of(OWN) == []


def test_an_external_slam_gets_a_vehicle_as_if_it_flew_alone():
    outputs = ("/slam/odom", "/slam/map")
    alone = plan(OWN, outputs=outputs)
    found = plan(fleet_of("uav1", "uav10"), outputs=outputs, vehicle="uav1")
    assert {topic.name for topic in found.topics} == {topic.name for topic in alone.topics}
    assert all(t.source in (t.name, f"/uav1{t.name}") for t in found.topics)
    assert found.frames == "/uav1/stereo/left/image_raw"
    assert found.gate == "/uav1/stereo/right/image_raw"
    assert found.held_back["/uav1/slam/odom"] == "the SLAM publishes it"
    assert found.held_back["/uav1/truth/odom"] == "the truth"
    assert found.held_back["/uav10/stereo/left/image_raw"] == "of another vehicle"


@pytest.mark.parametrize("slam", ["stereo_odometry", "kiss_icp"])
def test_a_shipped_slam_gets_the_sensors_of_the_vehicle(slam):
    found = plan(fleet_of("uav1", "uav10"), slam=slam, vehicle="uav10")
    assert all(t.source in (t.name, f"/uav10{t.name}") for t in found.topics)
    assert {topic.name for topic in found.topics} == {t.name for t in plan(OWN, slam=slam).topics}


def plan(topics, *, slam="external", renames=(), vehicle="", **options):
    roles = find_roles(topics, dict.fromkeys(topics, 1), vehicle)
    return plan_playing(
        topics,
        dict.fromkeys(topics, 1),
        roles,
        slam=slam,
        qos=options.pop("qos", {}),
        renames=parse_renames(renames),
        **options,
    )


def test_a_shipped_slam_gets_what_it_subscribes_under_the_names_it_subscribes():
    topics = {**EUROC, "/cam0/camera_info": INFO, "/cam1/camera_info": INFO, "/tf_static": TF}
    found = plan(topics, slam="stereo_odometry")
    assert {topic.name: topic.source for topic in found.topics} == {
        "/stereo/left/camera_info": "/cam0/camera_info",
        "/stereo/left/image_raw": "/cam0/image_raw",
        "/stereo/right/camera_info": "/cam1/camera_info",
        "/stereo/right/image_raw": "/cam1/image_raw",
        "/tf_static": "/tf_static",
    }
    assert (found.frames, found.gate) == ("/cam0/image_raw", "/cam1/image_raw")


def test_what_a_shipped_slam_needs_and_the_bag_lacks_is_named_with_the_way_out():
    with pytest.raises(UserError, match=r"no topic for /stereo/left/camera_info; name one with --"):
        plan(EUROC, slam="stereo_odometry")
    with pytest.raises(UserError, match="no topic for /lidar/points"):
        plan(EUROC, slam="kiss_icp")


def test_lidar_alone_suits_kiss_icp():
    found = plan(NEWER_COLLEGE, slam="kiss_icp")
    assert [(topic.source, topic.name) for topic in found.topics] == [
        ("/ouster/points", "/lidar/points")
    ]
    assert found.frames == found.gate == "/ouster/points"


def test_an_external_slam_gets_all_but_the_truth_and_what_it_publishes_itself():
    found = plan(OWN, outputs=("/slam/odom", "/slam/map"))
    played = {topic.source for topic in found.topics}
    assert dict(found.held_back) == {
        "/slam/map": "the SLAM publishes it",
        "/slam/odom": "the SLAM publishes it",
        "/tf": "holds poses that were known only after",
        "/truth/odom": "the truth",
    }
    assert played == set(OWN) - set(found.held_back)


def test_what_is_named_is_played_and_what_is_not_named_may_be_held_back():
    found = plan(OWN, only=("/lidar/points", "/tf"), renames=["points:=/lidar/points"])
    assert {(topic.source, topic.name) for topic in found.topics} == {
        ("/lidar/points", "/points"),
        ("/tf", "/tf"),
        ("/tf_static", "/tf_static"),
    }
    assert found.held_back["/truth/odom"] == "the truth"
    assert found.held_back["/stereo/left/image_raw"] == "not named"


def test_a_named_topic_that_is_not_there_is_refused():
    with pytest.raises(UserError, match="holds no /nowhere"):
        plan(OWN, only=("/nowhere",))
    with pytest.raises(UserError, match="expected NAME:=TOPIC_OF_THE_BAG, found 'left=right'"):
        parse_renames(["left=right"])


def test_statics_are_latched_whatever_the_recording_says_of_them():
    latched = RecordedQos(is_latched=True, depth=7)
    found = plan(OWN, qos={"/lidar/points": latched})
    qos = {topic.source: topic.qos for topic in found.topics}
    assert qos["/lidar/points"] == latched
    assert qos["/tf_static"].is_latched
    assert not qos["/stereo/left/image_raw"].is_latched


def test_messages_go_out_when_their_time_has_come_and_lag_is_reported():
    now = [100.0]
    asked = []

    def meanwhile(left_s):
        asked.append(left_s)
        now[0] += min(left_s, 0.004) + 1e-9

    pace = RealTimePace(2.0, meanwhile=meanwhile, clock=lambda: now[0])
    pace.wait(5_000_000_000)
    assert now[0] == 100.0
    pace.wait(5_020_000_000)  # 20 ms of the bag, 10 ms of the clock
    assert now[0] == pytest.approx(100.010, abs=1e-6)
    assert asked[0] == pytest.approx(0.010, abs=1e-6)
    now[0] += 1.0
    pace.wait(5_040_000_000)
    assert pace.lag_s == pytest.approx(0.990, abs=1e-6)
    with pytest.raises(ValueError, match="rate must be positive"):
        RealTimePace(0.0, meanwhile=meanwhile)


def test_the_recorded_qos_of_old_and_new_bags_is_read(tmp_path, shared_data):
    with BagWriter(tmp_path / "bag") as bag:
        bag.add_topic("/map", CLOUD, latched=True)
        bag.add_topic("/odom", ODOMETRY)
    expected = {"/map": RecordedQos(is_latched=True, depth=10), "/odom": RecordedQos(depth=10)}
    assert read_recorded_qos(tmp_path / "bag") == expected
    foxy = read_recorded_qos(shared_data("rosbag2/rosbag2_py/sqlite3/talker"))
    assert foxy["/rosout"].is_latched
    assert not foxy["/topic"].is_latched
    assert read_recorded_qos(shared_data("trajectories/evo/tf_example")) == {}
    assert read_recorded_qos(tmp_path / "nothing") == {}


def test_stamps_of_headers_are_read_in_both_byte_orders():
    little = messages.serialize(
        messages.pose_stamped_message(7_000_000_009, "map", [0] * 3, [0, 0, 0, 1])
    )
    assert header_stamp_ns(little) == 7_000_000_009
    big = b"\x00\x00\x00\x00" + (7).to_bytes(4, "big") + (9).to_bytes(4, "big")
    assert header_stamp_ns(big) == 7_000_000_009
    with pytest.raises(ValueError, match="12 bytes at least, got 4"):
        header_stamp_ns(b"\x00\x01\x00\x00")


def test_frames_are_read_once_with_header_stamps_and_pictures_spread_over_the_bag(tmp_path):
    topic, late_ns = "/cam/image", 5_000_000
    with BagWriter(tmp_path / "bag") as bag:
        bag.add_topic(topic, IMAGE)
        for k in range(20):
            picture = np.full((4, 6), k, dtype=np.uint8)
            image = camera_messages.image_message(k * 10**8, "cam", picture)
            bag.write(topic, k * 10**8 + late_ns, messages.serialize(image))
    reader, n_passes = BagReader(tmp_path / "bag"), []
    raw = reader.raw
    reader.raw = lambda topics=None: n_passes.append(topics) or raw(topics)
    frames = collect_frames(reader, topic)
    assert n_passes == [[topic]]
    assert frames.stamps_ns.tolist() == [k * 10**8 for k in range(20)]
    assert [k for k, _ in frames.samples] == [0, 3, 7, 11, 15, 19]
    assert [int(message.data[0]) for _, message in frames.samples] == [0, 3, 7, 11, 15, 19]
    assert collect_frames(reader, None).stamps_ns is None


def test_poses_are_those_of_a_topic_of_frames_or_of_a_file(tmp_path, shared_data):
    bag = BagReader(shared_data("trajectories/evo/tf_example"))
    moving = read_poses(bag, "/tf:odom.base_footprint").trajectory
    assert len(moving) == 517
    chained = read_poses(bag, "/tf:odom.base_link").trajectory
    assert chained.stamps_ns.tolist() == moving.stamps_ns.tolist()
    file = tmp_path / "truth.txt"
    file.write_text("1.0 1 2 3 0 0 0 1\n2.0 2 2 3 0 0 0 1\n")
    np.testing.assert_array_equal(
        read_poses(bag, str(file)).trajectory.p_ref_body, [[1, 2, 3], [2, 2, 3]]
    )
    with pytest.raises(
        UserError, match=r"neither poses of the bag nor a file.*/tf:odom\.base_foot"
    ):
        read_poses(bag, "/odom")


def test_the_truth_of_a_part_lasts_exactly_as_long():
    stamps = np.arange(5) * 100
    p = np.column_stack([stamps / 100.0, np.zeros(5), np.zeros(5)])
    truth = Trajectory(stamps, p, np.tile([0.0, 0.0, 0.0, 1.0], (5, 1)))
    part = truth_within(truth, (150, 320))
    assert part.stamps_ns.tolist() == [150, 200, 300, 320]
    np.testing.assert_allclose(part.p_ref_body[:, 0], [1.5, 2.0, 3.0, 3.2], atol=1e-12)
    assert truth_within(truth, (-50, 900)).stamps_ns.tolist() == stamps.tolist()
    assert truth_within(truth, None) is truth


def test_the_frames_of_an_estimate_are_those_of_the_sensor_whose_stamps_it_carries():
    camera, lidar = np.arange(0, 10_000, 50) * 10**6, np.arange(0, 10_000, 100) * 10**6
    both = (camera, lidar)
    assert frames_of_estimate(both, camera[:150]) is camera
    assert frames_of_estimate(both, lidar) is lidar  # each scan is also at a frame of the camera
    assert frames_of_estimate(both, lidar + 400_000) is lidar  # rounded by its driver
    assert frames_of_estimate(both, camera + 20 * 10**6) is None
    assert frames_of_estimate((camera[:0],), camera) is None


def test_last_answers_are_waited_for_until_it_is_quiet_and_never_for_long():
    now = [100.0]
    answers = LastAnswers(lambda: now[0])
    for _ in range(12):
        now[0] += 0.8
        assert not answers.are_over
        answers.heard()
    now[0] += 0.8  # 10.4 s after the start, and an answer every 0.8 s
    assert answers.are_over
    quiet = LastAnswers(lambda: now[0])
    now[0] += 1.0
    assert quiet.are_over


def test_a_frame_is_answered_once_and_by_its_stamp_alone():
    frames = FrameCollector(2)
    for stamp in (50_000_000, 100_000_000):
        pose = messages.pose_stamped_message(stamp, "map", [0] * 3, [0, 0, 0, 1])
        frames.add(messages.serialize(pose), POSE)
    assert not frames.is_answered_by(75_000_000)
    assert frames.is_answered_by(50_000_400)  # rounded by its driver
    assert not frames.is_answered_by(50_000_400)
    assert frames.is_answered_by(100_000_000)
