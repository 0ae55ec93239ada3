# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A Dask cluster of processes on the loopback, which may be killed, for tests."""

import os
import random
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import yaml

from aerotwin_core.child_python import python_command

PATIENCE_S = 60.0  # of a loaded machine; no test waits for it to pass


def wait_until(is_so: Callable[[], object], what: str) -> None:
    """Poll a condition; an assertion error after the patience."""
    end = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < end, what
        time.sleep(0.05)


def processes_naming(text: str) -> list[int]:
    """Return the processes that have a text in their command or environment."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                content = (folder / "cmdline").read_bytes() + (folder / "environ").read_bytes()
            except OSError:
                continue
            if text.encode() in content:
                found.append(int(folder.name))
    return found


class Cluster:
    """A scheduler and workers, a process each, that listen on the loopback."""

    def __init__(self, folder: Path, n_workers: int, *scheduler_options: str) -> None:
        self._file, self._log = folder / "scheduler.json", (folder / "log.txt").open("ab")
        self._file.unlink(missing_ok=True)
        self.scheduler = self._start(
            {}, "dask_scheduler", "--host", "127.0.0.1", "--port", "0",
            *(scheduler_options or ("--no-dashboard",)), "--scheduler-file", str(self._file),
        )  # fmt: skip
        try:
            wait_until(lambda: self._file.exists() or self.scheduler.poll() is not None, "late")
            assert self._file.exists(), f"no scheduler: {self.scheduler.returncode}"
        except AssertionError as e:
            self.scheduler.kill()
            self.scheduler.wait()
            raise AssertionError(f"{e}; {(folder / 'log.txt').read_text()}") from None
        self.address = yaml.safe_load(self._file.read_text())["address"]
        self.workers = [self.worker() for _ in range(n_workers)]

    def kill_one(self, rng: random.Random) -> None:
        """Kill a worker and start another."""
        k = rng.randrange(len(self.workers))
        self.workers[k].kill()
        self.workers[k].wait()
        self.workers[k] = self.worker()

    def close(self) -> None:
        """Kill all."""
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()
        self._log.close()

    def worker(
        self, environment: Mapping[str, str] | None = None, n_threads: int = 1
    ) -> "subprocess.Popen[bytes]":
        """Start a worker."""
        return self._start(
            environment or {}, "dask_worker", self.address, "--host", "127.0.0.1", "--no-nanny",
            "--no-dashboard", "--nthreads", str(n_threads), "--death-timeout", "60",
        )  # fmt: skip

    def _start(
        self, environment: Mapping[str, str], module: str, *arguments: str
    ) -> "subprocess.Popen[bytes]":
        command = python_command("-m", f"distributed.cli.{module}", *arguments)
        return subprocess.Popen(
            command, stdout=self._log, stderr=self._log, cwd="/", env={**os.environ, **environment}
        )
