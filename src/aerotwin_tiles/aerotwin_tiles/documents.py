# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The documents of one tileset as a source with a size limit.

The cost of a tileset before anything is shown is its tiles and the documents that describe them.
The tree counts tiles; documents are counted here, as one large document that many tiles refer to,
or a subtree with padding, costs far more than its tiles.
"""

import threading

from aerotwin_core.errors import UserError
from aerotwin_tiles.fetch import FetchError, Source, Traffic

MAX_JSON_BYTES = 2**27
"""Largest tileset.json; the largest found in the field have some 50 MB."""
_BYTES_PER_TILE = 4096
"""Far above what describing one tile takes (some hundred bytes)."""


class DocumentSource:
    """A thread-safe source of tileset.json and subtree files; see `Source`.

    ``max_tiles`` sets the limit of the total bytes of documents.
    """

    def __init__(self, source: Source, *, max_tiles: int) -> None:
        self._source = source
        self._max_tiles = max_tiles
        self._left = MAX_JSON_BYTES + _BYTES_PER_TILE * max_tiles
        self._are_tilesets: dict[str, bool] = {}
        self._lock = threading.Lock()

    @property
    def root_uri(self) -> str:
        """Address of the root document."""
        return self._source.root_uri

    @property
    def traffic(self) -> Traffic:
        """What has been delivered so far, contents of tiles included."""
        return self._source.traffic

    def resolve(self, base_uri: str, uri: str) -> str:
        """Return the address of a reference; see `Source.resolve`."""
        return self._source.resolve(base_uri, uri)

    def read(self, uri: str, *, max_bytes: int) -> bytes:
        """Return a document; see `Source.read`.

        Raises `UserError` if all documents together exceed the limit; no other tile helps then.
        """
        data = self._source.read(uri, max_bytes=max_bytes)
        with self._lock:
            self._left -= len(data)
            if self._left < 0:
                raise UserError(
                    f"{uri}: the tileset's documents are larger than {self._max_tiles} tiles need, "
                    "each counted as often as it is referred to; choose a smaller region or a "
                    "larger max_error_m, or raise max_tiles"
                )
        return data

    def is_tileset(self, uri: str) -> bool:
        """Tell whether the file at an address is a tileset.json by its content."""
        if uri not in self._are_tilesets:
            try:
                head = self._source.read(uri, max_bytes=MAX_JSON_BYTES)
            except FetchError:
                return False  # loading reports it as missing
            self._are_tilesets[uri] = (
                head.lstrip()[:1] == b"{" and b'"root"' in head and b'"geometricError"' in head
            )
        return self._are_tilesets[uri]

    def close(self) -> None:
        """Close the connections."""
        self._source.close()
