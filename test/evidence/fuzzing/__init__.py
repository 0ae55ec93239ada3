# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Files that are damaged or hostile: no reader may crash, hang, blow up or pass them silently.

`run_fuzz` reads two kinds of files in a child process with a limit of memory and time: seeded
samples of every format, each damaged in one of a dozen ways (`mutations`), and files that were
written to do harm (`crafted`): a few bytes that claim, unpack to or expand to far more than a
machine holds. No file may take more than 1 GB of memory or 10 s of CPU time.

To add a format, write a sample into `samples`, a reader into `readers` and an entry into `formats`.
To add a hostile file, write a function into a module of `crafted` and enter it in that module's
table under its format and what the file does; `crafted/__init__.py` joins the tables::

    def _endless_children(folder: Path) -> list[Path]:
        (folder / "tileset.json").write_text(...)
        return [folder / "tileset.json"]  # the file to be read first, then those it refers to


    CRAFTED = {"b3dm-tileset": {"a million children": _endless_children}}

Its outcome is `refused` (a `UserError` that names the file) or `read`; anything else fails.
"""

from evidence.fuzzing.campaign import run_fuzz
from evidence.fuzzing.formats import FORMATS

__all__ = ["FORMATS", "run_fuzz"]
