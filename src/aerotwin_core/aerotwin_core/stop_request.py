# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C and SIGTERM as a flag: work in progress ends in order, a second Ctrl-C aborts it.

A handler that raises breaks whatever runs: a callback, or a compiled function, which then returns
"a result with an exception set". A process that must leave complete output makes a
`StopRequest` before anything else and checks it where it can stop. Plain commands keep Python's
KeyboardInterrupt, have SIGTERM raise a subclass of it (`raising_on_sigterm`), so that what they
started ends with them, and recover either from other exceptions by `interrupt_of`.
"""

import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

from aerotwin_core.atomic_file import discard_unfinished

EXIT_INTERRUPTED = 130
"""128 + SIGINT, as shells say it."""
EXIT_TERMINATED = 143
"""128 + SIGTERM."""
WRITING_REPORT = "the report is being written; a second Ctrl-C gives it up"
"""For `StopRequest.announce`, before a report."""
ONE_PRESS_S = 1.0
"""SIGINTs within this time are one Ctrl-C: terminal, launcher and `timeout` each send their own."""

_AGAIN_S = 0.1
"""Until a lost interrupt is tried again: the callback that lost it has ended by then."""
_WAKE = signal.SIGURG
"""Ends a wait in a system call; by default it is ignored, so it harms nothing."""
_SIGTERM_AGAIN = signal.SIGTERM, ONE_PRESS_S + _AGAIN_S
"""SIGTERM, and when it is tried again: earlier it would be taken for the same."""


class Stopped(Exception):
    """Work ended early, at a point where it could, because a stop was requested."""


class Terminated(KeyboardInterrupt):
    """SIGTERM arrived; it ends a plain command as Ctrl-C does."""


class StopRequest:
    """Whether this process was asked to end, by SIGINT or SIGTERM: the flag `is_requested`.

    `on_request` is called when the flag is raised, between any two instructions: it may only set
    other flags. With `ends_at_once` the first signal ends the process, until `wait_for_end`: while
    it loads there is nothing to clean up. Signals are handled from the object's creation on.
    """

    def __init__(
        self, on_request: Callable[[], None] | None = None, *, ends_at_once: bool = False
    ) -> None:
        self.is_requested = False
        self._ends_at_once = ends_at_once
        self._on_request = on_request
        self._notice = ""
        self._pressed_s = math.inf  # of the first Ctrl-C
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._hear)

    def wait_for_end(self) -> None:
        """From here on the first signal only raises the flag: there is something to clean up."""
        self._ends_at_once = False

    def check(self) -> None:
        """Raise `Stopped` if the flag is raised; called wherever work can end."""
        if self.is_requested:
            raise Stopped

    def announce(self, notice: str) -> None:
        """Print what continues although a stop was requested: now, or when it is requested."""
        self._notice = notice
        if self.is_requested:
            _print(notice)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if self._ends_at_once:
            os._exit(EXIT_INTERRUPTED)
        # Launchers send SIGTERM on their own when the end takes long: it aborts nothing.
        if number == signal.SIGINT:
            now_s = time.monotonic()
            if now_s - self._pressed_s > ONE_PRESS_S:
                give_up("given up by a second Ctrl-C")
            self._pressed_s = min(self._pressed_s, now_s)
        if not self.is_requested:
            self.is_requested = True
            if self._on_request is not None:
                self._on_request()
            if self._notice:
                _print(self._notice)


def give_up(notice: str = "") -> None:
    """End the process at once; incomplete files are removed."""
    discard_unfinished()
    if notice:
        _print(notice)
    os._exit(EXIT_INTERRUPTED)


def end_process(code: int) -> NoReturn:
    """End the process without clean-up that would take minutes; what it printed is not lost."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def deliver_lost_interrupts() -> None:
    """Have a stop reach the main thread where Python would drop or delay it.

    In a callback from compiled code, as numba's while it loads a kernel, no caller can receive a
    KeyboardInterrupt: Python prints it as ignored, and a long computation would continue. And a
    signal that arrives just before the main thread waits for a lock does not end that wait: CPython
    runs the handler after it, however long that takes.
    """
    _wake_main_thread_after_signals()
    print_it = sys.unraisablehook

    def hook(unraisable: "sys.UnraisableHookArgs") -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            main = threading.main_thread().ident or 0
            is_sigterm = issubclass(unraisable.exc_type, Terminated)
            number, wait_s = _SIGTERM_AGAIN if is_sigterm else (signal.SIGINT, _AGAIN_S)
            # A real signal, and to that thread: it also ends a wait in a system call.
            again = threading.Timer(wait_s, signal.pthread_kill, (main, number))
            again.daemon = True
            again.start()
        else:
            print_it(unraisable)

    sys.unraisablehook = hook


def _wake_main_thread_after_signals() -> None:
    """Interrupt what the main thread waits for a little after each stop signal."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.signal(_WAKE, lambda number, frame: None)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    main = threading.main_thread().ident or 0

    def wake() -> None:
        while number := os.read(reader, 1):
            if number[0] in (signal.SIGINT, signal.SIGTERM):
                for wait_s in (_AGAIN_S, ONE_PRESS_S):  # the first may come too early, too
                    time.sleep(wait_s)
                    signal.pthread_kill(main, _WAKE)

    threading.Thread(target=wake, name="stop signals", daemon=True).start()


def end_at_next_interrupt() -> None:
    """Let a further Ctrl-C end this process at once and silently: it is ending already."""
    signal.signal(signal.SIGINT, lambda number, frame: give_up())


@contextmanager
def raising_on_sigterm() -> Iterator[None]:
    """Raise `Terminated` on SIGTERM inside, in the main thread; elsewhere nothing is changed.

    A second SIGTERM within `ONE_PRESS_S` counts as the same: it does not interrupt the cleanup.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    last_s = -math.inf

    def hear(number: int, frame: FrameType | None) -> None:
        nonlocal last_s
        before_s, last_s = last_s, time.monotonic()
        if last_s - before_s > ONE_PRESS_S:
            raise Terminated

    before = signal.signal(signal.SIGTERM, hear)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def raise_if_stopped(code: int) -> None:
    """Raise the stop of a launched scenario, if its exit code is that of a stop by a signal."""
    if code == EXIT_TERMINATED:
        raise Terminated
    if code == EXIT_INTERRUPTED:
        raise KeyboardInterrupt


def interrupt_of(error: BaseException) -> KeyboardInterrupt | None:
    """Return Ctrl-C or SIGTERM from an exception, or from what a compiled function made of it.

    None if it is neither.
    """
    if isinstance(error, SystemError):  # CPython's error for "a result with an exception set"
        cause = error.__cause__ or error.__context__
        return cause if isinstance(cause, KeyboardInterrupt) else None
    return error if isinstance(error, KeyboardInterrupt) else None


def _print(text: str) -> None:
    """Write past Python's buffers, which may be in use when a handler runs."""
    with suppress(OSError):  # standard error is closed
        os.write(2, f"{text}\n".encode())
