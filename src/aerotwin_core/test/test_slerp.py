# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

from aerotwin_core.frames import slerp

ROUNDING = 1e-12


@pytest.mark.parametrize("turn_rad", [0.0, 1e-9, 0.3, 3.0, -2.0])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_between_two_attitudes_lies_the_shorter_arc(turn_rad, sign):
    first = Rotation.from_euler("xyz", [0.3, -0.2, 1.0])
    second = first * Rotation.from_rotvec(turn_rad * np.array([0.6, 0.0, 0.8]))
    q_first, q_second = first.as_quat(), sign * second.as_quat()
    shares = np.array([0.0, 0.25, 0.7, 1.0])
    expected = Slerp([0.0, 1.0], Rotation.concatenate([first, second]))(shares).as_matrix()
    found = slerp(np.tile(q_first, (4, 1)), np.tile(q_second, (4, 1)), shares[:, None])
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0, atol=ROUNDING)
    np.testing.assert_allclose(Rotation.from_quat(found).as_matrix(), expected, atol=ROUNDING)
    for share, q in zip(shares, found):
        np.testing.assert_array_equal(slerp(q_first, q_second, share), q)
