# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Files of a folder, none of them outside it."""

import posixpath
import stat
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from aerotwin_tiles.fetch.content import missing_part, unpacked
from aerotwin_tiles.fetch.source import ROOT_FILE, FetchError, Traffic, TrafficCounter


class FolderSource:
    """A folder whose documents refer to each other by relative addresses; see `Source`.

    ``root`` is the root document, or the folder of its ``tileset.json``. Nothing outside the folder
    is read: not by ``..``, by absolute paths, by percent-encoding, nor through symbolic links.
    Query and fragment of a reference are removed. A backslash counts as a slash, as in every
    browser. Raises `FetchError` if there is no such file.
    """

    def __init__(self, root: Path) -> None:
        document = root / ROOT_FILE if root.is_dir() else root
        if not document.is_file():
            found = ", ".join(_names(document.parent)) or "nothing"
            raise FetchError(
                f"{document}: no such file; its folder holds {found}; give the path of a root "
                f"document, or of a folder with {ROOT_FILE}"
            )
        document = document.resolve()
        self._folder = document.parent
        self._root_uri = quote(document.name)
        self._counter = TrafficCounter()

    @property
    def root_uri(self) -> str:
        """Address of the root document within its folder."""
        return self._root_uri

    @property
    def traffic(self) -> Traffic:
        """What has been delivered so far."""
        return self._counter.read()

    def resolve(self, base_uri: str, uri: str) -> str:
        """Return the address of a reference within the folder; see `Source.resolve`."""
        requested = uri.replace("\\", "/")
        parts = urlsplit(requested)
        if parts.scheme or parts.netloc:
            raise FetchError(
                f"'{uri}' in {base_uri}: expected a path within {self._folder}, found an address "
                "of elsewhere; open the tileset by its URL to follow it"
            )
        path = unquote(parts.path)
        joined = posixpath.normpath(posixpath.join(posixpath.dirname(unquote(base_uri)), path))
        if not path or "\0" in path or path.startswith("/") or joined.split("/")[0] == "..":
            raise FetchError(
                f"'{uri}' in {base_uri}: expected a path within {self._folder}, found one that "
                "leaves it or is empty; move the file there and correct the reference"
            )
        return quote(joined)

    def read(self, uri: str, *, max_bytes: int) -> bytes:
        """Return the content of a file; see `Source.read`."""
        try:
            path = (self._folder / unquote(uri)).resolve(strict=True)
            if not path.is_relative_to(self._folder):
                raise FetchError(
                    f"{uri}: expected a file within {self._folder}, found {path}; copy it there"
                )
            data = unpacked(_read_limited(path, uri, max_bytes), max_bytes=max_bytes)
        except (OSError, RuntimeError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise FetchError(f"{uri}: cannot be read from {self._folder} ({reason})") from None
        if lacking := missing_part(data):
            raise FetchError(f"{uri}: found {len(data)} bytes, but {lacking}; copy it again")
        self._counter.add(n_read=1, n_bytes=len(data))
        return data

    def close(self) -> None:
        """Do nothing: no file stays open."""


def _read_limited(path: Path, uri: str, max_bytes: int) -> bytes:
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise FetchError(f"{uri}: expected a file, found a folder or a device")
    size = status.st_size
    if size <= max_bytes:
        with path.open("rb") as file:
            data = file.read(max_bytes + 1)  # the file may grow while it is read
        if len(data) <= max_bytes:
            return data
        size = len(data)
    raise FetchError(
        f"{uri}: expected at most {max_bytes} bytes, found {size}; split it, or raise the limit"
    )


def _names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())[:12] if folder.is_dir() else []
