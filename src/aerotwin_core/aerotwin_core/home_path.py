# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Paths as a shell writes them, with the home folder as ~."""

from pathlib import Path

from aerotwin_core.errors import UserError
from aerotwin_core.foreign_text import printable


def expanded(path: str | Path) -> Path:
    """Return a path with the home folder of the user, or of a named one, in place of ~ or ~NAME.

    Raises `UserError` if there is no such user, or none of that name.
    """
    try:
        return Path(path).expanduser()
    except RuntimeError:
        name = Path(path).parts[0]
        raise UserError(
            f"{printable(str(path), 200)}: {printable(name, 60)} is no user with a home folder "
            "here; write the path in full"
        ) from None
