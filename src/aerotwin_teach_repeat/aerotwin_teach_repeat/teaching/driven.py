# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Driven paths, from a simulator or a robot: read from files and bags, resampled evenly."""

from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

from aerotwin_core.bag import BagReader
from aerotwin_core.errors import UserError
from aerotwin_core.foreign_text import listed
from aerotwin_core.frames import FloatArray
from aerotwin_core.trajectory import Trajectory
from aerotwin_core.tum import read_tum

_STILL_M = 1e-3  # steps below this count as standstill [m]


def read_driven(source: str | Path) -> Trajectory:
    """Return the trajectory of a TUM file or of a topic of a bag.

    `source` is `FILE.tum` (or .txt; `seconds x y z qx qy qz qw`), `BAG`, or `BAG:TOPIC` with
    Odometry, PoseStamped, TransformStamped or Path; without topic, the bag's only one. `UserError`
    if there is no such file or topic, or it is damaged.
    """
    path, _, topic = str(source).partition(":")
    if Path(path).is_file() and Path(path).suffix.lower() in (".tum", ".txt"):
        return read_tum(path)
    bag = BagReader(path)
    topics = (topic,) if topic else bag.trajectory_topics()
    if len(topics) != 1:
        raise UserError(
            f"{path}: name the topic of the drive (BAG:TOPIC); those with poses are "
            f"{listed(topics) or 'none'}"
        )
    return bag.trajectory(topics[0])


def along_path(T_map_base: FloatArray, spacing_m: float) -> tuple[FloatArray, FloatArray]:
    """Return driven poses (n, 4, 4) resampled at a spacing, and their horizontal path lengths [m].

    Linear in position and spherical in attitude between the input poses. Where the vehicle stood or
    turned on the spot, the last pose of that position counts. `UserError` if the poses are not
    finite, or the path has no length.
    """
    poses = np.asarray(T_map_base, dtype=np.float64)
    if poses.ndim != 3 or poses.shape[1:] != (4, 4) or not np.isfinite(poses).all():
        raise UserError(f"driven poses must be finite (n, 4, 4), got shape {poses.shape}")
    retained = [0]
    for k in range(1, len(poses)):
        if np.linalg.norm(poses[k, :2, 3] - poses[retained[-1], :2, 3]) > _STILL_M:
            retained.append(k)
        elif retained[-1] != 0:
            retained[-1] = k
    if len(retained) < 2:
        raise UserError(f"the drive has no length: all of its {len(poses)} poses are one place")
    poses = poses[retained]
    s = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(poses[:, :2, 3], axis=0), axis=1)))
    stations_m = np.linspace(0.0, s[-1], max(round(s[-1] / spacing_m), 1) + 1)
    cut = np.tile(np.eye(4), (len(stations_m), 1, 1))
    cut[:, :3, :3] = Slerp(s, Rotation.from_matrix(poses[:, :3, :3]))(stations_m).as_matrix()
    cut[:, :3, 3] = np.column_stack(
        [np.interp(stations_m, s, column) for column in poses[:, :3, 3].T]
    )
    return cut, stations_m
