# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Every choice of the dense map."""

from dataclasses import dataclass

from aerotwin_core.parameters import parameter


@dataclass(frozen=True, kw_only=True)
class MapParameters:
    """How key-frames become surfaces."""

    gate: float = parameter(
        3.0, text="Depths of one surface differ by no more sigmas.", minimum=0.5, maximum=10.0
    )
    depth_tolerance: float = parameter(
        0.004, text="Plus this share of the depth (interpolation).", minimum=0.0, maximum=0.1,
        old_name="slack",
    )  # fmt: skip
    colour_tolerance_dn: float = parameter(
        12.0, text="Colour difference of the same object.", unit="DN", minimum=0.0, maximum=255.0,
        old_name="alike_dn",
    )  # fmt: skip
    max_pixel_ratio: float = parameter(
        0.7, text="Pixels below this share of the map's replace them.", minimum=0.0, maximum=1.0,
        old_name="finer",
    )  # fmt: skip
    splat_px: float = parameter(
        0.6, text="Standard deviation of a splat, in pixels.", unit="px", minimum=0.1, maximum=5.0
    )
    max_depth_slope: float = parameter(
        3.0, text="Surfaces with a steeper depth slope are edges.", minimum=0.1, maximum=100.0,
        old_name="steepest",
    )  # fmt: skip
    min_weight: float = parameter(
        0.01, text="Weight of splats at which a pixel is known.", minimum=1e-6, maximum=10.0
    )
    reach_m: float = parameter(
        1e6, text="Distance of surfaces that share points.", unit="m", minimum=0.1, maximum=1e6
    )
    new_distance_m: float = parameter(
        3.0, text="Distance from all surfaces of a new one.", unit="m", minimum=0.0, maximum=1e6
    )
    new_overlap: float = parameter(
        0.995, text="Or share of known pixels below this.", minimum=0.0, maximum=1.0
    )
    new_saliency: float = parameter(
        0.995, text="Or share of known spectral-residual salience.", minimum=0.0, maximum=1.0
    )
    min_views: int = parameter(
        2, text="Key-frames that must have seen a point of the map.", minimum=1, maximum=100
    )
    margin_px: int = parameter(
        4, text="Rim of a key-frame that is not used.", unit="px", minimum=0, maximum=200
    )


@dataclass(frozen=True, kw_only=True)
class LinkParameters:
    """How key-frames are tied to each other before the map is made."""

    n_neighbours: int = parameter(
        6, text="Key-frames that each is aligned to.", minimum=1, maximum=50
    )
    min_overlap: float = parameter(
        0.3, text="Share of a key-frame's pixels that a neighbour shows.", minimum=0.05, maximum=1.0
    )
    prior_m: float = parameter(
        0.5, text="Standard deviation of input positions.", unit="m", minimum=1e-3, maximum=100.0
    )
    prior_deg: float = parameter(
        2.0, text="And of input attitudes.", unit="deg", minimum=1e-3, maximum=180.0
    )
    floor_m: float = parameter(
        0.01, text="Least standard deviation of alignments.", unit="m", minimum=1e-5, maximum=1.0
    )
    floor_deg: float = parameter(0.05, text="Nor its turn.", unit="deg", minimum=1e-4, maximum=10.0)
    max_correction_sigmas: float = parameter(
        4.0, text="Farthest accepted alignments from the input.", minimum=0.5, maximum=100.0
    )
