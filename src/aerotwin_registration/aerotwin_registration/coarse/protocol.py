# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The parameters of a coarse alignment."""

from dataclasses import dataclass

from aerotwin_core.parameters import parameter


@dataclass(frozen=True, kw_only=True)
class CoarseProtocol:
    """Parameters of a coarse alignment; tuned on seeds 0 to 9 of four kinds of places."""

    cell_m: float = parameter(
        0.0, text="edge of coarse cells; 0 = by the offset", unit="m", minimum=0.0, maximum=100.0
    )
    n_points: int = parameter(
        2500, text="points of the source that take part", minimum=100, maximum=1_000_000
    )
    n_candidates: int = parameter(
        80, text="places that are refined after the coarse search", minimum=2, maximum=10_000
    )
    min_points: int = parameter(
        100, text="fewer cells of source or target are a failure", minimum=10, maximum=1_000_000
    )
    min_overlap: float = parameter(
        0.5, text="share of the source that must lie on the target", minimum=0.0, maximum=1.0
    )
    max_tilt_deg: float = parameter(
        15.0, text="largest accepted tilt", unit="deg", minimum=0.0, maximum=90.0
    )
    min_margin: float = parameter(
        2.5, text="lead over the runner-up, in standard errors", minimum=0.0, maximum=1e3
    )
    min_lead: float = parameter(
        0.05, text="the same lead as a share of the best score", minimum=0.0, maximum=1.0
    )
    scale_low: float = parameter(
        1.0, text="smallest scale of the source that is tried", minimum=0.01, maximum=100.0
    )
    scale_high: float = parameter(
        1.0, text="largest scale of the source that is tried", minimum=0.01, maximum=100.0
    )

    @property
    def seeks_scale(self) -> bool:
        """Whether there is more than one scale to try."""
        return self.scale_high > self.scale_low

    def __post_init__(self) -> None:
        if self.scale_high < self.scale_low:
            raise ValueError(
                f"scale_high must be at least scale_low, got {self.scale_high:g} and "
                f"{self.scale_low:g}; exchange them"
            )
