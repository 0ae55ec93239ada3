# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Scans of a walk through a hall, each in the map of the others; poses are those of its authors."""

import numpy as np
import pytest

from aerotwin_core.errors import UserError
from evidence.verification.leave_one_out import POSE_COLUMNS, POSES, leave_one_out, read_posed_scans

MEDIAN_M, WORST_M = 0.020, 0.080
SEED, EVERY = 1000, 4
"""All scans and 20 seeds take minutes: they are `make verify NAMES=lounge`."""


@pytest.mark.slow
@pytest.mark.parametrize(("shift_m", "turn_deg"), [(0.2, 3.0), (0.5, 10.0)])
def test_lounge_scans_find_their_places_in_the_map_of_the_others(shared_data, shift_m, turn_deg):
    scans, poses = read_posed_scans(shared_data("point_clouds/balm_hku_lounge"))
    which = range(2, len(scans), EVERY)  # the last one, which is the worst, among them
    found = leave_one_out(scans, poses, [SEED], shift_m=shift_m, turn_deg=turn_deg, left_out=which)
    assert found.converged.all()
    assert np.median(found.shifts_m) <= MEDIAN_M
    assert found.shifts_m.max() <= WORST_M


@pytest.mark.parametrize(
    ("row", "points", "message"),
    [
        (range(POSE_COLUMNS), np.zeros((5, 3)), ""),
        (
            range(POSE_COLUMNS - 1),
            np.zeros((5, 3)),
            r"world_lidar\.txt.*14 finite columns, found 13",
        ),
        (range(POSE_COLUMNS), np.full((5, 3), np.nan), r"scan_000\.npy.*finite points"),
        (range(POSE_COLUMNS), np.zeros(5), r"scan_000\.npy.*found \(5,\)"),
        (range(1, POSE_COLUMNS + 1), np.zeros((5, 3)), r"scan_001\.npy.*No such file"),
    ],
)
def test_posed_scans_are_read_or_refused_with_the_file(tmp_path, row, points, message):
    (tmp_path / POSES).write_text("# scan stamp pose\n" + " ".join(map(str, row)) + "\n")
    np.save(tmp_path / "scan_000.npy", points)
    if message:
        with pytest.raises(UserError, match=message):
            read_posed_scans(tmp_path)
        return
    (scan,), (pose,) = read_posed_scans(tmp_path)
    assert scan.shape == (5, 3)
    assert np.array_equal(pose, [[2, 3, 4, 5], [6, 7, 8, 9], [10, 11, 12, 13], [0, 0, 0, 1]])
