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
    """One file of a bag, opened for reading.

    Attributes
    ----------
    topics, counts : dict
        Message type and number of messages by topic name; counted if the index is lost.
    span_ns : (int, int) or None
        First and last stamp [ns]; None without messages.
    definitions : dict
        (format, text) of the message definitions in the file by message type.
    problems : list of str
        Unreadable parts of the file, as text; it may grow while messages are read.
    is_finished : bool
        False if the end or the index is missing, as after a killed writer.
    """

    path: Path
    topics: dict[str, str]
    counts: dict[str, int]
    span_ns: tuple[int, int] | None
    definitions: dict[str, tuple[str, str]]
    problems: list[str]
    is_finished: bool

    def messages(self, topics: Collection[str] | None) -> Iterator[RawMessage]:
        """Yield the messages of topics (all if None) in order of their stamps."""
        ...
