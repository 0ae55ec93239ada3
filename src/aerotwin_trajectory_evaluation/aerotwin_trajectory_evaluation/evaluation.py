# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Evaluation of one estimated trajectory: pairing, alignment, scores and negative controls."""

import dataclasses
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.frames import invert_transform, transform_points
from aerotwin_core.protocol import Protocol
from aerotwin_core.rms import rms
from aerotwin_core.trajectory import Trajectory
from aerotwin_trajectory_evaluation.alignment import (
    TrajectoryAlignment,
    align_trajectories,
    align_umeyama,
)
from aerotwin_trajectory_evaluation.association import (
    coverage_of,
    interpolation_hint,
    pair,
)
from aerotwin_trajectory_evaluation.bound import StereoCamera, stereo_bound
from aerotwin_trajectory_evaluation.calibration import (
    Calibration,
    apply_calibration,
    find_calibration,
)
from aerotwin_trajectory_evaluation.completeness import Completeness, judge_completeness
from aerotwin_trajectory_evaluation.consistency import ChiSquareTest, consistency_of
from aerotwin_trajectory_evaluation.controls import Control, negative_controls
from aerotwin_trajectory_evaluation.metrics import (
    PoseErrors,
    SegmentDrift,
    absolute_errors,
    relative_errors,
    relative_errors_by_frames,
    relative_errors_by_path,
    segment_drift,
    summarise,
)
from aerotwin_trajectory_evaluation.protocol import (
    PART,
    TrajectoryProtocol,
    load_trajectory_protocol,
)

_HASH_DIGITS = 16
AS_GIVEN, JOINED, PLACED = "as given", "first poses joined", "placed by the known pose of its frame"
FITTED = "scale, shift and rotation fitted beforehand"
"""How an estimate stands before anything is fitted."""
LEAST_SCALE, SCALED_SHARE = 0.02, 0.5
"""A scale is worth a word beyond this, where it leaves less than this share of the error."""


@dataclass(frozen=True, kw_only=True)
class OtherScale:
    """A scale that would remove most of the error; RMS distances with and without it [m]."""

    scale: float
    rmse_m: float
    unscaled_rmse_m: float


@dataclass(frozen=True, kw_only=True)
class TrajectoryEvaluation:
    """Result of an evaluation; arrays are over the paired poses.

    Attributes
    ----------
    reference, estimate, aligned : Trajectory
        Paired poses: truth, the estimate placed by `start`, the aligned estimate.
    start, T_start : str, (4, 4) array
        How the estimate was placed before the alignment, and the pose of its frame in the
        reference's that placed it; identity if it was not moved.
    truth : Trajectory
        The whole reference, including poses without a pair.
    reference_hash : str
        Two results with the same hash are of the same reference.
    coverage : float
        Share of the frames (or, without frame stamps, of the reference's time) with a pose.
    n_reference, n_estimate : int
        Poses before pairing.
    ape, ape_unaligned : PoseErrors
        Per pose, aligned and before the alignment.
    rpe_frame, rpe_metre : PoseErrors
        Over `rpe_frames` poses and over `rpe_m` of path of the aligned estimate.
    drift : tuple of SegmentDrift
        One per segment length of the protocol.
    controls : tuple of Control
        Whether the scores detect known errors of the corrupted truth.
    consistency : dict of ChiSquareTest
        Of `position` and `pose`, where the estimate has covariances.
    first_pair_s : float
        Time of the first pair since the reference's first pose [s].
    other_scale : OtherScale, optional
        Where a scale alone would remove most of the error, as for a monocular SLAM.
    """

    reference: Trajectory
    estimate: Trajectory
    start: str
    T_start: np.ndarray
    aligned: Trajectory
    truth: Trajectory
    reference_hash: str
    alignment: TrajectoryAlignment
    coverage: float
    n_reference: int
    n_estimate: int
    ape: PoseErrors
    ape_unaligned: PoseErrors
    rpe_frame: PoseErrors
    rpe_metre: PoseErrors
    drift: tuple[SegmentDrift, ...]
    controls: tuple[Control, ...]
    protocol: Protocol[TrajectoryProtocol]
    completeness: Completeness
    calibration: Calibration
    consistency: dict[str, ChiSquareTest]
    first_pair_s: float
    other_scale: OtherScale | None

    @property
    def max_gap_s(self) -> float:
        """Largest stamp difference of a pair, or longest gap interpolated [s]."""
        return self.protocol.choices.max_gap_s

    @property
    def drift_percent(self) -> float | None:
        """Median drift over all segments [% of the length]; None when the path is too short."""
        return self._over_segments("trans_percent", np.median)

    @property
    def drift_deg_m(self) -> float | None:
        """Median rotation error over all segments [deg/m]."""
        return self._over_segments("rot_deg_m", np.median)

    def _over_segments(self, name: str, summary: Callable[[np.ndarray], Any]) -> float | None:
        """Return a summary of one drift over all segments of all lengths; None without any."""
        values = np.concatenate([np.empty(0), *(getattr(part, name) for part in self.drift)])
        return float(summary(values)) if len(values) else None

    @property
    def as_given_rmse_m(self) -> float | None:
        """RMS distance to truth of the coordinates as read [m]; None if they were fitted before."""
        if self.start == FITTED:
            return None
        p_initial = transform_points(invert_transform(self.T_start), self.estimate.p_ref_body)
        away = np.linalg.norm(p_initial - self.reference.p_ref_body, axis=1)
        return rms(away)

    def metrics(self, camera: StereoCamera | None = None) -> dict[str, Any]:
        """Return the numbers for JSON, with the bound that the noise of a camera sets."""
        duration_ns = int(self.reference.stamps_ns[-1] - self.reference.stamps_ns[0])
        return {
            "protocol": self.protocol.plain(),
            "reference": {
                "hash": self.reference_hash,
                "duration_s": float(self.truth.stamps_ns[-1] - self.truth.stamps_ns[0]) * 1e-9,
                "path_m": self.truth.path_length_m,
            },
            "n_pairs": len(self.reference),
            "n_reference": self.n_reference,
            "n_estimate": self.n_estimate,
            "coverage": self.coverage,
            "completeness": self.completeness.plain(),
            "max_gap_s": self.max_gap_s,
            "path_m": self.reference.path_length_m,
            "duration_s": duration_ns * 1e-9,
            "start": {
                "state": self.start,
                "T_reference_estimate": self.T_start.tolist(),
                "as_given_rmse_m": self.as_given_rmse_m,
            },
            "alignment": self.alignment.plain(self.estimate.p_ref_body),
            "calibration": self.calibration.plain(),
            "ape": self.ape.plain(),
            "ape_unaligned": self.ape_unaligned.plain(),
            "rpe": {"frame": self.rpe_frame.plain(), "metre": self.rpe_metre.plain()},
            "segments": self._segments(),
            "consistency": {name: test.plain() for name, test in self.consistency.items()} or None,
            "controls": [control.plain() for control in self.controls],
            **({} if camera is None else {"bound": stereo_bound(camera).plain()}),
        }

    def _segments(self) -> dict[str, Any]:
        """Return the drift: medians, and means over all segments of all lengths as KITTI prints."""
        turn = self._over_segments("rot_deg_m", np.mean)
        return {
            "median_percent": self.drift_percent,
            "median_deg_m": self.drift_deg_m,
            "mean_percent": self._over_segments("trans_percent", np.mean),
            "mean_deg_per_100m": None if turn is None else turn * 100.0,
            "lengths": [_plain_drift(drift) for drift in self.drift],
        }


def _plain_drift(drift: SegmentDrift) -> dict[str, Any]:
    parts = {
        name: summarise(getattr(drift, name))
        for name in ("trans_percent", "rot_deg_m", "yaw_deg", "tilt_deg")
    }
    plain = {name: part.plain() if part else None for name, part in parts.items()}
    return {"length_m": drift.length_m, **plain}


def evaluate_trajectory(
    reference: Trajectory,
    estimate: Trajectory,
    *,
    protocol: Protocol[TrajectoryProtocol] | TrajectoryProtocol | None = None,
    align: str | None = None,
    frame_stamps_ns: np.ndarray | None = None,
    T_reference_estimate: np.ndarray | None = None,
    start: str = PLACED,
    max_gap_s: float | None = None,
    keyframe_gap_s: float | None = None,
    covariances: np.ndarray | None = None,
    coverage: float | None = None,
) -> TrajectoryEvaluation:
    """Score an estimate against its reference.

    Parameters
    ----------
    reference, estimate : Trajectory
        Poses of the same body.
    protocol, align, max_gap_s, keyframe_gap_s : optional
        Default: evo's choices; the others override those of the protocol.
    frame_stamps_ns : (n,) array, optional
        Stamps of all input frames of the estimator, for the share it tracked.
    T_reference_estimate : (4, 4) array, optional
        Known pose of the estimate's frame in the reference's (a start pose), applied first;
        the "unaligned" scores are then those that count.
    start : str
        How that pose is known, for the reader: `JOINED` where it moves the first pose onto truth,
        `FITTED` where the estimate is what a fit of its scale made of it.
    covariances : (n, 6, 6) array, optional
        Of the estimate's poses, as in geometry_msgs/PoseWithCovariance, for their consistency.
    coverage : float, optional
        Overrides the computed one, as for selected poses.

    Raises
    ------
    UserError
        If fewer than two poses can be paired.
    """
    named = _named(protocol, align=align, max_gap_s=max_gap_s, keyframe_gap_s=keyframe_gap_s)
    choices, reference_hash = named.choices, hash_of(reference)
    initial = TrajectoryAlignment(
        mode="none",
        T_reference_estimate=np.eye(4) if T_reference_estimate is None else T_reference_estimate,
    )
    if T_reference_estimate is not None:
        estimate = initial.apply(estimate)
    if start != FITTED and np.array_equal(initial.T_reference_estimate, np.eye(4)):
        start = AS_GIVEN
    reference, estimate, calibration = _calibrated(reference, estimate, choices)
    paired, guess, index = pair(reference, estimate, choices)
    if len(paired) < 2:
        raise UserError(_no_pairs(reference, estimate, len(paired), choices))
    alignment = align_trajectories(paired, guess, choices.align, n_to_align=choices.n_to_align)
    aligned = alignment.apply(guess)
    ape = absolute_errors(paired, aligned)
    if coverage is None:
        coverage = coverage_of(reference, estimate, frame_stamps_ns, choices)
    return TrajectoryEvaluation(
        reference=paired,
        estimate=guess,
        start=start,
        T_start=initial.T_reference_estimate,
        aligned=aligned,
        truth=reference,
        reference_hash=reference_hash,
        alignment=alignment,
        coverage=coverage,
        n_reference=len(reference),
        n_estimate=len(estimate),
        ape=ape,
        ape_unaligned=absolute_errors(paired, guess),
        rpe_frame=relative_errors_by_frames(paired, aligned, choices),
        rpe_metre=relative_errors_by_path(paired, aligned, choices),
        drift=segment_drift(paired, aligned, choices),
        controls=negative_controls(reference, estimate, choices),
        protocol=named,
        completeness=judge_completeness(
            reference,
            estimate,
            paired,
            index,
            ape.trans_m,
            _step_errors_m(paired, aligned),
            coverage=coverage,
            protocol=choices,
        ),
        calibration=calibration,
        consistency=consistency_of(
            paired,
            guess,
            None if covariances is None else covariances[index],
            alignment=alignment,
            R_initial=initial.T_reference_estimate[:3, :3],
        ),
        first_pair_s=float(paired.stamps_ns[0] - reference.stamps_ns[0]) * 1e-9,
        other_scale=None if alignment.mode == "sim3" else _other_scale(paired, guess),
    )


def hash_of(trajectory: Trajectory) -> str:
    """Return the first 16 hexadecimal digits of the SHA-256 of stamps and poses."""
    digest = hashlib.sha256(trajectory.stamps_ns.tobytes())
    digest.update(trajectory.p_ref_body.tobytes())
    digest.update(trajectory.q_ref_body.tobytes())
    return digest.hexdigest()[:_HASH_DIGITS]


def _named(
    protocol: Protocol[TrajectoryProtocol] | TrajectoryProtocol | None, **changes: Any
) -> Protocol[TrajectoryProtocol]:
    """Return the protocol with its name; changed choices also change the name."""
    if protocol is None:
        named = load_trajectory_protocol()
    elif isinstance(protocol, TrajectoryProtocol):
        named = Protocol(name="custom", part=PART, choices=protocol)
    else:
        named = protocol
    asked = {name: value for name, value in changes.items() if value is not None}
    choices = dataclasses.replace(named.choices, **asked)
    if choices == named.choices:
        return named
    return Protocol(name=f"{named.name} (changed)", part=PART, choices=choices)


def _calibrated(
    reference: Trajectory, estimate: Trajectory, choices: TrajectoryProtocol
) -> tuple[Trajectory, Trajectory, Calibration]:
    if choices.max_time_offset_s <= 0.0 or min(len(reference), len(estimate)) < 2:
        is_off = choices.max_time_offset_s <= 0.0
        reason = "max_time_offset_s is 0: nothing is sought" if is_off else "fewer than two poses"
        return reference, estimate, Calibration(reason=reason)
    found = find_calibration(reference, estimate, max_offset_s=choices.max_time_offset_s)
    return apply_calibration(
        reference,
        estimate,
        found,
        time_offset=choices.apply_time_offset,
        lever_arm=choices.apply_lever_arm,
    )


def _other_scale(paired: Trajectory, guess: Trajectory) -> OtherScale | None:
    rigid, similar = (
        align_umeyama(paired.p_ref_body, guess.p_ref_body, mode) for mode in ("se3", "sim3")
    )
    if not similar.is_determined or abs(similar.scale - 1.0) < LEAST_SCALE:
        return None
    before, after = (
        rms(absolute_errors(paired, fit.apply(guess)).trans_m) for fit in (rigid, similar)
    )
    if after > SCALED_SHARE * before:
        return None
    return OtherScale(scale=similar.scale, rmse_m=after, unscaled_rmse_m=before)


def _step_errors_m(paired: Trajectory, aligned: Trajectory) -> np.ndarray:
    steps = np.arange(len(paired) - 1)
    return relative_errors(paired, aligned, steps, steps + 1).trans_m


def _no_pairs(
    reference: Trajectory, estimate: Trajectory, n: int, choices: TrajectoryProtocol
) -> str:
    max_gap_s, spans = choices.max_gap_s, []
    for trajectory in (reference, estimate):
        if len(trajectory):
            first, last = trajectory.stamps_ns[[0, -1]] * 1e-9
            spans.append(f"{len(trajectory)} poses from {first:.3f} s to {last:.3f} s")
        else:
            spans.append("no pose")
    return (
        f"only {n} poses have stamps within {max_gap_s:g} s of each other; the reference has "
        f"{spans[0]}, the estimate {spans[1]}; {_way_to_pairs(reference, estimate, choices)}"
    )


def _way_to_pairs(reference: Trajectory, estimate: Trajectory, choices: TrajectoryProtocol) -> str:
    """Return a hint to find pairs: interpolation if the two overlap in time, else their clocks."""
    hint = interpolation_hint(reference, choices)
    inside = (estimate.stamps_ns >= reference.stamps_ns[:1].sum()) & (
        estimate.stamps_ns <= reference.stamps_ns[-1:].sum()
    )
    if hint and np.count_nonzero(inside) > 1:
        return f"{hint} judges the {np.count_nonzero(inside)} between the reference's poses"
    return "check clocks and units"
