# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Interface of one file of a bag, independent of its format."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Protocol

RawMessage = tuple[str, int, bytes]
"""(topic, stamp of recording [ns], CDR bytes)."""

ENCODING = "cdr"
"""The only serialisation of messages that is read."""


class StorageFile(Protocol):
    """One file of a bag, opened for reading."""

    path: Path
    topics: dict[str, str]  # message type by name
    counts: dict[str, int]  # messages by topic; counted if the index is lost
    span_ns: tuple[int, int] | None  # first and last stamp
    definitions: dict[str, tuple[str, str]]  # (format, text) by message type
    problems: list[str]  # unreadable parts; it may grow while messages are read
    is_finished: bool  # False if the end or the index is missing, as after a killed writer

    def messages(self, topics: Collection[str] | None) -> Iterator[RawMessage]:
        """Yield the messages of topics (all if None) in order of their stamps."""
        ...

    def metadata(self, name: str) -> dict[str, str]:
        """Return the texts by name of a metadata record; empty if there is none."""
        ...
