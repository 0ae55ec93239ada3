# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Scans of a walk through a hall, each in the map of the others; poses are those of its authors."""

import numpy as np
import pytest

from aerotwin_teach_repeat.localization.leave_one_out import leave_one_out

MEDIAN_M, WORST_M = 0.020, 0.080
SEED, EVERY = 1000, 4
"""All scans and 20 seeds take minutes: `leave_one_out` with every one is for the long evidence."""


@pytest.mark.slow
@pytest.mark.parametrize(("shift_m", "turn_deg"), [(0.2, 3.0), (0.5, 10.0)])
def test_lounge_scans_find_their_places_in_the_map_of_the_others(shared_data, shift_m, turn_deg):
    folder = shared_data("point_clouds/balm_hku_lounge")
    table = np.loadtxt(folder / "poses_T_world_lidar.txt")
    poses = [np.vstack([row[2:].reshape(3, 4), [0, 0, 0, 1]]) for row in table]
    scans = [np.load(folder / f"scan_{int(row[0]):03d}.npy").astype(float) for row in table]
    which = range(2, len(scans), EVERY)  # the last one, which is the worst, among them
    found = leave_one_out(scans, poses, [SEED], shift_m=shift_m, turn_deg=turn_deg, left_out=which)
    assert found.converged.all()
    assert np.median(found.shifts_m) <= MEDIAN_M
    assert found.shifts_m.max() <= WORST_M
