# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Processes whose parents have ended: adopted by this one, so that they can be found and ended."""

import ctypes
import os
import sys
from contextlib import suppress
from types import TracebackType

from aerotwin_trajectory_evaluation.process_tree import children

# prctl(2)
_SET_CHILD_SUBREAPER, _GET_CHILD_SUBREAPER = 36, 37


class Orphans:
    """While entered, a descendant that loses its parent becomes a child of this process.

    So does a daemon in a session of its own with an empty environment. On leaving, adopted
    processes that have ended are reaped. Only on Linux; nothing is adopted elsewhere.

    Meanwhile the caller starts nothing but the program whose orphans are meant: all children since
    entering count.
    """

    def __init__(self) -> None:
        self._before: set[int] = set()
        self._was_reaper = False

    def __enter__(self) -> "Orphans":
        self._before = set(children(os.getpid()))
        self._was_reaper = _is_reaper()
        _become_reaper(True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _become_reaper(self._was_reaper)
        for pid in self.pids():
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)

    def pids(self) -> list[int]:
        """Return the children since entering, also those that have ended and are not reaped."""
        return [pid for pid in children(os.getpid()) if pid not in self._before]


def _prctl(option: int, value: object) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _is_reaper() -> bool:
    found = ctypes.c_int(0)
    _prctl(_GET_CHILD_SUBREAPER, ctypes.byref(found))
    return bool(found.value)


def _become_reaper(is_reaper: bool) -> None:
    _prctl(_SET_CHILD_SUBREAPER, ctypes.c_ulong(is_reaper))
