# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Images of a real drive, placed in the map of the pairs beside them."""

import json

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_core.camera import PinholeCamera, StereoRig
from aerotwin_core.cli import main
from aerotwin_core.frames import invert_transform, make_transform
from evidence.verification import real_images
from evidence.verification.real_images import (
    FOLDER,
    SHIFT_M,
    TURN_DEG,
    Drive,
    Placed,
    input_row,
    own_row,
    place_kitti_images,
    read_drive,
    wrong_start,
)

CAMERA = PinholeCamera(width=64, height=48, fx=60.0, fy=60.0, cx=31.5, cy=23.5)
SEEDS, N_PAIRS = (0, 1), 5
GIVEN_M, GIVEN_DEG = 0.08, 0.25
"""The given poses of the first frames turn by 0.1 degrees a step that no picture shows; over all
frames the median is 1 cm and 0.03 degrees."""
OWN_M, OWN_DEG = 0.03, 0.08
"""With poses that fit the pictures; half of it is the calibration of the right camera."""


def test_real_images_find_their_place_between_mapped_pairs(shared_data):
    drive = read_drive(shared_data(str(FOLDER)), N_PAIRS)
    assert (len(drive.keyframes), len(drive.images)) == (3, 2)
    for row, worst_m, worst_deg in (
        (input_row(drive, SEEDS), GIVEN_M, GIVEN_DEG),
        (own_row(drive, SEEDS), OWN_M, OWN_DEG),
    ):
        assert (row["n"], row["n_lost"]) == (4, 0), row
        assert row["worst_m"] < worst_m and row["worst_deg"] < worst_deg, row


def test_starts_are_as_far_off_as_they_are_said_to_be_in_many_directions():
    T_true = make_transform(Rotation.from_rotvec([0.3, -0.2, 0.5]).as_matrix(), [5.0, -3.0, 2.0])
    off = [invert_transform(T_true) @ wrong_start(T_true, 0, k) for k in range(40)]
    shifts = np.array([E[:3, 3] for E in off])
    turns = np.array([Rotation.from_matrix(E[:3, :3]).as_rotvec() for E in off])
    np.testing.assert_allclose(np.linalg.norm(shifts, axis=1), SHIFT_M)
    np.testing.assert_allclose(np.degrees(np.linalg.norm(turns, axis=1)), TURN_DEG)
    assert (shifts.min(axis=0) < -0.3).all() and (shifts.max(axis=0) > 0.3).all()
    assert (turns.min(axis=0) < -0.02).all() and (turns.max(axis=0) > 0.02).all()


@pytest.mark.parametrize(
    ("errors_m", "turn_deg", "n_unplaced", "met"),
    [
        ([0.03] * 20, 0.05, 0, True),
        ([0.03] * 20, 0.05, 1, False),  # one is lost
        ([0.03] * 19 + [0.6], 0.05, 0, False),  # one is far off
        ([0.03] * 18 + [0.2] * 2, 0.05, 0, False),  # 90 % within 10 cm
        ([0.05] * 20, 0.05, 0, False),
        ([0.03] * 20, 0.2, 0, False),
    ],
)
def test_all_images_count_against_their_bars(monkeypatch, errors_m, turn_deg, n_unplaced, met):
    T_left = np.array([make_transform(np.eye(3), [0.0, 0.0, k]) for k in range(41)])
    rig = StereoRig(camera=CAMERA, baseline_m=0.5)
    drive = Drive(
        rig=rig, keyframes=(), images=(), T_map_left_external=T_left, T_map_left_own=T_left
    )
    R = Rotation.from_rotvec([0.0, np.radians(turn_deg), 0.0]).as_matrix()
    found = [make_transform(R, [0.5, error, 2.0 * k + 1.0]) for k, error in enumerate(errors_m)]
    placed = Placed(T_map_cam=np.array([found]), is_placed=np.arange(20)[None] >= n_unplaced)
    monkeypatch.setattr(real_images, "place_images", lambda *_: placed)
    row = input_row(drive, [1000])
    assert row["met"] is met
    assert row["worst_m"] == pytest.approx(max(errors_m))
    assert row["images"][1]["frame"] == 3
    assert own_row(drive, [1000])["met"] is None


def test_real_images_are_skipped_with_a_reason_where_they_are_not(tmp_path, capsys):
    tokens = ["--data", str(tmp_path), "--runs", str(tmp_path), "--json", str(tmp_path / "v.json")]
    assert main(["verify", "kitti", *tokens]) == 0
    assert f"kitti: skipped, real data not present: {FOLDER}" in capsys.readouterr().out
    (row,) = json.loads((tmp_path / "v.json").read_text())["kitti"]
    assert row["met"] is None and "real data" in row["skipped"]
    assert place_kitti_images(tmp_path, [1000], is_quiet=True) == [row]
