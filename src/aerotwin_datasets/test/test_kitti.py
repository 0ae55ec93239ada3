# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Sequences of KITTI odometry that others made."""

import cv2
import numpy as np
import pytest

from aerotwin_core.bag import BagReader
from aerotwin_core.errors import UserError
from aerotwin_datasets import import_dataset, read_recording
from aerotwin_datasets.kitti_sequence import read_image, read_sequence
from support.dataset_samples import frame_image


@pytest.fixture
def kitti(tmp_path):
    folder = tmp_path / "06"
    for side in (0, 1):
        (folder / f"image_{side}").mkdir(parents=True)
        for k in range(2):
            name = str(folder / f"image_{side}" / f"{k:06d}.png")
            cv2.imwrite(name, frame_image(k, side, "mono8"))
    (folder / "calib.txt").write_text("P0: 50 0 15.5 0 0 50 11.5 0 0 0 1 0\n"
                                      "P1: 50 0 15.5 -25 0 50 11.5 0 0 0 1 0\n")  # fmt: skip
    (folder / "times.txt").write_text("0.0\n1.036224e-01\n")
    (folder / "poses.txt").write_text("1 0 0 0 0 1 0 0 0 0 1 0\n1 0 0 0 0 1 0 0.2 0 0 1 1.0\n")
    return folder


def test_a_kitti_sequence_of_others_is_turned_upright(kitti, tmp_path):
    """The second pose is 1 m ahead (z) and 0.2 m down (y)."""
    import_dataset("kitti", kitti, tmp_path / "out")
    recording = read_recording(tmp_path / "out")
    left, right = recording.cameras
    np.testing.assert_allclose(
        (np.linalg.inv(left.T_base_optical) @ right.T_base_optical)[:3, 3], [0.5, 0, 0], atol=1e-12
    )
    truth = recording.bag.trajectory("/truth/odom")
    np.testing.assert_allclose(truth.p_ref_body, [[0, 0, 0], [1.0, 0, -0.2]], atol=1e-12)
    np.testing.assert_allclose(truth.R_ref_body[1], np.eye(3), atol=1e-12)
    assert truth.stamps_ns[1] == 103_622_400
    (first, _) = recording.bag.messages(["/stereo/right/camera_info"])
    assert first[2].p[3] == -25.0


def test_the_poses_of_a_kitti_sequence_are_those_of_camera_0_beside_the_colour_pair(
    kitti, tmp_path
):
    """P2 = K [I | (0.06, 0, 0)]: camera 2 is 6 cm left of camera 0, which turns about itself."""
    for side in (0, 1):
        (kitti / f"image_{side}").rename(kitti / f"image_{side + 2}")
    (kitti / "calib.txt").write_text("P2: 50 0 15.5 3 0 50 11.5 0 0 0 1 0\n"
                                     "P3: 50 0 15.5 -22 0 50 11.5 0 0 0 1 0\n")  # fmt: skip
    (kitti / "poses.txt").write_text("1 0 0 0 0 1 0 0 0 0 1 0\n-1 0 0 0 0 1 0 0 0 0 -1 0\n")
    import_dataset("kitti", kitti, tmp_path / "out")
    recording = read_recording(tmp_path / "out")
    truth = recording.bag.trajectory("/truth/odom").transforms()
    left = (truth @ recording.cameras[0].T_base_optical)[:, :3, 3]
    np.testing.assert_allclose(left, [[0, 0.06, 0], [0, -0.06, 0]], atol=1e-12)


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("times.txt", "0.0\n", "times.txt: expected 2 stamps at least, found 1"),
        ("times.txt", "0.0\n0.0\n", "times.txt:2: stamps must increase"),
        ("times.txt", "zero\n", "times.txt:1: expected a stamp first"),
        ("poses.txt", "1 0 0\n", "poses.txt:1: expected 12 numbers"),
        ("poses.txt", "1 0 0 0 0 1 0 0 0 0 1 0\n", "poses.txt: expected 2 poses, found 1"),
        ("poses.txt", "9 0 0 0 0 1 0 0 0 0 1 0\n" * 2, "poses.txt:1: expected a rotation"),
        ("times.txt", "0\n1\n2\n", "names.png: expected a number of 0 to 2"),
        (
            "calib.txt",
            "P0: 50 0 9 0 0 50 9 0 0 0 1 0\nP1: 50 0 9 0 0 50 9 0 0 0 1 0\n",
            "calib.txt: expected the camera of P1 right of that of P0, found a baseline of 0 m",
        ),
        (
            "calib.txt",
            "P0: 50 0 9 0 0 50 9 0 0 0 0 0\nP1: 50 0 9 -5 0 50 9 0 0 0 1 0\n",
            "calib.txt:1: expected a camera's matrix in P0",
        ),
        ("calib.txt", "P0: 1 2 3", "calib.txt:1: expected 12 numbers of P0"),
        ("calib.txt", "P0: 50 0 15.5 0 0 50 11.5 0 0 0 1 0", "P1 are missing"),
        ("image_1/000001.png", "no image", "000001.png: not a picture that can be read"),
    ],
)
def test_an_invalid_kitti_sequence_is_named(kitti, tmp_path, file, content, message):
    (kitti / file).write_text(content)
    if "names" in message:
        for side in (0, 1):
            (kitti / f"image_{side}" / "000001.png").rename(kitti / f"image_{side}" / "names.png")
    with pytest.raises(UserError, match=message):
        import_dataset("kitti", kitti, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_kitti_sequence_with_a_gap_keeps_the_stamps_and_poses_of_its_images(kitti, tmp_path):
    for side in (0, 1):
        folder = kitti / f"image_{side}"
        (folder / "000001.png").rename(folder / "000002.png")
    (kitti / "times.txt").write_text("0.0\n0.1\n0.2\n0.3\n")
    (kitti / "poses.txt").write_text("".join(f"1 0 0 0 0 1 0 0 0 0 1 {k}\n" for k in range(4)))
    import_dataset("kitti", kitti, tmp_path / "out")
    bag = BagReader(tmp_path / "out")
    for side in ("left", "right"):
        stamps = [stamp for _, stamp, _ in bag.raw([f"/stereo/{side}/image_raw"])]
        assert stamps == [0, 200_000_000]
    truth = bag.trajectory("/truth/odom")
    assert truth.p_ref_body[truth.stamps_ns.tolist().index(200_000_000), 0] == pytest.approx(2.0)
    sequence = read_sequence(kitti)
    assert sequence.stamps_ns.tolist() == [0, 200_000_000]
    assert sequence.T_world_optical[1, 2, 3] == 2.0


def test_an_image_of_a_sequence_is_read_as_brightness_and_has_the_size_of_the_first(kitti):
    sequence = read_sequence(kitti)
    camera = sequence.rig.camera
    np.testing.assert_array_equal(read_image(sequence.right[1], camera), frame_image(1, 1, "mono8"))
    cv2.imwrite(str(sequence.right[1]), np.zeros((24, 31), np.uint8))
    with pytest.raises(UserError, match=r"000001\.png: expected 32x24 pixels, found 31x24"):
        read_image(sequence.right[1], camera)
    with pytest.raises(UserError, match="expected image_0 and image_1"):
        read_sequence(kitti / "image_0")


def test_a_real_kitti_sequence_is_read(shared_data, tmp_path):
    done = import_dataset("kitti", shared_data("image_sequences/kitti_seq_1"), tmp_path / "out")
    assert done.counts["/stereo/left/image_raw"] == 51
    recording = read_recording(tmp_path / "out")
    truth = recording.bag.trajectory("/truth/odom")
    assert truth.path_length_m == pytest.approx(59.860, abs=1e-3)
    left, right = (camera.T_base_optical for camera in recording.cameras)
    assert np.linalg.norm(left - right) == pytest.approx(0.53715, abs=1e-5)
