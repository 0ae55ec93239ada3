# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The common output of all sources of geometry."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_meshes.mesh import TexturedMesh


class MeshStream(Protocol):
    """Meshes that follow a sensor, such as `aerotwin_tiles.TileStream`."""

    @property
    def meshes(self) -> tuple[TexturedMesh, ...]:
        """The meshes to show now, in the map frame; a retained mesh is the same object."""

    def update(self, p_map: np.ndarray) -> bool:
        """Select the meshes about sensors at p_map (3,) or (n, 3) [m]; tell whether any changed."""

    def close(self) -> None:
        """Stop its threads."""


@dataclass(frozen=True, kw_only=True)
class Geometry:
    """Meshes in the map frame, with origin and problems as known to their source.

    ``origin`` is the geodetic position of the map's origin and ``start_m`` an x, y at which a
    vehicle may start, where the source knows them. ``attributions`` are credits in the files, in
    addition to the world file's. ``missing`` and ``notes`` have one line for each thing that could
    not be loaded, and for each that was assumed or changed. ``stream``: where the meshes follow a
    sensor.
    """

    meshes: tuple[TexturedMesh, ...]
    origin: GeodeticPoint | None = None
    start_m: tuple[float, float] | None = None
    attributions: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    stream: MeshStream | None = None
