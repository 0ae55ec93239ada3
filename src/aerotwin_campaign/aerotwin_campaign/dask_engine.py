# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs on a Dask cluster: one task for each run, by its id; a worker that is lost is no loss.

Each thread of a Dask worker has a child process for the runs, as a worker of this machine has, and
writes into the store itself. What comes back is a report of a few numbers.
"""

import atexit
import threading
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack, closing, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from aerotwin_campaign.execution import RunOptions
from aerotwin_campaign.place import claimed_place
from aerotwin_campaign.spec import RunSpec, spec_of_json
from aerotwin_campaign.store import Store
from aerotwin_campaign.worker import MOST_ATTEMPTS, Guard, RunReport, Worker
from aerotwin_core.errors import UserError

if TYPE_CHECKING:
    from distributed import Client, Future

_CONNECT_S, _END_S = 20.0, 1.5
_TASKS_PER_THREAD = 3
"""Known to the scheduler at a time: a worker that ends a run has the next one at once."""
_LEAST_IN_FLIGHT = 8


def run_on_dask(
    specs: Iterable[RunSpec],
    store: Store,
    options: RunOptions,
    *,
    run: str,
    scheduler: str | None = None,
    n_workers: int = 1,
) -> Iterator[RunReport]:
    """Make runs on a cluster and yield a report of each, in the order in which they end.

    When the iterator is closed, runs that wait are cancelled and those being made are ended.

    Parameters
    ----------
    specs : iterable of RunSpec
        Asked for one by one; a few more than there are threads are under way.
    store : Store
        As all workers reach it: a folder of a file system that they share, or a URL.
    options : RunOptions
    run : str
        The function.
    scheduler : str, optional
        Address, as `tcp://127.0.0.1:8786`; without one a cluster in this process, which listens
        nowhere.
    n_workers : int
        Runs at a time of the cluster in this process.

    Raises
    ------
    UserError
        If the scheduler does not answer, is lost, or the function cannot be imported.
    """
    with ExitStack() as stack:
        client = stack.enter_context(_client(scheduler, n_workers))
        campaign = (run, store, options)
        stack.callback(_end_runs, client, is_here=scheduler is None)
        with closing(_submitted(client, specs, campaign)) as reports:
            yield from reports


@contextmanager
def _client(scheduler: str | None, n_workers: int) -> Iterator["Client"]:
    from distributed import Client, LocalCluster

    with ExitStack() as stack:
        if scheduler is None:
            cluster = stack.enter_context(
                LocalCluster(
                    n_workers=1,
                    threads_per_worker=n_workers,
                    processes=False,
                    dashboard_address=None,
                    memory_limit=None,
                )
            )
            address: Any = cluster
        else:
            address = scheduler
        try:
            client = Client(address, timeout=_CONNECT_S, set_as_default=False)
        except (OSError, ValueError) as error:
            raise UserError(
                f"--scheduler {scheduler}: does not answer ({error}); start it by: dask scheduler"
            ) from None
        yield stack.enter_context(client)


def _submitted(
    client: "Client", specs: Iterable[RunSpec], campaign: tuple[str, Store, RunOptions]
) -> Generator[RunReport, None, None]:
    from distributed import as_completed

    waiting = iter(specs)
    attempts: dict[str, int] = {}
    texts: dict[str, tuple[str, str]] = {}  # run id and specification by the key of a task
    done = as_completed(loop=client.loop, raise_errors=False)

    def submit(run_id: str, text: str) -> None:
        attempts[run_id] = attempts.get(run_id, 0) + 1
        key = f"{run_id}-{attempts[run_id]}"
        texts[key] = run_id, text
        done.add(client.submit(_make, text, *campaign, key=key, pure=False, retries=0))

    def fill() -> None:
        while len(texts) < max(_TASKS_PER_THREAD * _n_threads(client), _LEAST_IN_FLIGHT):
            spec = next(waiting, None)
            if spec is None:
                return
            submit(spec.id, spec.canonical_json())

    fill()
    while texts:
        future = next(done)
        run_id, text = texts.pop(str(future.key))
        report = _report(future, run_id)
        if report.stored is None and attempts[run_id] < MOST_ATTEMPTS:
            submit(run_id, text)
            continue
        attempts.pop(run_id)
        yield report
        fill()


def _report(future: "Future", run_id: str) -> RunReport:
    """Return what a task returned, or why there is nothing."""
    if future.status == "finished":
        found = future.result()
        assert isinstance(found, RunReport)
        return found
    if future.status in ("cancelled", "lost"):
        raise UserError("the scheduler was lost; what is done is stored: resume the campaign")
    error = future.exception()
    if isinstance(error, UserError):
        raise error
    return RunReport(id=run_id, stored=None, failure=f"a worker was lost ({error!r})")


def _n_threads(client: "Client") -> int:
    if client.scheduler is None:  # not connected any more
        return 0
    return sum(int(each["nthreads"]) for each in client.scheduler_info(-1)["workers"].values())


def _end_runs(client: "Client", *, is_here: bool) -> None:
    """End the child processes of all workers; a scheduler that is gone has none."""
    if is_here:
        _WORKERS.end()
        return
    with suppress(OSError, TimeoutError, ValueError, CancelledError):
        client.sync(client._run, _end_here, callback_timeout=_END_S)


class _Workers:
    """The workers of this process that wait for the next run of their campaign."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: dict[Any, list[tuple[Worker, ExitStack]]] = {}
        self._guard: Guard | None = None
        atexit.register(self.end)

    def make(self, spec: RunSpec, campaign: tuple[str, Store, RunOptions]) -> RunReport:
        """Have a run made by a worker that waits, or a new one."""
        with self._lock:
            if self._guard is None:
                self._guard = Guard()
            guard = self._guard
            waiting = self._idle.setdefault(campaign, [])
            found = waiting.pop() if waiting else None
        worker, stack = found or self._new(campaign, guard)
        try:
            report = worker.make(spec)
        except BaseException:
            stack.close()
            raise
        with self._lock:
            is_current = guard is self._guard
            if is_current:
                self._idle[campaign].append((worker, stack))
        if not is_current:
            stack.close()
        return report

    def end(self) -> None:
        """End all children; runs under way are given up."""
        with self._lock:
            guard, self._guard = self._guard, None
            idle, self._idle = self._idle, {}
        if guard is None:
            return
        guard.end_all()
        for workers in idle.values():
            for _, stack in workers:
                stack.close()
        guard.dismiss()

    @staticmethod
    def _new(campaign: tuple[str, Store, RunOptions], guard: Guard) -> tuple[Worker, ExitStack]:
        run, store, options = campaign
        with ExitStack() as stack:
            place = stack.enter_context(claimed_place())
            worker = Worker(run, store, options, place, guard)
            stack.callback(worker.close)
            return worker, stack.pop_all()


_WORKERS = _Workers()


def _make(text: str, run: str, store: Store, options: RunOptions) -> RunReport:
    """Make a run; called by the threads of Dask's workers."""
    return _WORKERS.make(spec_of_json(text), (run, store, options))


def _end_here() -> None:
    _WORKERS.end()
