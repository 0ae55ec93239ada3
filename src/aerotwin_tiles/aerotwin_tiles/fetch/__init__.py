# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Sources of a tileset's files: a folder or an HTTP server.

References between documents are untrusted. `Source.resolve` follows a reference only where it is
allowed; `Source.read` returns whole content of a bounded size or raises a `FetchError` that names
the address.
"""

import re
from pathlib import Path

from aerotwin_core.home_path import expanded
from aerotwin_tiles.fetch.folder import FolderSource
from aerotwin_tiles.fetch.settings import HttpSettings
from aerotwin_tiles.fetch.source import FetchError, Source, Traffic

__all__ = ["FetchError", "FolderSource", "HttpSettings", "Source", "Traffic", "open_source"]


def open_source(
    root: str | Path,
    *,
    key: str | None = None,
    cache_dir: Path | None = None,
    settings: HttpSettings | None = None,
) -> Source:
    """Open a folder or a server by its root document.

    ``root`` is a URL, or the path of a root document or of a folder that holds ``tileset.json``;
    ``key`` the user's at a server, whose files are cached as far as it allows, in ``cache_dir`` or
    the user's cache folder. Raises `FetchError` if there is no such document (with a server, only
    `Source.read` detects it).
    """
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]*)://", str(root))
    if scheme is None:
        return FolderSource(expanded(root))
    if scheme[1].lower() not in ("http", "https"):
        raise FetchError(f"{root}: expected a path or an http(s) URL, found {scheme[1]}; copy it")
    # Not at the top: most worlds need no network.
    from aerotwin_tiles.fetch.http_source import HttpSource

    return HttpSource(str(root), key=key, cache_dir=cache_dir, settings=settings)
