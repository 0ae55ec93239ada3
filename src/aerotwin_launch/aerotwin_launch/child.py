# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""One running process: its session, its output, its end."""

import asyncio
import fcntl
import os
import pty
import signal
import struct
import subprocess
import termios
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import BinaryIO

from aerotwin_launch import kernel
from aerotwin_launch.plan import SIGKILL_TIMEOUT_S, ProcessSpec
from aerotwin_launch.screen import STDERR, STDOUT, LineReader, Screen

READ_BYTES = 65536
POLL_S = 0.02
# A grandchild may hold the pipes open after the process has gone.
OUTPUT_GRACE_S = 0.3
SCREEN_OUTPUTS = ("screen", "both", "full")


class Child:
    """A process of the plan, started in a session of its own.

    Must be created in the main thread: the kernel's parent-death signal follows the thread.
    """

    def __init__(
        self,
        spec: ProcessSpec,
        command: list[str],
        screen: Screen,
        log: BinaryIO | None,
        mark: Mapping[str, str],
    ) -> None:
        self.spec = spec
        self._screen = screen
        self._hurry = asyncio.Event()
        self._open: set[int] = set()
        self._terminal: int | None = None
        own_ends = self._open_output(log)
        try:
            self._popen = subprocess.Popen(
                " ".join(command) if spec.uses_shell else command,
                shell=spec.uses_shell,
                stdin=subprocess.DEVNULL,
                stdout=own_ends[0],
                stderr=own_ends[1],
                cwd=spec.folder,
                env=dict(spec.environment) | dict(mark),
                start_new_session=True,
                preexec_fn=kernel.child_preparation(),
            )
        except BaseException:
            for descriptor in list(self._open):
                self._close(descriptor)
            raise
        finally:
            for descriptor in set(own_ends):
                os.close(descriptor)
        self.pid = self._popen.pid

    def _open_output(self, log: BinaryIO | None) -> tuple[int, int]:
        """Open pipes, or a terminal, and return the ends for the process."""
        on_screen = self.spec.output in SCREEN_OUTPUTS
        if self.spec.needs_terminal and on_screen and self._screen.is_terminal:
            master, slave = pty.openpty()
            self._terminal = master
            self.fit_terminal()
            self._listen(master, LineReader(self._screen, log, self.spec.label, STDOUT, draws=True))
            return slave, slave
        ends = []
        for descriptor in (STDOUT, STDERR):
            reading, writing = os.pipe()
            # As in ROS's launch, errors are always shown, other output only on request.
            shown = on_screen or (descriptor == STDERR and self.spec.output == "log")
            screen = self._screen if shown else None
            self._listen(reading, LineReader(screen, log, self.spec.label, descriptor, draws=False))
            ends.append(writing)
        return ends[0], ends[1]

    def fit_terminal(self) -> None:
        """Set the terminal width of the process to that of the screen after its label."""
        if self._terminal is not None:
            size = struct.pack("HHHH", 24, self._screen.columns(self.spec.label), 0, 0)
            fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, size)

    def _listen(self, descriptor: int, reader: LineReader) -> None:
        os.set_blocking(descriptor, False)
        self._open.add(descriptor)
        loop = asyncio.get_running_loop()
        loop.add_reader(descriptor, self._read, descriptor, reader)

    def _read(self, descriptor: int, reader: LineReader) -> None:
        try:
            data = os.read(descriptor, READ_BYTES)
        except BlockingIOError:
            return
        except OSError:  # a terminal whose other end was closed
            data = b""
        if data:
            reader.feed_bytes(data)
        else:
            reader.finish()
            self._close(descriptor)

    def _close(self, descriptor: int) -> None:
        asyncio.get_running_loop().remove_reader(descriptor)
        self._open.discard(descriptor)
        if descriptor == self._terminal:
            self._terminal = None
        os.close(descriptor)

    @property
    def is_running(self) -> bool:
        """Whether the process itself is still running."""
        return self._popen.poll() is None

    @property
    def is_gone(self) -> bool:
        """Whether the process and every member of its group have ended."""
        return not self._group_lives()

    async def wait(self) -> int:
        """Return the exit code (negative: the signal that ended it)."""
        with suppress(OSError):
            await _readable(os.pidfd_open(self.pid))
        while (code := self._popen.poll()) is None:
            await asyncio.sleep(POLL_S)
        until = asyncio.get_running_loop().time() + OUTPUT_GRACE_S
        while self._open and asyncio.get_running_loop().time() < until:
            await asyncio.sleep(POLL_S)
        self._screen.forget(self.spec.label)
        return code

    def release(self) -> None:
        """Close the descriptors that a grandchild still holds open."""
        for descriptor in list(self._open):
            self._close(descriptor)

    async def stop(self, report: Callable[[str], None]) -> bool:
        """End the whole process group; return whether it had to be killed.

        SIGINT, then SIGTERM, then SIGKILL, each after the timeout of the one before, and SIGKILL
        soon after `hurry`.
        """
        spec = self.spec
        kernel.signal_group(self.pid, signal.SIGINT)
        if await self._ends_within(spec.sigterm_timeout_s):
            return False
        if self._hurry.is_set():
            report(f"still there {SIGKILL_TIMEOUT_S:g} s after a second Ctrl-C, sending SIGKILL")
            kernel.signal_group(self.pid, signal.SIGKILL)
            return True
        report(f"still there {spec.sigterm_timeout_s:g} s after SIGINT, sending SIGTERM")
        kernel.signal_group(self.pid, signal.SIGTERM)
        if await self._ends_within(spec.sigkill_timeout_s):
            return False
        report(f"still there {spec.sigkill_timeout_s:g} s after SIGTERM, sending SIGKILL")
        kernel.signal_group(self.pid, signal.SIGKILL)
        return True

    def hurry(self) -> None:
        """Forward a second Ctrl-C to a process that is being stopped, and shorten its timeout."""
        self._hurry.set()
        kernel.signal_group(self.pid, signal.SIGINT)

    async def _ends_within(self, duration: float) -> bool:
        loop = asyncio.get_running_loop()
        until, is_hurried = loop.time() + duration, False
        while self._group_lives():
            if self._hurry.is_set() and not is_hurried:
                is_hurried = True
                until = min(until, loop.time() + SIGKILL_TIMEOUT_S)
            if loop.time() >= until:
                return False
            await asyncio.sleep(POLL_S)
        return True

    def _group_lives(self) -> bool:
        if self.is_running:
            return True
        # The leader has been reaped; adopted members of its group are reaped here.
        with suppress(ChildProcessError):
            while os.waitpid(-self.pid, os.WNOHANG)[0]:
                pass
        try:
            os.killpg(self.pid, 0)
        except (ProcessLookupError, PermissionError):
            return False
        return True


async def _readable(descriptor: int) -> None:
    """Wait until a pid descriptor reports the end of its process."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    loop.add_reader(descriptor, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)
