# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of localisation by lidar; where VTR3 states a number, it is the default here."""

from dataclasses import dataclass

from aerotwin_core.parameters import parameter


@dataclass(frozen=True, kw_only=True)
class LocalizationProtocol:
    """Parameters of the matcher and of the gates, after VTR3 (config/ouster_warthog_default.yaml).

    Not from VTR3 are the number of points, the robust weight and its range, the steps below which
    the loop ends at once (VTR3: those of `settled_m` and `settled_deg`), the limits of a correction
    (VTR3 allows 100 m) and the consistency with odometry. The residual motion distortion of a scan
    grows with range, as do the errors of a map: `range_m` was chosen on scans of a hall.
    """

    max_range_m: float = parameter(
        40.0, text="farther points of a scan are not used", unit="m", minimum=1.0, maximum=1e4
    )
    min_range_m: float = parameter(
        0.5, text="points of a scan that are nearer are not used", unit="m", minimum=0.0
    )
    voxel_m: float = parameter(
        0.3, text="a scan keeps one point of each voxel", unit="m", minimum=0.01, maximum=10.0
    )
    max_points: int = parameter(
        3000, text="points of a scan that are matched, evenly chosen", minimum=100, maximum=10**6
    )
    initial_steps: int = parameter(
        20, text="most steps of the first stage (VTR3: 4)", minimum=1, maximum=1000
    )
    initial_points: int = parameter(
        1000, text="points of the first stage", minimum=50, maximum=1_000_000
    )
    initial_pair_m: float = parameter(
        1.5, text="farthest pair of the first stage", unit="m", minimum=0.01, maximum=50.0
    )
    initial_planar_m: float = parameter(
        1.0, text="largest distance from the surface in the first stage", unit="m", minimum=0.01
    )
    initial_robust_m: float = parameter(
        0.3, text="residual at which weights fall in the first stage", unit="m", minimum=1e-4
    )
    refined_steps: int = parameter(50, text="most steps of the second stage", minimum=1)
    refined_pair_m: float = parameter(
        1.0, text="farthest pair of the second stage", unit="m", minimum=0.01, maximum=50.0
    )
    refined_planar_m: float = parameter(
        0.3, text="largest distance from the surface in the second stage", unit="m", minimum=0.001
    )
    refined_robust_m: float = parameter(
        0.1, text="residual at which weights fall in the second stage", unit="m", minimum=1e-4
    )
    least_shift_m: float = parameter(
        0.001, text="a step that moves less, and turns less, is the last", unit="m", minimum=0.0
    )
    least_turn_deg: float = parameter(
        0.01, text="a step that turns less, and moves less, is the last", unit="deg", minimum=0.0
    )
    settled_m: float = parameter(
        0.01, text="last step that is small enough once all steps are made", unit="m", minimum=0.0
    )
    settled_deg: float = parameter(0.1, text="one that turned less is", unit="deg", minimum=0.0)
    point_share: float = parameter(
        1e-5, text="f in the weight s n n^T + f I of a pair", minimum=0.0, maximum=1.0
    )
    residual_m: float = parameter(
        0.03, text="deviation of a residual against the prior", unit="m", minimum=1e-4, maximum=10.0
    )
    range_m: float = parameter(
        10.0, text="range of twice the variance of near points", unit="m", minimum=0.1, maximum=1e6
    )
    covariance_factor: float = parameter(
        25.0, text="what pairs that are not independent add to the variance", minimum=1.0
    )
    min_matched_ratio: float = parameter(
        0.45, text="share of the scan's points that must have a pair", minimum=0.0, maximum=1.0
    )
    standing_m: float = parameter(
        0.5, text="of the points so far above the base as many must have a pair: ground fits "
        "everywhere", unit="m", minimum=-1e3, maximum=1e3,
    )  # fmt: skip
    min_points_matched: int = parameter(
        100, text="fewer points with a pair are a failure", minimum=6
    )
    max_shift_m: float = parameter(
        2.0, text="a larger shift from the prior is a failure (VTR3: 100)", unit="m", minimum=0.0
    )
    max_turn_deg: float = parameter(
        28.6, text="largest turn from the prior (0.5 rad)", unit="deg", minimum=0.0, maximum=180.0
    )
    normal_radius_m: float = parameter(
        0.75, text="radius that normals of maps are fitted in", unit="m", minimum=0.01, maximum=10.0
    )
    min_flatness: float = parameter(
        0.5, text="1 - sqrt(l1 / l2) of a neighbourhood that has a normal", minimum=0.0, maximum=1.0
    )
    max_inconsistency: float = parameter(
        5.0, text="largest deviation from odometry, in sigmas", minimum=1.0, maximum=1e3
    )
    consistency_m: float = parameter(
        0.15, text="a correction smaller than this is never inconsistent", unit="m", minimum=0.0
    )
    consistency_deg: float = parameter(
        2.0, text="a turn smaller than this is never inconsistent", unit="deg", minimum=0.0
    )
    start_m: float = parameter(0.5, text="deviation of an initial pose", unit="m", minimum=0.001)
    start_deg: float = parameter(
        10.0, text="deviation of its heading", unit="deg", minimum=0.01, maximum=180.0
    )
    window_m: float = parameter(
        5.0, text="how far along the route the nearest vertex is sought", unit="m", minimum=0.1
    )
    cell_m: float = parameter(
        1.0, text="edge of the cells of the neighbour search", unit="m", minimum=0.05, maximum=50.0
    )
