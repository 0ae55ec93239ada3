# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""EuRoC and TUM-VI: what is written means what it says, and comes back bit by bit."""

from pathlib import Path

import cv2
import numpy as np
import pytest
import yaml
from scipy.spatial.transform import Rotation

from aerotwin_core.bag import BagReader
from aerotwin_core.camera_messages import picture_from_compressed
from aerotwin_core.cli import main
from aerotwin_core.errors import UserError
from aerotwin_core.messages import stamp_ns
from aerotwin_datasets import export_bag, import_dataset, read_recording
from support.dataset_samples import (
    FRAME_NS,
    IMU_NS,
    LENS,
    N_FRAMES,
    START_NS,
    T_BASE_IMU,
    assert_same_files,
    files_below,
    mounting,
    state,
)
from support.dataset_samples import write_recording as write_bag

ROUNDING = 1e-12
STEP_S = 1e-4
DERIVATIVE = 1e-6
"""Of central differences over STEP_S: the third derivative times its square, and rounding."""


@pytest.fixture
def recording_path(tmp_path):
    return write_bag(tmp_path / "bag")


def sheet(folder: Path, name: str) -> dict:
    return yaml.safe_load((folder / "mav0" / name / "sensor.yaml").read_text())


def table(folder: Path, name: str) -> np.ndarray:
    return np.loadtxt(folder / "mav0" / name / "data.csv", delimiter=",", ndmin=2)


@pytest.mark.parametrize("form", ["euroc", "tum-vi"])
def test_export_import_export_gives_the_same_bytes(recording_path, tmp_path, form):
    export_bag(form, read_recording(recording_path), tmp_path / "one")
    import_dataset(form, tmp_path / "one", tmp_path / "again")
    export_bag(form, read_recording(tmp_path / "again"), tmp_path / "two")
    assert len(files_below(tmp_path / "one")) > 2 * N_FRAMES
    assert_same_files(tmp_path / "one", tmp_path / "two")


@pytest.mark.parametrize("form", ["png", "jpeg"])
def test_compressed_images_are_decoded_and_come_back_as_they_were(tmp_path, form):
    source = BagReader(write_bag(tmp_path / "bag", compression=form))
    exported = export_bag("euroc", read_recording(source.path), tmp_path / "set")
    assert not exported.problems
    topics = [f"/stereo/{name}/image_raw/compressed" for name in ("left", "right")]
    import_dataset("euroc", tmp_path / "set", tmp_path / "again")
    again = BagReader(tmp_path / "again")
    assert [*again.raw(topics)] == [*source.raw(topics)]
    for side, topic in enumerate(topics):
        pictures = sorted((tmp_path / f"set/mav0/cam{side}/data").iterdir())
        decoded = [picture_from_compressed(m)[0] for _, _, m in source.messages([topic])]
        assert len(pictures) == len(decoded) == N_FRAMES
        for path, pixels in zip(pictures, decoded, strict=True):
            assert np.array_equal(cv2.imread(str(path), cv2.IMREAD_UNCHANGED), pixels)
        raw = topic.removesuffix("/compressed")
        assert again.counts[raw] == N_FRAMES


def test_every_message_comes_back_byte_for_byte(recording_path, tmp_path):
    export_bag("euroc", read_recording(recording_path), tmp_path / "set")
    import_dataset("euroc", tmp_path / "set", tmp_path / "again")
    before, after = BagReader(recording_path), BagReader(tmp_path / "again")
    assert before.topics == after.topics
    for topic in before.topics:
        assert [*before.raw([topic])] == [*after.raw([topic])], topic
    assert before.metadata("sensors").items() <= after.metadata("sensors").items()


def test_without_other_topics_the_calibration_still_comes_back(recording_path, tmp_path):
    export_bag("euroc", read_recording(recording_path), tmp_path / "set", is_lean=True)
    assert not (tmp_path / "set" / "other_topics").exists()
    import_dataset("euroc", tmp_path / "set", tmp_path / "again")
    before, after = read_recording(recording_path), read_recording(tmp_path / "again")
    for one, other in zip(before.cameras, after.cameras, strict=True):
        assert (one.topic, one.frame_id, one.encoding, one.camera) == (
            other.topic, other.frame_id, other.encoding, other.camera,
        )  # fmt: skip
        np.testing.assert_allclose(one.T_base_optical, other.T_base_optical, atol=ROUNDING)
    assert before.imu.noise == after.imu.noise
    np.testing.assert_allclose(before.imu.T_base_imu, after.imu.T_base_imu, atol=ROUNDING)
    poses = [r.bag.trajectory("/truth/odom") for r in (before, after)]
    np.testing.assert_allclose(poses[0].p_ref_body, poses[1].p_ref_body, atol=ROUNDING)
    np.testing.assert_allclose(poses[0].R_ref_body, poses[1].R_ref_body, atol=ROUNDING)


def test_T_BS_takes_a_point_of_the_camera_to_the_imu(recording_path, tmp_path):
    export_bag("euroc", read_recording(recording_path), tmp_path / "set")
    np.testing.assert_array_equal(
        sheet(tmp_path / "set", "imu0")["T_BS"]["data"], np.eye(4).ravel()
    )
    point_base = np.array([4.0, 0.3, -0.2, 1.0])
    for side in (0, 1):
        T_BS = np.reshape(sheet(tmp_path / "set", f"cam{side}")["T_BS"]["data"], (4, 4))
        in_camera = np.linalg.inv(mounting(side)) @ point_base
        in_imu = np.linalg.inv(T_BASE_IMU) @ point_base
        np.testing.assert_allclose(T_BS @ in_camera, in_imu, atol=ROUNDING)
        assert in_camera[2] > 3.0


def test_sheets_state_lens_noise_and_rate(recording_path, tmp_path):
    export_bag("euroc", read_recording(recording_path), tmp_path / "set")
    camera, imu = sheet(tmp_path / "set", "cam0"), sheet(tmp_path / "set", "imu0")
    assert camera["intrinsics"] == [30.0, 31.0, 15.25, 11.5]
    assert camera["distortion_coefficients"] == [-0.05, 0.01, 1e-3, 0.0]
    assert camera["distortion_model"] == "radial-tangential"
    assert (camera["rate_hz"], imu["rate_hz"]) == (20.0, 250.0)
    assert [imu[key] for key in (
        "gyroscope_noise_density", "gyroscope_random_walk",
        "accelerometer_noise_density", "accelerometer_random_walk",
    )] == [1.7e-4, 2e-5, 2e-3, 3e-3]  # fmt: skip


def test_truth_is_that_of_the_imu(recording_path, tmp_path):
    """Position, attitude and velocity against the closed form, its derivative taken by numbers."""
    export_bag("euroc", read_recording(recording_path), tmp_path / "set")
    rows = table(tmp_path / "set", "state_groundtruth_estimate0")

    def imu_at(t):
        p, R, _, _ = state(t)
        return p + R.apply(T_BASE_IMU[:3, 3])

    for k, row in enumerate(rows):
        t = k * IMU_NS * 1e-9
        _, R, _, _ = state(t)
        np.testing.assert_allclose(row[1:4], imu_at(t), atol=ROUNDING)
        w, x, y, z = row[4:8]
        np.testing.assert_allclose(
            Rotation.from_quat([x, y, z, w]).as_matrix(),
            R.as_matrix() @ T_BASE_IMU[:3, :3],
            atol=ROUNDING,
        )
        slope = (imu_at(t + STEP_S) - imu_at(t - STEP_S)) / (2 * STEP_S)
        np.testing.assert_allclose(row[8:11], slope, atol=DERIVATIVE)
        if k % 5 == 0:
            np.testing.assert_allclose(row[11:], [0.01, 0.02, 0.03 + t, 0.1, 0.2, 0.3])


def test_stamps_are_exact(recording_path, tmp_path):
    export_bag("tum-vi", read_recording(recording_path), tmp_path / "set")
    expected = [str(START_NS + k * FRAME_NS) for k in range(N_FRAMES)]
    for name in ("cam0", "cam1"):
        lines = (tmp_path / "set" / "mav0" / name / "data.csv").read_text().splitlines()[1:]
        assert lines == [f"{stamp},{stamp}.png" for stamp in expected]
    assert (tmp_path / "set" / "mav0" / "mocap0" / "data.csv").is_file()


def test_names_of_images_are_in_order_of_time_whatever_the_clock(tmp_path):
    """Readers that list a folder would play 100 ms before 50 ms."""
    bag = write_bag(tmp_path / "bag", start_ns=50_000_000)
    export_bag("euroc", read_recording(bag), tmp_path / "set")
    names = sorted(path.stem for path in (tmp_path / "set" / "mav0" / "cam0" / "data").iterdir())
    assert [int(name) for name in names] == [50_000_000 + k * FRAME_NS for k in range(N_FRAMES)]
    times = (tmp_path / "set" / "settings" / "times.txt").read_text().split()
    assert times == names


def test_stella_vslam_finds_images_by_the_number_in_the_table(tmp_path):
    bag = write_bag(tmp_path / "bag", start_ns=50_000_000)
    export_bag("euroc", read_recording(bag), tmp_path / "set")
    for name in ("cam0", "cam1"):
        camera = tmp_path / "set" / "settings" / "stella_vslam" / "mav0" / name
        for line in (camera / "data.csv").read_text().splitlines()[1:]:
            stamp, listed = line.split(",")
            image = camera / "data" / f"{int(stamp)}.png"  # run_euroc_slam.cc, euroc_util.cc
            assert image.samefile(tmp_path / "set" / "mav0" / name / "data" / listed)
    readme = (tmp_path / "set" / "settings" / "README.txt").read_text()
    assert (
        f"run_euroc_slam --vocab VOCABULARY -d DIR/{camera.parent.relative_to(tmp_path / 'set')}"
        in readme
    )


def test_cameras_are_chosen_and_ordered_by_name(recording_path, tmp_path):
    recording = read_recording(recording_path)
    export_bag("euroc", recording, tmp_path / "set", cameras=["stereo_right"])
    assert [path.name for path in (tmp_path / "set" / "mav0").glob("cam*")] == ["cam0"]
    with pytest.raises(UserError, match="no camera 'nosuch'; it has stereo_left, stereo_right"):
        export_bag("euroc", recording, tmp_path / "other", cameras=["nosuch"])


def test_a_recording_without_an_imu_has_its_base_as_body(tmp_path):
    write_bag(tmp_path / "bag", with_imu=False)
    export_bag("euroc", read_recording(tmp_path / "bag"), tmp_path / "set")
    T_BS = np.reshape(sheet(tmp_path / "set", "cam0")["T_BS"]["data"], (4, 4))
    np.testing.assert_allclose(T_BS, mounting(0), atol=ROUNDING)
    import_dataset("euroc", tmp_path / "set", tmp_path / "again")
    assert read_recording(tmp_path / "again").imu is None


def test_noise_that_nothing_states_is_asked_for(tmp_path, capsys):
    bag, out = write_bag(tmp_path / "bag", noise=False), tmp_path / "set"
    assert main(["export", "euroc", str(bag), "-o", str(out)]) == 2
    assert "state it with --imu-noise" in capsys.readouterr().err
    assert not out.exists()
    noise = ["--imu-noise", "1e-4", "2e-5", "3e-3", "4e-4"]
    assert main(["export", "euroc", str(bag), "-o", str(out), *noise]) == 0
    assert sheet(out, "imu0")["accelerometer_random_walk"] == 4e-4
    assert main(["import", "euroc", str(out), "-o", str(tmp_path / "again")]) == 0
    assert read_recording(tmp_path / "again").imu.noise.gyroscope_random_walk == 2e-5


def test_an_existing_folder_is_replaced_only_if_asked_and_if_it_is_a_data_set(
    recording_path, tmp_path
):
    recording, out = read_recording(recording_path), tmp_path / "set"
    export_bag("euroc", recording, out)
    with pytest.raises(UserError, match="exists already"):
        export_bag("euroc", recording, out)
    (out / "mine.txt").write_text("x")
    export_bag("euroc", recording, out, overwrite=True)
    assert not (out / "mine.txt").exists()
    (tmp_path / "photos").mkdir()
    with pytest.raises(UserError, match="exists and is not what would be written"):
        export_bag("euroc", recording, tmp_path / "photos", overwrite=True)
    with pytest.raises(UserError, match="exists already"):
        import_dataset("euroc", out, recording_path)
    import_dataset("euroc", out, recording_path, overwrite=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bag", "photos", "set"]


def test_a_folder_that_holds_what_is_read_is_not_replaced(recording_path, tmp_path):
    export_bag("euroc", read_recording(recording_path), tmp_path / "set")
    inside = read_recording(tmp_path / "set" / "other_topics")
    with pytest.raises(UserError, match=r"holds .*other_topics, which is read"):
        export_bag("rosbag1", inside, tmp_path / "set", overwrite=True)
    assert (tmp_path / "set" / "mav0").is_dir()


def test_a_failed_export_leaves_nothing(recording_path, tmp_path, monkeypatch):
    from aerotwin_datasets import euroc_writer

    def fail(*_):
        raise UserError("the disk is full")

    monkeypatch.setattr(euroc_writer, "_write_truth", fail)
    with pytest.raises(UserError, match="the disk is full"):
        export_bag("euroc", read_recording(recording_path), tmp_path / "set")
    assert [path.name for path in tmp_path.iterdir()] == ["bag"]


def test_what_is_repeated_in_time_is_left_out_and_counted(tmp_path):
    from aerotwin_core.bag import BagWriter

    source = BagReader(write_bag(tmp_path / "bag"))
    with BagWriter(tmp_path / "twice") as bag:
        for topic, kind in source.topics.items():
            bag.add_topic(topic, kind)
        for topic, at, cdr in source.raw():
            for _ in range(2 if topic.endswith("image_raw") else 1):
                bag.write(topic, at, cdr)
    noise = read_recording(tmp_path / "bag").imu.noise
    recording = read_recording(tmp_path / "twice", imu_noise=noise)
    done = export_bag("euroc", recording, tmp_path / "set")
    line = f"/stereo/left/image_raw: {N_FRAMES} messages do not follow the one before them in time"
    assert any(problem.startswith(line) for problem in done.problems)
    assert len(list((tmp_path / "set" / "mav0" / "cam0" / "data").iterdir())) == N_FRAMES


def test_the_lens_comes_from_camera_info(recording_path):
    recording = read_recording(recording_path)
    assert [camera.camera for camera in recording.cameras] == [LENS, LENS]
    first = next(iter(recording.bag.messages(["/stereo/left/image_raw"])))[2]
    assert stamp_ns(first) == START_NS
