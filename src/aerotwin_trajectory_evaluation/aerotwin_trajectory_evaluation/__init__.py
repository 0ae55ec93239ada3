# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Accuracy of a trajectory, and the resources its computation used.

Reference and estimate are `aerotwin_core.Trajectory` objects with poses of the same body. Scores
are those of evo (APE, RPE) and the segment drift of KITTI and rpg, with coverage; an aligned score
always comes with the one as given or placed and with what the alignment removed. Names are
imported lazily: scoring from the command line loads no report code.
"""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from aerotwin_core.tum import write_tum
    from aerotwin_trajectory_evaluation.alignment import TrajectoryAlignment, align_trajectories
    from aerotwin_trajectory_evaluation.bound import StereoCamera, stereo_bound
    from aerotwin_trajectory_evaluation.calibration import Calibration, find_calibration
    from aerotwin_trajectory_evaluation.consistency import ChiSquareTest, innovation_nis, pose_nees
    from aerotwin_trajectory_evaluation.declared_metrics import ALIASES, TRAJECTORY_METRICS
    from aerotwin_trajectory_evaluation.evaluation import TrajectoryEvaluation, evaluate_trajectory
    from aerotwin_trajectory_evaluation.files import (
        TrajectoryFile,
        load_trajectory,
        read_trajectory,
    )
    from aerotwin_trajectory_evaluation.protocol import (
        MODES,
        PRESETS,
        TrajectoryProtocol,
        load_trajectory_protocol,
    )
    from aerotwin_trajectory_evaluation.recorded_chapter import (
        RecordedFlight,
        compare_recorded,
        recorded_section,
    )
    from aerotwin_trajectory_evaluation.recorded_track import (
        RecordedTrack,
        TrackOptions,
        make_track,
    )
    from aerotwin_trajectory_evaluation.recordings import FlightRecording, read_recording
    from aerotwin_trajectory_evaluation.resource_chapter import resource_section
    from aerotwin_trajectory_evaluation.resources import ResourceRecorder, ResourceUsage
    from aerotwin_trajectory_evaluation.sections import section
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
