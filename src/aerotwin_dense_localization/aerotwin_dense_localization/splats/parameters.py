# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Every choice of the splat rasteriser."""

from dataclasses import dataclass

from aerotwin_core.parameters import parameter


@dataclass(frozen=True, kw_only=True)
class SplatParameters:
    """How splats become an image."""

    decay: float = parameter(
        1.5,
        text=(
            "Weight is exp(-decay r) of the radial distance r = d^T Q d of eq. (2). 0.5 is the "
            "Gaussian; more keeps the middle of a splat its own where others reach over it."
        ),
        minimum=0.05,
        maximum=10.0,
    )
    cutoff: float = parameter(
        9.0, text="Squared reach of a splat in standard deviations.", minimum=1.0, maximum=36.0
    )
    low_pass_px2: float = parameter(
        0.25, text="Variance added for a pixel's average.", unit="px^2", minimum=0.0, maximum=4.0
    )
    front_m: float = parameter(
        0.05, text="Depth of the front surface's layer.", unit="m", minimum=0.0, maximum=10.0
    )
    front_sigmas: float = parameter(
        3.0, text="Plus this many standard deviations of depth.", minimum=0.0, maximum=10.0
    )
    near_m: float = parameter(
        0.1, text="Nearer than this nothing is drawn.", unit="m", minimum=1e-3, maximum=100.0
    )
    max_depth_sigma: float = parameter(
        0.15,
        text=(
            "Splats that extend along the view by more than this share of their depth are not "
            "drawn: a projection that is linear about their centre would smear them over views "
            "that they are not in."
        ),
        minimum=0.001,
        maximum=1.0,
    )
    min_weight: float = parameter(
        1e-6, text="Sum of weights of a pixel with a surface.", minimum=0.0, maximum=1.0
    )
