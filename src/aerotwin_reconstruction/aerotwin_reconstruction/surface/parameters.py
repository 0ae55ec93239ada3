# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the surface."""

from dataclasses import dataclass

from aerotwin_core.parameters import parameter


@dataclass(frozen=True, kw_only=True)
class SurfaceParameters:
    """Parameters of the mesh and its ortho picture."""

    cell_m: float = parameter(
        0.2, text="Cells of the heights.", unit="m", minimum=0.02, maximum=10.0
    )
    texel_m: float = parameter(
        0.05, text="Texels of the ortho picture.", unit="m", minimum=0.005, maximum=10.0
    )
    max_triangles: int = parameter(
        2_000_000, text="Largest number of triangles.", minimum=1000, maximum=8_000_000
    )
    steepest_deg: float = parameter(
        30.0, text="Largest used tilt from straight down.", unit="deg", minimum=1.0, maximum=90.0
    )
    hidden_m: float = parameter(
        0.5, text="Depth behind a picture of hidden texels.", unit="m", minimum=0.05, maximum=10.0
    )
