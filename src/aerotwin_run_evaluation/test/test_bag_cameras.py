# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Cameras, bodies and mountings of a bag."""

import cv2
import numpy as np
import pytest

from aerotwin_core import messages
from aerotwin_core.bag import BagReader, BagWriter
from aerotwin_datasets import import_dataset
from aerotwin_run_evaluation.bag.camera import body_frame, mounting, true_camera

F, CX, CY, BASELINE_M = 50.0, 15.5, 11.5, 0.5
ROUNDING = 1e-6


@pytest.fixture
def sequence(tmp_path):
    """Two frames of noise; the camera moves 1 m forward (z) and 0.2 m down (y)."""
    rng = np.random.default_rng(4)
    for folder in ("image_0", "image_1"):
        (tmp_path / folder).mkdir()
        for k in range(2):
            image = rng.integers(0, 255, (24, 32), dtype=np.uint8)
            cv2.imwrite(str(tmp_path / folder / f"{k:06d}.png"), image)
    rows = [[F, 0, CX, tx, 0, F, CY, 0, 0, 0, 1, 0] for tx in (0.0, -F * BASELINE_M)]
    lines = [f"P{i}: {' '.join(map(str, row))}" for i, row in enumerate(rows)]
    (tmp_path / "calib.txt").write_text("\n".join(lines))
    (tmp_path / "times.txt").write_text("0.0\n0.1\n")
    poses = ["1 0 0 0 0 1 0 0 0 0 1 0", "1 0 0 0 0 1 0 0.2 0 0 1 1.0"]
    (tmp_path / "poses.txt").write_text("\n".join(poses))
    return tmp_path


def test_the_true_camera_looks_along_x_of_map(sequence, tmp_path):
    import_dataset("kitti", sequence, tmp_path / "bag")
    bag = BagReader(tmp_path / "bag")
    T_map_optical, camera = true_camera(bag, bag.trajectory("/truth/odom"))
    np.testing.assert_allclose(T_map_optical[0][:3, :3] @ [0, 0, 1], [1, 0, 0], atol=ROUNDING)
    assert (camera.fx, camera.cx, camera.width) == (F, CX, 32)
    T_body_right = mounting(bag, "stereo_right_optical")
    np.testing.assert_allclose(T_body_right[:3, 3], [0.0, -BASELINE_M, 0.0], atol=ROUNDING)
    assert mounting(bag, "lidar") is None


def test_the_body_is_what_carries_the_sensor_and_without_mounting_the_sensor_itself(tmp_path):
    scan = messages.point_cloud_message(0, "velodyne", np.zeros((1, 3)))
    edge = messages.transform_stamped(0, "base_link", "velodyne", [0, 0, 1], [0, 0, 0, 1])
    for name, is_mounted in (("alone", False), ("mounted", True)):
        with BagWriter(tmp_path / name) as bag:
            bag.add_topic("/points", "sensor_msgs/msg/PointCloud2")
            bag.write("/points", 0, messages.serialize(scan))
            if is_mounted:
                bag.add_topic("/tf_static", "tf2_msgs/msg/TFMessage", latched=True)
                bag.write("/tf_static", 0, messages.serialize(messages.transform_message([edge])))
    assert body_frame(BagReader(tmp_path / "alone"), "/points") == "velodyne"
    assert body_frame(BagReader(tmp_path / "mounted"), "/points") == "base_link"
    assert body_frame(BagReader(tmp_path / "alone"), None) == "base_link"
