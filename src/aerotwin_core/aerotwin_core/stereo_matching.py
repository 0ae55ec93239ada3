# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""OpenCV's stereo matchers as this workspace uses them: one set of constants.

References
----------
Hirschmueller: Stereo processing by semiglobal matching and mutual information. PAMI 30(2), 2008.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import cv2

MOST_DISPARITIES = 512
_SMOOTH_SMALL, _SMOOTH_LARGE = 8, 32
"""Penalties of a step of one and of more, times the block's pixels: as in OpenCV's reference."""
_UNIQUE_PERCENT, _SPECKLE_PX, _SPECKLE_STEP = 5, 60, 2


def semi_global_matcher(lowest: int, n: int, block_px: int) -> "cv2.StereoMatcher":
    """Return a semi-global matcher of n disparities from the lowest on, blocks of odd size [px]."""
    import cv2

    area = block_px * block_px
    return cv2.StereoSGBM_create(
        minDisparity=lowest, numDisparities=n, blockSize=block_px, P1=_SMOOTH_SMALL * area,
        P2=_SMOOTH_LARGE * area, disp12MaxDiff=1, uniquenessRatio=_UNIQUE_PERCENT,
        speckleWindowSize=_SPECKLE_PX, speckleRange=_SPECKLE_STEP,
        mode=cv2.StereoSGBM_MODE_SGBM_3WAY,
    )  # fmt: skip


def block_matcher(lowest: int, n: int, block_px: int) -> "cv2.StereoMatcher":
    """Return a block matcher of n disparities from the lowest on; its blocks are 5 px at least."""
    import cv2

    matcher = cv2.StereoBM_create(numDisparities=n, blockSize=max(block_px, 5))
    matcher.setMinDisparity(lowest)
    matcher.setUniquenessRatio(_UNIQUE_PERCENT)
    matcher.setSpeckleWindowSize(_SPECKLE_PX)
    matcher.setSpeckleRange(_SPECKLE_STEP)
    matcher.setDisp12MaxDiff(1)
    return matcher
