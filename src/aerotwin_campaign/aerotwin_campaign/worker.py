# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A worker: keeps one child process warm and has it make runs; survives whatever they do.

A child that dies is replaced and its run tried again, as it may have been killed from outside. A
run with which it dies every time is a failed run, and so is one that exceeds its time.
"""

import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import uuid
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from aerotwin_campaign.execution import MachineFailure, RunOptions, failure, write_run
from aerotwin_campaign.place import WorkerPlace
from aerotwin_campaign.spec import RunSpec
from aerotwin_campaign.store import Store, StoredRun
from aerotwin_core.child_python import python_command
from aerotwin_core.errors import UserError
from aerotwin_core.guardian import end_processes
from aerotwin_core.process_guard import ProcessGuard
from aerotwin_core.stop_request import Stopped

MOST_ATTEMPTS = 3
MARK = "AEROTWIN_CAMPAIGN"
_WORKER_MARK = "AEROTWIN_CAMPAIGN_WORKER"
_PAUSE_S = 0.5
"""Before a run is tried again; doubled each time."""
_START_S = 300.0
"""For a child to import the function, kernels that are compiled included."""
_STORE_S = 600.0
"""For the store to say whether it has a run, and to take one."""
END_STEPS = ((signal.SIGTERM, 0.5), (signal.SIGKILL, 0.5))
_LONGEST_ANSWER = 1 << 20
_POLL_S = 0.2


@dataclass(frozen=True, kw_only=True)
class RunReport:
    """A run that was made, or why it could not be: then `stored` is None."""

    id: str
    stored: StoredRun | None
    failure: str = ""
    worker: str = ""
    """Address of the Dask worker."""


class _LimitExceeded(Exception):
    """A function took longer than it may; a `TimeoutError` may be that of a store."""


class Guard:
    """The guardian of this process's children, used by several threads.

    They end when this process is killed, and at once by `end_all`. `folder` is for their scratch,
    and is removed in either case.
    """

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="aerotwin_campaign_"))
        self._guard = ProcessGuard(MARK, self.folder)
        self._lock = threading.Lock()
        self._pids: set[int] = set()
        self.mark = self._guard.mark
        self.is_stopping = threading.Event()

    def started(self, pid: int) -> None:
        """Note the start of a child in a session of its own."""
        with self._lock:
            self._pids.add(pid)
            self._guard.started(pid)

    def gone(self, pid: int) -> None:
        """Note the end of a child."""
        with self._lock:
            self._pids.discard(pid)
            self._guard.gone(pid)

    def end_all(self) -> None:
        """End all children and what they started; those who wait for them are stopped."""
        self.is_stopping.set()
        with self._lock:
            pids = set(self._pids)
        if pids:
            ((name, value),) = self.mark.items()
            end_processes(pids, f"{name}={value}".encode(), END_STEPS)

    def dismiss(self) -> None:
        """End all children, then the guardian."""
        self.end_all()
        self._guard.dismiss()
        shutil.rmtree(self.folder, ignore_errors=True)


class Worker:
    """Makes runs of one function in a child process, at a place of its own.

    Parameters
    ----------
    run : str
        The function.
    store : Store
    options : RunOptions
    place : WorkerPlace
    guard : Guard
        Of this process.
    """

    def __init__(
        self, run: str, store: Store, options: RunOptions, place: WorkerPlace, guard: Guard
    ) -> None:
        self._run, self._store, self._options = run, store, options
        self._place, self._guard = place, guard
        self._child: subprocess.Popen[bytes] | None = None
        self._mark, self._pid, self._received = b"", 0, b""

    def make(self, spec: RunSpec) -> RunReport:
        """Have a run made; return it, or why it could not be made at `MOST_ATTEMPTS` attempts.

        Raises `UserError` if the function cannot be used here. Raises `Stopped` if the guard ended
        its processes.
        """
        n_deaths, reason = 0, ""
        for attempt in range(MOST_ATTEMPTS):
            if attempt and self._guard.is_stopping.wait(_PAUSE_S * 2 ** (attempt - 1)):
                raise Stopped
            try:
                ended = self._try(spec)
                if ended is None:
                    return RunReport(id=spec.id, stored=self._store.read(spec.id))
                n_deaths, reason = n_deaths + 1, ended
                if n_deaths == MOST_ATTEMPTS:
                    return self._failed(spec, ended, None)
                self._discard(spec)
            except _LimitExceeded:
                limit_s = self._options.timeout_s
                return self._failed(spec, f"exceeded its limit of {limit_s:g} s", limit_s)
            except (MachineFailure, OSError) as error:
                reason = str(error)
            except Stopped:
                self.close()
                self._discard(spec)
                raise
        return RunReport(id=spec.id, stored=None, failure=f"{reason} ({MOST_ATTEMPTS} attempts)")

    def close(self) -> None:
        """End the child."""
        child, self._child = self._child, None
        if child is None:
            return
        end_processes({child.pid}, self._mark, END_STEPS)
        for stream in (child.stdin, child.stdout):
            with suppress(OSError):
                stream.close()  # type: ignore[union-attr]
        child.wait()
        self._guard.gone(child.pid)

    def _try(self, spec: RunSpec) -> str | None:
        """Have a run made; return how the child ended if it did not answer.

        Raises `_LimitExceeded` if the function exceeds its time; the child has ended then.
        """
        child = self._started()
        assert child.stdin is not None
        is_called = False
        try:
            child.stdin.write(f"{spec.canonical_json()}\n".encode())
            child.stdin.flush()
            answer = self._answer(child, _STORE_S)
            while answer is not None and "called" in answer:
                is_called = answer["called"]
                answer = self._answer(child, self._options.timeout_s if is_called else _STORE_S)
        except TimeoutError:
            self.close()
            if is_called:
                raise _LimitExceeded from None
            self._discard(spec)
            raise MachineFailure(
                f"{self._store.url}: did not answer within {_STORE_S:g} s"
            ) from None
        except BrokenPipeError:
            answer = None
        if answer is None:
            return self._ended(child)
        if "user" in answer:
            raise UserError(answer["user"])
        if "machine" in answer:
            raise MachineFailure(answer["machine"])
        return None

    def _started(self) -> "subprocess.Popen[bytes]":
        """Return the child, which has imported the function."""
        if self._child is not None and self._child.poll() is None:
            return self._child
        self.close()
        own_mark = uuid.uuid4().hex
        self._mark = f"{_WORKER_MARK}={own_mark}".encode()
        place = {
            "number": self._place.number,
            "cores": self._place.cores,
            "ros_domain_id": self._place.ros_domain_id,
            "scratch": str(self._place.scratch),
        }
        given = {
            "run": self._run,
            "store": self._store.url,
            "options": asdict(self._options),
            "place": place,
        }
        marks = {**self._guard.mark, _WORKER_MARK: own_mark}
        errors = self._place.scratch / "errors.txt"  # until it has started
        with errors.open("wb") as file:
            child = subprocess.Popen(
                python_command("-m", "aerotwin_campaign.child", json.dumps(given)),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=file,
                env={**os.environ, **self._place.environment, **marks},
                start_new_session=True,
            )
        self._child, self._pid, self._received = child, child.pid, b""
        self._guard.started(child.pid)
        try:
            answer = self._answer(child, _START_S)
        except TimeoutError:
            self.close()
            raise MachineFailure(f"a worker did not start within {_START_S:g} s") from None
        if answer is None:
            said = errors.read_text("utf-8", "replace").strip().rpartition("\n")[2]
            raise MachineFailure(f"a worker could not start: {self._ended(child)} {said}".strip())
        if "user" in answer:
            raise UserError(answer["user"])
        return child

    def _answer(self, child: "subprocess.Popen[bytes]", limit_s: float) -> dict[str, Any] | None:
        """Return the child's next line, None if it ended; raises `TimeoutError` and `Stopped`."""
        assert child.stdout is not None
        descriptor = child.stdout.fileno()
        poll, until_s = select.poll(), time.monotonic() + limit_s
        poll.register(descriptor, select.POLLIN)
        while b"\n" not in self._received:
            left_s = until_s - time.monotonic()
            if left_s <= 0.0:
                raise TimeoutError
            if self._guard.is_stopping.is_set():
                raise Stopped
            has_ended = child.poll() is not None  # a process that it started may hold the pipe
            if poll.poll(0.0 if has_ended else 1e3 * min(left_s, _POLL_S)):
                part = os.read(descriptor, 1 << 16)
                self._received += part
                if not part or len(self._received) > _LONGEST_ANSWER:
                    return None
            elif has_ended:
                return None
        line, _, self._received = self._received.partition(b"\n")
        return dict(json.loads(line))

    def _ended(self, child: "subprocess.Popen[bytes]") -> str:
        """Return how a child ended that closed its end, and remove what is left of it."""
        self.close()
        if self._guard.is_stopping.is_set():
            raise Stopped
        code = child.returncode
        if code < 0:
            return f"the process was killed by {signal.Signals(-code).name}"
        return f"the process ended with exit code {code}"

    def _failed(self, spec: RunSpec, outcome: str, wall_s: float | None) -> RunReport:
        """Store the failure of a run whose child is gone, with what the child has left."""
        left = self._store.unfinished(spec.id, self._pid, self._place.scratch)
        cost = {"wall_s": wall_s, "cpu_s": None, "worker": self._place.number,
                "host": os.uname().nodename}  # fmt: skip
        try:
            with self._store.new_run(spec.id, os.getpid(), self._place.scratch) as folder:
                for entry in list(left.iterdir()) if left.is_dir() else ():
                    shutil.move(entry, folder / entry.name)
                write_run(folder, spec, failure(outcome), cost, self._options.keep)
            return RunReport(id=spec.id, stored=self._store.read(spec.id))
        except OSError as error:
            return RunReport(id=spec.id, stored=None, failure=f"{outcome}; {error}")
        finally:
            self._discard(spec)

    def _discard(self, spec: RunSpec) -> None:
        """Remove what the last child has left of a run."""
        left = self._store.unfinished(spec.id, self._pid, self._place.scratch)
        shutil.rmtree(left, ignore_errors=True)
