# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Compile (or load from the cache) every kernel now, not at the first frames of a flight."""

import cv2
import numpy as np

from aerotwin_core.camera import PinholeCamera, StereoRig
from aerotwin_stereo_odometry.odometry import StereoOdometry

WIDTH, HEIGHT, FOCAL_PX, BASELINE_M = 240, 160, 120.0, 0.1
DISPARITY_PX, STEP_PX = 8, 4  # of a wall that the camera slides along
N_FRAMES = 16  # enough keyframes for the semi-dense map
FRAME_NS = 50_000_000


def warm_up() -> StereoOdometry:
    """Move a small camera along a wall of noise; return the odometry that tracked it."""
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((HEIGHT, WIDTH + N_FRAMES * STEP_PX + DISPARITY_PX))
    wall = cv2.GaussianBlur(noise, (0, 0), 2.0)
    wall = np.clip(128.0 + 200.0 * wall, 0.0, 255.0).astype(np.uint8)
    camera = PinholeCamera(
        width=WIDTH, height=HEIGHT, fx=FOCAL_PX, fy=FOCAL_PX, cx=WIDTH / 2, cy=HEIGHT / 2
    )
    odometry = StereoOdometry(StereoRig(camera=camera, baseline_m=BASELINE_M))
    for k in range(N_FRAMES):
        first = k * STEP_PX
        left = wall[:, first : first + WIDTH]
        right = wall[:, first + DISPARITY_PX : first + DISPARITY_PX + WIDTH]
        odometry.track(k * FRAME_NS, left, right)
    odometry.map_points()
    return odometry
