# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Poses of optical frames from position, heading and pitch."""

import math

import numpy as np
from numpy.typing import ArrayLike

from aerotwin_core.frames import R_CAM_OPTICAL, make_transform


def optical_pose(p_map: ArrayLike, *, yaw: float, pitch_down: float = 0.0) -> np.ndarray:
    """Return T_map_optical of a camera without roll, at position ``p_map`` [m].

    ``yaw`` is the heading, counter-clockwise from east, ``pitch_down`` the angle of the optical
    axis below the horizon [rad].
    """
    c, s = math.cos(yaw), math.sin(yaw)
    cp, sp = math.cos(pitch_down), math.sin(pitch_down)
    R_yaw = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    R_pitch = np.array([[cp, 0.0, sp], [0.0, 1.0, 0.0], [-sp, 0.0, cp]])
    return make_transform(R_yaw @ R_pitch @ R_CAM_OPTICAL, np.asarray(p_map, float))
