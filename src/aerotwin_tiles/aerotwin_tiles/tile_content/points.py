# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Point cloud tiles, pnts (OGC 22-025r4, clause 10.4)."""

import numpy as np

from aerotwin_meshes.gltf.draco import decode_draco
from aerotwin_meshes.gltf.json_element import JsonElement
from aerotwin_meshes.gltf.primitives import PointSet
from aerotwin_tiles.tile_content.parts import ContentContext, TilePart
from aerotwin_tiles.tile_content.tables import FeatureTable, read_body

NO_COLOUR = (169, 169, 169)
"""Of points without colours: the dark grey of the CSS colours."""
_BYTES_PER_POINT = 40
_MAX_POINTS = 2**31 - 1
_QUANTIZED_MAX = 65535.0  # 16-bit positions (clause 10.4.4.1.3)


def point_parts(data: memoryview, context: ContentContext) -> list[TilePart]:
    """Return a point cloud tile's points; normals and batches are not used."""
    table = read_body(data).table
    n = table.json.integer("POINTS_LENGTH", minimum=1, maximum=_MAX_POINTS)
    packed = table.json.extension("3DTILES_draco_point_compression")
    unpacked: dict[str, np.ndarray] = {}
    if packed is not None:
        unpacked = _unpacked(table, packed, n, context)
        if any(len(array) != n for array in unpacked.values()):
            raise ValueError(f"its Draco stream does not hold {n} points")
    positions = unpacked["POSITION"] if "POSITION" in unpacked else tile_positions(table, n)
    context.budget.reserve_bytes(n * _BYTES_PER_POINT, "its points")
    if not np.isfinite(positions).all():
        raise ValueError("it has positions that are NaN or infinite")
    positions = positions.astype(np.float64) + table.vector("RTC_CENTER", [0.0, 0.0, 0.0])
    shape = PointSet(positions=positions, colours=_colours(table, n, unpacked))
    return [TilePart(shape=shape, name=context.uri, copyright="")]


def tile_positions(table: FeatureTable, n: int) -> np.ndarray:
    """Return positions of features, (n, 3), from floats or from 16-bit quantised values."""
    if table.has("POSITION"):
        return table.array("POSITION", "<f4", n, 3)
    if not table.has("POSITION_QUANTIZED"):
        raise ValueError(f"{table.json.where} has neither POSITION nor POSITION_QUANTIZED")
    steps = table.array("POSITION_QUANTIZED", "<u2", n, 3) / _QUANTIZED_MAX
    volume = table.vector("QUANTIZED_VOLUME_SCALE")
    return steps * volume + table.vector("QUANTIZED_VOLUME_OFFSET")


def _unpacked(
    table: FeatureTable, packed: JsonElement, n: int, context: ContentContext
) -> dict[str, np.ndarray]:
    """Return the properties of a 3DTILES_draco_point_compression stream, by name."""
    properties = packed.element("properties")
    if properties is None:
        raise packed.wrong("properties", "an object")
    start, length = packed.integer("byteOffset"), packed.integer("byteLength")
    if start + length > len(table.binary):
        raise ValueError("its Draco stream reaches beyond the feature table")
    stream = table.binary[start : start + length]
    geometry = decode_draco(stream, packed.where, context.budget, n_points=n)
    arrays = {}
    for name, width in (("POSITION", 3), ("RGB", 3), ("RGBA", 4)):
        if name not in properties.values:
            continue
        array = geometry.attributes.get(properties.integer(name))
        if array is None or array.ndim != 2 or array.shape[1] != width:
            raise ValueError(f"{properties.where}.{name} is not an attribute of the Draco stream")
        arrays[name] = array
    return arrays


def _colours(table: FeatureTable, n: int, unpacked: dict[str, np.ndarray]) -> np.ndarray:
    """Return sRGB colours, (n, 3) uint8, by the order of precedence of clause 10.4.4.2."""
    for name in ("RGBA", "RGB"):
        if name in unpacked:
            if unpacked[name].dtype != np.uint8:
                raise ValueError(f"its Draco stream has {name} of {unpacked[name].dtype}")
            return np.ascontiguousarray(unpacked[name][:, :3])
    if table.has("RGBA"):
        return table.array("RGBA", "u1", n, 4)[:, :3].copy()
    if table.has("RGB"):
        return table.array("RGB", "u1", n, 3).copy()
    if table.has("RGB565"):
        packed = table.array("RGB565", "<u2", n, 1)[:, 0]
        parts = [(packed >> 11) / 31.0, (packed >> 5 & 63) / 63.0, (packed & 31) / 31.0]
        return np.rint(np.stack(parts, axis=-1) * 255.0).astype(np.uint8)
    colour = np.array(NO_COLOUR, np.uint8)
    if table.has("CONSTANT_RGBA"):
        colour = _constant_colour(table)
    return np.broadcast_to(colour, (n, 3)).copy()


def _constant_colour(table: FeatureTable) -> np.ndarray:
    """Return CONSTANT_RGBA, from the JSON or the binary part."""
    if isinstance(table.json.values["CONSTANT_RGBA"], dict):
        return table.array("CONSTANT_RGBA", "u1", 1, 4)[0, :3]
    numbers = table.json.numbers("CONSTANT_RGBA", 4)[:3]
    return np.clip(np.rint(numbers), 0, 255).astype(np.uint8)
