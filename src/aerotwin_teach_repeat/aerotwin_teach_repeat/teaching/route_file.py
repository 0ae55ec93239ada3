# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Route files: way-points of a path and the stations of its markers, in YAML.

.. code-block:: yaml

    name: campus
    world: campus            # where it was drawn for; "" = anywhere
    is_closed: true          # the path returns to its start
    waypoints_m: [[0.0, -33.0], [10.1, -32.8], …]   # x, y in map, in the order of driving
    markers_s_m: [12.5, 37.5, …]                    # stations: metres along the smooth path

The path itself is made by `smooth_waypoints`; a marker lies on it, `markers_s_m` from its start
seen from above.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from aerotwin_core.cli import write_text_atomically
from aerotwin_core.errors import UserError
from aerotwin_core.frames import FloatArray
from aerotwin_core.parameters import load_parameters_file, parameter

MARKER_SPACING_M = 25.0
"""Spacing of the markers on the project's own routes."""


@dataclass(frozen=True, kw_only=True)
class RouteFile:
    """Content of a route file."""

    name: str = parameter(text="Of the route.")
    world: str = parameter("", text="World that it was drawn for; empty for any.")
    is_closed: bool = parameter(False, text="Whether the path returns to its start.")
    waypoints_m: tuple[tuple[float, float], ...] = parameter(
        text="x and y of every way-point in map, in the order of driving.", unit="m"
    )
    markers_s_m: tuple[float, ...] = parameter(
        (), text="Stations of the markers, along the path from its start.", unit="m", minimum=0.0
    )

    def __post_init__(self) -> None:
        fewest = 3 if self.is_closed else 2
        if len(self.waypoints_m) < fewest:
            raise ValueError(f"waypoints_m must be {fewest} at least, got {len(self.waypoints_m)}")
        if list(self.markers_s_m) != sorted(set(self.markers_s_m)):
            raise ValueError("markers_s_m must increase")

    @property
    def waypoints(self) -> FloatArray:
        """Way-points (n, 2) [m]."""
        return np.array(self.waypoints_m, dtype=np.float64)

    def markers(self, length_m: float) -> FloatArray:
        """Return the stations (m,) [m]; `UserError` if one lies beyond the end of the path."""
        stations = np.array(self.markers_s_m, dtype=np.float64)
        if len(stations) and stations[-1] > length_m:
            raise UserError(
                f"route {self.name}: its marker at {stations[-1]:g} m lies beyond the end of the "
                f"path at {length_m:.2f} m; leave it out"
            )
        return stations


def load_route(path: str | Path) -> RouteFile:
    """Return the route of a YAML file; `ParameterError` if it is not a route file."""
    return load_parameters_file(RouteFile, path)


def save_route(path: str | Path, route: RouteFile) -> None:
    """Write a route file."""
    lines = [f"name: {route.name}", f"world: '{route.world}'"]
    lines += [f"is_closed: {str(route.is_closed).lower()}", "waypoints_m:"]
    lines += [f"  - [{x:.2f}, {y:.2f}]" for x, y in route.waypoints_m]
    stations = ", ".join(f"{s:g}" for s in route.markers_s_m)
    write_text_atomically(Path(path), "\n".join([*lines, f"markers_s_m: [{stations}]"]) + "\n")


def marker_stations(length_m: float, spacing_m: float = MARKER_SPACING_M) -> tuple[float, ...]:
    """Return stations at a spacing, half a spacing from the start and as far from the end [m]."""
    return tuple(np.arange(spacing_m / 2.0, length_m - spacing_m / 4.0, spacing_m).tolist())
