# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Hostile clouds and grids."""

from collections.abc import Callable
from pathlib import Path


def _ply_digits(folder: Path) -> list[Path]:
    head = f"ply\nformat ascii 1.0\nelement vertex {'9' * 5000}\nproperty float x\nend_header\n"
    (folder / "cloud.ply").write_text(head)
    return [folder / "cloud.ply"]


def _binvox_digits(folder: Path) -> list[Path]:
    (folder / "grid.binvox").write_bytes(b"#binvox 1\ndim %s 1 1\n" % (b"9" * 200) + b"data\n")
    return [folder / "grid.binvox"]


CRAFTED: dict[str, dict[str, Callable[[Path], list[Path]]]] = {
    "ply": {"count of 5,000 digits": _ply_digits},
    "binvox": {"dim of 200 digits": _binvox_digits},
}
