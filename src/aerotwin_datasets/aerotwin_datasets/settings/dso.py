# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Settings of DSO: `camera.txt` and `times.txt`.

The centre stands in pixels, where (0, 0) is the centre of the upper left pixel, as everywhere here:
DSO moves it by half a pixel only if it is given as a share of the size.
"""

from pathlib import Path

from aerotwin_datasets.calibration import DatasetCalibration
from aerotwin_datasets.settings.text import number, require_short, write_lines

_STEP = 16
"""Sizes that can be halved four times: DSO's pyramid."""


def write_dso(place: Path, calibration: DatasetCalibration) -> None:
    """Write the lens of the first camera; one that distorts is cropped.

    Raises `UserError` if the lens has a coefficient that DSO does not know.
    """
    camera = calibration.cameras[0]
    size = camera.lens.width, camera.lens.height
    if camera.is_pinhole:
        model, values, mode, out = "Pinhole", [*camera.intrinsics, 0.0], "none", size
    else:
        model = "KannalaBrandt" if camera.is_fisheye else "RadTan"
        values = [*camera.intrinsics, *require_short(camera)]
        mode, out = "crop", (_even(size[0]), _even(size[1]))
    lines = [
        f"{model} {' '.join(map(number, values))}",
        f"{size[0]} {size[1]}",
        mode,
        f"{out[0]} {out[1]}",
    ]
    write_lines(place / "camera.txt", lines)


def _even(n: int) -> int:
    """Return the largest size up to n that can be halved."""
    return n // _STEP * _STEP or n
