# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Accessors: typed arrays over buffer views (Khronos glTF 2.0 specification, clause 3.6.2)."""

import numpy as np

from aerotwin_meshes.gltf.document import BufferView, GltfDocument
from aerotwin_meshes.gltf.json_element import JsonElement

COMPONENT_TYPES: dict[int, np.dtype] = {
    5120: np.dtype("<i1"),
    5121: np.dtype("<u1"),
    5122: np.dtype("<i2"),
    5123: np.dtype("<u2"),
    5125: np.dtype("<u4"),
    5126: np.dtype("<f4"),
}
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}
_MAX_COUNT = 2**31 - 1  # vertex indices are int32


def read_floats(document: GltfDocument, index: int, widths: tuple[int, ...]) -> np.ndarray:
    """Return an accessor as (n, width) floats: float32 as stored, integers as float64.

    Normalised integers become [0, 1] or [-1, 1]: f = c / max, signed ones f = max(c / max, -1)
    (clause 3.6.2.2).
    """
    entry = document.entry("accessors", index, "an attribute")
    return as_floats(read_array(document, entry, widths), is_normalised=entry.flag("normalized"))


def as_floats(values: np.ndarray, *, is_normalised: bool) -> np.ndarray:
    """Return stored components as numbers; see `read_floats`."""
    if values.dtype.kind == "f":
        return values
    numbers = values.astype(np.float64)
    if is_normalised:
        numbers = np.maximum(numbers / np.iinfo(values.dtype).max, -1.0)
    return numbers


def read_indices(document: GltfDocument, index: int) -> np.ndarray:
    """Return an accessor of vertex indices as (n,) int64."""
    entry = document.entry("accessors", index, "the indices")
    values = read_array(document, entry, (1,))
    if values.dtype.kind != "u":
        raise ValueError(f"{entry.where}: indices must be unsigned integers, got {values.dtype}")
    return values[:, 0].astype(np.int64)


def read_array(document: GltfDocument, entry: JsonElement, widths: tuple[int, ...]) -> np.ndarray:
    """Return an accessor as (n, width) of its stored component type.

    Raises `ValueError` if it has another width or reaches beyond its data.
    """
    dtype, count = component_type(entry), entry.integer("count", minimum=1, maximum=_MAX_COUNT)
    width = _WIDTHS.get(entry.text("type"))
    if width not in widths:
        raise entry.wrong("type", f"a vector of {' or '.join(map(str, widths))}")
    sparse = entry.element("sparse")
    view_index = entry.integer("bufferView", None)
    if view_index is None:
        document.budget.reserve_bytes(count * width * dtype.itemsize, entry.where)
        values = np.zeros((count, width), dtype)
    else:
        view = document.view(view_index, entry.where)
        values = _strided(view, entry, dtype, (count, width))
    return values if sparse is None else _with_sparse(document, values, sparse)


def component_type(entry: JsonElement) -> np.dtype:
    """Return the numpy type of an accessor's components."""
    dtype = COMPONENT_TYPES.get(entry.integer("componentType"))
    if dtype is None:
        raise entry.wrong("componentType", f"one of {sorted(COMPONENT_TYPES)}")
    return dtype


def _strided(
    view: BufferView, entry: JsonElement, dtype: np.dtype, shape: tuple[int, int]
) -> np.ndarray:
    """Return an array over a view's bytes, without a copy."""
    item = dtype.itemsize * shape[1]
    start, stride = entry.integer("byteOffset", 0), view.stride or item
    if stride < item:
        raise ValueError(f"{entry.where}: elements of {item} bytes stand {stride} bytes apart")
    end = start + (shape[0] - 1) * stride + item
    if end > len(view.data):
        raise ValueError(
            f"{entry.where} reaches to byte {end} of a buffer view of {len(view.data)}"
        )
    return np.ndarray(shape, dtype, view.data, start, (stride, dtype.itemsize))


def _with_sparse(document: GltfDocument, values: np.ndarray, sparse: JsonElement) -> np.ndarray:
    """Return a copy with the elements replaced that a sparse accessor lists (clause 3.6.2.3)."""
    indices, replacements = sparse.element("indices"), sparse.element("values")
    if indices is None or replacements is None:
        raise ValueError(f"{sparse.where} must have indices and values")
    count = sparse.integer("count", minimum=1, maximum=len(values))
    places = _sparse_part(document, indices, component_type(indices), (count, 1))[:, 0]
    if places.dtype.kind != "u" or places.max() >= len(values):
        raise ValueError(f"{indices.where} must be indices of the {len(values)} elements")
    document.budget.reserve_bytes(values.nbytes, sparse.where)
    values = values.copy()
    shape = (count, values.shape[1])
    values[places] = _sparse_part(document, replacements, values.dtype, shape)
    return values


def _sparse_part(
    document: GltfDocument, entry: JsonElement, dtype: np.dtype, shape: tuple[int, int]
) -> np.ndarray:
    view = document.view(entry.integer("bufferView"), entry.where)
    return _strided(view, entry, dtype, shape)
