# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of an alignment, and named sets of parameters."""

from dataclasses import dataclass, replace

from aerotwin_core.parameters import parameter

METHODS = ("point_to_point", "point_to_plane", "gicp")
ROBUST_KERNELS = ("none", "huber", "cauchy", "tukey")


@dataclass(frozen=True, kw_only=True)
class IcpProtocol:
    """Parameters of an alignment. The defaults are those of Beam et al. 2024, IV-C."""

    method: str = parameter(
        "point_to_point", text="which distance of a pair is made small", choices=METHODS
    )
    with_scale: bool = parameter(False, text="also find the scale of the source, Sim(3)")
    voxel_m: float = parameter(
        0.0, text="down-sampling of both clouds (0 = none)", unit="m", minimum=0.0, maximum=1e3
    )
    radius_m: float = parameter(
        1.0, text="farthest pair that counts", unit="m", minimum=1e-6, maximum=1e3
    )
    relative_tolerance: float = parameter(
        1e-5, text="stop when both fitness and RMSE change by less", minimum=0.0, maximum=1.0
    )
    max_iterations: int = parameter(1500, text="most iterations", minimum=1, maximum=100_000)
    n_neighbours: int = parameter(
        10, text="neighbours that a surface normal is fitted to", minimum=4, maximum=200
    )
    robust_kernel: str = parameter(
        "none", text="how large residuals lose weight", choices=ROBUST_KERNELS
    )
    robust_m: float = parameter(
        0.1, text="residual at which they begin to", unit="m", minimum=1e-9, maximum=1e3
    )
    min_correspondences: int = parameter(
        30, text="fewer pairs are a failure", minimum=3, maximum=10_000_000
    )
    min_fitness: float = parameter(
        0.1, text="a smaller share of paired points is a failure", minimum=0.0, maximum=1.0
    )
    max_shift_m: float = parameter(
        5.0, text="a larger shift of the cloud's centre is drift", unit="m", minimum=0.0
    )
    max_turn_deg: float = parameter(
        30.0, text="a larger turn is drift", unit="deg", minimum=0.0, maximum=180.0
    )
    max_scale_change: float = parameter(
        0.5, text="a larger change of log(scale) is drift", minimum=0.0, maximum=10.0
    )
    min_explained: float = parameter(
        0.18, text="least share of pairs on each other, per direction", minimum=0.0, maximum=1.0
    )
    max_rival_lead: float = parameter(
        0.05, text="lead of another answer that fails (1 = none sought)", minimum=0.0, maximum=1.0
    )


_ROBUST = IcpProtocol(robust_kernel="cauchy", robust_m=0.05, max_iterations=100)
ICP_PRESETS: dict[str, IcpProtocol] = {
    "beam2024": IcpProtocol(),
    "plane": replace(_ROBUST, method="point_to_plane"),
    "gicp": replace(_ROBUST, method="gicp"),
    "fine": replace(_ROBUST, method="gicp", voxel_m=0.4),
}
"""`beam2024`: Beam et al. 2024, IV-C: radius 1 m, 1e-5, 1500 iterations, point to point. The others
are ours: `plane` and `gicp` for scans and maps of lidars, `fine` for clouds of millions of points.
"""
