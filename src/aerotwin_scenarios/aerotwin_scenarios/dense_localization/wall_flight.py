# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A raster over a wall: where it lies, and how it is flown."""

from dataclasses import dataclass

import numpy as np

from aerotwin_core.frames import FloatArray
from aerotwin_core.parameters import parameter
from aerotwin_dense_localization.localization import raster_path


@dataclass(frozen=True, kw_only=True)
class WallFlight:
    """A raster over a wall and how it is flown; the defaults map the wall of the cliff.

    `corner_m` is the lower left corner of the region, as seen facing the wall; `extent_m` is
    (along, up).
    """

    corner_m: tuple[float, float, float] = parameter(
        (-19.0, 0.8, 4.0), text="Lower left corner of the region, on the wall.", unit="m"
    )
    extent_m: tuple[float, float] = parameter(
        (18.0, 6.0), text="Size of the region along the wall and up.", unit="m", minimum=0.1
    )
    standoff_m: float = parameter(
        13.0, text="Distance of the camera from the wall.", unit="m", minimum=0.3, maximum=200.0
    )
    row_m: float = parameter(
        3.0, text="Between rows, at most.", unit="m", minimum=0.05, maximum=100.0
    )
    yaw_deg: float = parameter(
        90.0, text="Direction the camera looks in, from east.", unit="deg",
        minimum=-360.0, maximum=360.0
    )  # fmt: skip
    speed_m_s: float = parameter(1.5, text="Along the rows.", unit="m/s", minimum=0.1, maximum=20.0)
    rate_hz: float = parameter(1.0, text="Pictures.", unit="Hz", minimum=0.1, maximum=100.0)

    def path(self) -> FloatArray:
        """Return the waypoints T_map_optical (n, 4, 4)."""
        return raster_path(
            self.corner_m, *self.extent_m, row_m=self.row_m, standoff_m=self.standoff_m,
            yaw_rad=float(np.radians(self.yaw_deg)),
        )  # fmt: skip

    def covers(self, points_map: FloatArray) -> np.ndarray:
        """Return which points (n, 3) lie before or behind the region (n,)."""
        yaw = np.radians(self.yaw_deg)
        away = points_map - np.asarray(self.corner_m)
        along, up = away @ [np.sin(yaw), -np.cos(yaw), 0.0], away[:, 2]
        return (along >= 0) & (along <= self.extent_m[0]) & (up >= 0) & (up <= self.extent_m[1])


CLIFF_SCAN = WallFlight(
    corner_m=(-15.2, 0.8, 4.6), extent_m=(10.4, 4.8), standoff_m=2.0, row_m=0.8, speed_m_s=0.7,
    rate_hz=20.0,
)  # fmt: skip
"""The scan of the cliff: within what `WallFlight` maps, where the wall has detail of 3 mm."""
