# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Options of a map evaluation, and named sets of them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from aerotwin_core.parameters import parameter
from aerotwin_core.protocol import Protocol, load_protocol
from aerotwin_registration import IcpProtocol
from aerotwin_registration.icp.protocol import METHODS

ALIGNMENTS = ("none", "icp", "coarse")
DISTANCES = ("points", "boxes", "planes", "surface")
_BOX_NUMBERS = 6


@dataclass(frozen=True, kw_only=True)
class MapProtocol:
    """Options of the measurement; the defaults are those of Beam et al. 2024 (III-C, IV-C)."""

    align: str = parameter(
        "icp",
        text="none: judged where it stands; icp: from the given pose; coarse: any yaw and 20 m "
        "off first, then icp",
        choices=ALIGNMENTS,
    )
    method: str = parameter("point_to_point", text="method of the ICP", choices=METHODS)
    thin_m: float = parameter(
        0.0,
        text="the ICP takes the mean of the points in each cell of this edge, of both clouds, "
        "which crowd near a lidar; 0 takes all points",
        unit="m",
        minimum=0.0,
    )
    with_scale: bool = parameter(False, text="the alignment also finds the map's scale, Sim(3)")
    regions_m: tuple[float, ...] = parameter(
        (),
        text="boxes to align on, as x y z of the lower and x y z of the upper corner, six numbers "
        "each, in the reference's frame; empty: all points",
        unit="m",
    )
    voxel_m: float = parameter(
        1.0, text="edge of a reference voxel", unit="m", minimum=0.01, maximum=100.0
    )
    distance: str = parameter(
        "points",
        text="what a correspondence is measured to: voxel centres or points, voxels as boxes, "
        "planes through the points of a cloud, or the surface",
        choices=DISTANCES,
    )
    cut_m: float = parameter(
        1.0, text="farthest pair that counts as correspondence", unit="m", minimum=1e-3
    )
    radius_m: float = parameter(1.0, text="search radius of the ICP", unit="m", minimum=1e-3)
    relative_tolerance: float = parameter(1e-5, text="when the ICP stops", minimum=0.0)
    max_iterations: int = parameter(1500, text="most ICP iterations", minimum=1)
    rejection_m: tuple[float, ...] = parameter(
        (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0),
        text="cuts of the rejection curve",
        unit="m",
        minimum=1e-6,
    )
    within_m: tuple[float, ...] = parameter(
        (0.1, 0.25, 0.5, 1.0),
        text="thresholds of accuracy, completeness, precision, recall and F",
        unit="m",
        minimum=1e-6,
    )
    awd_voxel_m: float = parameter(
        3.0, text="edge of the voxels of the Wasserstein distance", unit="m", minimum=1e-3
    )
    awd_min_points: int = parameter(
        100, text="fewest points of each cloud in such a voxel", minimum=2
    )
    entropy_radius_m: float = parameter(
        0.5, text="neighbourhood of the mean map entropy", unit="m", minimum=1e-4
    )
    entropy_min_points: int = parameter(
        10, text="fewest points in such a neighbourhood, its own among them", minimum=4
    )
    floor_spacing_m: float = parameter(
        0.25, text="spacing of the samples of the true surface", unit="m", minimum=0.01
    )
    observed_range_m: float = parameter(
        60.0, text="surface farther from all true poses does not count as seen", unit="m",
        minimum=0.1
    )  # fmt: skip
    sensitivity_m: tuple[float, ...] = parameter(
        (0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 1.0),
        text="noise on each axis of the sensitivity curve; empty: no curve",
        unit="m",
        minimum=0.0,
    )
    seed: int = parameter(0, text="seed of the negative controls and of samples", minimum=0)

    def __post_init__(self) -> None:
        if len(self.regions_m) % _BOX_NUMBERS:
            raise ValueError(
                f"regions_m must have six numbers for each box, got {len(self.regions_m)}"
            )
        for lower, upper in self.boxes:
            if not (lower < upper).all():
                raise ValueError(
                    f"regions_m: the lower corner {lower.tolist()} must lie below the upper "
                    f"{upper.tolist()} on each axis"
                )
        if not self.within_m or not self.rejection_m:
            raise ValueError("within_m and rejection_m must each have a number at least")
        if self.sensitivity_m and self.sensitivity_m[0] != 0.0:
            raise ValueError(f"sensitivity_m must begin with 0, got {self.sensitivity_m[0]:g}")

    @property
    def boxes(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Lower and upper corner of each region used for the alignment."""
        rows = np.array(self.regions_m, dtype=np.float64).reshape(-1, 2, 3)
        return [(lower, upper) for lower, upper in rows]

    @property
    def icp(self) -> IcpProtocol:
        """Options of the ICP."""
        return IcpProtocol(
            method=self.method,
            voxel_m=self.thin_m,
            with_scale=self.with_scale,
            radius_m=self.radius_m,
            relative_tolerance=self.relative_tolerance,
            max_iterations=self.max_iterations,
        )


PRESETS: dict[str, dict[str, Any]] = {
    "beam2024": {
        "align": "icp",
        "method": "point_to_point",
        "voxel_m": 1.0,
        "cut_m": 1.0,
        "radius_m": 1.0,
        "relative_tolerance": 1e-5,
        "max_iterations": 1500,
    },
}
"""`beam2024`: Beam et al. 2024, IV-C and Fig. 8. The boxes that they aligned on are not printed."""


def load_map_protocol(spec: str | Path | None) -> Protocol[MapProtocol]:
    """Return the part `map` of a preset or a protocol file; errors as in `load_protocol`."""
    return load_protocol(MapProtocol, "map", spec, PRESETS)
