# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Data sets in EuRoC's layout made by others: read, and refused with file and line."""

import cv2
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_core.bag import BagReader
from aerotwin_core.cli import main
from aerotwin_core.errors import UserError
from aerotwin_datasets import import_dataset, read_recording
from support.dataset_samples import assert_same_files

CAMERA = """%YAML:1.0
sensor_type: camera
T_BS:
  cols: 4
  rows: 4
  data: [0.0, -1.0, 0.0, -0.02,
         1.0, 0.0, 0.0, {y},
         0.0, 0.0, 1.0, 0.01,
         0.0, 0.0, 0.0, 1.0]
rate_hz: 20
resolution: [8, 6]
camera_model: pinhole
intrinsics: [9.0, 9.5, 3.5, 2.5] # fu, fv, cu, cv
distortion_model: radial-tangential
distortion_coefficients: [-0.1, 0.05, 0.0002, 0.00002]
"""
IMU = """#Default imu sensor yaml file
T_BS: {cols: 4, rows: 4, data: [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]}
gyroscope_noise_density: 1.6968e-04
gyroscope_random_walk: 1.9393e-05
accelerometer_noise_density: 2.0000e-3
accelerometer_random_walk: 3.0000e-3
"""
STAMPS = [1403715273262142976, 1403715273312143104]
STATE = "1403715273262142976,0.8,2.1,0.9,0.5,-0.5,0.5,0.5,1,2,3,-0.002,0.021,0.077,-0.01,0.06,0.03"


@pytest.fixture
def mav(tmp_path):
    folder = tmp_path / "set" / "mav0"
    for k, y in ((0, -0.06), (1, 0.05)):
        (folder / f"cam{k}" / "data").mkdir(parents=True)
        (folder / f"cam{k}" / "sensor.yaml").write_text(CAMERA.replace("{y}", str(y)))
        lines = ["#timestamp [ns],filename", *(f"{at},{at}.png" for at in STAMPS)]
        (folder / f"cam{k}" / "data.csv").write_text("\r\n".join(lines) + "\r\n")
        for n, at in enumerate(STAMPS):
            picture = np.full((6, 8), 40 * k + n, np.uint8)
            cv2.imwrite(str(folder / f"cam{k}" / "data" / f"{at}.png"), picture)
    (folder / "imu0").mkdir()
    (folder / "imu0" / "sensor.yaml").write_text(IMU)
    (folder / "imu0" / "data.csv").write_text(
        f"#timestamp [ns],w,w,w,a,a,a\n{STAMPS[0]},-0.1,0.2,0.3,9.1,0.1,-3.6\n"
    )
    (folder / "state_groundtruth_estimate0").mkdir()
    (folder / "state_groundtruth_estimate0" / "data.csv").write_text(f"#timestamp\n{STATE}\n")
    return folder


def imported(mav, **options):
    import_dataset("euroc", mav.parent, mav.parent.parent / "out", **options)
    return read_recording(mav.parent.parent / "out")


def messages(recording, topic):
    return [message for _, _, message in recording.bag.messages([topic])]


def test_its_sensors_become_topics_of_this_workspace(mav):
    recording = imported(mav)
    left, right = recording.cameras
    assert (left.topic, right.topic) == ("/stereo/left/image_raw", "/stereo/right/image_raw")
    np.testing.assert_allclose(
        left.T_base_optical, [[0, -1, 0, -0.02], [1, 0, 0, -0.06], [0, 0, 1, 0.01], [0, 0, 0, 1]],
        atol=1e-12,
    )  # fmt: skip
    assert left.camera.distortion == (-0.1, 0.05, 0.0002, 0.00002, 0.0)
    assert left.camera.matrix[0].tolist() == [9.0, 0.0, 3.5]
    assert recording.imu.noise.gyroscope_noise_density == 1.6968e-04
    (reading,) = messages(recording, "/imu/data_raw")
    assert (reading.angular_velocity.y, reading.linear_acceleration.z) == (0.2, -3.6)
    assert reading.orientation_covariance[0] == -1.0
    pictures = messages(recording, "/stereo/right/image_raw")
    assert [(p.encoding, int(p.data[0])) for p in pictures] == [("mono8", 40), ("mono8", 41)]
    assert pictures[1].header.stamp.nanosec == 312143104


def test_truth_comes_with_velocity_in_body_axes_and_says_what_it_lacks(mav):
    recording = imported(mav)
    (truth,) = messages(recording, "/truth/odom")
    q = truth.pose.pose.orientation
    assert (q.w, q.x, q.y, q.z) == (0.5, -0.5, 0.5, 0.5)
    v = truth.twist.twist.linear
    in_map = Rotation.from_quat([-0.5, 0.5, 0.5, 0.5]).apply([v.x, v.y, v.z])
    np.testing.assert_allclose(in_map, [1, 2, 3], atol=1e-12)
    assert truth.twist.covariance.reshape(6, 6).diagonal().tolist() == [0, 0, 0, -1, -1, -1]
    (bias,) = messages(recording, "/truth/imu_bias")
    assert (bias.angular_velocity.z, bias.linear_acceleration.y) == (0.077, 0.06)


def test_camera_info_rectifies_the_pair(mav):
    """A point in both rectified images has one row, and columns that differ by f b / z."""
    recording = imported(mav)
    infos = [messages(recording, f"/stereo/{side}/camera_info")[0] for side in ("left", "right")]
    rows, columns = [], []
    for camera, info in zip(recording.cameras, infos, strict=True):
        point = (np.linalg.inv(camera.T_base_optical) @ [0.3, 0.2, 4.0, 1.0])[:3]
        in_rectified = info.r.reshape(3, 3) @ point
        # P of the second camera moves the point into the first one's frame itself.
        if not columns:
            z = in_rectified[2]
            seen = info.p.reshape(3, 4) @ [*in_rectified, 1.0]
        else:
            first = (
                infos[0].r.reshape(3, 3)
                @ (np.linalg.inv(recording.cameras[0].T_base_optical) @ [0.3, 0.2, 4.0, 1.0])[:3]
            )
            seen = info.p.reshape(3, 4) @ [*first, 1.0]
            direct = info.p.reshape(3, 4)[:, :3] @ in_rectified
            np.testing.assert_allclose(seen / seen[2], direct / direct[2], atol=1e-9)
        columns.append(seen[0] / seen[2])
        rows.append(seen[1] / seen[2])
    assert rows[0] == pytest.approx(rows[1], abs=1e-9)
    f = infos[0].p[0]
    assert columns[0] - columns[1] == pytest.approx(f * 0.11 / z, abs=1e-9)


def test_its_export_comes_back_bit_by_bit(mav, tmp_path):
    from aerotwin_datasets import export_bag

    export_bag("euroc", imported(mav), tmp_path / "a")
    import_dataset("euroc", tmp_path / "a", tmp_path / "bag")
    export_bag("euroc", read_recording(tmp_path / "bag"), tmp_path / "b")
    assert_same_files(tmp_path / "a", tmp_path / "b")
    for at in STAMPS:
        name = f"mav0/cam1/data/{at}.png"
        again, first = (cv2.imread(str(each / name), -1) for each in (tmp_path / "a", mav.parent))
        np.testing.assert_array_equal(again, first)


ROW = f"{STAMPS[0]},-0.1,0.2,0.3,9.1,0.1,-3.6\n"


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("imu0/data.csv", f"#\n{STAMPS[0]},1,2,3\n", ":2: expected a stamp and 6 numbers"),
        ("imu0/data.csv", f"{ROW}x,1,2,3,4,5,6\n", r"data\.csv:2: expected a stamp first"),
        ("imu0/data.csv", ROW + ROW, r"data\.csv:2: stamps must increase"),
        ("imu0/data.csv", ROW.replace("9.1", "nan"), r"data\.csv:1: expected finite numbers"),
        ("imu0/data.csv", ROW.replace("9.1", "9.1m"), r"data\.csv:1: expected numbers"),
        ("imu0/data.csv", f"-{ROW[4:]}", r"data\.csv:1: expected 0 to 2147483647999999999 ns"),
        ("imu0/data.csv", "1" * 70_000, "line 1 has more than 65536 characters"),
        ("imu0/data.csv", f"{'9' * 60},1,2,3,4,5,6", r"data\.csv:1: expected a stamp first"),
        ("imu0/sensor.yaml", "gyroscope_noise_density: 1", "gyroscope_random_walk: expected 1"),
        ("imu0/sensor.yaml", "- 1", "sensor.yaml: expected names with values"),
        ("cam0/sensor.yaml", "a: [", "cam0/sensor.yaml: no YAML"),
        ("cam0/sensor.yaml", CAMERA.replace("{y}", "0").replace("pinhole", "omni"), "found 'omni'"),
        ("cam0/sensor.yaml", CAMERA.replace("{y}", ".inf"), "T_BS: expected a rigid transform"),
        ("cam0/sensor.yaml", CAMERA.replace("-1.0", "-2.0"), "T_BS: expected 4 x 4 numbers"),
        ("cam0/sensor.yaml", CAMERA.replace("{y}", "0").replace("-1.0", "-2.0"), "rigid transform"),
        ("cam0/sensor.yaml", CAMERA.replace("{y}", "0").replace("9.5", "x"), "intrinsics: "),
        ("cam0/sensor.yaml", CAMERA.replace("{y}", "0").replace("[8, 6]", "[6, 8]"),
         "expected 6 x 8 pixels as its calibration, found 8 x 6"),
        ("cam0/data.csv", f"{STAMPS[0]},../../imu0/data.csv", r"data\.csv:1: .* name of an image"),
        ("cam0/data.csv", f"{STAMPS[0]},nosuch.png", r"data\.csv:1: nosuch\.png is not in"),
        (f"cam0/data/{STAMPS[0]}.png", "no image", r"\.png: not a picture that can be read"),
        ("state_groundtruth_estimate0/data.csv", STATE.replace("0.5", "0.1"), ":1: .* unit"),
        ("state_groundtruth_estimate0/data.csv", STATE[:40], ":1: expected a stamp and 16 numbers"),
    ],
)  # fmt: skip
def test_what_is_invalid_is_named_and_no_bag_is_written(mav, tmp_path, file, content, message):
    (mav / file).write_text(content)
    with pytest.raises(UserError, match=message):
        import_dataset("euroc", mav.parent, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["set"]


@pytest.mark.parametrize(
    ("odd", "kind"),
    [
        (np.zeros((6, 8, 3), np.uint8), "3 x uint8 per pixel"),
        (np.zeros((6, 8), np.uint16), "1 x uint16 per pixel"),
    ],
)
def test_an_image_of_another_kind_than_the_first_is_named(mav, tmp_path, odd, kind):
    cv2.imwrite(str(mav / "cam1" / "data" / f"{STAMPS[1]}.png"), odd)
    expected = (
        rf"{STAMPS[1]}\.png: expected 1 x uint8 per pixel as in {STAMPS[0]}\.png, found {kind}"
    )
    with pytest.raises(UserError, match=expected):
        import_dataset("euroc", mav.parent, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["set"]


def test_images_that_are_missing_may_be_left_out(mav, tmp_path, capsys):
    (mav / "cam0" / "data" / f"{STAMPS[1]}.png").unlink()
    words = ["import", "euroc", str(mav.parent), "-o", str(tmp_path / "out")]
    assert main(words) == 2
    assert "--skip-missing" in capsys.readouterr().err
    assert main([*words, "--skip-missing"]) == 0
    assert "caution: " in (said := capsys.readouterr().out)
    assert "1 images are not there" in said
    assert BagReader(tmp_path / "out").counts["/stereo/left/image_raw"] == 1


def test_a_folder_without_sensors_is_named(tmp_path):
    (tmp_path / "photos").mkdir()
    with pytest.raises(UserError, match="photos: expected mav0, found nothing"):
        import_dataset("euroc", tmp_path / "photos", tmp_path / "out")
    with pytest.raises(UserError, match="nosuch: no folder"):
        import_dataset("euroc", tmp_path / "nosuch", tmp_path / "out")


def test_a_sheet_that_contradicts_the_manifest_is_named(mav, tmp_path):
    from aerotwin_datasets import export_bag

    export_bag("euroc", imported(mav), tmp_path / "a")
    sheet = tmp_path / "a" / "mav0" / "cam1" / "sensor.yaml"
    sheet.write_text(sheet.read_text().replace("0.05,", "0.06,"))
    with pytest.raises(UserError, match=r"cam1/sensor\.yaml: T_BS differs from aerotwin\.yaml"):
        import_dataset("euroc", tmp_path / "a", tmp_path / "bag")
    (tmp_path / "a" / "aerotwin.yaml").unlink()
    import_dataset("euroc", tmp_path / "a", tmp_path / "bag")
    assert read_recording(tmp_path / "bag").cameras[1].T_base_optical[1, 3] == 0.06


def test_tum_vi_is_calibrated_by_the_files_of_kalibr(mav, tmp_path):
    for k in (0, 1):
        (mav / f"cam{k}" / "sensor.yaml").unlink()
    (mav / "imu0" / "sensor.yaml").unlink()
    (mav / "state_groundtruth_estimate0").rename(mav / "mocap0")
    (mav / "mocap0" / "data.csv").write_text(",".join(STATE.split(",")[:8]) + "\n")
    dso = mav.parent / "dso"
    dso.mkdir()
    entry = (
        "{camera_model: pinhole, distortion_model: equidistant, intrinsics: [9, 9, 3.5, 2.5], "
        "distortion_coeffs: [0.003, 0.0007, -0.002, 0.0002], resolution: [8, 6], "
        "T_cam_imu: [[0, 1, 0, %s], [-1, 0, 0, -0.02], [0, 0, 1, -0.01], [0, 0, 0, 1]]}"
    )
    (dso / "camchain.yaml").write_text(f"cam0: {entry % 0.06}\ncam1: {entry % -0.05}\n")
    (dso / "imu_config.yaml").write_text(IMU.partition("\n")[2].partition("\n")[2])
    import_dataset("tum-vi", mav.parent, tmp_path / "out")
    recording = read_recording(tmp_path / "out")
    assert recording.cameras[0].camera.distortion_model == "equidistant"
    np.testing.assert_allclose(
        recording.cameras[0].T_base_optical[:3, 3], [-0.02, -0.06, 0.01], atol=1e-12
    )
    assert recording.imu.noise.accelerometer_random_walk == 3e-3
    assert len(recording.bag.trajectory("/truth/odom")) == 1


def test_a_real_flight_is_read(shared_data, tmp_path):
    """V1_01 of EuRoC: two pairs of images, all readings, and truth with velocity and biases."""
    source = shared_data("image_sequences/micro_euroc")
    truth = shared_data("trajectories/openvins_gt") / "V1_01_easy.csv"
    mav = tmp_path / "set" / "mav0"
    mav.mkdir(parents=True)
    for name in ("cam0", "cam1", "imu0"):
        (mav / name).symlink_to(source / name)
    (mav / "state_groundtruth_estimate0").mkdir()
    (mav / "state_groundtruth_estimate0" / "data.csv").symlink_to(truth)
    done = import_dataset("euroc", tmp_path / "set", tmp_path / "bag", skip_missing=True)
    assert done.counts["/imu/data_raw"] == 29_120
    assert done.counts["/stereo/left/image_raw"] == 2
    recording = read_recording(tmp_path / "bag")
    left, right = (camera.T_base_optical for camera in recording.cameras)
    assert np.linalg.norm(left[:3, 3] - right[:3, 3]) == pytest.approx(0.11007, abs=1e-4)
    path = recording.bag.trajectory("/truth/odom")
    assert len(path) == done.counts["/truth/odom"] > 2000
    stored = {at: cdr for _, at, cdr in recording.bag.raw(["/stereo/left/image_raw"])}
    assert sorted(stored) == [1403715273262142976, 1403715275662142976]
