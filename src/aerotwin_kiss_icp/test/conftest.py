# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A lidar that drives through a hall of known walls, each ray cast from where it was."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

PERIOD_NS = 100_000_000
RADIUS_M, ACCELERATION_M_S2 = 12.0, 1.0
# Walls of a hall with pillars: (low corner, high corner) of boxes; the hall is seen from inside.
HALL = np.array([[-15.0, -12.0, -1.5], [35.0, 25.0, 8.0]])
PILLARS = np.array(
    [[[8.0, -6.0, -1.5], [10.0, -4.0, 8.0]], [[-4.0, 7.0, -1.5], [-2.0, 9.0, 8.0]],
     [[18.0, 8.0, -1.5], [21.0, 10.0, 8.0]]]
)  # fmt: skip


def pose_at(seconds: np.ndarray) -> tuple[np.ndarray, Rotation]:
    """Return positions (n, 3) and attitudes on a circle, from rest, the nose along the way."""
    yaw = 0.5 * ACCELERATION_M_S2 * seconds**2 / RADIUS_M
    p = RADIUS_M * np.column_stack([np.sin(yaw), 1.0 - np.cos(yaw), np.zeros(len(yaw))])
    return p, Rotation.from_rotvec(np.column_stack([0 * yaw, 0 * yaw, yaw]))


def reach(origins: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Return the distances to the first wall by the slab method."""
    with np.errstate(divide="ignore"):
        low, high = ((corner - origins) / directions for corner in HALL)
        nearest = np.maximum(low, high).min(axis=1)
        for box in PILLARS:
            low, high = ((corner - origins) / directions for corner in box)
            enters = np.minimum(low, high).max(axis=1)
            leaves = np.maximum(low, high).min(axis=1)
            is_hit = (enters < leaves) & (enters > 0.0)
            nearest = np.where(is_hit, np.minimum(nearest, enters), nearest)
    return nearest


@pytest.fixture(scope="session")
def drive():
    """Thirty scans: (stamp_ns, points_lidar, times_s) each; seeded noise of 1 cm."""
    rng = np.random.default_rng(4)
    n_columns, elevations = 360, np.radians(np.linspace(-15.0, 15.0, 16))
    scans = []
    for k in range(30):
        times = np.repeat(np.arange(n_columns) / n_columns * PERIOD_NS * 1e-9, 16)
        azimuths = np.repeat(2.0 * np.pi * np.arange(n_columns) / n_columns, 16)
        up = np.tile(elevations, n_columns)
        rays = np.column_stack(
            [np.cos(up) * np.cos(azimuths), np.cos(up) * np.sin(azimuths), np.sin(up)]
        )
        p, turn = pose_at(k * PERIOD_NS * 1e-9 + times)
        distance = reach(p, turn.apply(rays)) + rng.normal(0.0, 0.01, len(rays))
        scans.append((k * PERIOD_NS, rays * distance[:, None], times))
    return scans
