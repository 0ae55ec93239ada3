# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Options of how two measured maps are compared."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aerotwin_core.parameters import parameter
from aerotwin_core.protocol import Protocol, load_protocol

PART = "twin"


@dataclass(frozen=True, kw_only=True)
class TwinProtocol:
    """The margins, and how intervals are computed.

    Beam et al. (2024, IV-D) call means 1.9 cm and deviations 1.1 cm apart highly similar, without
    a margin; 5 cm is a choice of this project: what a mission planner would not notice.
    """

    mean_margin_m: float = parameter(
        0.05, text="means that differ by less count as equal", unit="m", minimum=1e-6
    )
    std_margin_m: float = parameter(
        0.05, text="standard deviations that differ by less count as equal", unit="m", minimum=1e-6
    )
    share_margin: float = parameter(
        0.05,
        text="shares of points within the cut that differ by less count as equal",
        minimum=1e-6,
        maximum=1.0,
    )
    alpha: float = parameter(
        0.05,
        text="probability to call equivalent what differs by the margin (each one-sided test)",
        minimum=1e-4,
        maximum=0.25,
    )
    block_edges_m: tuple[float, ...] = parameter(
        (1.0, 2.0, 4.0, 8.0, 16.0, 32.0),
        text="edges of the cubes that are drawn whole; the one with the largest standard error of "
        "those that leave 20 cubes is taken",
        unit="m",
        minimum=0.01,
    )
    shares_blocks: bool = parameter(
        True, text="a cube is drawn for both maps together: what is hard there is hard for both"
    )
    n_resamples: int = parameter(2000, text="bootstrap draws", minimum=100, maximum=100_000)
    noise_m: tuple[float, ...] = parameter(
        (0.02, 0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 1.0),
        text="noise on each axis that is added to map A, to see which of it the margins notice",
        unit="m",
        minimum=1e-4,
    )
    seed: int = parameter(0, text="seed of draws and noise", minimum=0)

    def __post_init__(self) -> None:
        edges = self.block_edges_m
        if not edges or list(edges) != sorted(set(edges)):
            raise ValueError(f"block_edges_m must ascend and have one at least, got {edges}")


def load_twin_protocol(
    spec: str | Path | None, presets: Mapping[str, Mapping[str, Any]]
) -> Protocol[TwinProtocol]:
    """Return the part `twin` of a protocol file; the defaults for the presets of other parts."""
    return load_protocol(TwinProtocol, PART, spec, {name: {} for name in presets})
