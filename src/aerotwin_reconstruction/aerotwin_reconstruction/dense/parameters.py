# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the dense reconstruction."""

from dataclasses import dataclass

from aerotwin_core.parameters import parameter


@dataclass(frozen=True, kw_only=True)
class DenseParameters:
    """Parameters of depth estimation and fusion."""

    scale: float = parameter(
        0.5, text="Pictures are shrunk to this size first.", minimum=0.05, maximum=1.0
    )
    n_neighbours: int = parameter(
        4, text="Pictures that each one is compared with.", minimum=1, maximum=16
    )
    min_baseline_ratio: float = parameter(
        0.08, text="Least baseline over the distance.", minimum=0.01, maximum=1.0,
        old_name="narrowest",
    )  # fmt: skip
    max_baseline_ratio: float = parameter(
        0.45,
        text="Greatest baseline over the distance.",
        minimum=0.02,
        maximum=2.0,
        old_name="widest",
    )
    preferred_baseline_ratio: float = parameter(
        0.22,
        text="Preferred baseline over the distance.",
        minimum=0.02,
        maximum=1.0,
        old_name="best",
    )
    largest_angle_deg: float = parameter(
        25.0, text="Between the axes of compared pictures.", unit="deg", minimum=1.0, maximum=90.0
    )
    block_px: int = parameter(
        5, text="Edge of the blocks that are compared, odd.", unit="px", minimum=1, maximum=21
    )
    depth_margin: float = parameter(
        0.15, text="Depths sought beyond those of the tracks, as a share.", minimum=0.0, maximum=2.0
    )
    agreement_px: float = parameter(
        1.0, text="Disparities that differ by less agree.", unit="px", minimum=0.1, maximum=10.0
    )
    n_agreeing: int = parameter(
        2, text="Neighbours that must agree on a depth.", minimum=1, maximum=16
    )
    depth_tolerance: float = parameter(
        0.005, text="Share by which agreeing depths differ.", minimum=1e-4, maximum=0.2
    )
    n_confirming: int = parameter(
        2, text="Pictures that must confirm a point.", minimum=0, maximum=16
    )
    min_contrast_dn: float = parameter(
        1.0, text="Least deviation of grey levels of a block.", minimum=0.0, maximum=100.0,
        old_name="least_contrast",
    )  # fmt: skip
    pixel_step: int = parameter(
        2, text="Every n-th pixel of rows and columns becomes a point.", minimum=1, maximum=16
    )
    voxel_m: float = parameter(
        0.10, text="Cells whose points become their mean.", unit="m", minimum=0.005, maximum=10.0
    )
    min_points: int = parameter(
        1, text="Least number of points of a cell.", minimum=1, maximum=1000,
        old_name="fewest_points",
    )  # fmt: skip
    min_share: float = parameter(
        0.15, text="Points of a cell by those of the fullest around it.", minimum=0.0, maximum=1.0,
        old_name="least_share",
    )  # fmt: skip
    normal_neighbours: int = parameter(
        16, text="Points that a normal is fitted to.", minimum=4, maximum=200
    )

    def __post_init__(self) -> None:
        if self.block_px % 2 == 0:
            raise ValueError(f"block_px must be odd, got {self.block_px}")
        least, most = self.min_baseline_ratio, self.max_baseline_ratio
        if not least <= self.preferred_baseline_ratio <= most:
            raise ValueError(
                f"preferred_baseline_ratio must lie in min_baseline_ratio to max_baseline_ratio "
                f"({least:g} to {most:g}), got {self.preferred_baseline_ratio:g}"
            )
        if self.n_agreeing > self.n_neighbours:
            raise ValueError(
                f"n_agreeing must not exceed n_neighbours ({self.n_neighbours}), got "
                f"{self.n_agreeing}"
            )
