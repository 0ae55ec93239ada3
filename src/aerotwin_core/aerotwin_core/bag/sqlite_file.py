# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Read the SQLite files of rosbag2, also cut or damaged ones: row by row around the damage.

The file is opened read-only and immutable: nothing is written beside it, not even a lock.

References
----------
rosbag2_storage_sqlite3, tables `topics`, `messages`, and since Iron `message_definitions`.
"""

import shutil
import sqlite3
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import numpy as np

from aerotwin_core.bag.compression import CompressionError, decompressed_message, most_in_all
from aerotwin_core.bag.storage import ENCODING, RawMessage
from aerotwin_core.errors import UserError
from aerotwin_core.foreign_text import listed
from aerotwin_core.limits import VARIABLE

MAGIC = b"SQLite format 3\x00"
# Around a damaged page, rows are found by bisection, with at most this many queries.
_MAX_QUERIES = 4000
_MAX_POWER = 32
_HEADER_BYTES = 100
_ROW = np.dtype([("id", np.int64), ("topic", np.int64), ("stamp", np.int64)])
_INDEX_QUERY = "SELECT id, topic_id, timestamp FROM messages WHERE id BETWEEN ? AND ? ORDER BY id"
_LOWEST, _HIGHEST = -(2**63), 2**63 - 1
_ERRORS = (sqlite3.Error, OverflowError, MemoryError)
Span = tuple[int, int]


class SqliteFile:
    """One SQLite file; see `StorageFile`.

    `folder` returns a folder for a copy, if a journal beside the file must still be applied.

    Raises `UserError` if it is no such file, or its table of topics cannot be read.
    """

    def __init__(self, path: Path, folder: Callable[[], Path]) -> None:
        self.path = path
        self.problems: list[str] = []
        self.topics: dict[str, str] = {}
        self.definitions: dict[str, tuple[str, str]] = {}
        self._names: dict[int, str] = {}
        self._n_lost_data = 0
        self._is_writable = False
        try:
            self._opened = self._place(folder)
            self.is_finished = self._opened == path
            with path.open("rb") as file:
                if file.read(len(MAGIC)) != MAGIC:
                    raise UserError(
                        f"{path}: not an SQLite file (its first bytes are not its sign)"
                    )
            with closing(self._connect()) as connection:
                self._read_topics(connection)
                self._read_definitions(connection)
                self._rows = self._read_index(connection)
        except OSError as error:
            raise UserError(f"{path}: cannot be read: {error.strerror or error}") from error
        except _ERRORS as error:
            raise UserError(
                f"{path}: its list of topics cannot be read ({error}); try `sqlite3 {path.name} "
                "'.recover'` on a copy"
            ) from error
        self.counts = {
            name: int(np.count_nonzero(self._rows["topic"] == number))
            for number, name in self._names.items()
        }
        stamps = self._rows["stamp"]
        self.span_ns = (int(stamps.min()), int(stamps.max())) if len(stamps) else None

    def metadata(self, name: str) -> dict[str, str]:
        """Return nothing: this format has no such records."""
        return {}

    def messages(self, topics: Collection[str] | None) -> Iterator[RawMessage]:
        """Yield the messages of topics (all if None) in order of their stamps."""
        requested = [n for n, name in self._names.items() if topics is None or name in topics]
        rows = self._rows[np.isin(self._rows["topic"], requested)]
        rows = rows[np.argsort(rows["stamp"], kind="stable")]
        n_lost, n_left = 0, most_in_all(self._opened.stat().st_size)
        with closing(self._connect()) as connection:
            for number, topic, stamp in zip(*(rows[name].tolist() for name in _ROW.names or ())):
                data = _data(connection, number)
                n_left -= 0 if data is None else len(data)
                if n_left < 0:
                    raise UserError(
                        f"{self.path}: its messages unpack to far more than the file; if you "
                        f"trust it, set {VARIABLE} higher"
                    )
                if data is None:
                    n_lost += 1
                else:
                    yield self._names[topic], stamp, data
        if n_lost > self._n_lost_data:
            self._n_lost_data = n_lost
            self._say(f"the content of {n_lost} messages is damaged; they are left out")

    def _place(self, folder: Callable[[], Path]) -> Path:
        """Return the file to open: a copy if there is a journal, or a page was cut in two."""
        journals = [Path(f"{self.path}{end}") for end in ("-wal", "-journal")]
        journals = [path for path in journals if path.is_file() and path.stat().st_size]
        n_over = _bytes_over(self.path)
        if not journals and not n_over:
            return self.path
        copy = folder() / self.path.name
        for source in (self.path, *journals):
            shutil.copyfile(source, copy.parent / source.name)
        if journals:
            self._is_writable = True
            name = journals[0].name
            self._say(f"the recording was not closed; what {name} holds is taken into account")
        else:
            with copy.open("r+b") as file:
                file.truncate(copy.stat().st_size - n_over)
        return copy

    def _connect(self) -> sqlite3.Connection:
        mode = "mode=rw" if self._is_writable else "mode=ro&immutable=1"
        connection = sqlite3.connect(f"file:{quote(str(self._opened))}?{mode}", uri=True)
        try:
            # Lets a file be opened that is shorter than its header says.
            connection.execute("PRAGMA writable_schema=ON")
            connection.execute("PRAGMA trusted_schema=OFF")
            n_bytes = self._opened.stat().st_size
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max(n_bytes, 1_000_000))
        except _ERRORS:
            connection.close()
            raise
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        return connection

    def _read_topics(self, connection: sqlite3.Connection) -> None:
        query = "SELECT name, type, sql FROM sqlite_master"
        tables = {
            name
            for name, kind, sql in connection.execute(query)
            if kind == "table" and str(sql).upper().startswith("CREATE TABLE")
        }
        if not {"topics", "messages"} <= tables:
            raise UserError(
                f"{self.path}: not a bag: its tables are {listed(sorted(map(str, tables)))}, "
                "topics and messages are needed"
            )
        self._has_definitions = "message_definitions" in tables
        query = "SELECT id, name, type, serialization_format FROM topics ORDER BY id"
        for number, name, kind, encoding in connection.execute(query):
            if not (isinstance(name, str) and isinstance(kind, str)):
                self._say(f"topic {number} has no name or type; it is left out")
            elif encoding != ENCODING:
                self._say(f"topic {name} is encoded as '{encoding}' and not read")
            else:
                self._names[number] = name
                self.topics[name] = kind

    def _read_definitions(self, connection: sqlite3.Connection) -> None:
        if not self._has_definitions:
            return
        query = "SELECT topic_type, encoding, encoded_message_definition FROM message_definitions"
        try:
            for kind, encoding, text in connection.execute(query):
                if isinstance(kind, str) and isinstance(encoding, str) and isinstance(text, str):
                    self.definitions[kind] = (encoding, text)
        except _ERRORS as error:
            self._say(f"the message definitions are damaged ({error}); standard types are read")

    def _read_index(self, connection: sqlite3.Connection) -> np.ndarray:
        """Return id, topic and stamp of all rows that can be read, in order of id."""
        spans: list[Span] = [(_LOWEST, _HIGHEST)]
        found: list[tuple[int, int, int]] = []
        first_error: Exception | None = None
        n_queries = n_odd = n_lost = 0
        while spans and n_queries < _MAX_QUERIES:
            low, high = spans.pop()
            n_queries += 1
            rows, n_bad, error = _rows_between(connection, low, high)
            n_odd += n_bad
            found += rows
            if error is not None:
                first_error = first_error or error
                n_lost += self._split(connection, rows[-1][0] + 1 if rows else low, high, spans)
        table = np.array(found, dtype=_ROW)
        if first_error is not None:
            self._say_damage(first_error, table["id"], n_lost + len(spans))
        if n_odd:
            self._say(f"{n_odd} rows are no messages (wrong types); they are left out")
        return np.sort(table[np.isin(table["topic"], list(self._names))], order="id")

    def _split(self, connection: sqlite3.Connection, low: int, high: int, spans: list[Span]) -> int:
        """Record what is still to be searched between two ids; return 1 if that is nothing."""
        if high == _HIGHEST:
            beyond = _first_beyond(connection, low)
            if beyond is None:
                return 1
            spans.append((beyond, _HIGHEST))
            high = beyond - 1
        if low >= high:
            return 1
        middle = (low + high) // 2
        spans += [(middle + 1, high), (low, middle)]
        return 0

    def _say_damage(self, error: Exception, ids: np.ndarray, n_lost: int) -> None:
        between = int(ids.max() - ids.min()) + 1 - len(ids) if len(ids) else 0
        self._say(
            f"the table of messages is damaged or cut off ({error}): {len(ids)} messages are read, "
            f"{between} between them are lost, and any after them"
            if n_lost
            else f"the table of messages is damaged ({error}); all its {len(ids)} rows were found"
        )

    def _say(self, text: str) -> None:
        self.problems.append(f"{self.path.name}: {text}")


def _bytes_over(path: Path) -> int:
    """Return how many bytes a file has behind its last whole page."""
    with path.open("rb") as file:
        head = file.read(_HEADER_BYTES)
    page = int.from_bytes(head[16:18], "big")
    page = 65536 if page == 1 else page
    is_header = len(head) == _HEADER_BYTES and page >= 512
    return path.stat().st_size % page if is_header else 0


def _rows_between(
    connection: sqlite3.Connection, low: int, high: int
) -> tuple[list[tuple[int, int, int]], int, Exception | None]:
    """Return the rows up to the first error, how many had wrong types, and that error."""
    rows: list[tuple[int, int, int]] = []
    n_odd, last = 0, low - 1
    try:
        for row in connection.execute(_INDEX_QUERY, (low, high)):
            if not isinstance(row[0], int) or row[0] <= last:
                raise sqlite3.DatabaseError("its rows are out of order")
            last = row[0]
            if isinstance(row[1], int) and isinstance(row[2], int):
                rows.append(row)
            else:
                n_odd += 1
    except _ERRORS as error:
        return rows, n_odd, error
    return rows, n_odd, None


def _first_beyond(connection: sqlite3.Connection, low: int) -> int | None:
    """Return the id of a row that can be read again after the damage at an id."""
    query = "SELECT id FROM messages WHERE id >= ? ORDER BY id LIMIT 1"
    for power in range(_MAX_POWER):
        try:
            row = connection.execute(query, (max(low, 0) + (1 << power),)).fetchone()
        except _ERRORS:
            continue
        if row is None:
            return None
        if isinstance(row[0], int) and row[0] > low:
            return row[0]
    return None


def _data(connection: sqlite3.Connection, number: int) -> bytes | None:
    """Return the content of a row, None if it is damaged."""
    try:
        row = connection.execute("SELECT data FROM messages WHERE id = ?", (number,)).fetchone()
        return decompressed_message(row[0]) if row and isinstance(row[0], bytes) else None
    except (*_ERRORS, CompressionError):
        return None
