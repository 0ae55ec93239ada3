# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The size of a picture from its header, checked before memory is allocated for its pixels."""

import warnings
from io import BytesIO
from pathlib import Path

from aerotwin_core.errors import UserError
from aerotwin_core.limits import check_memory, file_size

_BYTES_PER_PIXEL = 6
"""Decoded in three colours, and once more in another order or as grey."""


def check_picture(path: Path) -> tuple[int, int]:
    """Return width and height of a picture file whose pixels fit the memory of a file.

    Raises `UserError` if it is no picture, or its pixels would take more memory than a file may.
    """
    try:
        return _checked_size(path, file_size(path), path)
    except OSError as error:
        raise UserError(f"{path}: not a picture that can be read ({error}); remove it") from None


def check_encoded_picture(data: bytes, where: str) -> tuple[int, int]:
    """Return width and height of an encoded picture as `check_picture`; `where` is its name."""
    return _checked_size(BytesIO(data), len(data), where)


def _checked_size(source: Path | BytesIO, file_bytes: int, where: object) -> tuple[int, int]:
    from PIL import Image, UnidentifiedImageError

    try:
        # Of many pixels, which are checked below, and of broken metadata, which is not used.
        with warnings.catch_warnings(action="ignore"), Image.open(source) as image:
            width, height = image.size
    except Image.DecompressionBombError as error:
        raise UserError(
            f"{where}: its header claims too many pixels ({error}); shrink it"
        ) from None
    except (OSError, UnidentifiedImageError, SyntaxError, ValueError) as error:
        raise UserError(f"{where}: not a picture that can be read ({error}); remove it") from None
    check_memory(
        _BYTES_PER_PIXEL * width * height,
        file_bytes=file_bytes,
        where=where,
        what=f"its {width} x {height} pixels",
    )
    return width, height
