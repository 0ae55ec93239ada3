# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Compress, and decompress zstd and lz4 within a limit: claimed sizes are not allocated.

References
----------
RFC 8878 (zstd, magic 28 B5 2F FD); LZ4 frame format 1.6.1 (magic 04 22 4D 18).
"""

import io
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import lz4.frame
from backports import zstd

from aerotwin_core.limits import memory_limit

ZSTD_MAGIC, LZ4_MAGIC = b"\x28\xb5\x2f\xfd", b"\x04\x22\x4d\x18"
SUFFIXES = (".zstd", ".zst", ".lz4")
COMPRESSIONS = ("none", "zstd")
"""Of bags that are written."""
_LEVEL = 1
"""Camera images with noise shrink by a fifth at 500 MB/s, by a quarter at half the speed."""
COPIES = 3
"""Pieces, the whole of them, and the messages that are cut out of it."""
_TIMES_LIMIT, _TIMES_PACKED = 4, 100
_STEP_BYTES = 1 << 20
_MAX_WINDOW_LOG = 27  # what `zstd --long` writes


class CompressionError(ValueError):
    """Compressed data are damaged, cut off or larger than allowed."""


def compress(data: bytes | bytearray) -> bytes:
    """Return data as a frame of zstd."""
    return zstd.compress(data, level=_LEVEL)


def most_at_once(n_packed: int) -> int:
    """Return how many bytes may come out of n_packed bytes at once."""
    return memory_limit(n_packed) // COPIES


def most_in_all(n_packed: int) -> int:
    """Return how many bytes may come out of a file of n_packed bytes, piece by piece.

    Recordings shrink to a tenth; depth images of one colour to a hundredth.
    """
    return _TIMES_LIMIT * memory_limit() + _TIMES_PACKED * n_packed


def decompress(data: bytes, kind: str, max_bytes: int | None = None) -> bytes:
    """Return the content of a `zstd` or `lz4` frame.

    At most `max_bytes` may come out, and never more than `most_at_once`.

    Raises `CompressionError` if the frame is damaged, cut off or holds more than that.
    """
    limit = most_at_once(len(data))
    max_bytes = limit if max_bytes is None else min(max_bytes, limit)
    parts, size = [], 0
    for part in _parts(io.BytesIO(data), kind):
        parts.append(part)
        size += len(part)
        if size > max_bytes:
            raise CompressionError(f"more than {max_bytes} bytes come out of {len(data)}")
    return b"".join(parts)


def decompressed_message(data: bytes) -> bytes:
    """Return a message as CDR, decompressed if it was recorded with per-message compression.

    CDR starts with a zero byte and compressed frames do not, so the data identify themselves.
    """
    if data.startswith(ZSTD_MAGIC):
        return decompress(data, "zstd")
    if data.startswith(LZ4_MAGIC):
        return decompress(data, "lz4")
    return data


def decompress_file(path: Path, folder: Path) -> tuple[Path, str]:
    """Write the content of a compressed file into a folder; return its path and the problem found.

    A damaged or cut file yields what precedes the damage. The output is limited to `most_in_all`
    and half of the free space of the folder's disk.
    """
    out = folder / path.stem
    kind = "lz4" if path.suffix == ".lz4" else "zstd"
    limit = min(most_in_all(path.stat().st_size), shutil.disk_usage(folder).free // 2)
    size = 0
    with path.open("rb") as file, out.open("wb") as sink:
        try:
            for part in _parts(file, kind):
                size += len(part)
                if size > limit:
                    return out, f"more than {limit} bytes come out"
                sink.write(part)
        except CompressionError as error:
            return out, f"the compressed file is damaged after {size} bytes of content ({error})"
    return out, ""


def _parts(file: BinaryIO, kind: str) -> Iterator[bytes]:
    """Yield the content piece by piece, never more than a megabyte at a time."""
    if kind not in ("zstd", "lz4"):
        raise CompressionError(f"compression '{kind}' is not known; zstd and lz4 are")
    try:
        yield from _zstd_parts(file) if kind == "zstd" else _lz4_parts(file)
    except (zstd.ZstdError, RuntimeError, EOFError, MemoryError) as error:
        raise CompressionError(str(error) or "out of memory") from error


def _zstd_parts(file: BinaryIO) -> Iterator[bytes]:
    """Yield the content of one frame after the other."""
    options = {int(zstd.DecompressionParameter.window_log_max): _MAX_WINDOW_LOG}
    packed = file.read(_STEP_BYTES)
    while True:
        decoder = zstd.ZstdDecompressor(options=options)
        while not decoder.eof:
            if decoder.needs_input and not packed:
                raise CompressionError("the frame is cut off")
            if part := decoder.decompress(packed, max_length=_STEP_BYTES):
                yield part
            packed = file.read(_STEP_BYTES) if decoder.needs_input else b""
        packed = decoder.unused_data or packed or file.read(_STEP_BYTES)
        if not packed:
            return


def _lz4_parts(file: BinaryIO) -> Iterator[bytes]:
    decoder = lz4.frame.LZ4FrameDecompressor()
    while not decoder.eof:
        packed = file.read(_STEP_BYTES) if decoder.needs_input else b""
        if decoder.needs_input and not packed:
            raise CompressionError("the frame is cut off")
        if part := decoder.decompress(packed, max_length=_STEP_BYTES):
            yield part
