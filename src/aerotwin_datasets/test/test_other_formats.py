# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""KITTI odometry, TUM RGB-D and bags of ROS 1: what is written, and that it comes back."""

import cv2
import numpy as np
import pytest
import yaml
from rosbags.rosbag1 import Reader, Writer
from rosbags.typesys import Stores, get_typestore
from scipy.spatial.transform import Rotation

from aerotwin_core import messages
from aerotwin_core.bag import BagReader, BagWriter
from aerotwin_core.camera import PinholeCamera
from aerotwin_core.cli import main
from aerotwin_core.errors import UserError
from aerotwin_core.frames import make_transform
from aerotwin_datasets import export_bag, import_dataset, read_recording
from support.dataset_samples import (
    FRAME_NS,
    LENS,
    N_FRAMES,
    START_NS,
    assert_same_files,
    depth_image,
    frame_image,
    parallel_mounting,
    state,
    write_recording,
)

PINHOLE = PinholeCamera(width=32, height=24, fx=30.0, fy=30.0, cx=15.5, cy=11.5)
FORMS = ("kitti", "tum-rgbd", "rosbag1")
ROUNDING = 1e-9


@pytest.fixture
def recording_path(tmp_path):
    return write_recording(
        tmp_path / "bag", lens=PINHOLE, mount=parallel_mounting, depth=True,
        encodings=("mono8", "mono8"),
    )  # fmt: skip


def T_map_optical(k: int) -> np.ndarray:
    p, R, _, _ = state(k * FRAME_NS * 1e-9)
    return make_transform(R.as_matrix(), p) @ parallel_mounting(0)


@pytest.mark.parametrize("form", FORMS)
def test_export_import_export_gives_the_same_bytes(recording_path, tmp_path, form):
    export_bag(form, read_recording(recording_path), tmp_path / "one")
    import_dataset(form, tmp_path / "one", tmp_path / "again")
    export_bag(form, read_recording(tmp_path / "again"), tmp_path / "two")
    assert_same_files(tmp_path / "one", tmp_path / "two")


@pytest.mark.parametrize("form", FORMS)
def test_every_message_comes_back_byte_for_byte(recording_path, tmp_path, form):
    export_bag(form, read_recording(recording_path), tmp_path / "set")
    import_dataset(form, tmp_path / "set", tmp_path / "again")
    before, after = BagReader(recording_path), BagReader(tmp_path / "again")
    assert before.topics == after.topics
    for topic in before.topics:
        assert [*before.raw([topic])] == [*after.raw([topic])], topic
    assert before.metadata("sensors").items() <= after.metadata("sensors").items()


@pytest.mark.parametrize("form", ["kitti", "tum-rgbd"])
def test_without_other_topics_images_lens_and_mounting_come_back(recording_path, tmp_path, form):
    before = read_recording(recording_path)
    export_bag(form, before, tmp_path / "set", is_lean=True)
    import_dataset(form, tmp_path / "set", tmp_path / "again")
    after = read_recording(tmp_path / "again")
    left = after.cameras[0]
    assert (left.topic, left.camera) == ("/stereo/left/image_raw", PINHOLE) or form == "tum-rgbd"
    for topic in {c.topic for c in after.cameras if not c.is_depth}:
        raw = [[cdr for _, _, cdr in each.bag.raw([topic])] for each in (before, after)]
        assert raw[0] == raw[1]
    by_topic = {camera.topic: camera for camera in before.cameras}
    for camera in after.cameras:
        np.testing.assert_allclose(
            camera.T_base_optical, by_topic[camera.topic].T_base_optical, atol=1e-12
        )
        assert camera.camera == by_topic[camera.topic].camera


def test_kitti_has_numbered_pairs_and_poses_of_the_left_camera(recording_path, tmp_path):
    export_bag("kitti", read_recording(recording_path), tmp_path / "set")
    folder = tmp_path / "set"
    for side, name in enumerate(("image_0", "image_1")):
        for k in range(N_FRAMES):
            picture = cv2.imread(str(folder / name / f"{k:06d}.png"), cv2.IMREAD_UNCHANGED)
            np.testing.assert_array_equal(picture, frame_image(k, side, "mono8"))
    lines = (folder / "times.txt").read_text().split()
    assert lines[1] == "1700000000.050000004"
    P = {line.split(":")[0]: np.array(line.split()[1:], float).reshape(3, 4)
         for line in (folder / "calib.txt").read_text().splitlines()}  # fmt: skip
    assert sorted(P) == ["P0", "P1", "P2", "P3"]
    np.testing.assert_array_equal(P["P0"][:, :3], PINHOLE.matrix)
    assert P["P1"][0, 3] == pytest.approx(-30.0 * 0.11)
    poses = np.loadtxt(folder / "poses.txt").reshape(-1, 3, 4)
    first = np.linalg.inv(T_map_optical(0))
    for k in (0, 1, N_FRAMES - 1):
        np.testing.assert_allclose(poses[k], (first @ T_map_optical(k))[:3], atol=1e-5)


def test_kitti_of_cameras_that_distort_is_refused(tmp_path):
    bag = write_recording(tmp_path / "bag", lens=LENS, mount=parallel_mounting)
    with pytest.raises(UserError, match="KITTI holds rectified stereo pairs"):
        export_bag("kitti", read_recording(bag), tmp_path / "set")
    with pytest.raises(UserError, match=r"\(stereo_right, stereo_left\) are no pair"):
        recording = read_recording(write_recording(tmp_path / "b2", lens=PINHOLE,
                                                   mount=parallel_mounting))  # fmt: skip
        export_bag("kitti", recording, tmp_path / "s", cameras=["stereo_right", "stereo_left"])
    assert not (tmp_path / "set").exists()


def test_tum_rgbd_has_depth_in_steps_and_truth_of_the_camera(recording_path, tmp_path):
    folder = tmp_path / "set"
    export_bag("tum-rgbd", read_recording(recording_path), folder)
    at = f"{START_NS // 10**9}.{START_NS % 10**9:09d}"
    picture = cv2.imread(str(folder / "rgb" / f"{at}.png"), cv2.IMREAD_UNCHANGED)
    np.testing.assert_array_equal(picture, frame_image(0, 0, "mono8"))
    steps = cv2.imread(str(folder / "depth" / f"{at}.png"), cv2.IMREAD_UNCHANGED)
    assert steps.dtype == np.uint16
    assert steps[0, :3].tolist() == [0, 0, 0]
    z = depth_image(0)
    np.testing.assert_allclose(steps[1:] / 5000.0, z[1:], atol=0.5 / 5000.0 + 1e-6)
    rows = np.loadtxt(folder / "groundtruth.txt")
    _, *p, x, y, z, w = rows[0]
    np.testing.assert_allclose(p, T_map_optical(0)[:3, 3], atol=ROUNDING)
    R = Rotation.from_quat([x, y, z, w]).as_matrix()
    np.testing.assert_allclose(R, T_map_optical(0)[:3, :3], atol=ROUNDING)
    pairs = (folder / "associations.txt").read_text().splitlines()
    assert pairs[0] == f"{at} rgb/{at}.png {at} depth/{at}.png"
    assert len(pairs) == N_FRAMES
    settings = yaml.safe_load((folder / "settings" / "stella_vslam" / "rgbd.yaml").read_text())
    assert settings["Preprocessing"] == {"min_size": 800, "depthmap_factor": 5000.0}


def test_tum_rgbd_of_depth_that_another_lens_sees_is_refused_and_not_chosen(tmp_path):
    """Pixel by pixel it would be the depth of something else."""
    narrow = PinholeCamera(width=32, height=24, fx=40.0, fy=40.0, cx=15.5, cy=11.5)
    beside = make_transform(np.eye(3), [0.05, 0.0, 0.0])
    for name, lens, T in (("lens", narrow, np.eye(4)), ("mounting", PINHOLE, beside)):
        bag = write_recording(
            tmp_path / name, lens=PINHOLE, mount=parallel_mounting, encodings=("mono8", "mono8"),
            depth=True, depth_lens=lens, T_left_depth=T,
        )  # fmt: skip
        recording, folder = read_recording(bag), tmp_path / f"{name}_set"
        with pytest.raises(UserError, match=r"depth of depth_alone is not that of the pixels of"):
            export_bag("tum-rgbd", recording, folder, cameras=["stereo_left", "depth_alone"])
        done = export_bag("tum-rgbd", recording, folder)
        assert any("depth of depth_alone is not that of the pixels" in p for p in done.problems)
        assert not (folder / "depth").exists() and not (folder / "associations.txt").exists()
        assert not list((folder / "settings").rglob("rgbd.yaml"))
        assert BagReader(folder / "other_topics").counts["/depth_alone/image_raw"] == N_FRAMES


def test_the_truth_of_a_part_is_that_of_the_part(recording_path, tmp_path):
    """A SLAM that covers all images would else seem to have lost its way before and after."""
    part = {"start_s": 0.05, "duration_s": 0.1}
    first, last = START_NS + FRAME_NS, START_NS + 3 * FRAME_NS
    export_bag("tum-rgbd", read_recording(recording_path, **part), tmp_path / "tum")
    stamps = [
        int(line.split()[0].replace(".", ""))
        for line in (tmp_path / "tum" / "groundtruth.txt").read_text().splitlines()[1:]
    ]
    assert first <= stamps[0] < first + 5_000_000 and last - 5_000_000 < stamps[-1] <= last
    export_bag("kitti", read_recording(recording_path, **part), tmp_path / "kitti")
    assert len((tmp_path / "kitti" / "poses.txt").read_text().splitlines()) == 3


def test_ros_1_reads_the_bag_with_its_own_types(recording_path, tmp_path):
    export_bag("rosbag1", read_recording(recording_path), tmp_path / "set")
    store = get_typestore(Stores.ROS1_NOETIC)
    source = BagReader(recording_path)
    with Reader(tmp_path / "set" / "recording.bag") as bag:
        counts = {topic: info.msgcount for topic, info in bag.topics.items()}
        assert counts == source.counts
        infos = [c for c in bag.connections if c.topic == "/stereo/left/camera_info"]
        _, stamp, raw = next(iter(bag.messages(infos)))
        info = store.deserialize_ros1(raw, infos[0].msgtype)
        (imu,) = (c for c in bag.connections if c.topic == "/imu/data_raw")
        reading = store.deserialize_ros1(next(iter(bag.messages([imu])))[2], imu.msgtype)
    assert stamp == START_NS
    np.testing.assert_array_equal(info.K, PINHOLE.matrix.ravel())
    assert (info.R.reshape(3, 3) == np.eye(3)).all()
    first = next(iter(source.messages(["/imu/data_raw"])))[2]
    assert reading.linear_acceleration.y == first.linear_acceleration.y
    assert reading.header.frame_id == "imu_link"


def test_what_ros_1_states_otherwise_is_also_kept_as_it_is(tmp_path):
    battery = messages.battery_state_message(
        5, "base_link", charge=0.5, voltage_v=15.0, current_a=3.0, capacity_ah=4.0
    )
    with BagWriter(tmp_path / "bag") as bag:
        bag.add_topic("/battery", battery.__msgtype__)
        bag.write("/battery", 5, messages.serialize(battery))
    export_bag("rosbag1", read_recording(tmp_path / "bag"), tmp_path / "set")
    with Reader(tmp_path / "set" / "recording.bag") as bag:
        assert bag.topics["/battery"].msgcount == 1
    import_dataset("rosbag1", tmp_path / "set", tmp_path / "again")
    (entry,) = BagReader(tmp_path / "again").raw()
    assert entry == ("/battery", 5, messages.serialize(battery))


@pytest.mark.parametrize(
    ("field", "is_deskewed", "is_relative"),
    [("time", True, True), ("t", True, True), ("timestamp", True, False), ("", False, False)],
)
def test_settings_of_rko_lio_say_how_point_times_count(tmp_path, field, is_deskewed, is_relative):
    cloud = messages.point_cloud_message(5, "lidar", np.ones((3, 3)), intensity=np.zeros(3))
    cloud.fields[3].name = field or "intensity"
    with BagWriter(tmp_path / "bag") as bag:
        bag.add_topic("/lidar/points", cloud.__msgtype__)
        bag.write("/lidar/points", 5, messages.serialize(cloud))
    export_bag("rosbag1", read_recording(tmp_path / "bag"), tmp_path / "set")
    settings = tmp_path / "set" / "settings"
    assert sorted(path.name for path in settings.iterdir() if path.is_dir()) == [
        "kiss_slam", "rko_lio",
    ]  # fmt: skip
    assert yaml.safe_load((settings / "rko_lio" / "config.yaml").read_text()) == {
        "deskew": is_deskewed, "lidar_timestamps": {"force_relative": is_relative},
    }  # fmt: skip


def test_a_bag_of_ros_1_alone_is_imported_and_a_damaged_one_named(recording_path, tmp_path):
    export_bag("rosbag1", read_recording(recording_path), tmp_path / "set")
    path = tmp_path / "set" / "recording.bag"
    words = ["import", "rosbag1", str(path), "-o"]
    assert main([*words, str(tmp_path / "alone")]) == 0
    assert BagReader(tmp_path / "alone").counts == BagReader(recording_path).counts
    data = path.read_bytes()
    for name, damaged in (("cut", data[: len(data) // 2]), ("text", b"#ROSBAG V2.0\nabc")):
        path.write_bytes(damaged)
        with pytest.raises(UserError, match=r"recording\.bag: no bag of ROS 1 that can be read"):
            import_dataset("rosbag1", path, tmp_path / name)
        assert not (tmp_path / name).exists()
    with pytest.raises(UserError, match="no file"):
        import_dataset("rosbag1", tmp_path / "nosuch.bag", tmp_path / "out")


@pytest.mark.parametrize("kind", ["bz2", "lz4"])
def test_compressed_chunks_are_read_and_bombs_are_not(recording_path, tmp_path, monkeypatch, kind):
    stored = export_bag("rosbag1", read_recording(recording_path), tmp_path / "set")
    packed = tmp_path / "packed.bag"
    writer = Writer(packed)
    writer.set_compression(getattr(Writer.CompressionFormat, kind.upper()))
    with Reader(tmp_path / "set" / "recording.bag") as source, writer as bag:
        store = get_typestore(Stores.ROS1_NOETIC)
        known = [c for c in source.connections if c.topic != "/tf_static"]
        made = {c.id: bag.add_connection(c.topic, c.msgtype, typestore=store) for c in known}
        for connection, at, data in source.messages(known):
            bag.write(made[connection.id], at, data)
    done = import_dataset("rosbag1", packed, tmp_path / "out")
    assert sum(done.counts.values()) == sum(stored.counts.values()) - 1
    monkeypatch.setattr("aerotwin_datasets.rosbag1.most_at_once", lambda _: 1000)
    monkeypatch.setattr("aerotwin_core.bag.compression.most_at_once", lambda _: 1000)
    with pytest.raises(UserError, match=r"packed\.bag: .*more than 1000 bytes come out"):
        import_dataset("rosbag1", packed, tmp_path / "bomb")


def test_a_type_of_ros_1_with_other_fields_than_the_standard_one_is_left_out(tmp_path):
    store = get_typestore(Stores.ROS1_NOETIC)
    with Writer(tmp_path / "other.bag") as bag:
        for topic, digest in (
            ("/same", {}),
            ("/other", {"msgdef": "int8 data\n", "md5sum": "0" * 32}),
        ):
            connection = bag.add_connection(topic, "std_msgs/msg/Int32", typestore=store, **digest)
            bag.write(connection, 5, b"\1\0\0\0")
    done = import_dataset("rosbag1", tmp_path / "other.bag", tmp_path / "out")
    assert done.counts == {"/same": 1}
    (problem,) = done.problems
    assert "topic /other: its std_msgs/msg/Int32 has other fields than the standard" in problem


def test_an_exported_data_set_is_not_imported_as_another(recording_path, tmp_path):
    for form, other in (("kitti", "tum-rgbd"), ("rosbag1", "euroc"), ("euroc", "rosbag1")):
        export_bag(form, read_recording(recording_path), tmp_path / form, is_lean=True)
        with pytest.raises(
            UserError, match=rf"expected format {other}, found {form}; import it as that"
        ):
            import_dataset(other, tmp_path / form, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("topic", ["", "/stereo/right/image_raw", "/stereo/left/camera_info"])
def test_two_streams_of_one_topic_are_refused(recording_path, tmp_path, topic):
    export_bag("kitti", read_recording(recording_path), tmp_path / "set", is_lean=True)
    sheet = tmp_path / "set" / "aerotwin.yaml"
    content = yaml.safe_load(sheet.read_text())
    content["cameras"]["image_0"]["topic"] = topic
    sheet.write_text(yaml.safe_dump(content))
    with pytest.raises(UserError, match=r"aerotwin\.yaml: expected a topic of its own"):
        import_dataset("kitti", tmp_path / "set", tmp_path / "out")


def test_a_tum_rgbd_sequence_of_others_needs_its_lens(tmp_path, capsys):
    folder = tmp_path / "desk"
    for name in ("rgb", "depth"):
        (folder / name).mkdir(parents=True)
        (folder / f"{name}.txt").write_text(f"# {name}\n1305031102.175304 {name}/a.png\n")
    cv2.imwrite(str(folder / "rgb" / "a.png"), frame_image(0, 0, "rgb8"))
    cv2.imwrite(str(folder / "depth" / "a.png"), np.full((24, 32), 5000, np.uint16))
    (folder / "groundtruth.txt").write_text("1305031102.175304 1 2 3 0.5 -0.5 0.5 0.5\n")
    words = ["import", "tum-rgbd", str(folder), "-o", str(tmp_path / "out")]
    assert main(words) == 2
    assert "state it with --intrinsics" in capsys.readouterr().err
    assert main([*words, "--intrinsics", "1", "2"]) == 2
    assert main([*words, "--intrinsics", "525", "525", "15.5", "11.5"]) == 0
    recording = read_recording(tmp_path / "out")
    colour, depth = sorted(recording.cameras, key=lambda camera: camera.is_depth)
    assert (colour.encoding, depth.encoding) == ("rgb8", "32FC1")
    (message,) = (m for _, _, m in recording.bag.messages([depth.topic]))
    assert set(message.data.view(np.float32).tolist()) == {1.0}
    T = recording.bag.trajectory("/truth/odom").transforms()[0] @ colour.T_base_optical
    np.testing.assert_allclose(T[:3, 3], [1, 2, 3], atol=1e-12)
    R = Rotation.from_quat([0.5, -0.5, 0.5, 0.5]).as_matrix()
    np.testing.assert_allclose(T[:3, :3], R, atol=1e-12)
    for lines, message in (
        ("1.0 ../../secret.png\n", r"rgb\.txt:1: .* must lie in"),
        ("1.0 rgb/a.png\n2.0 rgb/a.png\n", r"rgb\.txt:2: 'rgb/a.png'.* is listed twice"),
    ):
        (folder / "rgb.txt").write_text(lines)
        with pytest.raises(UserError, match=message):
            import_dataset("tum-rgbd", folder, tmp_path / "o2", intrinsics=[525, 525, 15.5, 11.5])
    (folder / "rgb.txt").write_text("1.0 rgb/a.png\n")
    cv2.imwrite(str(folder / "depth" / "a.png"), np.full((24, 32), 50, np.uint8))
    with pytest.raises(UserError, match=r"a\.png: expected depth .* 16 bits, found 1 x uint8"):
        import_dataset("tum-rgbd", folder, tmp_path / "o2", intrinsics=[525, 525, 15.5, 11.5])
    assert not (tmp_path / "o2").exists()
