# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What `aerotwin localize` does with its arguments: images in, poses and a report out."""

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from aerotwin_core.cli import progress, say
from aerotwin_core.errors import UserError
from aerotwin_core.frames import FloatArray
from aerotwin_core.parameters import load_parameters_file
from aerotwin_core.run_folder import software_versions
from aerotwin_dense_localization.localization import (
    ImageLocalization,
    ImageLocalizer,
    LocalizationParameters,
    VirtualViews,
)
from aerotwin_dense_localization.mapping import DenseMap, DenseMapError, load_map
from aerotwin_scenarios.dense_localization.commands import scan_task
from aerotwin_scenarios.dense_localization.commands.fused_images import FusedImages, ScanParameters
from aerotwin_scenarios.dense_localization.commands.localization_page import (
    judged,
    numbers_of,
    write_page,
)
from aerotwin_scenarios.dense_localization.commands.located_images import LocatedImages
from aerotwin_scenarios.dense_localization.commands.scan_task import ScanTask
from aerotwin_scenarios.dense_localization.recordings.recording import LEFT, CameraRecording
from aerotwin_scenarios.dense_localization.recordings.recording_options import (
    flight_of,
    is_recording,
    pose_of,
    reading_of,
    refuse_foreign,
    seed_of,
)
from aerotwin_scenarios.dense_localization.recordings.sources import camera_recording, world_of
from aerotwin_scenarios.dense_localization.scanning import LOST_M
from aerotwin_scenarios.dense_localization.wall_flight import CLIFF_SCAN

_OF_RECORDED_SCANS = ("camera", "start", "poses", "guided", "imu", "path", "reference")
_OF_FLOWN_SCANS = ("speed_m_s", "rate_hz", "seed")
_OF_RASTER = ("corner", "extent", "row_m", "yaw_deg")


def localize(args: argparse.Namespace) -> dict[str, Any]:
    """Localise, write the folder of the result, say what it is, and return its numbers."""
    parameters = ScanParameters()
    if args.parameters is not None:
        parameters = load_parameters_file(ScanParameters, args.parameters)
    dense_map, about = load_map(args.map)
    with tempfile.TemporaryDirectory(prefix="aerotwin_scan_") as folder:
        task = _task(args, dense_map, parameters, Path(folder))
        located, fused, seconds = _located(task, dense_map, parameters)
        of_imu = [] if fused is None else fused.notes(int(located.stamps_ns[-1]))
    judgement, warning = judged(
        located, task.reference, T_reference_map=_place(args, about), align=args.align
    )
    numbers = numbers_of(
        located, judgement, n_fused=None if fused is None else fused.n_fused, seconds=seconds
    )
    notes = [*task.notes, *of_imu, *_of_map(about, task), *([warning] if warning else [])]
    located.write(args.out, task.T_base_cam)
    page = write_page(
        args.out, located, judgement, dense_map, title=f"Localisation of {args.source}",
        numbers=numbers, warnings=notes, configuration=_configuration(args, task, about),
    )  # fmt: skip
    if args.json != "-":
        for line in (*_lines(numbers), *(f"note: {note}" for note in notes), f"report: {page}"):
            say(line)
    return numbers


def _task(
    args: argparse.Namespace, dense_map: DenseMap, parameters: LocalizationParameters, folder: Path
) -> ScanTask:
    """Return what is to be localised."""
    if not is_recording(args.source):
        refuse_foreign(args, _OF_RECORDED_SCANS, is_world=True)
        return scan_task.world_scan(
            world_of(args.source), dense_map, flight_of(args, CLIFF_SCAN), parameters, folder,
            seed=seed_of(args), is_start_known=not args.search,
        )  # fmt: skip
    refuse_foreign(args, _OF_FLOWN_SCANS, is_world=False)
    recording = camera_recording(Path(args.source), reading_of(args), args.camera or LEFT)
    return scan_task.recorded_scan(
        recording,
        _virtual(args, recording, dense_map, parameters),
        start=None if args.start is None else pose_of(args.start, "--start"),
        poses=args.poses,
        is_guided=args.guided,
        imu=args.imu,
        reference=args.reference,
    )


def _virtual(
    args: argparse.Namespace,
    recording: CameraRecording,
    dense_map: DenseMap,
    parameters: LocalizationParameters,
) -> FloatArray:
    """Return the virtual key-frames for a recording."""
    flight = flight_of(args, CLIFF_SCAN)
    is_raster = args.corner is not None and args.extent is not None
    if not is_raster and any(getattr(args, name) is not None for name in _OF_RASTER):
        raise UserError("--corner and --extent: a raster of a recording needs both")
    if args.path is not None and is_raster:
        raise UserError("--path and --corner: both say where views are rendered; give one of them")
    if is_raster:
        return scan_task.views_of_wall(flight, dense_map, recording.camera, parameters)
    if args.path is not None:
        return scan_task.views_along(args.path, recording, parameters, flight.standoff_m)
    return scan_task.views_of_mapping(dense_map, parameters)


def _located(
    task: ScanTask, dense_map: DenseMap, parameters: ScanParameters
) -> tuple[LocatedImages, FusedImages | None, float]:
    """Return where the images were placed, what the IMU did, and how long that took [s]."""
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


def _place(args: argparse.Namespace, about: dict[str, Any]) -> FloatArray | None:
    """Return where the map of a world lies in it, as far as its key-frames tell; else None."""
    if is_recording(args.source) or about.get("source") != args.source:
        return None
    try:
        T = np.array(about["T_true_map"], dtype=np.float64).reshape(4, 4)
    except (KeyError, TypeError, ValueError):
        T = np.full((4, 4), np.nan)
    if not np.isfinite(T).all():
        raise DenseMapError(f"{args.map}: T_true_map of its manifest is damaged; map again")
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


def _configuration(
    args: argparse.Namespace, task: ScanTask, about: dict[str, Any]
) -> dict[str, Any]:
    """Return all that is needed to do it again."""
    provided = {name: value for name, value in vars(args).items() if name not in ("json", "out")}
    return {
        **{k: str(v) if isinstance(v, Path) else v for k, v in provided.items() if v is not None},
        "map_made_of": {name: about.get(name) for name in ("source", "seed", "poses")},
        "n_virtual_keyframes": len(task.virtual),
        "versions": software_versions(),
    }


def _lines(numbers: dict[str, Any]) -> list[str]:
    """Return the summary for the terminal."""
    ways = ", ".join(f"{n} {way}" for way, n in numbers["n_by_status"].items() if n)
    lines = [
        f"{numbers['n_frames']} images: {ways}; {numbers['seconds']:.0f} s, "
        f"{numbers['frames_per_s']:.1f} images a second"
    ]
    if (n_fused := numbers["n_fused"]) is not None:
        lines.append(f"{n_fused} of {numbers['n_frames']} were fused with the IMU")
    if (ate := numbers["ate_m"]) is not None:
        unaligned = numbers["ate_unaligned_m"]
        lines.append(
            f"against the reference: {100 * ate['mean']:.1f} cm in the mean, "
            f"{100 * ate['max']:.1f} cm at most, {numbers['turn_deg']['mean']:.2f} degrees; with "
            f"the map as it stands {100 * unaligned['mean']:.1f} cm; {numbers['n_wrong']} of them "
            f"more than {LOST_M:g} m off"
        )
    return lines
