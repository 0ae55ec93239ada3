# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of submaps."""

from dataclasses import dataclass

from aerotwin_core.parameters import parameter


@dataclass(frozen=True, kw_only=True)
class SubmapProtocol:
    """Positions and contents of submaps.

    Distance and angle are those of VTR3's lidar pipeline, radius and height band those of the
    VirT&R wrapper (its comments say 40 m "for paper"), 0.3 m is the map voxel of VTR3.
    """

    distance_m: float = parameter(
        1.5, text="Distance from one submap to the next.", unit="m", minimum=0.1, maximum=100.0
    )
    angle_deg: float = parameter(
        30.0, text="Or beyond this rotation about any axis.", unit="deg", minimum=1.0, maximum=180.0
    )
    radius_m: float = parameter(
        40.0, text="Reach across the vertex's z axis.", unit="m", minimum=1.0, maximum=200.0
    )
    below_m: float = parameter(
        5.0, text="How far down it reaches from the vertex.", unit="m", minimum=0.0, maximum=100.0
    )
    above_m: float = parameter(15.0, text="How far up.", unit="m", minimum=0.1, maximum=200.0)
    voxel_m: float = parameter(
        0.3, text="The mean point of each voxel of this edge.", unit="m", minimum=0.02, maximum=5.0
    )
    n_neighbours: int = parameter(
        10, text="Points that a normal is fitted to.", minimum=4, maximum=100
    )
    only_visible: bool = parameter(
        False, text="Leave out what is hidden from a lidar at the vertex by what stands before it."
    )
    lidar_height_m: float = parameter(
        1.0, text="Height of that lidar above the vertex.", unit="m", minimum=0.0, maximum=10.0
    )
    lidar_lower_deg: float = parameter(
        -90.0, text="Lowest elevation it sees.", unit="deg", minimum=-90.0, maximum=90.0
    )
    lidar_upper_deg: float = parameter(
        90.0, text="Highest elevation it sees.", unit="deg", minimum=-90.0, maximum=90.0
    )
    visibility_bin_deg: float = parameter(
        0.3, text="Edge of a cell of its depth buffer.", unit="deg", minimum=0.05, maximum=5.0
    )

    def __post_init__(self) -> None:
        if not self.lidar_lower_deg < self.lidar_upper_deg:
            raise ValueError(
                "lidar_lower_deg must lie below lidar_upper_deg, got "
                f"{self.lidar_lower_deg:g} and {self.lidar_upper_deg:g}"
            )
