# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Trajectory files: TUM, KITTI, EuRoC; bags through `aerotwin_core.bag`."""

from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.cli import write_text_atomically
from aerotwin_core.errors import UserError
from aerotwin_core.trajectory import Trajectory

FORMATS = ("auto", "tum", "kitti", "euroc", "bag")
# KITTI's laser turns at 10 Hz; only the order matters when both files lack stamps.
KITTI_PERIOD_NS = 100_000_000


def read_trajectory(
    path: str | Path,
    *,
    file_format: str = "auto",
    times: str | Path | None = None,
    topic: str | None = None,
) -> Trajectory:
    """Return the trajectory of a file or a topic of a bag.

    Parameters
    ----------
    path : path
        `tum`: stamp[s] x y z qx qy qz qw; `kitti`: 12 numbers, row-major 3x4; `euroc`: CSV,
        stamp[ns] x y z qw qx qy qz; `bag`: a rosbag2 folder or file.
    file_format : str
        One of `FORMATS`; `auto` tells them apart by the number of columns.
    times : path, optional
        Stamps [s] of a KITTI file, one a line; every 0.1 s without.
    topic : str, optional
        Odometry or PoseStamped topic of a bag; its only such topic by default.

    Raises
    ------
    UserError
        If the file is missing, damaged, empty or of another format.
    """
    path = Path(path)
    if file_format not in FORMATS:
        raise ValueError(f"file_format must be one of {FORMATS}, got {file_format!r}")
    if not path.exists():
        raise UserError(f"{path}: no such file; give a trajectory (TUM, KITTI, EuRoC) or a bag")
    if file_format == "bag" or path.is_dir() or path.suffix in (".mcap", ".db3"):
        return _from_bag(path, topic)
    table = _table(path)
    try:
        return _from_table(table, file_format, times, path)
    except ValueError as error:
        raise UserError(f"{path}: not a usable trajectory: {error}") from error


def write_tum(path: str | Path, trajectory: Trajectory) -> None:
    """Write stamp[s] x y z qx qy qz qw, one pose a line, atomically; nanoseconds are kept."""
    lines = ["# stamp_s x_m y_m z_m qx qy qz qw"]
    for stamp, p, q in zip(trajectory.stamps_ns, trajectory.p_ref_body, trajectory.q_ref_body):
        numbers = " ".join(f"{v:.9f}" for v in (*p, *q))
        lines.append(f"{stamp // 10**9}.{stamp % 10**9:09d} {numbers}")
    write_text_atomically(Path(path), "\n".join(lines) + "\n")


def _from_table(
    table: list[list[str]], file_format: str, times: str | Path | None, path: Path
) -> Trajectory:
    width = min(len(row) for row in table)
    if file_format == "auto":
        is_kitti = width == 12
        file_format = "kitti" if is_kitti else "euroc" if _has_integer_stamps(table) else "tum"
    if file_format == "kitti":
        values = _numbers(table, 0, 12)
        matrices = values.reshape(-1, 3, 4)
        quaternions = Rotation.from_matrix(matrices[:, :, :3]).as_quat()
        stamps = _times(times, len(values))
        return Trajectory(stamps, matrices[:, :, 3], quaternions)
    values = _numbers(table, 1, 8)
    order = [4, 5, 6, 3] if file_format == "euroc" else [3, 4, 5, 6]
    is_ns = file_format == "euroc"
    stamps = np.array([_nanoseconds(row[0], is_ns=is_ns) for row in table], dtype=np.int64)
    return _sorted(stamps, values[:, :3], values[:, order])


def _table(path: Path) -> list[list[str]]:
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    rows = [line.replace(",", " ").split() for line in lines if not line.lstrip().startswith("#")]
    rows = [row for row in rows if row]
    if rows and any(c.isalpha() and c not in "eE" for c in rows[0][0]):
        rows = rows[1:]
    if not rows:
        raise UserError(f"{path}: holds no pose")
    if len(rows[0]) < 8:
        raise UserError(
            f"{path}: {len(rows[0])} columns are no trajectory; "
            "TUM has 8, KITTI 12, EuRoC 8 or more"
        )
    return rows


def _numbers(table: list[list[str]], first: int, end: int) -> np.ndarray:
    for number, row in enumerate(table, 1):
        if len(row) < end:
            raise ValueError(f"pose {number} has {len(row)} columns, {end} are needed")
    return np.array([row[first:end] for row in table], dtype=np.float64)


def _has_integer_stamps(table: list[list[str]]) -> bool:
    return table[0][0].isdigit() and len(table[0][0]) >= 16


def _nanoseconds(text: str, *, is_ns: bool) -> int:
    """Return a stamp exactly: a float would lose the last digits of seconds since 1970."""
    if is_ns:
        return int(float(text)) if not text.isdigit() else int(text)
    whole, _, fraction = text.partition(".")
    if whole.lstrip("-").isdigit() and (fraction.isdigit() or not fraction):
        nanoseconds = int((fraction + "0" * 9)[:9])
        return int(whole) * 10**9 + (-nanoseconds if whole.startswith("-") else nanoseconds)
    return round(float(text) * 1e9)


def _sorted(stamps: np.ndarray, positions: np.ndarray, quaternions: np.ndarray) -> Trajectory:
    """Drop repeated stamps (the first stays); an order that goes back is an error."""
    if (np.diff(stamps) < 0).any():
        at = int(np.argmax(np.diff(stamps) < 0)) + 2
        raise ValueError(f"stamps go back at pose {at}; sort the file by stamp")
    keep = np.diff(stamps, prepend=stamps[0] - 1) > 0
    return Trajectory(stamps[keep], positions[keep], quaternions[keep])


def _times(times: str | Path | None, n: int) -> np.ndarray:
    if times is None:
        return np.arange(n, dtype=np.int64) * KITTI_PERIOD_NS
    words = Path(times).read_text(encoding="ascii", errors="replace").split()
    if len(words) != n:
        raise ValueError(f"{times} has {len(words)} stamps for {n} poses")
    return np.round(np.array(words, dtype=np.float64) * 1e9).astype(np.int64)


def _from_bag(path: Path, topic: str | None) -> Trajectory:
    from aerotwin_core.bag import BagReader

    reader = BagReader(path)
    kinds = ("nav_msgs/msg/Odometry", "geometry_msgs/msg/PoseStamped")
    known = sorted(name for name, kind in reader.topics.items() if kind in kinds)
    if topic is None and len(known) == 1:
        topic = known[0]
    if topic is None or topic not in reader.topics:
        listed = ", ".join(known) or "none"
        raise UserError(f"{path}: name one of its trajectories with PATH:TOPIC; it has: {listed}")
    return reader.trajectory(topic)
