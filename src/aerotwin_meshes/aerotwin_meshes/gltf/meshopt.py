# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""EXT_ and KHR_meshopt_compression: buffer views packed by meshoptimizer's codecs.

Vertex attributes are unpacked by imagecodecs (meshoptimizer's own code), triangles and index
sequences by `meshopt_kernels`, and the filters on attributes are undone here.

References: Khronos glTF extensions EXT_meshopt_compression (appendix A: streams, B: filters) and
KHR_meshopt_compression (filter 4).
"""

import numpy as np

from aerotwin_meshes.gltf.budget import MemoryBudget
from aerotwin_meshes.gltf.json_element import JsonElement

_MAX_COUNT = 2**31 - 1
_TRIANGLE_HEADER, _SEQUENCE_HEADER = 0xE1, 0xD1
_MIN_PACKED_SHARE = 1 / 512
"""An attribute block packs each byte of 16 elements into 2 bits at least (appendix A, mode 0 of 4
bits per 64 bytes of zeros); a claim far beyond that is a lie."""


def decode_view(
    packed: memoryview, entry: JsonElement, budget: MemoryBudget
) -> tuple[memoryview, int]:
    """Return the bytes of a packed buffer view, and the stride of its elements [bytes].

    ``entry`` is the extension's object (count, byteStride, mode, filter); ``budget`` limits the
    memory of the unpacked bytes. Raises `ValueError` if the packed bytes are damaged or the object
    violates the extension.
    """
    count = entry.integer("count", minimum=0, maximum=_MAX_COUNT)
    stride = entry.integer("byteStride", minimum=1, maximum=256)
    mode, name = entry.text("mode"), entry.text("filter", "NONE")
    budget.reserve_bytes(count * stride, entry.where)
    if mode == "ATTRIBUTES":
        values = _attributes(packed, count, stride, entry)
        if name != "NONE":
            values = _unfiltered(values, name, entry)
    elif mode in ("TRIANGLES", "INDICES"):
        values = _indices(packed, count, stride, mode, entry)
    else:
        raise entry.wrong("mode", "ATTRIBUTES, TRIANGLES or INDICES")
    return memoryview(np.ascontiguousarray(values).tobytes()), stride


def _attributes(packed: memoryview, count: int, stride: int, entry: JsonElement) -> np.ndarray:
    import imagecodecs

    if stride % 4:
        raise entry.wrong("byteStride", "a multiple of 4")
    if len(packed) < count * stride * _MIN_PACKED_SHARE:
        raise ValueError(f"{entry.where}: {len(packed)} bytes cannot hold {count} elements")
    try:
        return imagecodecs.meshopt_decode(bytes(packed), (count, stride), np.uint8)
    except (imagecodecs.MeshoptError, ValueError) as error:
        raise ValueError(f"{entry.where}: damaged vertex data ({error})") from None


def _indices(
    packed: memoryview, count: int, stride: int, mode: str, entry: JsonElement
) -> np.ndarray:
    from aerotwin_meshes.gltf.meshopt_kernels import decode_sequence, decode_triangles

    if stride not in (2, 4):
        raise entry.wrong("byteStride", "2 or 4")
    data = np.frombuffer(packed, np.uint8).copy()  # the kernels require a writable array
    # Each index takes a byte, each triangle a code byte at least.
    if (count if mode == "INDICES" else count // 3) > len(data) or len(data) < 1:
        raise ValueError(f"{entry.where}: {len(data)} bytes cannot hold {count} indices")
    indices = np.zeros(count, np.uint32)
    if mode == "TRIANGLES":
        is_whole = count % 3 == 0 and data[0] == _TRIANGLE_HEADER
        is_whole = is_whole and decode_triangles(data, indices)
    else:
        is_whole = data[0] == _SEQUENCE_HEADER and decode_sequence(data, indices)
    if not is_whole:
        raise ValueError(f"{entry.where}: damaged index data")
    return indices.astype("<u2" if stride == 2 else "<u4")


def _unfiltered(values: np.ndarray, name: str, entry: JsonElement) -> np.ndarray:
    stride = values.shape[1]
    if name == "OCTAHEDRAL" and stride in (4, 8):
        return _from_octahedral(values.view("<i1" if stride == 4 else "<i2"))
    if name == "QUATERNION" and stride == 8:
        return _from_quaternion(values.view("<i2"))
    if name == "EXPONENTIAL":
        return _from_exponential(values.view("<i4"))
    if name == "COLOR" and stride in (4, 8):
        return _from_luma_chroma(values.view("<u1" if stride == 4 else "<u2"))
    raise entry.wrong("filter", f"a filter for elements of {stride} bytes")


def _from_octahedral(values: np.ndarray) -> np.ndarray:
    """Unit vectors from x, y on an octahedron, z = the scale of x, y; w is unchanged."""
    largest = np.iinfo(values.dtype).max
    x, y, one = values[:, :3].astype(np.float32).T
    z = one - np.abs(x) - np.abs(y)
    folded = np.minimum(z, 0.0)
    x += np.where(x >= 0.0, folded, -folded)
    y += np.where(y >= 0.0, folded, -folded)
    vector = np.stack([x, y, z])
    length = np.sqrt((vector**2).sum(axis=0))
    vector *= largest / np.where(length > 0.0, length, 1.0)
    unpacked = values.copy()
    unpacked[:, :3] = np.rint(vector.T)
    return unpacked


def _from_quaternion(values: np.ndarray) -> np.ndarray:
    """Rotations from their three smaller components; w holds the scale and the largest's index."""
    x, y, z = values[:, :3].astype(np.float32).T
    scale = (1.0 / np.sqrt(2.0)) / np.maximum(values[:, 3] | 3, 1).astype(np.float32)
    parts = np.stack([x, y, z]) * scale
    largest = np.sqrt(np.maximum(0.0, 1.0 - (parts**2).sum(axis=0)))
    place = (values[:, 3] & 3).astype(np.intp)
    rows = np.arange(len(values))
    unpacked = np.empty_like(values)
    for step, part in enumerate((largest, *parts)):
        unpacked[rows, (place + step) % 4] = np.rint(np.clip(part * 32767.0, -32767.0, 32767.0))
    return unpacked


def _from_exponential(values: np.ndarray) -> np.ndarray:
    """Single floats from an 8-bit exponent over a signed 24-bit mantissa: m 2^e."""
    exponent, mantissa = values >> 24, (values << 8) >> 8
    return np.ldexp(mantissa.astype(np.float64), exponent).astype("<f4")


def _from_luma_chroma(values: np.ndarray) -> np.ndarray:
    """RGBA from luma, two signed chromas and alpha, whose highest bit encodes the scale of all."""
    bits = 8 * values.itemsize
    signed = values.view(f"<i{values.itemsize}").astype(np.int64)
    y, alpha = values[:, 0].astype(np.int64), values[:, 3].astype(np.int64)
    orange, green = signed[:, 1], signed[:, 2]
    scale = alpha.copy()
    for shift in (1, 2, 4, 8):
        scale |= scale >> shift
    alpha = (alpha << 1 & scale) | (alpha & 1)
    parts = np.stack([y + orange - green, y + green, y - orange - green, alpha], axis=-1)
    whole = 2**bits - 1
    colours = np.rint(parts * (whole / np.maximum(scale, 1))[:, None])
    return np.clip(colours, 0, whole).astype(values.dtype)
