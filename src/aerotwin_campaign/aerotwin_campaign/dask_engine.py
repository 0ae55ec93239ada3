# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs on a Dask cluster: one task for each run, by its id; a worker that is lost is no loss.

Each thread of a Dask worker has a child process for the runs, as a worker of this machine has, and
writes into the store itself. What comes back is a report of a few numbers.
"""

import atexit
import logging
import threading
import uuid
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from http.client import HTTPException
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen

from aerotwin_campaign.execution import MachineFailure, RunOptions
from aerotwin_campaign.place import claimed_place
from aerotwin_campaign.spec import RunSpec, spec_of_json
from aerotwin_campaign.store import Store
from aerotwin_campaign.worker import MOST_ATTEMPTS, Guard, RunReport, Worker
from aerotwin_core.errors import UserError
from aerotwin_core.stop_request import Stopped

if TYPE_CHECKING:
    from distributed import Client, Future

_CONNECT_S, _END_S = 20.0, 1.5
_UNUSED_S = 60.0
_LOOPBACK = "127.0.0.1"
_LOOPBACK_ANY_PORT = f"{_LOOPBACK}:0"
_DASHBOARD_S, _LONGEST_PAGE = 10.0, 1 << 16
_REMOVE_S = 10.0
"""For runs that are given up to remove what they left, on a loaded machine."""
_TASKS_PER_THREAD = 3
"""Known to the scheduler at a time: a worker that ends a run has the next one at once."""
_LEAST_IN_FLIGHT = 8


@dataclass(frozen=True)
class _Campaign:
    """What a worker must know; the token differs each time that a campaign is run."""

    token: str
    run: str
    store: Store
    options: RunOptions


def run_on_dask(
    specs: Iterable[RunSpec],
    store: Store,
    options: RunOptions,
    *,
    run: str,
    scheduler: str | None = None,
    n_workers: int = 1,
    on_connection: Callable[[str], Any] = lambda _: None,
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
        Address, as `tcp://127.0.0.1:8786`; without one a cluster in this process, whose web pages
        are on the loopback only.
    n_workers : int
        Runs at a time of the cluster in this process.
    on_connection : callable
        Receives a line that says how large the cluster is, and where its dashboard, if it has one.

    Raises
    ------
    UserError
        If the scheduler does not answer, or the function cannot be imported.
    MachineFailure
        If the scheduler is lost.
    """
    with ExitStack() as stack:
        client = stack.enter_context(_client(scheduler, n_workers))
        on_connection(_connection_text(client))
        campaign = _Campaign(uuid.uuid4().hex, run, store, options)
        stack.callback(_end_runs, client, campaign.token, is_here=scheduler is None)
        with closing(_submitted(client, specs, campaign)) as reports:
            yield from reports


@contextmanager
def _client(scheduler: str | None, n_workers: int) -> Iterator["Client"]:
    from distributed import Client, LocalCluster
    from distributed.utils import silence_logging_cmgr

    with ExitStack() as stack:
        stack.enter_context(silence_logging_cmgr(logging.CRITICAL))  # of a scheduler that is lost
        if scheduler is None:
            cluster = stack.enter_context(
                LocalCluster(
                    n_workers=1,
                    threads_per_worker=n_workers,
                    processes=False,
                    # Without one Dask listens on every network card.
                    dashboard_address=_LOOPBACK_ANY_PORT,
                    worker_dashboard_address=_LOOPBACK_ANY_PORT,
                    memory_limit=None,
                    silence_logs=logging.CRITICAL,  # of tasks that are cancelled
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
        except TypeError as error:  # tls:// without certificates
            raise UserError(
                f"--scheduler {scheduler}: {error}; name certificates in ~/.config/dask/tls.yaml"
            ) from None
        yield stack.enter_context(client)


def _connection_text(client: "Client") -> str:
    n_workers, link = len(_workers(client)), client.dashboard_link
    state = client.scheduler_info(-1)
    if str(state["address"]).startswith("inproc:"):  # it has no host
        port = state["services"].get("dashboard")
        link = f"http://{_LOOPBACK}:{port}/status"
    text = f"cluster: workers {n_workers}, threads {_n_threads(client)}"
    if not n_workers:
        text += "; runs wait until a worker joins"
    return f"{text}; dashboard: {link}" if link and _is_dashboard(link) else text


def _is_dashboard(link: str) -> bool:
    """Ask a scheduler's web server, which is there without a dashboard, too."""
    try:
        with urlopen(link, timeout=_DASHBOARD_S) as page:
            return b"Dask needs" not in page.read(_LONGEST_PAGE)  # bokeh is not installed there
    except (OSError, ValueError, HTTPException):
        return False


def _submitted(
    client: "Client", specs: Iterable[RunSpec], campaign: _Campaign
) -> Generator[RunReport, None, None]:
    from distributed import as_completed

    waiting = iter(specs)
    attempts: dict[str, list[str]] = {}  # the workers that could not make a run, by its id
    texts: dict[str, tuple[str, str]] = {}  # run id and specification by the key of a task
    done = as_completed(loop=client.loop, raise_errors=False)

    def submit(run_id: str, text: str) -> None:
        failed = attempts.setdefault(run_id, [])
        others = [each for each in _workers(client) if each not in failed] if failed else []
        key = f"{run_id}-{len(failed)}"
        texts[key] = run_id, text
        where: dict[str, Any] = {"workers": others, "allow_other_workers": True} if others else {}
        done.add(client.submit(_make, text, campaign, key=key, pure=False, retries=0, **where))

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
        if report.stored is None:
            attempts[run_id].append(report.worker)
            if len(attempts[run_id]) < MOST_ATTEMPTS:
                submit(run_id, text)
                continue
        attempts.pop(run_id)
        yield report
        fill()


def _report(future: "Future", run_id: str) -> RunReport:
    """Return what a task returned, or why there is nothing."""
    try:
        if future.status == "finished":
            found = future.result()
            assert isinstance(found, RunReport)
            return found
        error = None if future.status in ("cancelled", "lost") else future.exception()
    except (OSError, TimeoutError, CancelledError):  # the connection ends meanwhile
        error = None
    if error is None:
        raise MachineFailure("the scheduler was lost")
    if isinstance(error, UserError):
        raise error
    return RunReport(id=run_id, stored=None, failure=f"a worker was lost ({error!r})")


def _workers(client: "Client") -> dict[str, Any]:
    """Return what is known of the workers by their address; none without a connection."""
    if client.scheduler is None:
        return {}
    return dict(client.scheduler_info(-1)["workers"])


def _n_threads(client: "Client") -> int:
    return sum(int(each["nthreads"]) for each in _workers(client).values())


def _end_runs(client: "Client", token: str, *, is_here: bool) -> None:
    """End a campaign's child processes on all workers; a scheduler that is gone has none."""
    if is_here:
        _end_here(token)
        return
    with suppress(OSError, TimeoutError, ValueError, CancelledError):
        client.sync(client._run, _end_here, token, callback_timeout=_END_S)


class _Workers:
    """The workers of one campaign in this process, and which of them wait for a run."""

    def __init__(self, campaign: _Campaign) -> None:
        self._campaign = campaign
        self._lock = threading.Lock()
        self._has_stopped = threading.Condition(self._lock)
        self._idle: list[tuple[Worker, ExitStack]] = []
        self._n_busy = self._n_begun = 0
        self._guard = Guard()
        threading.Thread(target=self._close_unused, name="unused workers", daemon=True).start()

    def make(self, spec: RunSpec) -> RunReport:
        """Have a run made by a worker that waits, or a new one; raises `Stopped` after the end."""
        if self._guard.is_stopping.is_set():
            raise Stopped
        with self._lock:
            found = self._idle.pop() if self._idle else None
            self._n_busy += 1
            self._n_begun += 1
        try:
            return self._made(spec, found or self._new())
        finally:
            with self._lock:
                self._n_busy -= 1
                self._has_stopped.notify_all()

    def _made(self, spec: RunSpec, of_worker: tuple[Worker, ExitStack]) -> RunReport:
        worker, stack = of_worker
        try:
            report = worker.make(spec)
        except BaseException:
            stack.close()
            raise
        with self._lock:
            self._idle.append((worker, stack))
        return report

    def close_idle(self) -> None:
        """End the children of workers that wait."""
        with self._lock:
            idle, self._idle = self._idle, []
        for _, stack in idle:
            stack.close()

    def end(self) -> None:
        """End all children; runs under way are given up, others are not begun.

        It waits until the threads of runs that are given up have removed what these left.
        """
        self._guard.end_all()
        with self._has_stopped:
            self._has_stopped.wait_for(lambda: self._n_busy == 0, timeout=_REMOVE_S)
        self.close_idle()
        self._guard.dismiss()

    def _close_unused(self) -> None:
        """End the children when nothing has been run for long: the client may have been killed."""
        n_before = 0
        while not self._guard.is_stopping.wait(_UNUSED_S):
            with self._lock:
                is_unused, n_before = self._n_begun == n_before, self._n_begun
            if is_unused:
                self.close_idle()

    def _new(self) -> tuple[Worker, ExitStack]:
        given = self._campaign
        with ExitStack() as stack:
            place = stack.enter_context(claimed_place(self._guard.folder))
            worker = Worker(given.run, given.store, given.options, place, self._guard)
            stack.callback(worker.close)
            return worker, stack.pop_all()


_LOCK = threading.Lock()
_WORKERS: dict[str, _Workers | None] = {}
"""By the token of a campaign; None after its end: what is still begun of it is refused."""


def _make(text: str, campaign: _Campaign) -> RunReport:
    """Make a run; called by the threads of Dask's workers."""
    from distributed import get_worker

    with _LOCK:
        if campaign.token not in _WORKERS:
            for other in filter(None, _WORKERS.values()):  # perhaps of a client that was killed
                other.close_idle()
            _WORKERS[campaign.token] = _Workers(campaign)
        workers = _WORKERS[campaign.token]
    if workers is None:
        raise Stopped
    return replace(workers.make(spec_of_json(text)), worker=get_worker().address)


def _end_here(token: str) -> None:
    with _LOCK:
        workers, _WORKERS[token] = _WORKERS.get(token), None
    if workers is not None:
        workers.end()


@atexit.register
def _end_all() -> None:
    for token in list(_WORKERS):
        _end_here(token)
