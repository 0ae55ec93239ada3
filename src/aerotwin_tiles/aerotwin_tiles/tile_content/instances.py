# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Instanced model tiles, i3dm: one glTF at many poses (OGC 22-025r4, clause 10.6)."""

import dataclasses
from urllib.parse import urljoin

import numpy as np

from aerotwin_core.geodesy import geodetic_from_ecef
from aerotwin_meshes.gltf.scene import instance_transforms
from aerotwin_tiles.tile_content.parts import ContentContext, TilePart, gltf_parts
from aerotwin_tiles.tile_content.points import tile_positions
from aerotwin_tiles.tile_content.tables import HEADER_BYTES, FeatureTable, read_body, read_uint32

MAX_INSTANCES = 100_000
"""Each becomes a mesh of its own, so that it can be told from the others in a picture."""
_URI, _EMBEDDED = 0, 1  # values of the header's gltfFormat
_OCT_MAX = 65535.0  # oct-encoded vectors have 16 bits a component
_NOT_PARALLEL = 1e-6


def instanced_parts(data: memoryview, context: ContentContext) -> list[TilePart]:
    """Return every instance of an instanced model as parts of its own."""
    kind, _ = read_uint32(data[HEADER_BYTES:])
    body = read_body(data, header_bytes=HEADER_BYTES + 4)
    T_tile_instances = _instance_transforms(body.table)
    if kind == _EMBEDDED:
        return gltf_parts(body.rest, context, T_tile_instances)
    if kind != _URI:
        raise ValueError(f"gltfFormat must be {_URI} or {_EMBEDDED}, got {kind}")
    try:
        uri = str(body.rest, "utf-8").strip(" \0")
    except UnicodeDecodeError:
        raise ValueError("the URI of its model is not UTF-8") from None
    resolve = context.resolve
    beside = dataclasses.replace(context, resolve=lambda other: resolve(_joined(uri, other)))
    return gltf_parts(memoryview(resolve(uri)), beside, T_tile_instances)


def _joined(uri: str, other: str) -> str:
    """Return a reference relative to the tile from one relative to its model.

    Leading ".." stay, which `urljoin` drops where the base has no host.
    """
    if "://" in uri or "://" in other or other.startswith("/"):
        return urljoin(uri, other)
    folder, slash, _ = uri.partition("?")[0].rpartition("/")
    return folder + slash + other


def _instance_transforms(table: FeatureTable) -> np.ndarray:
    """Return (k, 4, 4): scale, then rotate, then move each instance."""
    n = table.json.integer("INSTANCES_LENGTH", minimum=0, maximum=MAX_INSTANCES)
    center = table.vector("RTC_CENTER", [0.0, 0.0, 0.0])
    positions = tile_positions(table, n).astype(np.float64) + center
    scales = np.ones((n, 3))
    if table.has("SCALE"):
        scales = scales * table.array("SCALE", "<f4", n, 1)
    if table.has("SCALE_NON_UNIFORM"):
        scales = scales * table.array("SCALE_NON_UNIFORM", "<f4", n, 3)
    return instance_transforms(positions, _rotations(table, positions), scales)


def _rotations(table: FeatureTable, positions: np.ndarray) -> np.ndarray:
    """Return (n, 3, 3) rotations whose columns are the right, up and third axis (10.6.4.1.1)."""
    n = len(positions)
    if table.has("NORMAL_UP"):
        up = table.array("NORMAL_UP", "<f4", n, 3).astype(np.float64)
        right = table.array("NORMAL_RIGHT", "<f4", n, 3).astype(np.float64)
    elif table.has("NORMAL_UP_OCT32P"):
        up = _from_oct(table.array("NORMAL_UP_OCT32P", "<u2", n, 2))
        right = _from_oct(table.array("NORMAL_RIGHT_OCT32P", "<u2", n, 2))
    elif table.json.flag("EAST_NORTH_UP"):
        return _east_north_up(positions)
    else:
        return np.broadcast_to(np.eye(3), (n, 3, 3))
    third = np.cross(right, up)
    rotations = np.stack([right, up, third], axis=-1)
    lengths = np.linalg.norm(rotations, axis=1, keepdims=True)
    if not (lengths > _NOT_PARALLEL).all():
        raise ValueError("its instances have up and right directions that span no frame")
    return rotations / lengths


def _from_oct(encoded: np.ndarray) -> np.ndarray:
    """Return unit vectors from the 16-bit octahedral encoding (Cigolle et al. 2014, 3.2)."""
    x, y = (encoded / _OCT_MAX * 2.0 - 1.0).T
    z = 1.0 - np.abs(x) - np.abs(y)
    folded = np.minimum(z, 0.0)
    x, y = x + np.where(x < 0.0, -folded, folded), y + np.where(y < 0.0, -folded, folded)
    vectors = np.stack([x, y, z], axis=-1)
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def _east_north_up(p_ecef: np.ndarray) -> np.ndarray:
    """Return (n, 3, 3) rotations whose columns are east, north and up at points of the Earth.

    The frame of the tile is assumed to be ECEF, as the format implies.
    """
    angles = np.radians([geodetic_from_ecef(p)[:2] for p in p_ecef]).reshape(-1, 2)
    latitude, longitude = angles.T
    zero = np.zeros_like(latitude)
    east = np.stack([-np.sin(longitude), np.cos(longitude), zero], axis=-1)
    across = np.stack([np.cos(longitude), np.sin(longitude), zero], axis=-1)
    up = np.cos(latitude)[:, None] * across + np.sin(latitude)[:, None] * [0.0, 0.0, 1.0]
    return np.stack([east, np.cross(up, east), up], axis=-1)
