# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A prepared image: smoothed for sub-pixel work, raw for the pyramid of the flow."""

from dataclasses import dataclass

import cv2
import numpy as np

KERNEL_PX = 5  # support of the smoothing


@dataclass(frozen=True, kw_only=True)
class PreparedImage:
    """A grey image (h, w), Gaussian-smoothed as float32 and raw as uint8 [DN]."""

    smooth: np.ndarray
    raw: np.ndarray

    @property
    def shape(self):
        """Height and width [px]."""
        return self.smooth.shape


def smoothed_noise_gain(smoothing_px: float) -> float:
    """Return the variance of white noise after smoothing, relative to before."""
    kernel = cv2.getGaussianKernel(KERNEL_PX, smoothing_px)
    return float(np.sum(kernel**2)) ** 2


def prepare_image(image, *, smoothing_px: float) -> PreparedImage:
    """Smooth a (h, w) uint8 image by a Gaussian of this standard deviation [px]."""
    smooth = cv2.GaussianBlur(image.astype(np.float32), (KERNEL_PX, KERNEL_PX), smoothing_px)
    return PreparedImage(smooth=smooth, raw=image)


def track_flow(
    previous: PreparedImage, current: PreparedImage, uv, guess, *, window_px, levels, max_error_px
):
    """Track features by pyramidal Lucas-Kanade, forward and backward.

    `uv`, `guess` (n, 2): positions in the previous image, expected positions in the current
    one [px]. `window_px`, `levels`: window [px] and pyramid levels. `max_error_px`: largest
    distance between the start and the forward-backward result [px]. Returns positions (n, 2) in the
    current image and which of them are valid (n,).
    """
    if len(uv) == 0:
        return np.empty((0, 2)), np.zeros(0, dtype=bool)
    start = np.ascontiguousarray(uv, dtype=np.float32).reshape(-1, 1, 2)
    expected = np.ascontiguousarray(guess, dtype=np.float32).reshape(-1, 1, 2)
    options = {
        "winSize": (window_px, window_px),
        "maxLevel": levels,
        "criteria": (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 20, 0.03),
        "flags": cv2.OPTFLOW_USE_INITIAL_FLOW,
    }
    there, ok, _ = cv2.calcOpticalFlowPyrLK(
        previous.raw, current.raw, start, expected.copy(), **options
    )
    back, ok_back, _ = cv2.calcOpticalFlowPyrLK(
        current.raw, previous.raw, there, start.copy(), **options
    )
    error = np.linalg.norm((back - start).reshape(-1, 2), axis=1)
    held = (ok.ravel() == 1) & (ok_back.ravel() == 1) & (error < max_error_px)
    return there.reshape(-1, 2).astype(np.float64), held
