# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A map and a trajectory, each with an estimate of it, for those who run the evaluator."""

from pathlib import Path

import numpy as np

from aerotwin_core import messages
from aerotwin_core.bag import BagWriter

SECOND = 1_000_000_000
SIGMA = 0.02  # of the estimate's positions along each axis [m]


def wavy_ground(n: int) -> np.ndarray:
    """Return points on a surface that opposes every shift and turn [m]."""
    xy = np.random.default_rng(5).uniform(-15.0, 15.0, (n, 2))
    return np.column_stack([xy, np.sin(xy[:, 0]) + np.cos(0.7 * xy[:, 1])])


def shifted_ground() -> np.ndarray:
    """Return an estimate of that surface, a few centimetres off [m]."""
    return wavy_ground(4000) + np.array([0.1, -0.05, 0.02])


def write_trajectories(folder: Path) -> np.ndarray:
    """Write `truth.txt` and `estimate.txt`; return the rows of the latter (TUM)."""
    t = np.linspace(0.0, 20.0, 200)
    p = np.column_stack([3.0 * np.cos(0.3 * t), 3.0 * np.sin(0.3 * t), 0.1 * t])
    rows = np.column_stack([t, p, np.zeros((200, 3)), np.ones(200)])
    np.savetxt(folder / "truth.txt", rows, fmt="%.6f")
    rows[:, 1:4] += np.random.default_rng(6).normal(0.0, SIGMA, (200, 3))
    np.savetxt(folder / "estimate.txt", rows, fmt="%.6f")
    return rows


def write_odometry(writer: BagWriter, rows: np.ndarray) -> None:
    """Write those rows into the topic /odom of a bag."""
    for row in rows:
        stamp = round(row[0] * SECOND)
        message = messages.odometry_message(
            stamp, "map", "base", row[1:4], row[4:], [0.0] * 3, [0.0] * 3
        )
        writer.write("/odom", stamp, messages.serialize(message))
