# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The folder of a survey: pictures, record of the flight, and, separately, the ground truth.

``images/*.jpg`` carry all that a reconstruction may use. ``survey.json`` holds the world's origin
on Earth and how the survey was made, ``mission.yaml`` is the flight, ``truth.csv`` the true poses:
for evaluation only, never an input.
"""

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from aerotwin_core.cli import write_text_atomically
from aerotwin_core.documents import read_json
from aerotwin_core.errors import UserError
from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_core.text_lines import text_lines
from aerotwin_reconstruction.survey.photo import PhotoTag, read_photo_tag

IMAGES, RECORD, MISSION, TRUTH = "images", "survey.json", "mission.yaml", "truth.csv"
_TRUTH_COLUMNS = ("name", *(f"m{i}{j}" for i in range(3) for j in range(4)))
_SUFFIXES = (".jpg", ".jpeg")


@dataclass(frozen=True, kw_only=True)
class Photo:
    """A picture of a survey: its file and its tag."""

    path: Path
    tag: PhotoTag

    @property
    def name(self) -> str:
        """Name of the file."""
        return self.path.name


def read_photos(folder: Path) -> list[Photo]:
    """Return the pictures of a survey's folder, or of one with pictures only, by name.

    Raises
    ------
    UserError
        If there are fewer than two, their sizes differ, or one has no position.
    """
    place = folder / IMAGES if (folder / IMAGES).is_dir() else folder
    paths = sorted(p for p in place.glob("*") if p.suffix.lower() in _SUFFIXES)
    if len(paths) < 2:
        raise UserError(f"{place}: expected two pictures (.jpg) at least, found {len(paths)}")
    photos = [Photo(path=path, tag=read_photo_tag(path)) for path in paths]
    sizes = {(photo.tag.width_px, photo.tag.height_px) for photo in photos}
    if len(sizes) > 1:
        raise UserError(f"{place}: pictures of one camera are expected, found sizes {sizes}")
    return photos


def read_origin(folder: Path, photos: list[Photo]) -> GeodeticPoint:
    """Return the map's origin on Earth: from the survey's record, else its first picture."""
    if not (folder / RECORD).is_file():
        return photos[0].tag.position
    try:
        origin = read_record(folder)["origin"]
        return GeodeticPoint(
            **{k: float(origin[k]) for k in ("latitude_deg", "longitude_deg", "altitude_m")}
        )
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(
            f"{folder / RECORD}: expected the survey's origin, got {error}; correct it"
        ) from None


def read_record(folder: Path) -> dict[str, Any]:
    """Return how a survey was made, from `survey.json`; UserError if that is no survey record."""
    path = folder / RECORD
    try:
        record = read_json(path)
        if not isinstance(record, dict):
            raise ValueError(type(record).__name__)
    except (ValueError, OSError) as error:
        raise UserError(f"{path}: not the record of a survey ({error}); correct it") from None
    return record


def write_poses(path: Path, names: list[str], T_map_optical: list[np.ndarray]) -> None:
    """Write poses of pictures: a row each, the name and the upper three rows of T_map_optical."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(_TRUTH_COLUMNS)
    for name, T in zip(names, T_map_optical):
        rows.writerow([name, *(repr(float(value)) for value in T[:3].ravel())])
    write_text_atomically(path, text.getvalue())


def read_truth(folder: Path) -> dict[str, np.ndarray]:
    """Return the true poses (4, 4) by picture; empty if a survey has none.

    Raises
    ------
    UserError
        If the file is damaged.
    """
    path = folder / TRUTH
    if not path.is_file():
        return {}
    poses = {}
    try:
        for row in csv.DictReader(text_lines(path)):
            values = np.array([float(row[name]) for name in _TRUTH_COLUMNS[1:]])
            if not np.isfinite(values).all():
                raise ValueError(f"{row['name']} is not finite")
            poses[row["name"]] = np.vstack([values.reshape(3, 4), [0.0, 0.0, 0.0, 1.0]])
    except (ValueError, KeyError, TypeError, csv.Error) as error:
        raise UserError(f"{path}: not the true poses of a survey ({error}); remove it") from None
    return poses
