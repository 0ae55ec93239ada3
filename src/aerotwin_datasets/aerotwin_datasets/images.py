# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Images as PNG files and back, bit by bit, in several threads."""

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import cv2
import numpy as np

from aerotwin_core.camera_messages import picture_from_compressed
from aerotwin_core.errors import UserError
from aerotwin_core.messages import TYPESTORE, header, serialize
from aerotwin_core.picture_size import check_picture

_N_THREADS = 2
_MOST_WAITING = 16
"""Images in memory at a time: 12 MB of 752 x 480 in colour."""
_LEVEL = 1
"""Of deflate: 3 compresses by 5 % more and takes twice the time."""
_BAYER = ("rggb", "bggr", "gbrg", "grbg")
_RGB, _RGBA = (0, 1, 2), (0, 1, 2, 3)
_BGR, _BGRA = (2, 1, 0), (2, 1, 0, 3)


@dataclass(frozen=True)
class _Layout:
    """Type of a value, and the position of red, green, blue (and alpha) in a pixel."""

    dtype: str
    order: tuple[int, ...] = (0,)


_LAYOUTS = {
    "mono8": _Layout("u1"),
    "mono16": _Layout("u2"),
    "rgb8": _Layout("u1", _RGB),
    "bgr8": _Layout("u1", _BGR),
    "rgba8": _Layout("u1", _RGBA),
    "bgra8": _Layout("u1", _BGRA),
    "rgb16": _Layout("u2", _RGB),
    "bgr16": _Layout("u2", _BGR),
    "8UC1": _Layout("u1"),
    "8UC3": _Layout("u1", _BGR),
    "16UC1": _Layout("u2"),
    "32FC1": _Layout("f4"),
    **{f"bayer_{pattern}8": _Layout("u1") for pattern in _BAYER},
    **{f"bayer_{pattern}16": _Layout("u2") for pattern in _BAYER},
}
_PLAIN = {(1, "uint8"): "mono8", (1, "uint16"): "mono16", (3, "uint8"): "rgb8",
          (4, "uint8"): "rgba8", (3, "uint16"): "rgb16"}  # fmt: skip


def pixels_of(message: Any) -> np.ndarray:
    """Return the values of an image: (h, w), or red, green, blue (and alpha) (h, w, 3 or 4).

    It is an Image or a CompressedImage of jpeg or png.

    Raises `ValueError` if the encoding is unknown, or the data is too short or cannot be decoded.
    """
    if hasattr(message, "format"):
        values, encoding = picture_from_compressed(message)
        return values if values.ndim == 2 else values[:, :, list(_LAYOUTS[encoding].order)]
    layout = _LAYOUTS.get(message.encoding)
    if layout is None:
        raise ValueError(f"image encoding must be of {', '.join(_LAYOUTS)}, got {message.encoding}")
    kind = np.dtype(layout.dtype).newbyteorder(">" if message.is_bigendian else "<")
    height, width, step = int(message.height), int(message.width), int(message.step)
    n_channels = len(layout.order)
    n_row = width * n_channels * kind.itemsize
    data = np.frombuffer(message.data, dtype=np.uint8)
    if step < n_row or len(data) < step * height:
        raise ValueError(
            f"image of {width} x {height} {message.encoding} needs rows of {n_row} bytes, got "
            f"{len(data)} bytes with step {step}"
        )
    rows = np.ascontiguousarray(data[: step * height].reshape(height, step)[:, :n_row])
    values = rows.view(kind).astype(kind.newbyteorder("="), copy=False)
    if n_channels == 1:
        return values
    return values.reshape(height, width, n_channels)[:, :, list(layout.order)]


def image_cdr(stamp_ns: int, frame_id: str, pixels: np.ndarray, encoding: str = "") -> bytes:
    """Return a serialised Image of values as `pixels_of` returns them.

    Without an encoding it is mono8, mono16, rgb8, rgba8 or rgb16, as the values are.

    Raises `ValueError` if the values do not have the type or channels of the encoding.
    """
    n_channels = 1 if pixels.ndim == 2 else pixels.shape[2]
    name = encoding or _PLAIN.get((n_channels, pixels.dtype.name), "")
    layout = _LAYOUTS.get(name)
    is_same = layout and (np.dtype(layout.dtype), len(layout.order)) == (pixels.dtype, n_channels)
    if layout is None or not is_same:
        raise ValueError(
            f"{n_channels} x {pixels.dtype} per pixel is no {name or 'known encoding'}"
        )
    if n_channels > 1:
        pixels = pixels[:, :, list(layout.order)]  # both orders are their own inverse
    rows = np.ascontiguousarray(pixels).reshape(len(pixels), -1).view(np.uint8)
    return serialize(
        TYPESTORE.types["sensor_msgs/msg/Image"](
            header=header(stamp_ns, frame_id),
            height=pixels.shape[0],
            width=pixels.shape[1],
            encoding=name,
            is_bigendian=0,
            step=rows.shape[1],
            data=rows.reshape(-1),
        )
    )


class PictureWriter:
    """Writes PNGs in the background; leaving its block waits for them and raises what failed."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(_N_THREADS)
        self._waiting: deque[Future[None]] = deque()

    def __enter__(self) -> "PictureWriter":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._pool.shutdown(wait=True, cancel_futures=kind is not None)
        while kind is None and self._waiting:
            self._waiting.popleft().result()

    def write(self, path: Path, pixels: np.ndarray) -> None:
        """Write values as `pixels_of` returns them, of 8 or 16 bits; they must not change."""
        if len(self._waiting) >= _MOST_WAITING:
            self._waiting.popleft().result()
        self._waiting.append(self._pool.submit(_write, path, pixels))


def read_pictures(
    paths: Iterable[tuple[int, Path]], size: tuple[int, int] | None
) -> Iterator[tuple[int, Path, np.ndarray]]:
    """Yield (stamp_ns, path, values) of image files, read ahead in the background.

    `size` is the width and height that each must have, None for any.

    Raises `UserError` at a file that is no image, too large or of another size.
    """
    waiting: deque[tuple[int, Path, Future[np.ndarray]]] = deque()
    with ThreadPoolExecutor(_N_THREADS) as pool:
        try:
            for stamp, path in paths:
                waiting.append((stamp, path, pool.submit(read_picture, path, size)))
                if len(waiting) >= _MOST_WAITING:
                    first, at, future = waiting.popleft()
                    yield first, at, future.result()
            while waiting:
                first, at, future = waiting.popleft()
                yield first, at, future.result()
        finally:
            for _, _, future in waiting:
                future.cancel()


def read_picture(path: Path, size: tuple[int, int] | None = None) -> np.ndarray:
    """Return the values of an image file as it is stored, without conversion.

    Raises `UserError` if it is no image, too large, or not of `size` (width, height).
    """
    found = check_picture(path)
    if size is not None and found != size:
        raise UserError(
            f"{path}: expected {size[0]} x {size[1]} pixels as its calibration, found "
            f"{found[0]} x {found[1]}"
        )
    picture = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
    if picture is None:
        raise UserError(f"{path}: not an image that can be read; remove it")
    if picture.ndim == 2:
        return picture
    return picture[:, :, _BGRA if picture.shape[2] == 4 else _BGR]


def _write(path: Path, pixels: np.ndarray) -> None:
    if pixels.ndim == 3:
        pixels = pixels[:, :, _BGRA if pixels.shape[2] == 4 else _BGR]
    done, data = cv2.imencode(".png", pixels, [cv2.IMWRITE_PNG_COMPRESSION, _LEVEL])
    if not done:
        raise UserError(f"{path}: {pixels.dtype} {pixels.shape} is no PNG")
    path.write_bytes(data.tobytes())
