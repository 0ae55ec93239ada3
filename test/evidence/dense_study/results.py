# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What a study of dense localisation found with one seed, as JSON for the page of all seeds."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from aerotwin_core.atomic_file import atomic_file
from aerotwin_core.cli import write_text_atomically
from aerotwin_core.documents import DocumentError, read_json
from aerotwin_core.errors import ParameterError
from aerotwin_core.frames import FloatArray
from aerotwin_core.parameters import load_parameters, parameter, to_mapping
from aerotwin_map_evaluation.statistics import removed_by
from aerotwin_registration.icp.similarity import fit_similarity
from aerotwin_scenarios.dense_localization.scan_controls import ControlResult, Removal
from aerotwin_scenarios.dense_localization.scanning import LOST_M, ScanRun

MAPPINGS = ("estimated", "true")
"""Poses that the map was made with: those that the autopilot estimated, or the true ones."""
IMAGES = ("plain", "changing")
"""As the sensor takes them; or with an exposure that changes by 30 % and a blur of 1 px."""
FEATURES = ("orb_mapping", "sift_mapping", "orb_virtual", "sift_virtual")
METHODS = ("dense", *FEATURES)
"""Direct alignment; features of mapping key-frames, and of virtual ones."""
RESULT = "result.json"
"""File of the result in the folder of its seed."""
N_PERCENTILES = 101
MAX_BYTES = 256 * 2**20
_WAY_OUT = "delete it and run the study anew"


@dataclass(frozen=True, kw_only=True)
class SurfaceScore:
    """Distances of all points of a map to the true mesh."""

    mean_m: float = parameter(text="mean", unit="m", minimum=0.0)
    median_m: float = parameter(text="median", unit="m", minimum=0.0)
    share_10cm: float = parameter(text="share nearer than 10 cm", minimum=0.0, maximum=1.0)
    share_20cm: float = parameter(text="share nearer than 20 cm", minimum=0.0, maximum=1.0)
    percentiles_m: tuple[float, ...] = parameter(
        text="from 0 % to 100 %, 101 numbers", unit="m", minimum=0.0
    )

    def __post_init__(self) -> None:
        if len(self.percentiles_m) != N_PERCENTILES:
            raise ValueError(
                f"percentiles_m must be {N_PERCENTILES} numbers, got {len(self.percentiles_m)}"
            )

    @classmethod
    def of(cls, distances_m: FloatArray) -> "SurfaceScore":
        """Return the score of distances (n,) [m], n at least 1, all of them finite."""
        return cls(
            mean_m=float(np.mean(distances_m)),
            median_m=float(np.median(distances_m)),
            share_10cm=float(np.mean(distances_m < 0.1)),
            share_20cm=float(np.mean(distances_m < 0.2)),
            percentiles_m=_plain(np.percentile(distances_m, np.arange(N_PERCENTILES))),
        )


@dataclass(frozen=True, kw_only=True)
class MapResult:
    """A map and how far it is from the truth."""

    mapping: str = parameter(text="poses that it was made with", choices=MAPPINGS)
    n_splats: int = parameter(text="points of the map", minimum=1)
    n_keyframes: int = parameter(text="key-frames", minimum=1)
    n_links: int = parameter(text="ties between key-frames", minimum=0)
    points_to_mesh: SurfaceScore = parameter(text="after the rigid motion that is told below")
    points_to_mesh_unaligned: SurfaceScore = parameter(text="as mapped")
    completeness_10cm: float = parameter(
        text="share of the wall that both cameras saw at once with a point within 10 cm",
        minimum=0.0,
        maximum=1.0,
    )
    keyframes_mean_m: float = parameter(
        text="mean error of the key-frames' positions, aligned", unit="m", minimum=0.0
    )
    keyframes_unaligned_mean_m: float = parameter(text="as told", unit="m", minimum=0.0)
    removed: Removal = parameter(text="by the alignment")


@dataclass(frozen=True, kw_only=True)
class ScanResult:
    """How the images of one scan were localised by one method.

    Errors are of positions; None stands where no image was localised.
    """

    distance_m: float = parameter(text="of the camera from the wall", unit="m", minimum=0.0)
    mapping: str = parameter(text="poses that the map was made with", choices=MAPPINGS)
    images: str = parameter(text="how they were taken", choices=IMAGES)
    method: str = parameter(text="that localised", choices=METHODS)
    n_frames: int = parameter(text="images", minimum=1)
    n_lost: int = parameter(text="without a pose, or more than 0.5 m off", minimum=0)
    n_renewed: int = parameter(0, text="against a view rendered at the last pose", minimum=0)
    n_relocalized: int = parameter(0, text="without an expectation", minimum=0)
    ate_mean_m: float | None = parameter(text="mean error, aligned", unit="m", minimum=0.0)
    ate_rmse_m: float | None = parameter(text="root mean square", unit="m", minimum=0.0)
    ate_max_m: float | None = parameter(text="largest", unit="m", minimum=0.0)
    ate_unaligned_mean_m: float | None = parameter(text="as localised", unit="m", minimum=0.0)
    turn_mean_deg: float | None = parameter(text="mean error of attitude", unit="deg", minimum=0.0)
    scale_percent: float | None = parameter(
        text="change of size that would bring the images that are not lost nearest", unit="%"
    )
    s_m: tuple[float, ...] = parameter(text="way of each image along the true path", unit="m")
    errors_m: tuple[float | None, ...] = parameter(
        text="of each image, aligned; null: no pose", unit="m", minimum=0.0
    )

    def __post_init__(self) -> None:
        if not len(self.s_m) == len(self.errors_m) == self.n_frames:
            raise ValueError(
                f"s_m and errors_m must be n_frames = {self.n_frames} numbers, got "
                f"{len(self.s_m)} and {len(self.errors_m)}"
            )
        n_lost = sum(error is None or error > LOST_M for error in self.errors_m)
        if n_lost != self.n_lost:
            raise ValueError(f"n_lost must be {n_lost} as errors_m say, got {self.n_lost}")

    @classmethod
    def of(
        cls, scan: ScanRun, *, distance_m: float, mapping: str, images: str, method: str
    ) -> "ScanResult":
        """Return the result of a scan.

        Parameters
        ----------
        scan : ScanRun
            Its track and poses are those of the images that the method was given.
        distance_m : float
        mapping, images, method : str
            Of `MAPPINGS`, `IMAGES`, `METHODS`.
        """
        figures = {
            name: None if np.isnan(value) else value for name, value in scan.metrics().items()
        }
        steps = np.linalg.norm(np.diff(scan.track.T_map_optical[:, :3, 3], axis=0), axis=1)
        return cls(
            distance_m=distance_m, mapping=mapping, images=images, method=method,
            scale_percent=_scale_percent(scan), s_m=_plain(np.r_[0.0, np.cumsum(steps)]),
            errors_m=_plain(scan.errors_m(is_aligned=True)), **figures,  # type: ignore[arg-type]
        )  # fmt: skip

    @property
    def known_m(self) -> np.ndarray:
        """Errors of the images that were not lost (m,) [m]."""
        return np.array([e for e in self.errors_m if e is not None and e <= LOST_M])

    @property
    def share_localized(self) -> float:
        """Share of the images that were not lost."""
        return 1.0 - self.n_lost / self.n_frames


@dataclass(frozen=True, kw_only=True)
class ImagePair:
    """A picture of a scan and what the map looks like from the same place, two PNG files."""

    distance_m: float = parameter(text="from the wall", unit="m", minimum=0.0)
    scan: str = parameter(text="file beside the result, as the camera took it")
    rendered: str = parameter(text="file beside the result, rendered from the map")

    @classmethod
    def write(
        cls, folder: Path, name: str, grey: np.ndarray, rendered: np.ndarray, *, distance_m: float
    ) -> "ImagePair":
        """Write the files NAME_scan.png and NAME_rendered.png of grey images (h, w); NaN is black.

        Parameters
        ----------
        folder : Path
            Of the result.
        name : str
        grey, rendered : (h, w) array
            [DN].
        distance_m : float
        """
        files = []
        for kind, image in (("scan", grey), ("rendered", rendered)):
            values = np.clip(np.nan_to_num(image.astype(np.float64)), 0.0, 255.0)
            files.append(f"{name}_{kind}.png")
            with atomic_file(folder / files[-1]) as file:
                file.write(cv2.imencode(".png", values.round().astype(np.uint8))[1].tobytes())
        return cls(distance_m=distance_m, scan=files[0], rendered=files[1])


@dataclass(frozen=True, kw_only=True)
class SeedResult:
    """All that was found with one seed of world, flights and cameras."""

    seed: int = parameter(text="of everything", minimum=0)
    world: str = parameter(text="name of the world")
    maps: tuple[MapResult, ...] = parameter(text="one for each kind of poses")
    scans: tuple[ScanResult, ...] = parameter(text="one for each distance, map, images and method")
    controls: tuple[ControlResult, ...] = parameter(text="negative controls")
    pictures: tuple[ImagePair, ...] = parameter((), text="of scans")
    configuration: dict[str, Any] = parameter(text="everything that is needed to do it again")

    def __post_init__(self) -> None:
        for name, keys in (
            ("map", [m.mapping for m in self.maps]),
            ("scan", [(s.distance_m, s.mapping, s.images, s.method) for s in self.scans]),
        ):
            if len(set(keys)) != len(keys):
                raise ValueError(f"every {name} must be there once, got {keys}")


def write_result(path: Path, result: SeedResult) -> None:
    """Write a result as JSON, whole or not at all."""
    write_text_atomically(path, json.dumps(to_mapping(result), allow_nan=False) + "\n")


def read_result(path: Path) -> SeedResult:
    """Return what `write_result` wrote.

    Raises
    ------
    ParameterError
        If the file is missing, is no JSON, or has an unknown, missing or impossible value.
    """
    return load_parameters(SeedResult, _content(path), where=str(path))


def _content(path: Path) -> Any:
    try:
        return read_json(path, max_bytes=MAX_BYTES)
    except OSError as error:
        raise ParameterError(f"{path}: cannot be read ({error.strerror}); {_WAY_OUT}") from None
    except DocumentError as error:
        raise ParameterError(f"{path}: not JSON ({error}); {_WAY_OUT}") from None


def _scale_percent(scan: ScanRun) -> float | None:
    """Return the change of size that brings what is not lost nearest; None of two or fewer."""
    is_known = scan.errors_m(is_aligned=True) <= LOST_M
    if np.count_nonzero(is_known) < 3:
        return None
    found = np.array(
        [one.T_map_cam[:3, 3] for one, known in zip(scan.found, is_known) if known]  # type: ignore[index]
    )
    true = scan.track.T_map_optical[is_known, :3, 3]
    return removed_by(fit_similarity(found, true), found)["scale_percent"]


def _plain(values: Sequence[float] | np.ndarray) -> tuple[Any, ...]:
    """Return numbers, with None for NaN."""
    return tuple(None if np.isnan(v) else float(v) for v in values)
