# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Errors of poses that were searched for: kept by each run, judged over all of them."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from aerotwin_campaign import FinishedRun, OverallFigures
from aerotwin_core.charts import Series, chart, draw_boxes
from aerotwin_core.section import Figure, Section, Table

_FILE = "errors.npz"
_PERCENT = 95.0
_CM = 100.0


@dataclass(frozen=True, kw_only=True, eq=False)
class PoseErrors:
    """How far poses that were found are from the true ones.

    Attributes
    ----------
    shifts_m, turns_deg : (n,) arrays
        Distance [m] and angle [deg]; NaN where nothing was found.
    is_found : (n,) bool array
        Whether a pose was found and believed.
    """

    shifts_m: np.ndarray
    turns_deg: np.ndarray
    is_found: np.ndarray

    def save(self, folder: Path) -> None:
        """Write them into the folder of a run."""
        np.savez(folder / _FILE, **vars(self))

    def figures(self, lost_m: float, near_m: float) -> dict[str, Any]:
        """Return the figures of all poses.

        Parameters
        ----------
        lost_m : float
            What is farther away, or was not found, is lost; if it was believed it is wrong.
        near_m : float
            Of the share of all that is near.

        Returns
        -------
        dict
            `n`, `n_lost`, `n_wrong`, `placed_share`, `near_share`, and of those that were found
            `median_m`, `p95_m`, `worst_m`, `median_deg`, `worst_deg`, None if there is none.
        """
        is_near = self.is_found & (self.shifts_m <= near_m)
        is_wrong = self.is_found & (self.shifts_m > lost_m)
        shifts_m, turns_deg = self.shifts_m[self.is_found], self.turns_deg[self.is_found]
        found = len(shifts_m) > 0
        return {
            "n": len(self.is_found),
            "n_lost": int((~self.is_found | is_wrong).sum()),
            "n_wrong": int(is_wrong.sum()),
            "placed_share": float(self.is_found.mean()),
            "near_share": float(is_near.mean()),
            "median_m": float(np.median(shifts_m)) if found else None,
            "p95_m": float(np.percentile(shifts_m, _PERCENT)) if found else None,
            "worst_m": float(shifts_m.max()) if found else None,
            "median_deg": float(np.median(turns_deg)) if found else None,
            "worst_deg": float(turns_deg.max()) if found else None,
        }


def pooled(runs: Sequence[FinishedRun], axis: str) -> dict[str, PoseErrors]:
    """Return the errors of all runs that came to their end by the value of an axis."""
    kept: dict[str, list[dict[str, np.ndarray]]] = {}
    for run in runs:
        if (path := run.file(_FILE)).is_file():
            with np.load(path) as file:
                kept.setdefault(run.axes[axis], []).append(dict(file))
    return {
        value: PoseErrors(
            **{
                each.name: np.concatenate([part[each.name] for part in parts])
                for each in fields(PoseErrors)
            }
        )
        for value, parts in kept.items()
    }


def pooled_figures(
    runs: Sequence[FinishedRun], axis: str, title: str, *, lost_m: float, near_m: float
) -> OverallFigures:
    """Return the figures of all runs by the value of an axis, and the chapter that shows them."""
    errors = pooled(runs, axis)
    values = {name: each.figures(lost_m, near_m) for name, each in errors.items()}
    columns = (axis, "n", "lost", "wrong", "placed [%]", f"within {near_m:g} m [%]",
               "median [cm]", "95 % [cm]", "worst [cm]", "median [deg]", "worst [deg]")  # fmt: skip
    rows = tuple(
        (name, v["n"], v["n_lost"], v["n_wrong"], f"{100.0 * v['placed_share']:.1f}",
         f"{100.0 * v['near_share']:.1f}", *(_text(v[key], _CM) for key in
                                             ("median_m", "p95_m", "worst_m")),
         _text(v["median_deg"], 1.0), _text(v["worst_deg"], 1.0))
        for name, v in values.items()
    )  # fmt: skip
    series = [Series(label=name, values=_CM * e.shifts_m) for name, e in errors.items()]
    boxes = chart("pose-errors", lambda axes: draw_boxes(axes, series, unit="cm"))
    figure = Figure(
        title="Distance from the true pose",
        caption="Of those that were found. Box from quarter to quarter with the median, whiskers "
        "from 5 % to 95 %.",
        svg=boxes,
    )
    section = Section(
        title=title,
        name="pose_errors",
        text=f"Lost: not found, or more than {lost_m:g} m off; the latter are wrong as well.",
        figures=(figure,) if series else (),
        tables=(Table(title="All seeds", columns=columns, rows=rows),),
    )
    return OverallFigures(values=values, sections=[section])


def _text(value: float | None, factor: float) -> str:
    return "–" if value is None else f"{factor * value:.3g}"
