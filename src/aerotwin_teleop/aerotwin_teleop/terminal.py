# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A terminal: keys one by one, and a status that is redrawn in place."""

import os
import select
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO

from aerotwin_core.foreign_text import printable

MAX_BYTES = 4096
END_OF_INPUT = b"\x04"
_UP_AND_CLEAR = "\x1b[{n}A\r\x1b[J"


@contextmanager
def key_by_key(descriptor: int) -> Iterator[None]:
    """Let a terminal hand out every key at once and unseen; at the end it is as it was."""
    import termios
    import tty

    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor)
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def waiting_keys(descriptor: int) -> bytes:
    """Return the input that waits; `END_OF_INPUT` once the terminal is gone."""
    if not select.select([descriptor], [], [], 0.0)[0]:
        return b""
    try:
        return os.read(descriptor, MAX_BYTES) or END_OF_INPUT
    except OSError:  # the other side of a pseudo-terminal has closed
        return END_OF_INPUT


class StatusScreen:
    """Shows lines: redrawn in place on a terminal; elsewhere `plain`, where it changed."""

    def __init__(self, stream: TextIO | None = None) -> None:
        # Not the guarded stream of the command: it would escape what moves the cursor.
        self._stream = stream or sys.__stdout__ or sys.stdout
        self._is_terminal = self._stream.isatty()
        self._shown: list[str] = []
        self._plain = ""

    def show(self, lines: Sequence[str], plain: str) -> None:
        """Show the lines of now."""
        lines, plain = [printable(line) for line in lines], printable(plain)
        if self._is_terminal:
            width = shutil.get_terminal_size().columns
            cut = [line[: width - 1] for line in lines]
            if cut != self._shown:
                self._write(self._erasure() + "\n".join(cut) + "\n")
                self._shown = cut
        elif plain != self._plain:
            self._write(f"{plain}\n")
            self._plain = plain

    def _erasure(self) -> str:
        return _UP_AND_CLEAR.format(n=len(self._shown)) if self._shown else ""

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
