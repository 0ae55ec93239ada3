# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The formats: how a sound file of each is made, how it is read, and what its reader can notice."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evidence.fuzzing import folder_samples, places, readers, samples


@dataclass(frozen=True, kw_only=True)
class Format:
    """One format.

    Attributes
    ----------
    write : tuple of callables
        (folder) -> files of a sound sample, the one to be read first; variants take turns.
    read : callable
        (path) -> (content that can be compared with ==, what was said).
    counts : bool
        The file says how much it holds: a cut one that reads as another is a silent pass.
    is_checked : bool
        Its content has a checksum: any other content is a silent pass.
    """

    write: tuple[Callable[[Path], list[Path]], ...]
    read: Callable[[Path], tuple[Any, tuple[str, ...]]]
    counts: bool = False
    is_checked: bool = False


FORMATS: dict[str, Format] = {
    "ply": Format(write=samples.PLY, read=readers.read_map, counts=True),
    "pcd": Format(write=samples.PCD, read=readers.read_map, counts=True),
    "xyz": Format(write=samples.XYZ, read=readers.read_map),
    "npz": Format(write=samples.NPZ, read=readers.read_map, counts=True, is_checked=True),
    "npy": Format(write=samples.NPY, read=readers.read_map, counts=True),
    "las": Format(write=samples.LAS, read=readers.read_map, counts=True),
    "laz": Format(write=samples.LAZ, read=readers.read_map, counts=True),
    "binvox": Format(write=samples.BINVOX, read=readers.read_map, counts=True),
    "obj": Format(write=samples.OBJ, read=readers.read_map),
    "gltf": Format(write=samples.GLTF, read=readers.read_map, counts=True),
    "b3dm-tileset": Format(write=samples.TILESET, read=readers.read_map),
    "world": Format(write=places.WORLD, read=places.read_world),
    "http-answer": Format(write=places.HTTP_ANSWER, read=places.read_http_answer, counts=True),
    "tum": Format(write=samples.TUM, read=readers.read_tum),
    "kitti": Format(write=samples.KITTI, read=readers.read_kitti),
    "euroc": Format(write=samples.EUROC, read=readers.read_euroc),
    "csv-trajectory": Format(write=samples.CSV_TRAJECTORY, read=readers.read_csv_trajectory),
    "csv-cloud": Format(write=samples.CSV_CLOUD, read=readers.read_map),
    "bag-mcap": Format(write=samples.BAG_MCAP, read=readers.read_bag, counts=True, is_checked=True),
    "bag-sqlite3": Format(write=samples.BAG_SQLITE, read=readers.read_bag),
    "ulog": Format(write=folder_samples.ULOG, read=readers.read_flight),
    "gnss-csv": Format(write=folder_samples.GNSS_CSV, read=readers.read_flight),
    "submap": Format(write=folder_samples.SUBMAP, read=readers.read_submap),
    "dense-map": Format(write=folder_samples.DENSE_MAP, read=readers.read_dense_map),
    "survey": Format(write=folder_samples.SURVEY, read=readers.read_survey),
    "airframe-yaml": Format(write=folder_samples.AIRFRAME, read=readers.read_airframe),
    "metrics-json": Format(write=folder_samples.METRICS, read=readers.read_metrics),
    "protocol-yaml": Format(write=samples.PROTOCOL, read=readers.read_protocol),
}
