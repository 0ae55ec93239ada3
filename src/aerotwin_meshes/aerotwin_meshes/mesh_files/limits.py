# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Size limits of mesh files."""

from pathlib import Path

from aerotwin_core.errors import UserError
from aerotwin_core.limits import file_size

MAX_FILE_BYTES = 2**31
MAX_VERTICES = 30_000_000
MAX_TRIANGLES = 30_000_000


def read_file(path: Path) -> bytes:
    """Return the content of a file of acceptable size.

    Raises `UserError` if it is larger than `MAX_FILE_BYTES` or cannot be read.
    """
    try:
        size = file_size(path)
        if size > MAX_FILE_BYTES:
            raise UserError(f"{path}: {size} bytes, expected at most {MAX_FILE_BYTES}; split it")
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); check the path") from None


def check_counts(path: Path, n_vertices: int, n_triangles: int) -> None:
    """Refuse files without triangles or vertices, and those that are too large.

    Raises `UserError` naming the file and its counts.
    """
    if n_vertices == 0 or n_triangles == 0:
        raise UserError(
            f"{path}: {n_vertices} vertices and {n_triangles} triangles, expected some of both; "
            "choose another file"
        )
    if n_vertices > MAX_VERTICES or n_triangles > MAX_TRIANGLES:
        raise UserError(
            f"{path}: {n_vertices} vertices and {n_triangles} triangles, expected at most "
            f"{MAX_VERTICES} and {MAX_TRIANGLES}; split or simplify it"
        )
