# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Every choice of a map evaluation."""

from dataclasses import dataclass

from aerotwin_core.parameters import parameter
from aerotwin_registration import IcpProtocol


@dataclass(frozen=True, kw_only=True)
class MapProtocol:
    """What is measured and how; the defaults are those of Beam et al. 2024 (IV-C)."""

    voxel_m: float = parameter(
        1.0, text="edge of a reference voxel", unit="m", minimum=0.01, maximum=100.0
    )
    cut_m: float = parameter(
        1.0, text="farthest pair that counts as correspondence", unit="m", minimum=1e-3
    )
    radius_m: float = parameter(1.0, text="search radius of the ICP", unit="m", minimum=1e-3)
    relative_tolerance: float = parameter(1e-5, text="when the ICP stops", minimum=0.0)
    max_iterations: int = parameter(1500, text="most ICP iterations", minimum=1)
    rejection_m: tuple[float, ...] = parameter(
        (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0), text="cuts of the rejection curve", unit="m"
    )
    within_m: tuple[float, ...] = parameter(
        (0.1, 0.25, 0.5, 1.0), text="distances of accuracy and completeness", unit="m"
    )
    floor_spacing_m: float = parameter(
        0.25, text="spacing of the samples of the observed surface", unit="m", minimum=0.01
    )
    seed: int = parameter(0, text="seed of the negative controls", minimum=0)

    @property
    def icp(self) -> IcpProtocol:
        """The alignment's part."""
        return IcpProtocol(
            radius_m=self.radius_m,
            relative_tolerance=self.relative_tolerance,
            max_iterations=self.max_iterations,
        )
