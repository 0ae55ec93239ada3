# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""One run: from its specification to its complete folder, the same on every engine.

Whatever the function does is a result: values, an exception, values that are none. What the machine
does is not: a full disk, a store that does not answer, a worker that is killed. Such a run is not
there, and is tried again.
"""

import copy
import errno
import math
import os
import resource
import shutil
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from aerotwin_campaign.campaign_file import KEEP_ALL, KEEP_FAILURES
from aerotwin_campaign.function import RunContext, load_function, versions_of
from aerotwin_campaign.place import WorkerPlace
from aerotwin_campaign.spec import RunSpec
from aerotwin_campaign.store import COST, LOG, RESULT, SPEC, Store, write_json_file
from aerotwin_core.errors import UserError
from aerotwin_core.foreign_text import printable, shown

MOST_METRICS, LONGEST_TEXT = 10_000, 2000
MACHINE_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ESTALE}
"""Errors of the system that say nothing of the function in which they occur."""


class MachineFailure(Exception):
    """A run could not be made for a reason that is not its function: it is tried again."""


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """How runs are made; results do not depend on it but for the timeout."""

    timeout_s: float = 3600.0
    keep: str = KEEP_ALL


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """What the function of a run returned, or what became of it."""

    metrics: Mapping[str, Any]
    is_success: bool
    outcome: str


def run(
    spec: RunSpec,
    store: Store,
    place: WorkerPlace,
    options: RunOptions,
    on_call: Callable[[bool], Any] = lambda _: None,
) -> None:
    """Make a run in a temporary folder and move it to its place in the store.

    A run that is complete is left as it is. The function's output and that of its child processes
    is in `log.txt`. `on_call` is called with True before the function is, and with False after it:
    between them no time is spent on the store.

    Raises `MachineFailure` if the run could not be made for a reason outside the function. Raises
    `UserError` if the function cannot be imported, or the versions here are others than those of
    the specification.
    """
    if store.has(spec.id):
        return
    _check_versions(spec)
    function = load_function(spec.run)
    try:
        with store.new_run(spec.id, os.getpid(), place.scratch) as folder:
            begin_s, begin_cpu_s = time.perf_counter(), cpu_s()
            with _output_to(folder / LOG):
                context = RunContext(seed=spec.seed, repeat=spec.repeat, folder=folder, place=place)
                on_call(True)
                result = _called(function, copy.deepcopy(dict(spec.document)), context)
                on_call(False)
            # Its name has the process in it, and a result is the same wherever it is made.
            outcome = result.outcome.replace(str(folder), "<folder>")
            result = replace(result, outcome=outcome)
            cost = {
                "wall_s": time.perf_counter() - begin_s,
                "cpu_s": cpu_s() - begin_cpu_s,
                "worker": place.number,
                "host": os.uname().nodename,
            }
            write_run(folder, spec, result, cost, options.keep)
    except OSError as error:
        raise MachineFailure(_reason(error)) from error


def write_run(
    folder: Path, spec: RunSpec, result: RunResult, cost: Mapping[str, Any], keep: str
) -> None:
    """Write the files of a run into its folder, and remove what is not to be kept."""
    if keep != KEEP_ALL and (result.is_success or keep != KEEP_FAILURES):
        is_log_kept = not result.is_success
        for entry in list(folder.iterdir()):
            if not (entry.name == LOG and is_log_kept):
                _remove(entry)
    for name in (SPEC, RESULT, COST):  # whatever the function wrote there
        _remove(folder / name)
    (folder / SPEC).write_text(f"{spec.canonical_json()}\n", encoding="utf-8")
    document = {
        "id": spec.id,
        "is_success": result.is_success,
        "metrics": dict(result.metrics),
        "outcome": result.outcome,
    }
    write_json_file(folder / COST, cost)
    write_json_file(folder / RESULT, document)


def checked_result(value: Any) -> RunResult:
    """Return what a function returned, or a failure that says what is wrong with it."""
    expected = {"metrics", "is_success", "outcome"}
    if not isinstance(value, Mapping) or set(value) != expected:
        return failure(f"the function returned {shown(value)}, not {sorted(expected)}")
    metrics, is_success, outcome = (value[key] for key in ("metrics", "is_success", "outcome"))
    if not isinstance(metrics, Mapping) or len(metrics) > MOST_METRICS:
        return failure(f"the function returned metrics = {shown(metrics)}, not a mapping")
    plain = {}
    for name, number in metrics.items():
        scalar = number.item() if hasattr(number, "item") and not _size(number) else number
        is_plain = scalar is None or isinstance(scalar, bool | int | float | str)
        if not isinstance(name, str) or not is_plain:
            return failure(f"the function returned the metric {shown(name)} = {shown(number)}")
        if isinstance(scalar, float) and not math.isfinite(scalar):
            return failure(
                f"the function returned the metric {name} = {scalar}; what is not known is None"
            )
        plain[name] = scalar
    if hasattr(is_success, "item") and not _size(is_success):
        is_success = is_success.item()
    if not isinstance(is_success, bool) or not isinstance(outcome, str):
        return failure(
            f"the function returned is_success = {shown(is_success)}, outcome = {shown(outcome)}"
        )
    return RunResult(metrics=plain, is_success=is_success, outcome=printable(outcome, LONGEST_TEXT))


def failure(outcome: str) -> RunResult:
    """Return the result of a run whose function returned none."""
    return RunResult(metrics={}, is_success=False, outcome=printable(outcome, LONGEST_TEXT))


def cpu_s() -> float:
    """Return the CPU time of this process and its ended children so far [s]."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, kinds))


def _called(function: Any, document: dict[str, Any], context: RunContext) -> RunResult:
    try:
        return checked_result(function(document, context))
    except (KeyboardInterrupt, MachineFailure):
        raise
    except BaseException as error:
        machine = _machine_error(error)
        if machine is not None:
            raise machine from error
        traceback.print_exc()
        return failure(f"the function raised {type(error).__name__}: {error}".rstrip(": "))


def _machine_error(error: BaseException | None) -> OSError | None:
    """Return the error of the machine behind an exception, if there is one."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in MACHINE_ERRORS:
            return error
        error = error.__cause__ or error.__context__
    return None


def _reason(error: OSError) -> str:
    text = error.strerror or str(error)
    way_out = "; free space" if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) else ""
    return f"{error.filename}: {text}{way_out}" if error.filename else f"{text}{way_out}"


def _check_versions(spec: RunSpec) -> None:
    here = versions_of(spec.run)
    for name in sorted({*here, *spec.versions}):
        found, expected = here.get(name, "none"), spec.versions.get(name, "none")
        if found != expected:
            raise UserError(
                f"versions: {name} is {found} on {os.uname().nodename}, but {expected} where the "
                "campaign was started; install the same on all workers"
            )


@contextmanager
def _output_to(path: Path) -> Iterator[None]:
    """Have this process, and its children, write their output into a file."""
    sys.stdout.flush()
    sys.stderr.flush()
    before = os.dup(1), os.dup(2)
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        os.dup2(log, 1)
        os.dup2(log, 2)
        yield
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            for number, kept in enumerate(before, 1):
                os.dup2(kept, number)
                os.close(kept)
            os.close(log)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _size(value: Any) -> bool:
    """Return whether a NumPy value is an array and no number."""
    return bool(getattr(value, "ndim", 0))
