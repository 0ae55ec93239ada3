# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs on this machine: a pool of workers, each with a child process on cores of its own."""

import queue
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from aerotwin_campaign.execution import RunOptions
from aerotwin_campaign.place import claimed_place
from aerotwin_campaign.spec import RunSpec
from aerotwin_campaign.store import Store
from aerotwin_campaign.worker import Guard, RunReport, Worker
from aerotwin_core.stop_request import Stopped

_WAITING = 64
"""Reports that may wait for the consumer before workers wait for it."""
_POLL_S = 0.2
_IDLE_S = 0.05
"""Until a worker asks again for a run."""
_NO_MORE: Any = object()
_END_S = 1.0


def run_locally(
    specs: Iterable[RunSpec | None],
    store: Store,
    options: RunOptions,
    *,
    run: str,
    n_workers: int,
) -> Iterator[RunReport]:
    """Make runs and yield a report of each, in the order in which they end.

    When the iterator is closed, also by an exception in its consumer, all child processes are ended
    at once, and runs that are being made are removed.

    Parameters
    ----------
    specs : iterable of RunSpec
        Asked for one by one, when a worker is free; None if there is none yet.
    store : Store
    options : RunOptions
    run : str
        The function.
    n_workers : int
        Runs at a time.

    Raises
    ------
    UserError
        If the function cannot be imported.
    """
    pool = _Pool(specs, store, options, run)
    threads = [
        threading.Thread(target=pool.work, name=f"worker {k}", daemon=True)
        for k in range(n_workers)
    ]
    try:
        for thread in threads:
            thread.start()
        n_working = n_workers
        while n_working:
            try:
                item = pool.reports.get(timeout=_POLL_S)  # a signal ends a wait that is short
            except queue.Empty:
                continue
            if isinstance(item, BaseException):
                raise item
            if item is None:
                n_working -= 1
            else:
                yield item
    finally:
        pool.guard.end_all()
        for thread in threads:
            if thread.ident is not None:
                thread.join(_END_S)
        pool.guard.dismiss()


class _Pool:
    """What the threads of the workers share."""

    def __init__(
        self, specs: Iterable[RunSpec | None], store: Store, options: RunOptions, run: str
    ) -> None:
        self._store, self._options, self._run = store, options, run
        self._specs = iter(specs)
        self._lock = threading.Lock()
        self.guard = Guard()
        self.reports: queue.Queue[RunReport | BaseException | None] = queue.Queue(_WAITING)

    def work(self) -> None:
        """Make runs until there are no more; an error is reported to the consumer."""
        last: BaseException | None = None
        try:
            with claimed_place(self.guard.folder) as place:
                worker = Worker(self._run, self._store, self._options, place, self.guard)
                try:
                    while not self.guard.is_stopping.is_set():
                        with self._lock:
                            found = next(self._specs, _NO_MORE)
                        if found is _NO_MORE:
                            break
                        if found is None:
                            self.guard.is_stopping.wait(_IDLE_S)
                        else:
                            self._put(worker.make(found))
                finally:
                    worker.close()
        except Stopped:
            pass
        except BaseException as error:
            last = error
        with suppress(Stopped):
            self._put(last)

    def _put(self, item: RunReport | BaseException | None) -> None:
        while not self.guard.is_stopping.is_set():
            try:
                self.reports.put(item, timeout=_POLL_S)
                return
            except queue.Full:
                continue
        raise Stopped
