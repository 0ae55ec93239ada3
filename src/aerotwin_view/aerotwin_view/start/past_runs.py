# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Run folders, as their own files describe them."""

import shlex
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any

from aerotwin_core.documents import DocumentError, read_json
from aerotwin_core.errors import UserError
from aerotwin_core.launch_record import LAUNCH_RECORD

REPORT, METRICS, CONFIGURATION, BAG = "report.html", "metrics.json", "config.yaml", "bag"
MOST_RUNS = 50
_MOST_BYTES, _MOST_RECORD_BYTES = 16 << 20, 1 << 18
_MOST_FIGURES = 4
_NO_REPORT = "no report: it still runs, or was given up"
_NOT_RECORDED = "no report: nothing was recorded, by record none"


def past_runs(folder: Path) -> list[dict[str, Any]]:
    """Return the newest runs below a folder, the last one first; names begin with the time."""
    try:
        names = sorted((path.name for path in folder.iterdir()), reverse=True)
    except OSError:  # there was no run yet
        return []
    runs = (folder / name for name in names)
    found = (run for run in runs if not run.is_symlink() and _is_run(run))
    return [_described(run) for run, _ in zip(found, range(MOST_RUNS))]


def _is_run(path: Path) -> bool:
    return any((path / name).is_file() for name in (METRICS, CONFIGURATION, REPORT))


def _described(run: Path) -> dict[str, Any]:
    described = {
        "name": run.name,
        "title": "",
        "created": "",
        "world": "",
        "outcome": _NO_REPORT,
        "verdicts": [],
        "figures": [],
        "n_warnings": 0,
        "has_report": report_file(run.parent, run.name) is not None,
        "has_failed": False,
        "launch": None,
        "watch": shlex.join(["aerotwin", "view", str(run)]) if (run / BAG).is_dir() else None,
    }
    with suppress(OSError, UserError, DocumentError):
        described |= _from_metrics(read_json(run / METRICS, max_bytes=_MOST_BYTES))
    with suppress(OSError, UserError, DocumentError):
        described["launch"] = launch = _launch(
            read_json(run / LAUNCH_RECORD, max_bytes=_MOST_RECORD_BYTES)
        )
        is_recorded = launch is None or launch["values"].get("record") != "none"
        if described["outcome"] == _NO_REPORT and not is_recorded:
            described["outcome"] = _NOT_RECORDED
    return described


def _launch(document: Any) -> dict[str, Any] | None:
    """Return the launch file of a record and the texts that it was given; None if it is none."""
    arguments = document.get("arguments") if isinstance(document, dict) else None
    if not isinstance(arguments, dict):
        return None
    values = {name: value for name, value in arguments.items() if isinstance(value, str)}
    return {"scenario": _text(document, "launch_file"), "values": values}


def _from_metrics(document: Any) -> dict[str, Any]:
    """Return what a `metrics.json` says; what it lacks, or what is of another kind, is left out."""
    if not isinstance(document, dict):
        return {}
    tiles = [tile for tile in _list(document, "headline") if isinstance(tile, dict)]
    first = _text(tiles[0], "meaning") if tiles else ""
    world = document.get("world")
    return {
        "title": _text(document, "title"),
        "created": _text(document, "created"),
        "world": _text(world, "name") if isinstance(world, dict) else "",
        "has_failed": bool(tiles) and tiles[0].get("status") == "bad",
        "outcome": first or _text(document, "summary"),
        "verdicts": [text for text in _values(document, "verdicts") if isinstance(text, str)],
        "figures": [
            {key: _text(tile, key) for key in ("label", "value", "unit", "status", "meaning")}
            for tile in tiles[:_MOST_FIGURES]
        ],
        "n_warnings": len(_list(document, "warnings")),
    }


def _text(document: dict, key: str) -> str:
    value = document.get(key)
    return value if isinstance(value, str) else ""


def _list(document: dict, key: str) -> list:
    value = document.get(key)
    return value if isinstance(value, list) else []


def _values(document: dict, key: str) -> list:
    value = document.get(key)
    return list(value.values()) if isinstance(value, dict) else []


def report_file(folder: Path, name: str) -> Path | None:
    """Return the report of the run of this name, None if it is none or leads elsewhere."""
    file = _own_path(folder, name, REPORT)
    return file if file is not None and stat.S_ISREG(file.stat().st_mode) else None


def recorded_run(folder: Path, name: str) -> Path | None:
    """Return the run of this name if it has a bag, None if it is none or leads elsewhere."""
    bag = _own_path(folder, name, BAG)
    return bag.parent if bag is not None and bag.is_dir() else None


def _own_path(folder: Path, name: str, part: str) -> Path | None:
    """Return a part of the run of this name, None if it is not there or leads elsewhere."""
    if name in ("", ".", "..") or "/" in name or "\0" in name:
        return None
    path = folder / name / part
    try:
        return path if path.resolve(strict=True) == folder.resolve() / name / part else None
    except (OSError, ValueError):
        return None
