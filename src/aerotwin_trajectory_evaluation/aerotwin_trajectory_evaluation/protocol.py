# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Options of a trajectory evaluation, with presets of published protocols.

The defaults are those of evo, so that a score without options is comparable to evo's.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aerotwin_core.parameters import parameter
from aerotwin_core.protocol import Protocol, load_protocol

MODES = ("none", "origin", "yaw", "se3", "sim3", "robust")
PART = "trajectory"


@dataclass(frozen=True, kw_only=True)
class TrajectoryProtocol:
    """The options; the reference page of parameters is generated from these fields."""

    duplicates: str = parameter(
        "keep",
        text="poses with one stamp: keep (as evo; set 1 ns apart), first (drop the later ones) "
        "or refuse",
        choices=("keep", "first", "refuse"),
    )
    association: str = parameter(
        "nearest",
        text="nearest = the nearest stamps (evo); interpolate = the reference at the estimate's",
        choices=("nearest", "interpolate"),
    )
    max_gap_s: float = parameter(
        0.01,
        text="farthest stamps that are paired; interpolated, the longest bridged reference gap",
        unit="s",
        minimum=0.0,
    )
    align: str = parameter(
        "se3",
        text="what is fitted before the score: nothing, the first poses, shift and yaw, a rigid "
        "motion, also a scale, or a rigid motion that outliers do not pull (Geman-McClure)",
        choices=MODES,
    )
    n_to_align: int = parameter(
        0, text="only the first pairs take part in the fit; 0 = all", minimum=0
    )
    apply_time_offset: bool = parameter(
        False,
        text="add the time offset that was found to the estimate's stamps (negative where they "
        "are too late)",
    )
    apply_lever_arm: bool = parameter(
        False, text="carry the reference to the estimate's point by the lever arm that was found"
    )
    max_time_offset_s: float = parameter(
        1.0,
        text="time offsets are sought up to this; 0 = neither offset nor lever arm is estimated",
        unit="s",
        minimum=0.0,
        maximum=600.0,
    )
    rpe_frames: int = parameter(1, text="frames between the poses of a pair (RPE)", minimum=1)
    rpe_m: float = parameter(
        1.0, text="path between the poses of a pair (RPE)", unit="m", minimum=1e-6
    )
    rpe_all_pairs: bool = parameter(
        False, text="from every pose on, not only from the end of the pair before"
    )
    rpe_tolerance: float = parameter(
        0.1,
        text="of all pairs over a path, those are left out whose length is farther off than this "
        "share (evo)",
        minimum=0.0,
    )
    rpe_path: str = parameter(
        "estimate",
        text="along whose path metres are counted",
        choices=("estimate", "reference"),
    )
    segment_lengths_m: tuple[float, ...] = parameter(
        (10.0, 20.0, 30.0, 40.0, 50.0),
        text="lengths of the segments whose drift is counted",
        unit="m",
        minimum=1e-6,
    )
    segment_shares: tuple[float, ...] = parameter(
        (), text="instead: their lengths as shares of the path", minimum=1e-6, maximum=1.0
    )
    segment_step: int = parameter(
        1, text="a segment starts at every pose, or at every n-th", minimum=1
    )
    segment_end: str = parameter(
        "beyond",
        text="beyond = at the first pose farther than the length (KITTI); nearest = at the pose "
        "nearest to it, at most a fifth of it off (rpg)",
        choices=("beyond", "nearest"),
    )
    lost_m: float = parameter(
        1.0,
        text="lost is an aligned error above this and above lost_percent",
        unit="m",
        minimum=0.0,
    )
    lost_percent: float = parameter(
        1.0, text="and above this share of the whole true path", unit="%", minimum=0.0
    )
    jump_m: float = parameter(
        0.5,
        text="a jump is an error of one step above this and above ten usual ones",
        unit="m",
        minimum=0.0,
    )
    silence_s: float = parameter(
        1.0, text="a late start, an early end or a gap is longer than this", unit="s", minimum=0.0
    )
    keyframe_gap_s: float = parameter(
        0.0,
        text="the estimate holds key-frames only: what lies between two of them at most this far "
        "apart counts as tracked; 0 = it holds every frame",
        unit="s",
        minimum=0.0,
    )
    auc_m: float = parameter(
        1.0, text="upper end of the area under the cumulative curve", unit="m", minimum=1e-6
    )

    def __post_init__(self) -> None:
        """Reject a protocol without any segment."""
        if not self.segment_lengths_m and not self.segment_shares:
            raise ValueError("segment_lengths_m: expected at least one length, found none")


PRESETS: Mapping[str, Mapping[str, Any]] = {
    "evo": {},
    # KITTI odometry devkit, evaluate_odometry.cpp: lengths[], step_size, lastFrameFromSegmentLength
    "kitti": {
        "align": "none",
        "segment_lengths_m": [100.0 * k for k in range(1, 9)],
        "segment_step": 10,
    },
    # rpg_trajectory_evaluation: posyaw, default_boxplot_perc, associate(max_difference)
    "rpg": {
        "align": "yaw",
        "max_gap_s": 0.02,
        "segment_shares": [0.1, 0.2, 0.3, 0.4, 0.5],
        "segment_end": "nearest",
    },
    # Xiao et al. (2020), section IV: "RPE is set to pose error per half a meter". The alignment
    # is not stated there; evo's usual one is taken.
    "xtdrone2020": {"align": "se3", "rpe_m": 0.5},
}
"""Values by name of what each preset changes."""


def load_trajectory_protocol(spec: str | Path | None = None) -> Protocol[TrajectoryProtocol]:
    """Return the protocol of a preset's name or a YAML file; default: evo's.

    Raises
    ------
    ParameterError
        If there is no such preset or file, or a key or a value is unknown.
    """
    return load_protocol(TrajectoryProtocol, PART, spec, PRESETS)
