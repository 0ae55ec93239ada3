# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Every choice of direct alignment."""

from dataclasses import dataclass

from aerotwin_core.parameters import parameter


@dataclass(frozen=True, kw_only=True)
class AlignmentParameters:
    """How an image is aligned to a view, and when the result is accepted."""

    n_levels: int = parameter(
        4, text="Of the pyramid; each halves the image.", minimum=1, maximum=8
    )
    finest_level: int = parameter(
        0, text="At which the alignment ends; 0 is the full image.", minimum=0, maximum=7
    )
    stride: int = parameter(
        2, text="Every n-th pixel of rows and columns at level 0 is used.", minimum=1, maximum=8
    )
    max_iterations: int = parameter(60, text="At each level.", minimum=1, maximum=200)
    stop_px: float = parameter(
        0.01, text="A level ends at steps shorter than this.", unit="px", minimum=1e-5, maximum=1.0
    )
    stop_sigmas: float = parameter(
        0.1, text="Or at steps of fewer standard deviations.", minimum=0.0, maximum=10.0
    )
    degrees_of_freedom: float = parameter(
        5.0, text="Of Student's t of the residuals (Kerl et al. 2013).", minimum=1.0, maximum=100.0
    )
    min_gradient_dn: float = parameter(
        0.5, text="Least grey gradient of a used pixel.", unit="DN/px", minimum=0.0, maximum=100.0
    )
    max_depth_sigma: float = parameter(
        0.05, text="Largest sigma of a used pixel's depth, as a share.", minimum=0.0, maximum=1.0
    )
    is_gain_free: bool = parameter(True, text="Estimate a gain and an offset between the images.")
    max_gain: float = parameter(
        5.0, text="Largest accepted factor of brightness, either way.", minimum=1.0, maximum=100.0
    )
    min_overlap: float = parameter(
        0.15, text="Least share of the view that lies in the image.", minimum=0.0, maximum=1.0
    )
    min_correlation: float = parameter(
        0.5, text="Least accepted correlation at the finest level.", minimum=0.0, maximum=1.0
    )
    max_sigma_m: float = parameter(
        0.10, text="Largest sigma of an accepted position.", unit="m", minimum=1e-4, maximum=100.0
    )
