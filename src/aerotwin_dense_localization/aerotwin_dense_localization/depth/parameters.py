# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Every choice of stereo depth."""

from dataclasses import dataclass

from aerotwin_core.parameters import parameter

METHODS = ("semi_global", "block")


@dataclass(frozen=True, kw_only=True)
class StereoParameters:
    """How a rectified pair becomes depth."""

    method: str = parameter(
        "semi_global",
        text="OpenCV's semi-global matching, or block matching: faster, with more holes.",
        choices=METHODS,
    )
    nearest_m: float = parameter(
        4.0, text="Nearest depth that is sought.", unit="m", minimum=0.05, maximum=1000.0
    )
    farthest_m: float = parameter(
        40.0, text="Farthest depth that is kept.", unit="m", minimum=0.1, maximum=10_000.0
    )
    block_px: int = parameter(
        5, text="Edge of the blocks that are compared, odd.", unit="px", minimum=3, maximum=21
    )
    refine_px: int = parameter(
        9,
        text=(
            "Edge of the patches whose shift is refined below a pixel by their grey values, odd; "
            "1 keeps the matcher's parabola, which is drawn towards whole pixels."
        ),
        unit="px",
        minimum=1,
        maximum=21,
    )
    noise_dn: float = parameter(
        2.5, text="Noise of grey values between both images.", unit="DN", minimum=0.1, maximum=50.0
    )
    min_correlation: float = parameter(
        0.6, text="Of the patches, at their best.", minimum=-1.0, maximum=1.0
    )
    floor_px: float = parameter(
        0.06, text="Least standard deviation of a disparity.", unit="px", minimum=0.0, maximum=2.0
    )
    max_sigma_px: float = parameter(
        0.5, text="Less certain disparities are dropped.", unit="px", minimum=0.01, maximum=10.0
    )

    def __post_init__(self) -> None:
        for name in ("block_px", "refine_px"):
            if getattr(self, name) % 2 == 0:
                raise ValueError(f"{name} must be odd, got {getattr(self, name)}")
        if not self.nearest_m < self.farthest_m:
            raise ValueError(
                f"nearest_m must be less than farthest_m, got {self.nearest_m:g} and "
                f"{self.farthest_m:g}"
            )
