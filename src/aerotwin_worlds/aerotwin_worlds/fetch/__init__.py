# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Where the files of a tileset come from: a folder.

Documents refer to each other by addresses that somebody else wrote. `Source.resolve` follows such
a reference only where it may lead; `Source.read` delivers whole content of a bounded size or a
`FetchError` that names the address.
"""

from pathlib import Path

from aerotwin_worlds.fetch.folder import FolderSource
from aerotwin_worlds.fetch.source import FetchError, Source, Traffic

__all__ = ["FetchError", "FolderSource", "Source", "Traffic", "open_source"]


def open_source(root: str | Path) -> Source:
    """Open a folder or a server by its root document.

    Parameters
    ----------
    root : str or Path
        Path of a root document, or of a folder that holds ``tileset.json``.

    Raises
    ------
    FetchError
        If there is no such document.
    """
    return FolderSource(Path(root).expanduser())
