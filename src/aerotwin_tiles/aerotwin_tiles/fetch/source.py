# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The interface of sources of files, their errors and counters."""

import threading
from dataclasses import dataclass, field, replace
from typing import Protocol

from aerotwin_core.errors import UserError

ROOT_FILE = "tileset.json"
"""What a folder stands for when it is given as the root of a source."""


class FetchError(UserError):
    """A file could not be read; the rest of a tileset may do without it.

    The message names the address, without key or session, what was expected and what was found.
    """


@dataclass(frozen=True, kw_only=True)
class Traffic:
    """What a source has delivered so far; for progress bars and reports.

    ``n_read`` files of ``n_bytes``, unpacked; of them ``n_from_cache``, revalidated ("304 Not
    Modified") or not; and ``n_retries`` requests repeated after a failure.
    """

    n_read: int = 0
    n_bytes: int = 0
    n_from_cache: int = 0
    n_retries: int = 0


@dataclass(kw_only=True)
class TrafficCounter:
    """Counters that several threads add to."""

    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _now: Traffic = field(default_factory=Traffic)

    def add(self, **counts: int) -> None:
        """Increase some counts of `Traffic`, by name."""
        with self._lock:
            increased = {name: getattr(self._now, name) + n for name, n in counts.items()}
            self._now = replace(self._now, **increased)

    def read(self) -> Traffic:
        """Return the current counts."""
        with self._lock:
            return self._now


class FileReader(Protocol):
    """The files of a tileset, in a folder or on a server. All calls are thread-safe.

    Addresses are URIs as RFC 3986 writes them (a blank is ``%20``): absolute ones of a server,
    relative ones of a folder.
    """

    def resolve(self, base_uri: str, uri: str) -> str:
        """Return the address of a reference in the document at ``base_uri``.

        Raises `FetchError` if it may not be followed: it leaves the folder, or has another scheme.
        """
        ...

    def read(self, uri: str, *, max_bytes: int) -> bytes:
        """Return the content at an address from `root_uri` or `resolve`.

        Raises `FetchError` if there is none, it is larger than ``max_bytes``, or it does not arrive
        whole.
        """
        ...


class Source(FileReader, Protocol):
    """A folder or a server that holds a tileset, and its root document."""

    @property
    def root_uri(self) -> str:
        """Address of the root document."""
        ...

    @property
    def traffic(self) -> Traffic:
        """What has been delivered so far."""
        ...

    def close(self) -> None:
        """Close the connections; reads in progress end, and later ones fail."""
        ...
