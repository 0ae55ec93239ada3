# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The frame of a tileset, on the Earth (ECEF) or local, and the pose of the map in it.

All in double precision: at the Earth's surface float64 resolves a nanometre, float32 half a metre.
Vertices are transformed to the map by one matrix, so that the millions of metres of ECEF cancel
before anything is stored in single precision.
"""

from dataclasses import dataclass

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.frames import invert_transform
from aerotwin_core.geodesy import GeodeticPoint, geodetic_from_ecef
from aerotwin_tiles.description import RegionDescription
from aerotwin_tiles.fetch.address import masked
from aerotwin_tiles.tile import Tile, TileError
from aerotwin_tiles.tree import TileTree
from aerotwin_tiles.volumes import T_ecef_enu

T_Z_UP_Y_UP = np.array(
    [[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, -1.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
)
"""(x, y, z) with y up to (x, -z, y): the turn of glTF content (3D Tiles 1.1, clause 6.7.1.6)."""
_LOWEST_RADIUS_M = 6.3e6
"""Below the polar radius (6.357e6 m): no place on Earth is nearer to its centre."""
_LOWEST_ALTITUDE_M, _HIGHEST_ALTITUDE_M = -12e3, 20e3
"""From the deepest trench to above all mountains and drones."""
_FAR_M = 1e5
_SAMPLED_TILES = 64
_SAME_SHARE = 0.75
"""A child that has this share of its parent's extent along an axis does not divide that axis."""


@dataclass(frozen=True, kw_only=True)
class MapFrame:
    """Pose of the tileset in the map; ``is_geocentric``: the tileset's frame is ECEF.

    ``origin`` is the geodetic position of the map's origin; None for a local tileset without one.
    ``notes`` say what was detected, and what to do if it is wrong.
    """

    T_map_tileset: np.ndarray
    origin: GeodeticPoint | None
    is_geocentric: bool
    notes: tuple[str, ...] = ()

    @property
    def T_tileset_map(self) -> np.ndarray:
        """Pose of the map in the tileset's frame, (4, 4)."""
        return invert_transform(self.T_map_tileset)


def find_frame(
    tree: TileTree,
    *,
    origin: GeodeticPoint | None,
    region: RegionDescription | None,
    up_axis: str,
) -> MapFrame:
    """Find the frame of a tileset and the pose of the map in it.

    ``origin`` of the map is the middle of the region or of the tileset if None; ``up_axis`` is
    "auto", "y" or "z", for a local tileset. Raises `UserError` if the position cannot be found and
    must be provided.
    """
    if not is_geocentric(tree.root):
        return _local_frame(tree, origin, up_axis)
    place = origin or _middle(tree, region)
    ignored = f"{tree.address}: up_axis has no meaning on Earth; it is ignored"
    return MapFrame(
        T_map_tileset=invert_transform(T_ecef_enu(place)),
        origin=place,
        is_geocentric=True,
        notes=() if up_axis == "auto" else (ignored,),
    )


def _local_frame(tree: TileTree, origin: GeodeticPoint | None, up_axis: str) -> MapFrame:
    notes: tuple[str, ...] = ()
    if up_axis == "auto":
        up_axis, notes = _found_up_axis(tree)
    T = T_Z_UP_Y_UP if up_axis == "y" else np.eye(4)
    far_m = float(np.linalg.norm(tree.root.volume.centre))
    if far_m > _FAR_M:
        notes += (
            f"{masked(tree.address)}: lies {far_m / 1e3:.0f} km from the origin of its frame, as "
            "projected coordinates do; rays and distances there are good to decimetres only: move "
            "it to an origin near by",
        )
    return MapFrame(T_map_tileset=T, origin=origin, is_geocentric=False, notes=notes)


def is_geocentric(root: Tile) -> bool:
    """Tell whether a tileset's frame is ECEF: its volume meets the Earth's surface.

    A region is on Earth by definition, and arrives here as a box in ECEF. Projected coordinates
    have numbers as large, but few of their positions are near that surface.
    """
    centre, reach_m = root.volume.centre, root.volume.reach_m
    distance = float(np.linalg.norm(centre))
    if distance + reach_m <= _LOWEST_RADIUS_M:
        return False
    if distance < 0.5 * _LOWEST_RADIUS_M:
        return True
    altitude = geodetic_from_ecef(centre)[2]
    return _LOWEST_ALTITUDE_M - reach_m <= altitude <= _HIGHEST_ALTITUDE_M + reach_m


def _middle(tree: TileTree, region: RegionDescription | None) -> GeodeticPoint:
    centre = tree.root.volume.centre
    spans_earth = float(np.linalg.norm(centre)) < 0.5 * _LOWEST_RADIUS_M
    if spans_earth and (region is None or region.middle_deg is None):
        raise UserError(f"{tree.address}: spans the Earth; give an origin, or a region in degrees")
    latitude, longitude, altitude = (0.0,) * 3 if spans_earth else geodetic_from_ecef(centre)
    if region is not None and region.middle_deg is not None:
        latitude, longitude = region.middle_deg
    return GeodeticPoint(latitude_deg=latitude, longitude_deg=longitude, altitude_m=altitude)


def _found_up_axis(tree: TileTree) -> tuple[str, tuple[str, ...]]:
    """Return a local tileset's up axis; z by the standard, y for one well-known kind of mistake.

    A tileset with asset.gltfUpAxis Z states that its content needs no rotation. Where its tiles
    then divide x and z but never y, content and boxes both have y up, and the whole needs the
    rotation that was left out: height is the axis that a terrain's tiles do not divide.
    """
    asset = tree.assets[0]
    if not (asset.states_up_axis and asset.up_axis == "z"):
        return "z", ()
    divided = divided_axes(tree)
    if not (divided[0] and divided[2] and not divided[1]):
        return "z", ()
    return "y", (
        f"{tree.address}: asset.gltfUpAxis is Z, but its tiles divide x and z and never y: "
        "taken as y up and turned; if that is wrong, set up_axis: z",
    )


def divided_axes(tree: TileTree) -> tuple[bool, bool, bool]:
    """Return along which axes of the tileset's frame tiles are smaller than their parents."""
    divided = np.zeros(3, bool)
    tiles = [tree.root]
    for i in range(_SAMPLED_TILES):
        if i == len(tiles):
            break
        tile = tiles[i]
        try:
            children = tree.children(tile)
        except TileError:
            continue
        extent = np.ptp(tile.volume.bounds_m, axis=0)
        for child in children:
            divided |= np.ptp(child.volume.bounds_m, axis=0) < _SAME_SHARE * extent
        tiles += children
    return bool(divided[0]), bool(divided[1]), bool(divided[2])
