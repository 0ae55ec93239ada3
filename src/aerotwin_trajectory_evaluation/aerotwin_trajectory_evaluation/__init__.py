# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""How good a trajectory is, and what it cost to compute.

A reference and an estimate are `aerotwin_core.Trajectory` objects; poses of both are of the same
body. Scores are those of evo (APE, RPE), KITTI-style segment drift, and coverage; an aligned score
never stands without the unaligned one and without what the alignment removed.
"""

from aerotwin_trajectory_evaluation.alignment import MODES, TrajectoryAlignment, align_trajectories
from aerotwin_trajectory_evaluation.evaluation import TrajectoryEvaluation, evaluate_trajectory
from aerotwin_trajectory_evaluation.files import read_trajectory, write_tum
from aerotwin_trajectory_evaluation.recorded_section import (
    RecordedFlight,
    compare_recorded,
    recorded_section,
)
from aerotwin_trajectory_evaluation.recorded_track import RecordedTrack, TrackOptions, make_track
from aerotwin_trajectory_evaluation.recordings import Recording, read_recording
from aerotwin_trajectory_evaluation.resource_section import resource_section
from aerotwin_trajectory_evaluation.resources import ResourceRecorder, ResourceUsage
from aerotwin_trajectory_evaluation.sections import section

__all__ = [
    "MODES",
    "RecordedFlight",
    "RecordedTrack",
    "Recording",
    "ResourceRecorder",
    "ResourceUsage",
    "TrackOptions",
    "TrajectoryAlignment",
    "TrajectoryEvaluation",
    "align_trajectories",
    "compare_recorded",
    "evaluate_trajectory",
    "make_track",
    "read_recording",
    "read_trajectory",
    "recorded_section",
    "resource_section",
    "section",
    "write_tum",
]
