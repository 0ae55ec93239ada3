# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What `aerotwin localize` computes: images in, poses and their scores out."""

import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from aerotwin_core.cli import progress
from aerotwin_core.errors import UserError
from aerotwin_core.frames import FloatArray
from aerotwin_core.run_folder import software_versions
from aerotwin_dense_localization.localization import (
    ImageLocalization,
    ImageLocalizer,
    VirtualViews,
)
from aerotwin_dense_localization.mapping import DenseMap, DenseMapError, load_map
from aerotwin_scenarios.dense_localization.commands.fused_images import FusedImages, ScanParameters
from aerotwin_scenarios.dense_localization.commands.judgement import Judgement, judged, numbers_of
from aerotwin_scenarios.dense_localization.commands.located_images import LocatedImages
from aerotwin_scenarios.dense_localization.commands.scan_task import (
    FlownScan,
    RecordedScan,
    ScanTask,
    recorded_scan,
    world_scan,
)


@dataclass(frozen=True, kw_only=True, eq=False)
class LocalizeRequest:
    """Which images are localised in which map.

    `align` is the alignment before the score, a mode of the trajectory evaluation; `arguments` are
    the user's input, for the report.
    """

    map_folder: Path
    scan: RecordedScan | FlownScan
    parameters: ScanParameters
    align: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class LocalizeResult:
    """Images localised in a map.

    `judgement`: against the reference, if they can be compared. `T_base_cam` (4, 4): pose of the
    camera's optical frame on the vehicle, if known. `numbers`, `configuration`: as returned by
    `numbers_of`, and what reproduces the result.
    """

    located: LocatedImages
    judgement: Judgement | None
    dense_map: DenseMap
    T_base_cam: FloatArray | None
    numbers: dict[str, Any]
    notes: tuple[str, ...]
    configuration: dict[str, Any]


def localize(request: LocalizeRequest) -> LocalizeResult:
    """Localise image by image, and compare with the reference.

    Raises `UserError` if map or images cannot be read, or a requested input is missing.
    """
    dense_map, about = load_map(request.map_folder)
    with tempfile.TemporaryDirectory(prefix="aerotwin_scan_") as folder:
        if isinstance(request.scan, FlownScan):
            task = world_scan(request.scan, dense_map, request.parameters, Path(folder))
        else:
            task = recorded_scan(request.scan, dense_map, request.parameters)
        located, fused, seconds = _located(task, dense_map, request.parameters)
        of_imu = [] if fused is None else fused.notes(int(located.stamps_ns[-1]))
    judgement, warning = judged(
        located, task.reference, T_reference_map=_map_pose(request, about), align=request.align
    )
    return LocalizeResult(
        located=located,
        judgement=judgement,
        dense_map=dense_map,
        T_base_cam=task.T_base_cam,
        numbers=numbers_of(
            located, judgement, n_fused=None if fused is None else fused.n_fused, seconds=seconds
        ),
        notes=(*task.notes, *of_imu, *_of_map(about, task), *([warning] if warning else [])),
        configuration={
            **request.arguments,
            "map_made_of": {name: about.get(name) for name in ("source", "seed", "poses")},
            "n_virtual_keyframes": len(task.virtual),
            "versions": software_versions(),
        },
    )


def _located(
    task: ScanTask, dense_map: DenseMap, parameters: ScanParameters
) -> tuple[LocatedImages, FusedImages | None, float]:
    """Return the localised images, those fused with the IMU, and the duration [s]."""
    start = time.perf_counter()
    views = VirtualViews(dense_map, task.camera, task.virtual, parameters)
    with (
        ImageLocalizer(views, task.T_map_start) as localizer,
        progress(task.n_images, "images", unit="image") as bar,
    ):

        def log(found: ImageLocalization) -> None:
            bar.set_postfix_str(str(found.status), refresh=False)
            bar.update(1)

        def alone(stamp_ns: int, grey: np.ndarray) -> ImageLocalization:
            return localizer.localize(grey, task.expected(stamp_ns))

        fused = None
        if task.imu is not None:
            fused = FusedImages(localizer, task.imu, parameters.inertial)
        place = alone if fused is None else fused.localize
        located = LocatedImages.of(task.images, place, log)
    if not located.found:
        raise UserError(f"{task.name}: holds no images (or --frames leaves none)")
    return located, fused, time.perf_counter() - start


def _map_pose(request: LocalizeRequest, about: dict[str, Any]) -> FloatArray | None:
    """Return the pose of the map in its world, as far as its key-frames provide it; else None."""
    scan = request.scan
    if not isinstance(scan, FlownScan) or about.get("source") != scan.world:
        return None
    try:
        T = np.array(about["T_true_map"], dtype=np.float64).reshape(4, 4)
    except (KeyError, TypeError, ValueError):
        T = np.full((4, 4), np.nan)
    if not np.isfinite(T).all():
        raise DenseMapError(
            f"{request.map_folder}: T_true_map of its manifest is damaged; map again"
        )
    return T


def _of_map(about: dict[str, Any], task: ScanTask) -> list[str]:
    """Return what the poses that a map was made with mean for this result."""
    poses = about.get("poses")
    if not isinstance(poses, dict):
        return []
    notes = ["the map was made with true poses"] if poses.get("is_truth") is True else []
    frame = poses.get("frame") or ""
    others = sorted(
        {provided for provided in task.frames if provided and frame and provided != frame}
    )
    return notes + [
        f"poses in frame {other} were taken for poses in {frame}, that of the map"
        for other in others
    ]
