# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The function of a run: found by its name, and known by its version."""

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from aerotwin_campaign.place import WorkerPlace
from aerotwin_core.errors import UserError
from aerotwin_core.metric import Metric, MetricSet
from aerotwin_core.run_folder import OURS, packages_digest, software_versions

_DIGITS = 16


@dataclass(frozen=True, kw_only=True)
class RunContext:
    """What the function of a run receives beside the document.

    Attributes
    ----------
    seed, repeat : int
        Of the random numbers. A run that repeats with other numbers mixes both.
    folder : Path
        Empty; what is written there is stored with the run, as the campaign says.
    place : WorkerPlace
        Cores, ports and ROS domain that no other run on this machine uses. A result must not depend
        on it.
    """

    seed: int
    repeat: int
    folder: Path
    place: WorkerPlace


RunFunction = Callable[[dict[str, Any], RunContext], Mapping[str, Any]]
"""Returns `{"metrics": {name: number, bool, text or None}, "is_success": bool, "outcome": str}`."""


def load_function(name: str) -> RunFunction:
    """Import and return the function of `package.module:function`.

    Raises `UserError` if it cannot be imported, or is no function.
    """
    module, _, attribute = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except Exception as error:  # whatever the module does when it is imported
        raise UserError(f"run: {name} cannot be imported ({error!r}); {_way_out(module)}") from None
    if not callable(found):
        raise UserError(f"run: {name} is no function")
    return found  # type: ignore[no-any-return]


def declared_metrics(name: str) -> dict[str, Metric]:
    """Return what a function's module declares of its metrics, `METRICS`, by their names.

    Raises `UserError` if the module cannot be imported.
    """
    load_function(name)
    found = getattr(sys.modules[name.partition(":")[0]], "METRICS", None)
    return {each.path: each for each in found.metrics} if isinstance(found, MetricSet) else {}


@cache
def versions_of(name: str) -> dict[str, str]:
    """Return the versions of the software that a run of a function depends on.

    They are those of Python, machine, aerotwin and numeric libraries, the digest of all files of
    aerotwin's packages, and that of the function's module and, in a package, of all modules beside
    and below it up to the package at the top: after a change in one of them the runs are others.
    What else the function imports is not followed.

    Raises `UserError` if the module is not installed.
    """
    module = name.partition(":")[0]
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):  # a package above it is missing
        spec = None
    if spec is None:
        raise UserError(f"run: there is no module {module}; {_way_out(module)}")
    found = dict(software_versions())
    found["aerotwin files"] = packages_digest()[:_DIGITS]
    if not module.startswith(OURS) and spec.origin is not None and Path(spec.origin).is_file():
        found[f"module {module}"] = _digest(module, Path(spec.origin))[:_DIGITS]
    return found


def _digest(module: str, file: Path) -> str:
    """Return the SHA-256 of the modules of the package at the top of a module, or of it alone."""
    top = importlib.util.find_spec(module.partition(".")[0])
    if top is None or top.origin is None or not top.submodule_search_locations:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    digest, folder = hashlib.sha256(), Path(top.origin).parent
    for path in sorted(folder.rglob("*.py")):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{path.relative_to(folder)} {content}\n".encode())
    return digest.hexdigest()


def _way_out(module: str) -> str:
    folder = module.partition(".")[0]
    return f"install it, or add the folder that holds {folder} to PYTHONPATH"
