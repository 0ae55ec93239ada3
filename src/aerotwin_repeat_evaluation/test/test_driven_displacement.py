# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_core.frames import make_transform
from aerotwin_repeat_evaluation import DrivenDisplacement, image_of_points, true_poses
from support.deviation_cases import loop, poses_of

ROUNDING = 1e-9
DRIFT_M = 1e-3
"""The drift grows by this from vertex to vertex at most: no point is put farther off."""
TRUE = poses_of(loop())[:-40]


def beside_the_route(n: int = 200) -> np.ndarray:
    rng = np.random.default_rng(3)
    near = TRUE[rng.integers(5, len(TRUE) - 5, n), :3, 3]
    return near + rng.uniform(-1.0, 1.0, (n, 3)) * [1.0, 1.0, 0.2]


def test_odometry_that_is_right_in_another_frame_is_a_rigid_motion():
    T = make_transform(Rotation.from_euler("z", 130.0, degrees=True).as_matrix(), [5.0, -3.0, 2.0])
    driven = DrivenDisplacement(T @ TRUE, TRUE)
    points = beside_the_route()
    expected = points @ T[:3, :3].T + T[:3, 3]
    np.testing.assert_allclose(image_of_points(driven, points), expected, atol=ROUNDING)
    np.testing.assert_allclose(driven.inverse(expected), points, atol=ROUNDING)
    np.testing.assert_allclose(true_poses(driven, T @ TRUE), TRUE, atol=1e-7)


def test_a_drift_along_the_way_is_undone_where_it_was_made():
    drift = np.arange(len(TRUE)) * DRIFT_M
    driven_map = TRUE.copy()
    driven_map[:, 1, 3] += drift
    driven = DrivenDisplacement(driven_map, TRUE)
    places = TRUE[10:-10, :3, 3]
    np.testing.assert_allclose(driven(places)[:, 1], drift[10:-10], atol=ROUNDING)
    middle = (places[:-1] + places[1:]) / 2.0
    between = (drift[10:-11] + drift[11:-10]) / 2.0
    np.testing.assert_allclose(driven(middle)[:, 1], between, atol=DRIFT_M / 2.0)
    again = driven.inverse(image_of_points(driven, middle))
    np.testing.assert_allclose(again, middle, atol=DRIFT_M)


def test_a_vertex_without_its_true_pose_is_refused():
    with pytest.raises(ValueError, match=r"both must be \(n, 4, 4\)"):
        DrivenDisplacement(TRUE, TRUE[:-1])
    with pytest.raises(ValueError, match="two vertices at least"):
        DrivenDisplacement(TRUE[:1], TRUE[:1])
