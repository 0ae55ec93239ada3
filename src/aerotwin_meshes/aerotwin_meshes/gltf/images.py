# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""JPEG, PNG, WebP and KTX2 images; their size is checked before memory is allocated.

References: ITU-T T.81 (JPEG) B.2.2, W3C PNG third edition 11.2.2, RFC 9649 (WebP), Khronos KTX
file format 2.0, clause 3.
"""

import struct

import cv2
import numpy as np

from aerotwin_meshes.gltf.budget import MemoryBudget

MAX_TEXTURE_SIDE = 8192
"""Largest width and height of a texture [px]."""
_JPEG_FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}
_JPEG_ALONE = {0x01, *range(0xD0, 0xD9)}  # markers without a length
_KTX2_MAGIC = b"\xabKTX 20\xbb\r\n\x1a\n"
_BYTES_PER_PIXEL = 3 + 4  # the texture, and what the decoder holds beside it


def decode_image(data: bytes | memoryview, what: str, budget: MemoryBudget) -> np.ndarray:
    """Return an image as (h, w, 3) uint8 RGB; transparency and orientation tags are not used.

    Raises `ValueError` if it is damaged, too large, or of another format.
    """
    view = memoryview(data)
    width, height = image_size(view, what)
    if not (0 < width <= MAX_TEXTURE_SIDE and 0 < height <= MAX_TEXTURE_SIDE):
        raise ValueError(
            f"{what} has {width} x {height} pixels, expected 1 to {MAX_TEXTURE_SIDE} a side"
        )
    budget.reserve_bytes(width * height * _BYTES_PER_PIXEL, what)
    if view[:12] == _KTX2_MAGIC:
        return _transcoded(view, what)
    try:
        flags = cv2.IMREAD_COLOR_RGB | cv2.IMREAD_IGNORE_ORIENTATION
        pixels = cv2.imdecode(np.frombuffer(view, np.uint8), flags)
    except cv2.error as error:
        raise ValueError(f"{what} cannot be decoded ({error.err})") from None
    if pixels is None or pixels.shape != (height, width, 3):
        raise ValueError(f"{what} is a damaged image")
    return pixels


def image_size(data: memoryview, what: str) -> tuple[int, int]:
    """Return width and height [px] from the header of an image.

    Raises `ValueError` if it is no complete header of JPEG, PNG, WebP or KTX2; the message names
    ``what``.
    """
    head = bytes(data[:32])
    size = None
    if head[:3] == b"\xff\xd8\xff":
        size = _jpeg_size(data)
    elif head[:8] == b"\x89PNG\r\n\x1a\n" and head[12:16] == b"IHDR":
        size = struct.unpack_from(">2I", head, 16) if len(head) >= 24 else None
    elif head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        size = _webp_size(head)
    elif head[:12] == _KTX2_MAGIC:
        size = struct.unpack_from("<2I", head, 20) if len(head) >= 28 else None
    else:
        raise ValueError(
            f"{what} is not a JPEG, PNG, WebP or KTX2 image, it starts with {head[:8]!r}"
        )
    if size is None:
        raise ValueError(f"{what} is an image whose header is not whole")
    return size


def _transcoded(data: memoryview, what: str) -> np.ndarray:
    """Return the largest level of a Basis Universal texture (ETC1S or UASTC)."""
    try:
        import opengl_basisu
    except ImportError:
        raise ValueError(
            f"{what} is a KTX2 image, and opengl-basisu is not installed; pip install it"
        ) from None
    try:
        image = opengl_basisu.open(bytes(data)).transcode("rgba8")
    except opengl_basisu.BasisuError as error:
        raise ValueError(f"{what} is a damaged or unknown KTX2 image ({error})") from None
    return np.ascontiguousarray(image.data[..., :3])


def _jpeg_size(data: memoryview) -> tuple[int, int] | None:
    """Walk the segments to the frame header, which holds height and width."""
    at = 2
    while at + 9 <= len(data):
        if data[at] != 0xFF:
            return None
        marker = data[at + 1]
        if marker == 0xFF:  # fill byte
            at += 1
        elif marker in _JPEG_ALONE:
            at += 2
        elif marker in _JPEG_FRAMES:
            height, width = struct.unpack_from(">2H", data, at + 5)
            return width, height
        else:
            at += 2 + struct.unpack_from(">H", data, at + 2)[0]
    return None


def _webp_size(head: bytes) -> tuple[int, int] | None:
    """Read the first chunk: lossy (clause 2.5), lossless (2.6) or extended (2.7)."""
    if len(head) < 30:
        return None
    kind = head[12:16]
    if kind == b"VP8 " and head[23:26] == b"\x9d\x01\x2a":
        width, height = struct.unpack_from("<2H", head, 26)
        return width & 0x3FFF, height & 0x3FFF
    if kind == b"VP8L" and head[20] == 0x2F:
        bits = struct.unpack_from("<I", head, 21)[0]
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8X":
        return 1 + int.from_bytes(head[24:27], "little"), 1 + int.from_bytes(head[27:30], "little")
    return None
