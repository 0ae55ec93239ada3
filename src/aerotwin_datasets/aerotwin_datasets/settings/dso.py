# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Settings of DSO: `camera.txt` and `times.txt`.

The centre stands in pixels, where (0, 0) is the centre of the upper left pixel, as everywhere here:
DSO moves it by half a pixel only if it is given as a share of the size.
"""

from collections.abc import Sequence
from pathlib import Path

from aerotwin_datasets.calibration import DatasetCalibration
from aerotwin_datasets.settings.text import number, require_short, write_lines

_STEP = 16
"""Sizes that can be halved four times: DSO's pyramid."""


def write_dso(place: Path, calibration: DatasetCalibration) -> None:
    """Write the lens of the first camera; what it distorts, and a size without pyramid, is cropped.

    Raises `UserError` if the lens has a coefficient that DSO does not know.
    """
    camera = calibration.cameras[0]
    size = camera.lens.width, camera.lens.height
    out = _with_pyramid(size[0]), _with_pyramid(size[1])
    if camera.is_pinhole:
        model, values = "Pinhole", [*camera.intrinsics, 0.0]
        mode = "none" if out == size else _middle(camera.intrinsics, size, out)
    else:
        model = "KannalaBrandt" if camera.is_fisheye else "RadTan"
        values = [*camera.intrinsics, *require_short(camera)]
        mode = "crop"
    lines = [
        f"{model} {' '.join(map(number, values))}",
        f"{size[0]} {size[1]}",
        mode,
        f"{out[0]} {out[1]}",
    ]
    write_lines(place / "camera.txt", lines)


def _with_pyramid(n: int) -> int:
    """Return the largest size up to n that can be halved; DSO crashes at one that cannot."""
    return n // _STEP * _STEP or n


def _middle(intrinsics: Sequence[float], size: tuple[int, int], out: tuple[int, int]) -> str:
    """Return fx, fy, cx, cy of the middle of the image, cut at whole pixels, as shares of `out`."""
    fx, fy, cx, cy = intrinsics
    width, height = out
    left, top = (size[0] - width) // 2, (size[1] - height) // 2
    shares = (fx / width, fy / height, (cx - left + 0.5) / width, (cy - top + 0.5) / height, 0.0)
    return " ".join(map(number, shares))
