# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What every source of shapes delivers to a world."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_meshes.mesh import TexturedMesh


class MeshStream(Protocol):
    """Meshes that follow a sensor, such as `aerotwin_tiles.TileStream`."""

    @property
    def meshes(self) -> tuple[TexturedMesh, ...]:
        """What is to be shown now, in the map frame; a mesh that stays is the same object."""

    def update(self, p_map: np.ndarray) -> bool:
        """Choose the meshes about sensors at p_map (3,) or (n, 3) [m]; whether any changed."""

    def close(self) -> None:
        """End its threads."""


@dataclass(frozen=True, kw_only=True)
class Geometry:
    """Shapes, and what their source knows beside them.

    Parameters
    ----------
    meshes : tuple of TexturedMesh
        In the map frame.
    origin : GeodeticPoint, optional
        Where the map's origin lies on Earth, where the source knows.
    start_m : (float, float), optional
        x, y of a place where a vehicle may stand, where the source found one.
    attributions : tuple of str
        Whom the files name, beside the world file.
    missing : tuple of str
        One line for each thing that could not be loaded.
    notes : tuple of str
        One line for each thing that was assumed, filled in or changed.
    stream : MeshStream, optional
        Where the meshes follow a sensor.
    """

    meshes: tuple[TexturedMesh, ...]
    origin: GeodeticPoint | None = None
    start_m: tuple[float, float] | None = None
    attributions: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    stream: MeshStream | None = None
