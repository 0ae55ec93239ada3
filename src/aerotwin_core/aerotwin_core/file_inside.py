# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Files named inside other files: resolved in their folder or below, never outside."""

from pathlib import Path

from aerotwin_core.errors import UserError
from aerotwin_core.limits import check_is_file


def file_inside(folder: Path, name: str, *, where: str, kinds: str = "*") -> Path:
    """Return the file that a relative name (a backslash counts as a slash) refers to in a folder.

    The error message has `where`, the file and key of the name, and lists the files of the pattern
    `kinds` if there is none.

    Raises `UserError` if it leads out of the folder, also by a symbolic link, or there is no such
    file.
    """
    file = folder / name.replace("\\", "/")
    if "\0" in name or not file.resolve().is_relative_to(folder.resolve()):
        raise UserError(f"{where}: '{name}' must lie in {folder} or below; move it there")
    check_is_file(file)
    if not file.is_file():
        present = ", ".join(sorted(p.name for p in folder.glob(kinds))[:12]) or "none such"
        raise UserError(f"{where}: '{name}' does not exist; its folder holds {present}; correct it")
    return file
