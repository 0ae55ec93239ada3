# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Images of a real drive, placed in the map of the pairs beside them."""

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.frames import invert_transform, make_transform
from evidence.verification.real_images import (
    SHIFT_M,
    TURN_DEG,
    errors_of,
    place_images,
    read_drive,
    right_poses,
    wrong_start,
)

SEED, N_PAIRS = 0, 5
GIVEN_M, GIVEN_DEG = 0.08, 0.25
"""The given poses of the first frames turn by 0.1 degrees a step that no picture shows; over all
frames the median is 1 cm and 0.03 degrees."""
OWN_M, OWN_DEG = 0.03, 0.08
"""With poses that fit the pictures; half of it is the calibration of the right camera."""


def test_real_images_find_their_place_between_mapped_pairs(shared_data):
    drive = read_drive(shared_data("image_sequences/kitti_seq_1"), N_PAIRS)
    assert (len(drive.keyframes), len(drive.images)) == (3, 2)
    for T_map_left, worst_m, worst_deg in (
        (drive.T_map_left_external, GIVEN_M, GIVEN_DEG),
        (drive.T_map_left_own, OWN_M, OWN_DEG),
    ):
        placed = place_images(drive, T_map_left, SEED)
        errors = errors_of(placed, right_poses(drive.rig, T_map_left))
        assert errors.is_found.all()
        assert errors.shifts_m.max() < worst_m and errors.turns_deg.max() < worst_deg


def test_errors_are_those_of_the_poses():
    T_true = np.array([make_transform(np.eye(3), [0.0, k, 0.0]) for k in range(3)])
    turn = Rotation.from_rotvec([0.0, 0.0, np.radians(3.0)]).as_matrix()
    placed = [T_true[0], T_true[1] @ make_transform(turn, [0.3, 0.0, 0.4]), None]
    errors = errors_of(placed, T_true)
    np.testing.assert_allclose(errors.shifts_m, [0.0, 0.5, np.nan])
    np.testing.assert_allclose(errors.turns_deg, [0.0, 3.0, np.nan], atol=1e-6)
    assert errors.is_found.tolist() == [True, True, False]


def test_starts_are_as_far_off_as_they_are_said_to_be_in_many_directions():
    T_true = make_transform(Rotation.from_rotvec([0.3, -0.2, 0.5]).as_matrix(), [5.0, -3.0, 2.0])
    off = [invert_transform(T_true) @ wrong_start(T_true, 0, k) for k in range(40)]
    shifts = np.array([E[:3, 3] for E in off])
    turns = np.array([Rotation.from_matrix(E[:3, :3]).as_rotvec() for E in off])
    np.testing.assert_allclose(np.linalg.norm(shifts, axis=1), SHIFT_M)
    np.testing.assert_allclose(np.degrees(np.linalg.norm(turns, axis=1)), TURN_DEG)
    assert (shifts.min(axis=0) < -0.3).all() and (shifts.max(axis=0) > 0.3).all()
    assert (turns.min(axis=0) < -0.02).all() and (turns.max(axis=0) > 0.02).all()
