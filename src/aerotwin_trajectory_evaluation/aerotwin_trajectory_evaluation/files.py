# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Trajectory files: TUM, KITTI, EuRoC, CSV with named columns; bags through `aerotwin_core.bag`.

Nothing is repaired silently: content that is invalid in a trajectory is an error with its line
number, or is listed in the notes.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.trajectory import Trajectory
from aerotwin_trajectory_evaluation.rows import Rows, read_rows, stamps_of

FORMATS = ("auto", "tum", "tum-ns", "kitti", "euroc", "csv", "bag")
_LONGEST_STEP_S = 1e4
"""Between two poses, on average; in nanoseconds it is a hundredth of a millisecond."""
DUPLICATES = ("keep", "first", "refuse")
BAG_SUFFIXES = (".mcap", ".db3")
# KITTI's laser turns at 10 Hz; only the order matters when both files lack stamps.
KITTI_PERIOD_NS = 100_000_000
_FARTHEST_M = 1e9  # beyond the Moon
# A larger deviation from length 1 is not rounding: four decimals leave 1e-4.
_ODD_NORM, _WRONG_NORM = 1e-3, 0.1


@dataclass(frozen=True, kw_only=True)
class TrajectoryFile:
    """Content of a file or a topic.

    Covariances (n, 6, 6) are as in geometry_msgs/PoseWithCovariance. `notes` tell what was counted,
    dropped or assumed. `has_stamps` is False where the stamps are synthetic (KITTI without times):
    only the order of poses counts.
    """

    trajectory: Trajectory
    file_format: str
    covariances: np.ndarray | None = None
    notes: tuple[str, ...] = ()
    has_stamps: bool = True


def read_trajectory(
    path: str | Path,
    *,
    file_format: str = "auto",
    times: str | Path | None = None,
    topic: str | None = None,
    duplicates: str = "keep",
) -> Trajectory:
    """Return the trajectory of a file or a topic of a bag; see `load_trajectory`."""
    return load_trajectory(
        path, file_format=file_format, times=times, topic=topic, duplicates=duplicates
    ).trajectory


def load_trajectory(
    path: str | Path,
    *,
    file_format: str = "auto",
    times: str | Path | None = None,
    topic: str | None = None,
    duplicates: str = "keep",
) -> TrajectoryFile:
    """Return the trajectory of a file or a topic of a bag, with notes.

    Parameters
    ----------
    path : path
        `tum`: stamp[s] x y z qx qy qz qw; `tum-ns`: the same with stamp[ns], as ORB-SLAM3 writes
        it (`SaveTrajectoryEuRoC`); `kitti`: 12 numbers, row-major 3x4; `euroc`: CSV,
        stamp[ns] x y z qw qx qy qz; `csv`: columns known by their names and units; `bag`: a
        rosbag2 folder or file.
    file_format : str
        One of `FORMATS`; `auto` detects it from the columns.
    times : path, optional
        Stamps [s] of a KITTI file, one per line; default: every 0.1 s.
    topic : str, optional
        Of a bag, as in `BagReader.poses`; default: its only one.
    duplicates : {"keep", "first", "refuse"}
        Poses that share a stamp: all are kept, 1 ns apart, as evo uses them; or the first alone.
        Of a bag the first alone is used, and `keep` says so.

    Raises
    ------
    UserError
        If the file is missing, damaged, empty or of another format.
    """
    path = Path(path)
    if file_format not in FORMATS:
        raise ValueError(f"file_format must be one of {FORMATS}, got {file_format!r}")
    if duplicates not in DUPLICATES:
        raise ValueError(f"duplicates must be one of {DUPLICATES}, got {duplicates!r}")
    if not path.exists():
        raise UserError(f"{path}: no such file; give a trajectory (TUM, KITTI, EuRoC) or a bag")
    is_bag_file = any(suffix in BAG_SUFFIXES for suffix in path.suffixes[-2:])  # .db3.zstd, too
    if file_format == "bag" or path.is_dir() or is_bag_file:
        if file_format not in ("auto", "bag"):
            raise UserError(
                f"{path}: a bag, not a file of format {file_format}; leave the format to auto"
            )
        return _from_bag(path, topic, duplicates)
    rows = read_rows(path)
    if file_format == "auto":
        file_format = _detected_format(rows)
    try:
        if file_format == "kitti":
            found = _from_kitti(rows, times)
        else:
            found = _READERS[file_format](rows, duplicates)
    except ValueError as error:
        raise UserError(f"{path}: not a usable trajectory ({file_format}): {error}") from error
    return replace(found, notes=tuple(f"{path.name}: {note}" for note in found.notes))


def _detected_format(rows: Rows) -> str:
    width, stamp = len(rows.cells(0)), rows.cells(0)[0]
    if width == 12:
        return "kitti"
    is_tum = width == 8 and not rows.is_comma_separated
    if is_tum and rows.header is None and _has_nanoseconds(rows):
        return "tum-ns"
    if stamp.isdigit() and len(stamp) >= 16 and width >= 8:
        return "euroc"
    if rows.header is not None and (rows.is_comma_separated or width > 8):
        return "csv"
    if width != 8:
        raise UserError(
            f"{rows.path}: {width} columns are no trajectory; TUM has 8, KITTI 12, EuRoC 8 or more "
            "with stamps in nanoseconds, CSV a line of names first (time_s, x_m, …, qw)"
        )
    return "tum"


def _has_nanoseconds(rows: Rows) -> bool:
    """Return whether stamps differ by more than seconds can."""
    try:
        first, last = (float(rows.cells(row)[0]) for row in (0, -1))
    except ValueError:
        return False
    return last - first >= _LONGEST_STEP_S * max(len(rows) - 1, 1)


def _from_tum(rows: Rows, duplicates: str, unit: str = "s") -> TrajectoryFile:
    values = rows.numbers(8, exactly=True)
    stamps = stamps_of(rows, 0, unit)
    name = "tum" if unit == "s" else "tum-ns"
    return from_columns(rows, stamps, values[:, 1:4], values[:, 4:8], name, duplicates)


def _from_tum_ns(rows: Rows, duplicates: str) -> TrajectoryFile:
    return _from_tum(rows, duplicates, "ns")


def _from_euroc(rows: Rows, duplicates: str) -> TrajectoryFile:
    values = rows.numbers(8)
    stamps = stamps_of(rows, 0, "ns")
    return from_columns(rows, stamps, values[:, 1:4], values[:, [5, 6, 7, 4]], "euroc", duplicates)


def _from_csv(rows: Rows, duplicates: str) -> TrajectoryFile:
    from aerotwin_trajectory_evaluation.rows import read_named_columns

    stamps, positions, quaternions, notes = read_named_columns(rows)
    found = from_columns(rows, stamps, positions, quaternions, "csv", duplicates)
    return replace(found, notes=(*notes, *found.notes))


_READERS = {"tum": _from_tum, "tum-ns": _from_tum_ns, "euroc": _from_euroc, "csv": _from_csv}


def _from_kitti(rows: Rows, times: str | Path | None) -> TrajectoryFile:
    from scipy.spatial.transform import Rotation

    matrices = rows.numbers(12, exactly=True).reshape(-1, 3, 4)
    rotations = np.ascontiguousarray(matrices[:, :, :3])
    off = np.abs(rotations @ rotations.transpose(0, 2, 1) - np.eye(3)).max(axis=(1, 2))
    wrong = (off > _WRONG_NORM) | (np.linalg.det(rotations) < 0.0)
    if wrong.any():
        line = rows.line(int(np.argmax(wrong)))
        raise ValueError(f"line {line}: the 3x3 part is no rotation; rows are r11 r12 r13 tx …")
    _refuse_far(rows, matrices[:, :, 3])
    quaternions = Rotation.from_matrix(rotations).as_quat()
    notes = [] if times else ["without stamps: poses are taken every 0.1 s; give --times"]
    if off.max() > _ODD_NORM:
        notes.append(f"rotations are off orthonormal by up to {off.max():.1e}; used as written")
    trajectory = Trajectory(_times(times, len(matrices)), matrices[:, :, 3], quaternions, rotations)
    return TrajectoryFile(
        trajectory=trajectory,
        file_format="kitti",
        notes=tuple(notes),
        has_stamps=times is not None,
    )


def _times(times: str | Path | None, n: int) -> np.ndarray:
    if times is None:
        return np.arange(n, dtype=np.int64) * KITTI_PERIOD_NS
    rows = read_rows(Path(times))
    if len(rows) != n:
        raise ValueError(f"{times} has {len(rows)} stamps for {n} poses")
    return stamps_of(rows, 0, "s")


def from_columns(
    rows: Rows,
    stamps: np.ndarray,
    positions: np.ndarray,
    quaternions: np.ndarray,
    file_format: str,
    duplicates: str,
) -> TrajectoryFile:
    """Return the trajectory of columns, after all validity checks."""
    _refuse_far(rows, positions)
    norms = np.linalg.norm(quaternions, axis=1)
    off = np.abs(norms - 1.0)
    if off.max() > _WRONG_NORM:
        at = int(np.argmax(off))
        raise ValueError(
            f"line {rows.line(at)}: the quaternion has length {norms[at]:.3g} instead of 1; "
            "check the order of the columns"
        )
    notes = []
    if off.max() > _ODD_NORM:
        n_odd = int(np.sum(off > _ODD_NORM))
        notes.append(f"{n_odd} quaternions are off length 1 by up to {off.max():.1e}; normalised")
    steps = np.diff(stamps)
    if (steps < 0).any():
        at = rows.line(int(np.argmax(steps < 0)) + 1)
        raise ValueError(f"stamps go back at line {at}; sort the file by stamp (sort -n)")
    n_repeated = int(np.sum(steps == 0))
    if n_repeated:
        at = rows.line(int(np.argmax(steps == 0)) + 1)
        found = f"{n_repeated} poses have the stamp of the one before, the first at line {at}"
        if duplicates == "refuse":
            raise ValueError(f"{found}; remove them, or take --duplicates keep or first")
        notes.append(f"{found}; {_SAID[duplicates]}")
    keep = (
        np.concatenate([[True], steps > 0]) if duplicates == "first" else np.ones(len(stamps), bool)
    )
    trajectory = Trajectory(_apart(stamps[keep]), positions[keep], quaternions[keep])
    return TrajectoryFile(trajectory=trajectory, file_format=file_format, notes=tuple(notes))


def _refuse_far(rows: Rows, positions: np.ndarray) -> None:
    far = np.abs(positions).max(axis=1)
    if far.max() > _FARTHEST_M:
        line = rows.line(int(np.argmax(far)))
        raise ValueError(f"line {line}: {far.max():.3g} m is no position; check the unit")


_SAID = {"keep": "all are used, 1 ns apart (as evo)", "first": "the first of each is used"}


def _apart(stamps: np.ndarray) -> np.ndarray:
    """Return stamps that increase by at least 1 ns."""
    steps = np.arange(len(stamps))
    return np.maximum.accumulate(stamps - steps) + steps


def _from_bag(path: Path, topic: str | None, duplicates: str) -> TrajectoryFile:
    from aerotwin_core.bag import BagReader

    reader = BagReader(path)
    if topic is None:
        known = reader.trajectory_topics()
        if len(known) != 1:
            listed = ", ".join(known) or "none"
            raise UserError(
                f"{path}: name one of its trajectories with PATH:TOPIC; it has: {listed}"
            )
        topic = known[0]
    poses = reader.poses(topic)
    notes = list(reader.problems)
    if poses.n_repeated and duplicates == "refuse":
        raise UserError(
            f"{path}: {poses.n_repeated} poses of {topic} repeat a stamp; take --duplicates first"
        )
    if poses.n_repeated and duplicates == "keep":
        notes.append(f"{path}: of a bag equal stamps are not retained; as duplicates = first")
    return TrajectoryFile(
        trajectory=poses.trajectory,
        file_format="bag",
        covariances=poses.covariances,
        notes=tuple(notes),
    )
