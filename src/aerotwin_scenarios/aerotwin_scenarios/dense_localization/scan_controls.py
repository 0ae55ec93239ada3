# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What a map and a scan must reach, what the alignment removed, and negative controls."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.parameters import parameter
from aerotwin_core.trajectory import Trajectory
from aerotwin_map_evaluation.statistics import removed_by
from aerotwin_registration.icp.similarity import fit_similarity
from aerotwin_scenarios.dense_localization.mapping import MadeMap
from aerotwin_scenarios.dense_localization.scanning import ScanRun
from aerotwin_trajectory_evaluation.controls import negative_controls
from aerotwin_trajectory_evaluation.protocol import TrajectoryProtocol


@dataclass(frozen=True, kw_only=True)
class AcceptanceLimits:
    """Limits of a map and of a scan that was localised in it, after the map's rigid alignment."""

    ate_mean_m: float  # mean error of the positions at 2 m, at most
    points_mean_m: float  # mean distance of the map's points from the true mesh, at most
    share_10cm: float  # share of points nearer than 10 cm, at least
    completeness_10cm: float  # share of the visible wall with a point within 10 cm, at least


WITH_ESTIMATED_POSES = AcceptanceLimits(
    ate_mean_m=0.05, points_mean_m=0.06, share_10cm=0.85, completeness_10cm=0.95
)
WITH_TRUE_POSES = AcceptanceLimits(
    ate_mean_m=0.03, points_mean_m=0.05, share_10cm=0.90, completeness_10cm=0.95
)


def acceptance_limits(*, has_truth: bool) -> AcceptanceLimits:
    """Return the limits for a map made with true poses, or with the autopilot's."""
    return WITH_TRUE_POSES if has_truth else WITH_ESTIMATED_POSES


@dataclass(frozen=True, kw_only=True)
class Removal:
    """What the rigid motion that takes a map to its true place changed."""

    scale_percent: float = parameter(
        text="what a similarity would have changed of the size; left in the map", unit="%"
    )
    tilt_deg: float = parameter(text="tilt of the vertical", unit="deg", minimum=0.0)
    yaw_deg: float = parameter(text="turn about the vertical", unit="deg")
    offset_m: float = parameter(text="of the key-frames' centre", unit="m", minimum=0.0)

    @classmethod
    def of(cls, made: MadeMap) -> "Removal":
        """Return what was removed of a map; its key-frames tell."""
        found = np.array([keyframe.T_map_optical[:3, 3] for keyframe in made.keyframes])
        removed = removed_by(made.T_true_map, found)
        S = fit_similarity(found, made.T_map_optical[:, :3, 3])
        return cls(
            scale_percent=removed_by(S, found)["scale_percent"],
            tilt_deg=removed["tilt_deg"],
            yaw_deg=removed["yaw_deg"],
            offset_m=removed["offset_m"],
        )


@dataclass(frozen=True, kw_only=True)
class ControlResult:
    """The true way of a scan, corrupted by an error of known size and scored as the scans are."""

    name: str = parameter(text="what was done")
    expected_m: float = parameter(text="by arithmetic, RMS", unit="m", minimum=0.0)
    measured_m: float = parameter(text="ATE, RMS", unit="m", minimum=0.0)
    seen_by: str = parameter(text="the figure that shows it; empty: none")

    @property
    def is_detected(self) -> bool:
        """Whether a figure shows it."""
        return bool(self.seen_by)


def controls_of(scan: ScanRun) -> tuple[ControlResult, ...]:
    """Return the negative controls of a scan: its true path, corrupted and scored unaligned."""
    track = scan.track
    turns = Rotation.from_matrix(track.T_map_optical[:, :3, :3]).as_quat()
    truth = Trajectory(track.stamps_ns, track.T_map_optical[:, :3, 3], turns)
    found = negative_controls(truth, truth, TrajectoryProtocol(align="none"))
    return tuple(
        ControlResult(
            name=control.name,
            expected_m=control.expected_m,
            measured_m=control.measured_m,
            seen_by=control.seen_by,
        )
        for control in found
    )
