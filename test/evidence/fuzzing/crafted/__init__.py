# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Files that were written to do harm, by format and by what each does.

Each value writes its files into an empty folder and returns them, the one to be read first. What
it writes is the same at every call.
"""

from collections.abc import Callable
from pathlib import Path

from evidence.fuzzing.crafted import bags, clouds, documents, folders, logs, places

CRAFTED: dict[str, dict[str, Callable[[Path], list[Path]]]] = {}
for _module in (clouds, bags, logs, documents, folders, places):
    for _format, _files in _module.CRAFTED.items():
        CRAFTED[_format] = {**CRAFTED.get(_format, {}), **_files}
