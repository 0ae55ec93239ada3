# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The folder of a map as `aerotwin map` leaves it: whole, or the one that was there before."""

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.tum import write_tum
from aerotwin_dense_localization.mapping import save_map
from aerotwin_dense_localization.mapping.folder import MANIFEST, export_ply
from aerotwin_dense_localization.mapping.recorder import RecordedMap
from aerotwin_scenarios.dense_localization.recordings.recording import trajectory_of

CLOUD, KEYFRAMES, FLIGHT = "cloud.ply", "keyframes.tum", "flight"
_OURS = {MANIFEST, CLOUD, KEYFRAMES, FLIGHT, "surfaces"}


@contextmanager
def replaced_folder(target: Path) -> Iterator[Path]:
    """Give a folder to write into; at the end it takes the place of the target, or is removed.

    Raises `UserError` if the target is a file, or holds what is not of a map; nothing is touched
    then.
    """
    check_target(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    fresh, old = beside / "new", beside / "old"
    try:
        fresh.mkdir()
        yield fresh
        if target.exists():
            target.rename(old)
        fresh.rename(target)
    finally:
        if old.exists() and not target.exists():
            old.rename(target)
        shutil.rmtree(beside, ignore_errors=True)


def check_target(target: Path) -> None:
    """Refuse a folder that holds anything but a map."""
    if target.exists() and not target.is_dir():
        raise UserError(f"-o {target}: is a file; name a folder")
    others = sorted({f.name for f in target.iterdir()} - _OURS) if target.is_dir() else []
    if others:
        raise UserError(
            f"-o {target}: holds {others[0]}, which is not of a map; name another folder, a map "
            "takes all of it"
        )


def write_map(folder: Path, made: RecordedMap, about: Mapping[str, Any]) -> None:
    """Write the map, its points as PLY and the poses of its key-frames."""
    export_ply(folder / CLOUD, made.dense_map)
    poses = [keyframe.T_map_optical for keyframe in made.keyframes]
    stamps = [keyframe.stamp_ns for keyframe in made.keyframes]
    write_tum(folder / KEYFRAMES, trajectory_of(stamps, poses))
    save_map(folder, made.dense_map, about)


def numbers_of_map(made: RecordedMap) -> dict[str, Any]:
    """Return what a map is in numbers.

    `overlap` is the mean share of a key-frame's view that the next one shows.
    """
    shares = [a.view_shown_from(b.T_map_optical) for a, b in pairwise(made.keyframes)]
    return {
        "n_keyframes": made.n_keyframes,
        "n_links": made.n_links,
        "n_surfaces": len(made.dense_map.surfaces),
        "n_splats": len(made.dense_map),
        "overlap": float(np.mean(shares)) if shares else None,
    }
