# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What `aerotwin localize` computes: images in, poses and their scores out."""

import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from aerotwin_core.cli import progress
from aerotwin_core.errors import UserError
from aerotwin_core.frames import FloatArray
from aerotwin_core.trajectory import Trajectory
from aerotwin_dense_localization.localization import (
    BodyTracker,
    ImageLocalization,
    ImageLocalizer,
    InertialFilter,
    InertialParameters,
    LocalizationParameters,
    Status,
    VirtualViews,
)
from aerotwin_dense_localization.mapping import DenseMap, DenseMapError, load_map
from aerotwin_scenarios.dense_localization.commands.scan_task import (
    FlownScan,
    RecordedScan,
    ScanTask,
    recorded_scan,
    world_scan,
)
from aerotwin_scenarios.dense_localization.recordings.recorded_imu import RecordedImu
from aerotwin_scenarios.dense_localization.recordings.recording import (
    ExternalPoses,
    trajectory_of,
)
from aerotwin_scenarios.dense_localization.scanning import LOST_M
from aerotwin_trajectory_evaluation.evaluation import TrajectoryEvaluation, evaluate_trajectory
from aerotwin_trajectory_evaluation.metrics import summarise


@dataclass(frozen=True, kw_only=True)
class ScanParameters(LocalizationParameters):
    """How a camera is localised, and what the IMU beside it is trusted with."""

    inertial: InertialParameters = field(default_factory=InertialParameters)


class FusedImages:
    """Localises images at the IMU's predictions; poses remain those of the images.

    `n_fused` counts the images whose poses the filter accepted.
    """

    def __init__(
        self,
        localizer: ImageLocalizer,
        imu: RecordedImu,
        parameters: InertialParameters,
    ) -> None:
        self._imu = imu
        self._inertial = InertialFilter(parameters, imu.T_base_imu)
        self._tracker = BodyTracker(localizer, imu.T_base_cam, self._inertial)
        self._n_apart, self._why_apart = 0, ""
        self.n_fused = 0

    def localize(self, stamp_ns: int, grey: np.ndarray) -> ImageLocalization:
        """Localise an image (h, w).

        Raises `UserError` if it is the first one and samples of the IMU end before it.
        """
        self._imu.lead(self._inertial, stamp_ns)
        found, body = self._tracker.localize(stamp_ns, grey)
        if body is not None and self._inertial.reason:
            self._n_apart, self._why_apart = self._n_apart + 1, self._inertial.reason
        elif body is not None:
            self.n_fused += 1
        return found

    def notes(self, last_ns: int) -> list[str]:
        """Return remarks for the report after the last image [ns].

        Raises `UserError` if samples of the IMU begin after it.
        """
        self._imu.refuse_later(last_ns)
        reported = {
            "images are lost because the IMU led elsewhere; if it is the map that is off, of poses "
            "that drift, raise pose_sigma_m of inertial (--parameters)": self._tracker.n_refused,
            f"placed images were not fused with the IMU, the last one: {self._why_apart}": (
                self._n_apart
            ),
            f"samples of the IMU were refused, the last one: {self._imu.refusal}": (
                self._imu.n_refused
            ),
        }
        return [f"{n} {what}" for what, n in reported.items() if n]


@dataclass(frozen=True, kw_only=True, eq=False)
class LocatedImages:
    """The images of a sequence and their localisation, one `found` for each."""

    stamps_ns: np.ndarray
    found: tuple[ImageLocalization, ...]

    @property
    def is_placed(self) -> np.ndarray:
        """Which images have a pose (n,)."""
        return np.array([one.T_map_cam is not None for one in self.found], dtype=bool)

    @property
    def sigma_m(self) -> np.ndarray:
        """Worst standard deviation of each position (n,) [m]; NaN without a pose."""
        return np.array([_sigma(one.covariance, slice(0, 3)) for one in self.found])

    @property
    def sigma_deg(self) -> np.ndarray:
        """Worst standard deviation of each attitude (n,) [deg]; NaN without a pose."""
        return np.degrees([_sigma(one.covariance, slice(3, 6)) for one in self.found])

    @property
    def covariances(self) -> np.ndarray:
        """Of the images that have a pose (m, 6, 6): x y z [m], turns about map axes [rad]."""
        rows = [one.covariance for one in self.found if one.covariance is not None]
        return np.array(rows).reshape(-1, 6, 6)

    def count(self, status: Status) -> int:
        """Return how many images were localised in a way."""
        return sum(one.status is status for one in self.found)

    def trajectory(self, T_cam_body: FloatArray | None = None) -> Trajectory:
        """Return the poses of the camera, or of the body that carries it, where known."""
        T_last = np.eye(4) if T_cam_body is None else T_cam_body
        poses = [one.T_map_cam @ T_last for one in self.found if one.T_map_cam is not None]
        return trajectory_of(self.stamps_ns[self.is_placed].tolist(), poses)


def _sigma(covariance: FloatArray | None, part: slice) -> float:
    if covariance is None:
        return float("nan")
    return float(np.sqrt(max(np.linalg.eigvalsh(covariance[part, part])[-1], 0.0)))


@dataclass(frozen=True, kw_only=True, eq=False)
class Judgement:
    """Errors of localised images against a reference."""

    evaluation: TrajectoryEvaluation  # of the images that have a pose in both
    unaligned_m: np.ndarray  # (m,): position errors without alignment of the map [m]
    # (4, 4): pose of the map in the reference's frame, if it was moved there before
    T_reference_map: np.ndarray | None

    @classmethod
    def of(
        cls,
        located: LocatedImages,
        reference: ExternalPoses,
        *,
        T_reference_map: np.ndarray | None,
        align: str,
    ) -> "Judgement":
        """Score poses of a camera.

        `T_reference_map` (4, 4): pose of the map in the reference's frame, if known independently.
        `align`: alignment after it, a mode of the trajectory evaluation; `none` for nothing.

        Raises `UserError` if fewer than two images can be compared.
        """
        truth, estimate = reference.of_camera(located.stamps_ns), located.trajectory()
        evaluation = evaluate_trajectory(
            truth, estimate, align=align, frame_stamps_ns=located.stamps_ns,
            T_reference_estimate=T_reference_map, covariances=located.covariances,
        )  # fmt: skip
        known = dict(zip(estimate.stamps_ns.tolist(), estimate.p_ref_body, strict=True))
        found = np.array([known[stamp] for stamp in evaluation.reference.stamps_ns.tolist()])
        away = np.linalg.norm(found - evaluation.reference.p_ref_body, axis=1)
        return cls(evaluation=evaluation, unaligned_m=away, T_reference_map=T_reference_map)

    def metrics(self) -> dict[str, Any]:
        """Return the scores."""
        errors, turns = self.evaluation.ape.trans_m, self.evaluation.ape.rot_deg
        return {
            "ate_m": _figures(errors),
            "ate_unaligned_m": _figures(self.unaligned_m),
            "turn_deg": _figures(turns),
            "n_wrong": int((errors > LOST_M).sum()),
        }


def numbers_of(
    located: LocatedImages, judgement: Judgement | None, *, n_fused: int | None, seconds: float
) -> dict[str, Any]:
    """Return the result in numbers.

    `n_lost` are images without a pose (`n_without_pose`, the status `lost`), and those with an
    error above 0.5 m (`n_wrong`, None without a reference). `n_fused` were fused with an IMU; None
    without.
    """
    scores: dict[str, Any] = dict.fromkeys(("ate_m", "ate_unaligned_m", "turn_deg", "n_wrong"))
    scores |= {} if judgement is None else judgement.metrics()
    n_wrong = scores["n_wrong"] or 0
    n = len(located.found)
    placed = located.is_placed
    return scores | {
        "n_frames": n,
        "n_lost": int((~placed).sum()) + n_wrong,
        "n_without_pose": int((~placed).sum()),
        "n_fused": n_fused,
        "n_by_status": {str(status): located.count(status) for status in Status},
        "sigma_median_m": _median(located.sigma_m[placed]),
        "correlation_median": _median(np.array([f.correlation for f in located.found])[placed]),
        "seconds": seconds,
        "frames_per_s": n / seconds if seconds > 0.0 else None,
    }


def _figures(errors: np.ndarray) -> dict[str, float] | None:
    found = summarise(errors)
    return None if found is None else {"mean": found.mean, "rmse": found.rmse, "max": found.max}


def _median(values: np.ndarray) -> float | None:
    return float(np.median(values)) if len(values) else None


@dataclass(frozen=True, kw_only=True, eq=False)
class LocalizeRequest:
    """Which images are localised in which map.

    `align` is the alignment before the score, a mode of the trajectory evaluation.
    """

    map_folder: Path
    scan: RecordedScan | FlownScan
    parameters: ScanParameters
    align: str


@dataclass(frozen=True, kw_only=True, eq=False)
class LocalizeResult:
    """Images localised in a map.

    `judgement`: against the reference, if they can be compared. `T_base_cam` (4, 4): pose of the
    camera's optical frame on the vehicle, if known. `numbers`: as returned by `numbers_of`.
    `inputs`: what the map was made of, and how many virtual key-frames there are.
    """

    located: LocatedImages
    judgement: Judgement | None
    dense_map: DenseMap
    T_base_cam: FloatArray | None
    numbers: dict[str, Any]
    notes: tuple[str, ...]
    inputs: dict[str, Any]


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
    judgement, not_compared = None, []
    T_reference_map = _map_pose(request, about)
    if task.reference is not None:
        try:
            judgement = Judgement.of(
                located, task.reference, T_reference_map=T_reference_map, align=request.align
            )
        except UserError as error:
            not_compared = [f"not compared with {task.reference.source}: {error}"]
    return LocalizeResult(
        located=located,
        judgement=judgement,
        dense_map=dense_map,
        T_base_cam=task.T_base_cam,
        numbers=numbers_of(
            located, judgement, n_fused=None if fused is None else fused.n_fused, seconds=seconds
        ),
        notes=(*task.notes, *of_imu, *_of_map(about, task), *not_compared),
        inputs={
            "map_made_of": {name: about.get(name) for name in ("source", "seed", "poses")},
            "n_virtual_keyframes": len(task.virtual),
        },
    )


def _located(
    task: ScanTask, dense_map: DenseMap, parameters: ScanParameters
) -> tuple[LocatedImages, FusedImages | None, float]:
    """Return the localised images, those fused with the IMU, and the duration [s].

    An image whose stamp is not later than the last one is skipped.
    """
    start = time.perf_counter()
    stamps: list[int] = []
    found: list[ImageLocalization] = []
    views = VirtualViews(dense_map, task.camera, task.virtual, parameters)
    with (
        ImageLocalizer(views, task.T_map_start) as localizer,
        progress(task.n_images, "images", unit="image") as bar,
    ):
        fused = None
        if task.imu is not None:
            fused = FusedImages(localizer, task.imu, parameters.inertial)
        # A stream: no image is kept in memory.
        for stamp_ns, grey in task.images:
            if stamps and stamp_ns <= stamps[-1]:
                continue
            stamps.append(stamp_ns)
            if fused is not None:
                found.append(fused.localize(stamp_ns, grey))
            else:
                expected = None if task.expected is None else task.expected.at(stamp_ns)
                found.append(localizer.localize(grey, expected))
            bar.set_postfix_str(str(found[-1].status), refresh=False)
            bar.update(1)
    if not found:
        raise UserError(f"{task.name}: holds no images (or --frames leaves none)")
    located = LocatedImages(stamps_ns=np.array(stamps, np.int64), found=tuple(found))
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
