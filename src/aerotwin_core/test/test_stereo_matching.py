# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import cv2
import numpy as np
import pytest

from aerotwin_core.stereo_matching import block_matcher, semi_global_matcher

SHIFT_PX, LOWEST, N = 23, 16, 32


@pytest.mark.parametrize("create", [semi_global_matcher, block_matcher])
@pytest.mark.parametrize("block_px", [3, 7])
def test_a_shifted_picture_has_one_disparity(create, block_px):
    rng = np.random.default_rng(3)
    scene = cv2.GaussianBlur(rng.integers(0, 256, (120, 300)).astype(np.uint8), (0, 0), 1.0)
    left, right = scene[:, : 300 - SHIFT_PX], scene[:, SHIFT_PX:]
    found = create(LOWEST, N, block_px).compute(left, right)[10:-10, LOWEST + N + 10 : -10] / 16.0
    is_matched = found >= LOWEST
    assert is_matched.mean() > 0.99
    np.testing.assert_allclose(found[is_matched], SHIFT_PX, atol=0.5)
