# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What a map of a wall and a scan at 2 m must reach to be called good."""

from dataclasses import dataclass

from aerotwin_core.parameters import parameter


@dataclass(frozen=True, kw_only=True)
class AcceptanceLimits:
    """Limits of a map and of a scan that was localised in it, after the map's rigid alignment."""

    ate_mean_m: float = parameter(text="mean error of the positions at 2 m, at most", unit="m")
    points_mean_m: float = parameter(
        text="mean distance of the map's points from the true mesh, at most", unit="m"
    )
    share_10cm: float = parameter(text="share of points nearer than 10 cm, at least")
    completeness_10cm: float = parameter(
        text="share of the visible wall with a point within 10 cm, at least"
    )


WITH_ESTIMATED_POSES = AcceptanceLimits(
    ate_mean_m=0.05, points_mean_m=0.06, share_10cm=0.85, completeness_10cm=0.95
)
WITH_TRUE_POSES = AcceptanceLimits(
    ate_mean_m=0.03, points_mean_m=0.05, share_10cm=0.90, completeness_10cm=0.95
)


def acceptance_limits(*, has_truth: bool) -> AcceptanceLimits:
    """Return the limits for a map made with true poses, or with the autopilot's."""
    return WITH_TRUE_POSES if has_truth else WITH_ESTIMATED_POSES
