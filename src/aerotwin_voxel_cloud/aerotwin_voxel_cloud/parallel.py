# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Slabs of a grid over threads, with progress, and an immediate stop on Ctrl-C."""

from collections.abc import Callable, Sequence
from typing import Any

from aerotwin_core.threads import default_thread_count, run_tasks

OnDone = Callable[[int], object]


def run_slabs(
    kernel: Callable[..., Any], tasks: Sequence[tuple], on_done: OnDone | None = None
) -> list[Any]:
    """Call ``kernel(*task)`` for every task over threads; return the results in order.

    The kernel releases the interpreter lock and shares no output with other tasks. `on_done` is
    called with 1 after each task, from its thread.
    """
    is_stopped = False

    def run(*task: Any) -> Any:
        if is_stopped:
            return None
        result = kernel(*task)
        if on_done is not None:
            on_done(1)
        return result

    try:
        return run_tasks(run, tasks, default_thread_count())
    except BaseException:  # the waiting tasks of the pool would still run after Ctrl-C
        is_stopped = True
        raise
