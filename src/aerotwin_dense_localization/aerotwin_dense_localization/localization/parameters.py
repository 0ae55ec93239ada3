# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Every choice of localisation in a dense map."""

from dataclasses import dataclass, field

from aerotwin_core.parameters import parameter
from aerotwin_dense_localization.alignment import AlignmentParameters
from aerotwin_dense_localization.splats import SplatParameters


@dataclass(frozen=True, kw_only=True)
class LocalizationParameters:
    """How a camera is localised against virtual key-frames."""

    setback_m: float = parameter(
        1.0, text="Distance of key-frames behind the path.", unit="m", minimum=0.0, maximum=100.0
    )
    overlap: float = parameter(
        0.6, text="Share of the view that neighbouring views share.", minimum=0.0, maximum=0.95
    )
    n_kept_views: int = parameter(
        12, text="Prepared views that are kept; 10 MB each.", minimum=1, maximum=1000
    )
    turn_m_per_rad: float = parameter(
        3.0,
        text="What a turn counts beside a shift when the closest virtual key-frame is chosen.",
        unit="m/rad",
        minimum=0.0,
        maximum=100.0,
    )
    max_step_m: float = parameter(
        0.75,
        text="A pose farther from where it was expected is not believed.",
        unit="m",
        minimum=0.01,
        maximum=100.0,
    )
    max_step_deg: float = parameter(
        10.0, text="Nor one turned by more.", unit="deg", minimum=0.1, maximum=180.0
    )
    n_refinements: int = parameter(
        0,
        text=(
            "An image that was placed is aligned again to so many views rendered where it was "
            "found: for single images, that begin far from any view."
        ),
        minimum=0,
        maximum=10,
    )
    n_candidates: int = parameter(
        3, text="When lost: number of most similar places that are tried.", minimum=1, maximum=100
    )
    min_relocalized_correlation: float = parameter(
        0.7,
        text=(
            "A place found without an expectation is believed if a view rendered there correlates "
            "by as much."
        ),
        minimum=0.0,
        maximum=1.0,
    )
    alignment: AlignmentParameters = field(default_factory=AlignmentParameters)
    splats: SplatParameters = field(default_factory=SplatParameters)
