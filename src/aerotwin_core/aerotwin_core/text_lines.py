# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Tables as text, line by line, with limits on the size of a file and of a line."""

import codecs
import io
from collections.abc import Callable, Iterator
from pathlib import Path

from aerotwin_core.errors import UserError
from aerotwin_core.limits import check_is_file

MAX_LINE = 1 << 16
"""Characters of a line: a pose has some 150, a row of a log with a hundred columns some 1500."""
MAX_BYTES = 1 << 30
HEAD_BYTES = 4096
_STEP_BYTES = 1 << 18


def text_lines(
    path: str | Path,
    *,
    max_bytes: int = MAX_BYTES,
    check_head: Callable[[bytes], object] | None = None,
) -> Iterator[str]:
    """Yield the lines of a UTF-8 text file, without their ends; invalid UTF-8 is replaced.

    The file, of at most `max_bytes`, is opened once: the shell's ``<(command)`` is accepted.
    `check_head` is called with the first bytes, at most `HEAD_BYTES`, before any line; it raises on
    another kind of file.

    Raises `UserError` if it is no file, or it or a line is too long. Raises `OSError` if it cannot
    be read.
    """
    check_is_file(path, is_read_once=True)
    decoder = io.IncrementalNewlineDecoder(
        codecs.getincrementaldecoder("utf-8-sig")("replace"), translate=True
    )
    n_bytes, n_lines, rest = 0, 0, ""
    with Path(path).open("rb") as file:
        while step := file.read(_STEP_BYTES):
            if n_bytes == 0 and check_head is not None:
                check_head(step[:HEAD_BYTES])
            n_bytes += len(step)
            if n_bytes > max_bytes:
                raise UserError(f"{path}: more than {max_bytes} bytes, which is too much; cut it")
            *lines, rest = (rest + decoder.decode(step)).split("\n")
            for line in lines:
                n_lines += 1
                _check_length(line, n_lines, path)
                yield line
            _check_length(rest, n_lines + 1, path)
    rest += decoder.decode(b"", final=True)
    if rest:
        _check_length(rest, n_lines + 1, path)
        yield rest


def _check_length(line: str, number: int, path: str | Path) -> None:
    if len(line) > MAX_LINE:
        raise UserError(
            f"{path}: line {number} has more than {MAX_LINE} characters; it is no table of numbers"
        )
