# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Open PX4's ULog files with pyulog, with limits on fields and on bytes that are read.

pyulog expands nested formats and arrays into fields before it looks at any data: 167 bytes expand
to more than a machine can hold. Where a length is wrong it continues one byte later and reads up
to 64 KB again.

References
----------
PX4 user guide, "ULog File Format" (message types F and A).
"""

import io
import os
from collections.abc import Collection
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, BinaryIO

from aerotwin_core.errors import UserError
from aerotwin_core.limits import check_is_file

MAX_FIELDS = 200_000
"""Of all topics of a log, arrays and nested formats written out; PX4 1.15 logs some 10,000."""
_MAX_LEVELS = 50
# A whole log is read once, a damaged one again behind each wrong length.
_TIMES_READ = 8
_BYTES_READ = 64 << 20


class ULogLimitError(UserError):
    """A log expands beyond the limits."""


def open_ulog(path: Path, topics: Collection[str] | None = None) -> Any:
    """Return the requested topics of a log, all if None, as `pyulog.ULog`.

    Raises `UserError` if it cannot be read, is damaged at its start, or expands beyond the limits.
    """
    check_is_file(path)
    try:
        with path.open("rb") as file, redirect_stdout(io.StringIO()):  # pyulog prints
            names = None if topics is None else list(topics)
            return _bounded_class()(_Metered(file), names)
    except ULogLimitError as error:
        raise UserError(f"{path}: {error}; it is damaged, or made to do harm") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror or error})") from None
    except Exception as error:  # pyulog raises whatever a damaged file makes its parser meet
        raise UserError(f"{path}: not a readable ULog ({error}); record it anew") from error


class _Metered:
    """A file that raises when far more is read than it contains."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._left = _TIMES_READ * os.fstat(file.fileno()).st_size + _BYTES_READ
        self.seek, self.tell, self.close = file.seek, file.tell, file.close

    def read(self, n: int = -1) -> bytes:
        data = self._file.read(n)
        self._left -= len(data)
        if self._left < 0:
            raise ULogLimitError("its lengths are wrong so often that it cannot be followed")
        return data


def _bounded_class() -> type:
    """Return pyulog's class, with the fields of a topic counted before they are expanded."""
    from pyulog import ULog  # loaded here: most flights need it not at all

    class BoundedULog(ULog):
        class _MessageAddLogged(ULog._MessageAddLogged):
            n_left = MAX_FIELDS

            def _parse_format(self, message_formats: dict[str, Any]) -> None:
                kind = type(self)
                kind.n_left -= _count_fields(self.message_name, message_formats, {}, 0)
                if kind.n_left < 0:
                    raise ULogLimitError(f"its topics have more than {MAX_FIELDS} fields")
                super()._parse_format(message_formats)

    return BoundedULog


def _count_fields(name: str, formats: dict[str, Any], known: dict[str, int], level: int) -> int:
    """Return how many fields a format has when fully expanded.

    Raises `KeyError` if a format is not defined, as pyulog does.
    """
    if level > _MAX_LEVELS:
        raise ULogLimitError(f"its formats are nested more than {_MAX_LEVELS} deep")
    if name not in known:
        inner = ((kind, max(n, 1)) for kind, n, _ in formats[name].fields)
        # A format without fields costs its lookup, too.
        known[name] = 1 + sum(n * _count_one(kind, formats, known, level) for kind, n in inner)
    return known[name]


def _count_one(kind: str, formats: dict[str, Any], known: dict[str, int], level: int) -> int:
    from pyulog import ULog

    is_basic = kind in ULog._UNPACK_TYPES
    return 1 if is_basic else _count_fields(kind, formats, known, level + 1)
