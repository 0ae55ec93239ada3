# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Each of many posed scans, placed in the map of the others from a wrong start."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.errors import UserError
from aerotwin_core.frames import FloatArray, transform_points
from aerotwin_core.limits import check_is_file
from aerotwin_core.text_lines import text_lines
from aerotwin_registration import voxel_downsample
from aerotwin_teach_repeat.localization.matcher import ScanMatcher
from aerotwin_teach_repeat.localization.protocol import LocalizationProtocol

POSES = "poses_T_world_lidar.txt"
POSE_COLUMNS = 14
MAP_VOXEL_M = 0.1
CONVERGED_M = 0.1
"""Farther from its pose than this a scan has not converged [m]."""
FINE = LocalizationProtocol(
    voxel_m=0.1,
    max_points=20_000,
    initial_points=20_000,
    initial_steps=50,
    range_m=5.0,
    least_shift_m=2e-4,
    least_turn_deg=2e-3,
)
"""For halls that a handheld lidar walked through: all points, since a hall is small, near ones
above all, and small last steps; chosen on seeds below 1000. With the defaults one of the 23 scans
of the lounge has places within 9 cm of each other where it stops."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LeaveOneOut:
    """How far scans ended from their poses.

    Attributes
    ----------
    shifts_m, turns_deg : (n_seeds, n_matched) arrays
        Distance and angle from the pose [m], [deg].
    accepted : (n_seeds, n_matched) bool array
        Whether the matcher accepted its result.
    """

    shifts_m: np.ndarray
    turns_deg: np.ndarray
    accepted: np.ndarray

    @property
    def converged(self) -> np.ndarray:
        """Which were accepted and lie within `CONVERGED_M` of the pose."""
        return self.accepted & (self.shifts_m <= CONVERGED_M)


def read_posed_scans(folder: Path) -> tuple[list[np.ndarray], list[FloatArray]]:
    """Return scans (n, 3) [m] and their poses T_world_lidar (4, 4) of a folder.

    Each line of `poses_T_world_lidar.txt` is the number of a scan, its stamp [s] and the first
    three rows of its pose; `scan_NNN.npy` holds the points.

    Raises
    ------
    UserError
        If a file is missing or not that.
    """
    path = folder / POSES
    try:
        table = np.loadtxt(text_lines(path), ndmin=2)
        if table.shape[1] != POSE_COLUMNS or not np.isfinite(table).all():
            raise ValueError(f"expected {POSE_COLUMNS} finite columns, found {table.shape[1]}")
        scans = []
        for number in table[:, 0]:
            path = folder / f"scan_{int(number):03d}.npy"
            check_is_file(path)
            scan = np.load(path, allow_pickle=False).astype(np.float64)
            if scan.ndim != 2 or scan.shape[1] != 3 or not np.isfinite(scan).all():
                raise ValueError(f"expected finite points (n, 3), found {scan.shape}")
            scans.append(scan)
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: cannot be used ({error}); get the data set again") from error
    last = [[0.0, 0.0, 0.0, 1.0]]
    return scans, [np.vstack([row[2:].reshape(3, 4), last]) for row in table]


def leave_one_out(
    scans: Sequence[np.ndarray],
    poses: Sequence[FloatArray],
    seeds: Sequence[int],
    *,
    shift_m: float,
    turn_deg: float,
    is_normal: bool = False,
    left_out: Sequence[int] | None = None,
    protocol: LocalizationProtocol = FINE,
    on_match: Callable[[], object] | None = None,
) -> LeaveOneOut:
    """Match scans, each to the map of all others.

    Parameters
    ----------
    scans : sequence of (n, 3) arrays
        Without motion distortion, in the lidar's frame [m].
    poses : sequence of (4, 4) arrays
        T_map_lidar of each, taken as the truth.
    seeds : sequence of int
        A start error is drawn from each seed for each scan.
    shift_m, turn_deg : float
        Length of the start's shift, in a direction of space, and of its turn about z [m], [deg].
    is_normal : bool
        Take them for the deviations of a normal error instead, of each axis.
    left_out : sequence of int, optional
        Places of the scans that are matched; all by default.
    protocol : LocalizationProtocol
    on_match : callable, optional
        Called after each match.
    """
    placed = [transform_points(T, scan) for scan, T in zip(scans, poses, strict=True)]
    which = range(len(scans)) if left_out is None else left_out
    found = np.empty((len(seeds), len(which), 3))
    for n, i in enumerate(which):
        T = poses[i]
        origin = np.round(T[:3, 3])
        others = voxel_downsample(np.vstack(placed[:i] + placed[i + 1 :]), MAP_VOXEL_M)
        matcher = ScanMatcher(others - origin, None, protocol)
        T_true = T.copy()
        T_true[:3, 3] -= origin
        for k, seed in enumerate(seeds):
            rng = np.random.default_rng([seed, i])
            start = _start(T_true, rng, shift_m, turn_deg, is_normal=is_normal)
            match = matcher.match(scans[i], start)
            R = T_true[:3, :3].T @ match.T_target_source[:3, :3]
            shift = np.linalg.norm(match.T_target_source[:3, 3] - T_true[:3, 3])
            turn = np.degrees(Rotation.from_matrix(R).magnitude())
            found[k, n] = shift, turn, match.accepted
            if on_match is not None:
                on_match()
    return LeaveOneOut(
        shifts_m=found[..., 0], turns_deg=found[..., 1], accepted=found[..., 2] > 0.0
    )


def _start(
    T_true: FloatArray,
    rng: np.random.Generator,
    shift_m: float,
    turn_deg: float,
    *,
    is_normal: bool,
) -> FloatArray:
    way, side = rng.normal(0.0, 1.0, 3), rng.normal()
    if not is_normal:
        way, side = way / np.linalg.norm(way), np.sign(side)
    start = T_true.copy()
    start[:3, 3] += shift_m * way
    turn = Rotation.from_euler("z", side * turn_deg, degrees=True).as_matrix()
    start[:3, :3] = turn @ T_true[:3, :3]
    return start
