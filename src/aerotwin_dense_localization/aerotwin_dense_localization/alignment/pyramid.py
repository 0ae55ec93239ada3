# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Image pyramids, and the camera of each level."""

import numpy as np

from aerotwin_core.camera import PinholeCamera
from aerotwin_core.threads import default_thread_count, run_tasks, split_range
from aerotwin_dense_localization.alignment.kernels import halve, halve_depth

MAX_STEP = 0.05  # depths of 2 x 2 pixels that differ by more than this share are of two surfaces
_SMALLEST_PX = 16


def grey_levels(grey: np.ndarray, n_levels: int) -> list[np.ndarray]:
    """Return the pyramid of an image (h, w) [DN], float32, full size first, down to 16 pixels."""
    return _levels(np.ascontiguousarray(grey, dtype=np.float32), n_levels, halve)


def depth_levels(depth: np.ndarray, n_levels: int) -> list[np.ndarray]:
    """Return the pyramid of depths (h, w) [m]; NaN where two surfaces meet, or one is unknown."""
    first = np.ascontiguousarray(depth, dtype=np.float32)

    def halve_smooth(top: int, bottom: int, image: np.ndarray, half: np.ndarray) -> None:
        halve_depth(top, bottom, image, np.float32(MAX_STEP), half)

    return _levels(first, n_levels, halve_smooth)


def camera_levels(camera: PinholeCamera, n_levels: int) -> list[PinholeCamera]:
    """Return the cameras of the levels: a coarse pixel's centre lies between four finer ones."""
    cameras = [camera]
    while len(cameras) < n_levels and _is_large(cameras[-1].height, cameras[-1].width):
        last = cameras[-1]
        cameras.append(
            PinholeCamera(
                width=last.width // 2,
                height=last.height // 2,
                fx=last.fx / 2.0,
                fy=last.fy / 2.0,
                cx=(last.cx - 0.5) / 2.0,
                cy=(last.cy - 0.5) / 2.0,
                skew=last.skew / 2.0,
            )
        )
    return cameras


def _is_large(height: int, width: int) -> bool:
    return min(height, width) >= 2 * _SMALLEST_PX


def _levels(first: np.ndarray, n_levels: int, kernel) -> list[np.ndarray]:
    levels, n_threads = [first], default_thread_count()
    while len(levels) < n_levels and _is_large(*levels[-1].shape):
        image = levels[-1]
        half = np.empty((image.shape[0] // 2, image.shape[1] // 2), np.float32)
        bands = [(top, low, image, half) for top, low in split_range(len(half), n_threads)]
        run_tasks(kernel, bands, n_threads)
        levels.append(half)
    return levels
