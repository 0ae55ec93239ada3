# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Figures over all runs of a campaign, by a function of its author: the key `figures`."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aerotwin_campaign.campaign_results import ResultColumns
from aerotwin_campaign.function import load_function
from aerotwin_campaign.store import FIGURES, Store
from aerotwin_core.documents import DocumentError, parse_json
from aerotwin_core.errors import UserError
from aerotwin_core.foreign_text import shown
from aerotwin_core.section import Section

_LONGEST = 4 << 20


@dataclass(frozen=True, kw_only=True)
class FinishedRun:
    """A run that is in the store, as the function of `figures` sees it.

    Attributes
    ----------
    id : str
    axes : mapping of str to value
        The scenario, if it is one of several, and the value of each axis by its path.
    seed, repeat : int
    metrics : mapping of str to number, bool, text or None
        None is what the run did not find; one that failed may have none at all.
    is_success : bool
    outcome : str
    folder : Path or None
        What it kept; None if the store is no folder of this machine.
    """

    id: str
    axes: Mapping[str, Any]
    seed: int
    repeat: int
    metrics: Mapping[str, Any]
    is_success: bool
    outcome: str
    folder: Path | None

    def file(self, name: str) -> Path:
        """Return where a file is that the run kept, or would be.

        Raises `UserError` if the store is no folder of this machine.
        """
        if self.folder is None:
            raise UserError(
                f"figures: {name} of the runs is needed, but their store is no folder of this "
                "machine; copy it to one, and name that with --store"
            )
        return self.folder / name


@dataclass(frozen=True, kw_only=True)
class OverallFigures:
    """What is known of all runs together.

    Attributes
    ----------
    values : mapping of str to number, bool, None or such a mapping
        Known to `fail_if`, levels joined by dots, beside what the engine finds; None fails.
    sections : sequence of Section
        Chapters of the report.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    sections: Sequence[Section] = ()


FiguresFunction = Callable[[Sequence[FinishedRun]], OverallFigures]


def overall_figures(name: str, results: ResultColumns, store: Store) -> OverallFigures:
    """Return what the function `package.module:function` makes of the runs that are in a table.

    Raises
    ------
    UserError
        If it cannot be imported, fails, or returns something else.
    """
    function: Any = load_function(name)
    try:
        found = function(_finished_runs(results, store))
    except UserError:
        raise
    except Exception as error:  # whatever its author did not think of
        raise UserError(f"figures: {name} raised {type(error).__name__}: {error}") from error
    if not isinstance(found, OverallFigures):
        raise UserError(f"figures: {name} returned {shown(found)}, expected OverallFigures")
    if known := sorted({*found.values} & {*results.summary}):
        raise UserError(f"figures: {name} returned '{known[0]}', which is a metric; rename it")
    return found


def write_values(store: Store, figures: OverallFigures) -> None:
    """Write the values beside the table, for reports of the store; raises `UserError`."""
    try:
        text = json.dumps(figures.values, sort_keys=True, indent=1, allow_nan=False)
        store.write_file(FIGURES, f"{text}\n".encode())
    except (TypeError, ValueError) as error:
        raise UserError(
            f"figures: {error}; values are finite numbers, truth values or None"
        ) from None
    except OSError as error:
        raise UserError(
            f"{store.url}/{FIGURES}: cannot be written ({error.strerror or error})"
        ) from None


def read_values(store: Store) -> Mapping[str, Any]:
    """Return the values that a campaign left in its store; none if there are none.

    Raises `UserError` if they are damaged.
    """
    try:
        found = parse_json(store.read_file(FIGURES), max_bytes=_LONGEST, takes_nan=False)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, DocumentError) as error:
        raise UserError(f"{store.url}/{FIGURES}: {error}; resume the campaign") from None
    if not isinstance(found, dict):
        raise UserError(f"{store.url}/{FIGURES}: is damaged; resume the campaign")
    return found


def _finished_runs(results: ResultColumns, store: Store) -> list[FinishedRun]:
    axes, metrics = results.axes, results.all_metrics
    return [
        FinishedRun(
            id=run_id,
            axes={path: values[k] for path, values in axes.items()},
            seed=results.seeds[k],
            repeat=results.repeats[k],
            metrics={name: values[k] for name, values in metrics.items()},
            is_success=bool(results.is_success[k]),
            outcome=results.outcomes[k],
            folder=None if store.local is None else store.local / store.path_of(run_id),
        )
        for k, run_id in enumerate(results.run_ids)
    ]
