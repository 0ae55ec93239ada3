# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Lines of settings files: OpenCV's YAML, which distinguishes 1 from 1.0."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_datasets.calibration import CalibratedCamera, DatasetCalibration
from aerotwin_datasets.recording import ImuNoise

HEAD = "%YAML:1.0"
Value = float | int | str | Iterable[float]


def number(value: float) -> str:
    """Return a number to its last digit, with a point: OpenCV reads 20 as a whole number only.

    >>> number(20.0), number(1.7e-4), number(2e-05), number(1e22)
    ('20.0', '0.00017', '2.0e-05', '1.0e+22')
    """
    text = repr(float(value))
    digits, e, exponent = text.partition("e")
    return f"{digits}.0e{exponent}" if e and "." not in digits else text


def entry(name: str, value: Value) -> str:
    """Return one line; whole numbers stay such, texts get quotation marks."""
    if isinstance(value, str):
        return f'{name}: "{value}"'
    if isinstance(value, bool | int):
        return f"{name}: {int(value)}"
    if isinstance(value, float):
        return f"{name}: {number(value)}"
    return f"{name}: [{', '.join(number(each) for each in value)}]"


def entries(values: Mapping[str, Value], prefix: str = "") -> list[str]:
    """Return one line for each name."""
    return [entry(prefix + name, value) for name, value in values.items()]


def matrix(name: str, values: np.ndarray, kind: str = "d") -> list[str]:
    """Return a matrix in OpenCV's YAML; `kind` is d of double or f of float."""
    rows, columns = values.shape
    data = ", ".join(number(value) for value in values.ravel().tolist())
    return [
        f"{name}: !!opencv-matrix",
        f"   rows: {rows}",
        f"   cols: {columns}",
        f"   dt: {kind}",
        f"   data: [{data}]",
    ]


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write a text file."""
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def require_noise(calibration: DatasetCalibration) -> ImuNoise:
    """Return the noise of the IMU.

    Raises `UserError` without an IMU.
    """
    if calibration.noise is None:
        raise UserError("it needs an IMU")
    return calibration.noise


def require_short(camera: CalibratedCamera) -> list[float]:
    """Return four coefficients of a lens.

    Raises `UserError` if it has a fifth.
    """
    found = camera.coefficients
    if len(found) > 4:
        raise UserError(f"the lens of {camera.name} has k3, for which it has no place")
    return found
