# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Merges the output of several processes on one screen, line by line, each with its label.

A process with a terminal of its own (`emulate_tty: true`) may draw a progress bar: its
unfinished line stays at the bottom of the screen while the lines of the others pass above it.
"""

import os
import re
import shutil
from typing import BinaryIO

from aerotwin_core.foreign_text import printable

ERASE_LINE = b"\r\x1b[2K"
MAX_LINE_BYTES = 1_000_000
STDOUT, STDERR = 1, 2
# Colours, and the sequence that erases a line before a status line is redrawn.
_COLOURS = re.compile(r"(\x1b\[[0-9;]*[mK])")


class Screen:
    """Standard output and standard error of the runner."""

    def __init__(self) -> None:
        self.is_terminal = os.isatty(STDOUT) and os.isatty(STDERR)
        self._live: dict[str, bytes] = {}
        self._broken: set[int] = set()

    def line(self, label: str, text: bytes, descriptor: int = STDOUT) -> None:
        """Write one line of a process."""
        self._live.pop(label, None)
        self._write(b"[%b] %b\n" % (label.encode(), _shown(text)), descriptor)

    def message(self, level: str, name: str, text: str) -> None:
        """Write one line of the runner itself; errors go to standard error."""
        descriptor = STDERR if level in ("ERROR", "WARNING") else STDOUT
        line = printable(f"[{level}] [{name}]: {text}", keep="\n")
        self._write(f"{line}\n".encode(errors="replace"), descriptor)

    def draw(self, label: str, text: bytes) -> None:
        """Show the unfinished line of a process that has a terminal."""
        if self.is_terminal:
            self._live.pop(label, None)
            self._live[label] = _shown(text)  # the one drawn last is shown
            self._write(b"", STDOUT)

    def forget(self, label: str) -> None:
        """Drop the unfinished line of a process that has ended."""
        if self._live.pop(label, None) is not None:
            self._write(b"", STDOUT)

    def columns(self, label: str) -> int:
        """Return the remaining width beside the label."""
        return max(20, shutil.get_terminal_size().columns - len(label) - 4)

    def _write(self, data: bytes, descriptor: int) -> None:
        if self.is_terminal:
            data = ERASE_LINE + data + self._live_line()
        if descriptor in self._broken:
            return
        try:
            while data:
                data = data[os.write(descriptor, data) :]
        except OSError:  # no reader any more: the processes go on, their logs are saved
            self._broken.add(descriptor)

    def _live_line(self) -> bytes:
        if not self._live:
            return b""
        label, text = next(reversed(self._live.items()))
        return b"[%b] %b" % (label.encode(), text)


class LineReader:
    """Splits the output of one stream into lines, for the screen and for the log file."""

    def __init__(
        self, screen: Screen | None, log: BinaryIO | None, label: str, descriptor: int, draws: bool
    ) -> None:
        self.screen = screen
        self.log = log
        self.label = label
        self.descriptor = descriptor
        self.draws = draws
        self._unfinished = b""

    def feed_bytes(self, data: bytes) -> None:
        """Process the next bytes."""
        *lines, rest = (self._unfinished + data).split(b"\n")
        for line in lines:
            self._line(line)
        self._unfinished = rest
        if len(rest) > MAX_LINE_BYTES:
            self.finish()
        elif self.draws and self.screen and rest:
            # text overwritten after a carriage return is lost
            self._unfinished = _last_drawn(rest)
            self.screen.draw(self.label, self._unfinished.rstrip(b"\r"))

    def finish(self) -> None:
        """Write the unterminated last line at the end of the stream."""
        if self._unfinished:
            rest, self._unfinished = self._unfinished, b""
            self._line(rest)

    def _line(self, line: bytes) -> None:
        text = _last_drawn(line).rstrip(b"\r")
        if self.screen is not None:
            self.screen.line(self.label, text, self.descriptor)
        if self.log is not None:
            try:
                self.log.write(text + b"\n")
                self.log.flush()
            except OSError as error:
                self.log = None
                if self.screen:
                    self.screen.message("WARNING", self.label, f"no more log: {error.strerror}")


def _shown(line: bytes) -> bytes:
    """Return a line of a process with its colours; other control characters are escaped.

    Logs contain untrusted names of topics and frames, and texts from an autopilot's link.
    """
    parts = _COLOURS.split(line.decode("utf-8", "replace"))
    parts[::2] = (printable(part, keep="\t") for part in parts[::2])
    return "".join(parts).encode()


def _last_drawn(line: bytes) -> bytes:
    """Return the visible text of a line in which carriage returns overwrite the start."""
    return line.rstrip(b"\r").rpartition(b"\r")[2] if b"\r" in line.rstrip(b"\r") else line
