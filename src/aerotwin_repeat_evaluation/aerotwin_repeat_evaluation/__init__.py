# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Deviation of repeats from the taught route: true, as estimated, and among each other.

Lateral errors are positive to the left of the direction of travel. `map` is the teach map's frame;
in a bent map (`Displacement`) the true point p appears at w(p) = p + u(p), and marks are measured
on the true ground at the exact images of their positions on the taught route.
"""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from aerotwin_repeat_evaluation.belief import (
        LocalizationErrors,
        TrackingScores,
        localization_errors,
        tracking_scores,
    )
    from aerotwin_repeat_evaluation.declared_metrics import (
        TEACH_REPEAT_METRICS,
        TEACH_REPEAT_SCHEMA,
    )
    from aerotwin_repeat_evaluation.displacements import (
        Displacement,
        DrivenDisplacement,
        NoDisplacement,
        image_of_points,
        image_of_poses,
        true_poses,
    )
    from aerotwin_repeat_evaluation.evaluation import RepeatRun, TeachRepeatEvaluation, metrics_of
    from aerotwin_repeat_evaluation.floor import RADIUS_M, RigidFitFloor, rigid_fit_floor
    from aerotwin_repeat_evaluation.gnss import PseudoGnssErrors, gnss_positions, pseudo_gnss_errors
    from aerotwin_repeat_evaluation.markers import (
        MarkerErrors,
        Marks,
        Passings,
        marker_errors,
        marks_on_route,
        painted_marks,
        passings,
        poses_along,
    )
    from aerotwin_repeat_evaluation.path_errors import (
        LateralErrors,
        arc_length,
        ends_meet,
        lateral_errors,
    )
    from aerotwin_repeat_evaluation.repeats import (
        NominalDeviation,
        RepeatDeviation,
        nominal_deviation,
        repeat_deviation,
    )
    from aerotwin_repeat_evaluation.sections import methods_section, section_of
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
