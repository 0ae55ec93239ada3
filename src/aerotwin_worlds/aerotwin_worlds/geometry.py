# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What every source of shapes delivers to a world."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_worlds.mesh import TexturedMesh

if TYPE_CHECKING:
    from aerotwin_worlds.tiles import TileStream


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
    stream : TileStream, optional
        Where the meshes follow a sensor.
    """

    meshes: tuple[TexturedMesh, ...]
    origin: GeodeticPoint | None = None
    start_m: tuple[float, float] | None = None
    attributions: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    stream: TileStream | None = None
