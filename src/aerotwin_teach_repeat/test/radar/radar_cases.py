# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Turns of a radar in the block of houses, as its peaks are: level, in motion, with ghosts."""

import numpy as np
from localization_cases import cast

from aerotwin_teach_repeat.localization.odometry import T_begin_end

P_BASE_RADAR = np.array([0.3, -0.2, 1.0])
N_AZIMUTHS, TURN_S, SHIFT_S, NOISE_M, GHOSTS = 400, 0.25, 0.049, 0.05, 0.1


def peaks(T_map_base, twist=None, *, seed=0, noise_m=NOISE_M, ghosts=GHOSTS):
    """Return points in the base's frame at their own times, and those times since the start.

    Closing at v the range is `SHIFT_S` v short; some echoes are half as far again.
    """
    rng = np.random.default_rng(seed)
    twist = np.zeros(6) if twist is None else np.asarray(twist)
    azimuth = np.pi - 2.0 * np.pi * np.arange(N_AZIMUTHS) / N_AZIMUTHS
    level = np.column_stack([np.cos(azimuth), np.sin(azimuth), np.zeros(N_AZIMUTHS)])
    times = TURN_S * np.arange(N_AZIMUTHS) / N_AZIMUTHS
    poses = np.array([T_map_base @ T_begin_end(twist, t) for t in times])
    origins = np.einsum("nij,j->ni", poses, [*P_BASE_RADAR, 1.0])[:, :3]
    distance = cast(origins, np.einsum("nij,nj->ni", poses[:, :3, :3], level))
    velocity = twist[:3] + np.cross(twist[3:], P_BASE_RADAR)
    seen = distance - SHIFT_S * level @ velocity + rng.normal(0.0, noise_m, N_AZIMUTHS)
    seen *= np.where(rng.random(N_AZIMUTHS) < ghosts, 1.5, 1.0)
    retained = seen < 60.0
    points = seen[retained, None] * level[retained] + P_BASE_RADAR
    return points.astype(np.float32), times[retained]
