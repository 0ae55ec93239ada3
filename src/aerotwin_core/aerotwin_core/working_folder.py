# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What a library would read from the working folder and cannot be told to leave alone."""

from pathlib import Path

from aerotwin_core.errors import UserError

NUMBA_SETTINGS = ".numba_config.yaml"


def check_working_folder() -> None:
    """Refuse a folder whose settings numba would take over, as they change compiled code.

    They can switch compilation off or name a module to import, and numba reads them at its import
    and at each compilation.

    Raises
    ------
    UserError
        If there are such settings.
    """
    if Path(NUMBA_SETTINGS).exists():
        raise UserError(
            f"{NUMBA_SETTINGS}: the working folder holds settings of numba, which would change "
            "compiled code; start from another folder or remove the file; NUMBA_... variables of "
            "the environment set the same"
        )
