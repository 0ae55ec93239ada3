# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Cache of tile contents for the tiles that share them: a tree, a car, a lamp."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence

import numpy as np

from aerotwin_tiles.tile_content import ContentError, TilePart

KEPT_BYTES = 1 << 25
_SMALL_BYTES = 4096
"""Counted for what is no array, and for a content that cannot be used."""


class SharedContents:
    """The most recently used contents, within a memory limit; thread-safe.

    ``limit_bytes`` limits the memory of their arrays; a larger content is not cached.
    """

    def __init__(self, limit_bytes: int = KEPT_BYTES) -> None:
        self._limit_bytes = limit_bytes
        self._n_bytes = 0
        self._kept: OrderedDict[Hashable, tuple[Sequence[TilePart] | str, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, read: Callable[[], Sequence[TilePart]]) -> Sequence[TilePart]:
        """Return a content, read once while it is cached; its arrays must not be changed.

        Raises `ContentError` each time if it cannot be used. Whatever else ``read`` raises is
        passed on, and it is called again the next time.
        """
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return _usable(self._kept[key][0])
        found: Sequence[TilePart] | str
        try:
            found = read()
        except ContentError as error:
            found = str(error)
        self._keep(key, found)
        return _usable(found)

    def _keep(self, key: Hashable, found: Sequence[TilePart] | str) -> None:
        n_bytes = _SMALL_BYTES if isinstance(found, str) else _weight(found)
        with self._lock:
            if n_bytes > self._limit_bytes or key in self._kept:  # of another thread
                return
            self._kept[key] = found, n_bytes
            self._n_bytes += n_bytes
            while self._n_bytes > self._limit_bytes:
                self._n_bytes -= self._kept.popitem(last=False)[1][1]


def _usable(found: Sequence[TilePart] | str) -> Sequence[TilePart]:
    if isinstance(found, str):
        raise ContentError(found)
    return found


def _weight(parts: Sequence[TilePart]) -> int:
    """Return the memory of parts; arrays that several share count once."""
    arrays = {}
    for part in parts:
        own = [value for value in vars(part.shape).values() if isinstance(value, np.ndarray)]
        arrays |= {id(array): array.nbytes for array in own}
    return sum(arrays.values()) + _SMALL_BYTES * (1 + len(parts))
