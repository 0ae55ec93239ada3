# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Run the crafted and damaged files of all formats and sum up what became of them."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from aerotwin_core.child_python import python_command
from aerotwin_core.errors import UserError
from aerotwin_core.stop_request import Stopped
from evidence.child import environment
from evidence.fuzzing.crafted import CRAFTED
from evidence.fuzzing.formats import FORMATS

N_FILES = 500
FILE_LIMIT_S = 200.0
"""Longest wait for one file, however busy the machine; its CPU time has a limit of its own."""
START_LIMIT_S = 300.0
GOOD = ("refused", "whole", "said", "altered", "read")
"""Outcomes that are as they should be: `altered` is data that differ where no format could tell,
`read` a crafted file that could be read within the limits."""
BAD = ("exception", "crash", "hang", "slow", "memory", "unnamed", "silent")
_SHOWN, _TOKENS = 10, 600
_WORKER = "evidence.fuzzing.worker"


def run_fuzz(
    names: Sequence[str] = (),
    n_files: int = N_FILES,
    seed: int = 1000,
    *,
    folder: Path | None = None,
    n_parallel: int = 2,
    on_file: Callable[[int], None] | None = None,
) -> list[dict[str, Any]]:
    """Read crafted and damaged files of formats.

    Parameters
    ----------
    names : sequence of str
        Of `FORMATS`; all without.
    n_files : int
        Damaged files of each format; the crafted ones come before.
    seed : int
        Of what is damaged and how; the same seed damages the same bytes.
    folder : path, optional
        Where the files lie while they are read; a temporary one without.
    n_parallel : int
        Children at the same time; they share the formats.
    on_file : callable, optional
        Called with 1 for each file, from threads.

    Returns
    -------
    list of dict
        For each format `name`, `n_files`, the counts of outcomes (`GOOD` and `BAD`), the `crafted`
        files and up to ten `failures` (file, damage, outcome, words, peak_mb, cpu_s) and `met`:
        whether there were no failures.

    Raises
    ------
    UserError
        If a name is not of `FORMATS`.
    """
    unknown = [name for name in names if name not in FORMATS]
    if unknown:
        raise UserError(f"no format '{unknown[0]}' to fuzz; known are {', '.join(FORMATS)}")
    requested = list(names or FORMATS)
    groups = [requested[k::n_parallel] for k in range(min(n_parallel, len(requested)))]
    place = Path(tempfile.mkdtemp(prefix="aerotwin_fuzz_")) if folder is None else folder
    children = _Children()
    try:
        with ThreadPoolExecutor(len(groups)) as pool, children:
            tasks = [
                pool.submit(
                    _run_group, group, n_files, seed, place / f"group_{k}", children, on_file
                )
                for k, group in enumerate(groups)
            ]
            found = {row["name"]: row for task in tasks for row in task.result()}
    finally:
        if folder is None:
            shutil.rmtree(place, ignore_errors=True)
    return [found[f"fuzz {name}"] for name in requested]


def count_files(name: str, n_files: int) -> int:
    """Return how many files of a format are read: the crafted ones and n_files damaged ones."""
    return len(CRAFTED.get(name, ())) + n_files


def _run_group(
    names: list[str],
    n_files: int,
    seed: int,
    folder: Path,
    children: "_Children",
    on_file: Callable[[int], None] | None,
) -> list[dict[str, Any]]:
    """Read the files of formats in one child, or more where files end it."""
    folder.mkdir(parents=True, exist_ok=True)
    results: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    n_of = {name: count_files(name, n_files) for name in names}
    while any(len(found) < n_of[name] for name, found in results.items()):
        # A child that ended goes on behind the file that ended it.
        jobs = [[name, len(found), n_of[name] - len(found)] for name, found in results.items()]
        for result in _child([job for job in jobs if job[2]], seed, folder, children):
            results[result["format"]].append(result)
            if on_file is not None:
                on_file(1)
    return [_row(name, found, seed) for name, found in results.items()]


def _row(name: str, results: list[dict[str, Any]], seed: int) -> dict[str, Any]:
    counts = {k: sum(r["outcome"] == k for r in results) for k in (*GOOD, *BAD)}
    failures = [result for result in results if result["outcome"] in BAD]
    return {
        "name": f"fuzz {name}",
        "n_files": len(results),
        "seed": seed,
        **counts,
        "crafted": results[: len(CRAFTED.get(name, ()))],
        "failures": failures[:_SHOWN],
        "met": not failures,
    }


def _child(
    jobs: list[list[Any]], seed: int, folder: Path, children: "_Children"
) -> Iterator[dict[str, Any]]:
    """Yield the results of files from a child process, and how it ended if not by itself."""
    process = children.start(
        python_command("-m", _WORKER, str(seed), str(folder), json.dumps(jobs)),
        folder / "stderr.txt",
    )
    watch = _Watch(process)
    last: dict[str, Any] = {}
    assert process.stdout is not None
    with process.stdout:
        for line in process.stdout:
            last = json.loads(line)
            watch.begin(FILE_LIMIT_S if "file" in last else START_LIMIT_S)
            if "outcome" in last:
                yield last
    process.wait()
    watch.end()
    children.check()
    if process.returncode == 0:
        return
    arguments = (folder / "stderr.txt").read_text(encoding="utf-8", errors="replace")[-_TOKENS:]
    if "file" not in last or "outcome" in last:
        raise UserError(f"fuzz: the reader of sound files failed after {last}: {arguments}")
    outcome = "hang" if watch.is_late else "crash"
    about = {"target": "?", "outcome": outcome, "peak_mb": None, "cpu_s": None}
    yield {**last, **about, "words": f"exit {process.returncode}; {arguments}"}


class _Children:
    """The children of all groups; where the campaign is given up, they end, and no more start."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._processes: list[subprocess.Popen[str]] = []
        self._is_over = False

    def __enter__(self) -> "_Children":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            return
        with self._lock:
            self._is_over = True
            for process in self._processes:
                _kill_group(process)

    def start(self, command: list[str], errors: Path) -> "subprocess.Popen[str]":
        """Start a child in a session of its own; raises `Stopped` as `check`."""
        with self._lock, errors.open("wb") as file:
            self.check()
            process = subprocess.Popen(
                command,
                env=environment(),
                stdout=subprocess.PIPE,
                stderr=file,
                text=True,
                start_new_session=True,
            )
            self._processes.append(process)
        return process

    def check(self) -> None:
        """Raise `Stopped` if the campaign was given up."""
        if self._is_over:
            raise Stopped


class _Watch:
    """Ends a process that says nothing for too long."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.is_late = False
        self._timer: threading.Timer | None = None
        self.begin(START_LIMIT_S)

    def begin(self, limit_s: float) -> None:
        """Wait anew."""
        self.end()
        self._timer = threading.Timer(limit_s, self._kill)
        self._timer.daemon = True
        self._timer.start()

    def end(self) -> None:
        """Wait no longer."""
        if self._timer is not None:
            self._timer.cancel()

    def _kill(self) -> None:
        self.is_late = True
        _kill_group(self._process)


def _kill_group(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
