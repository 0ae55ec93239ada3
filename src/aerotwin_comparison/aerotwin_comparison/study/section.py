# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A study as a chapter of a report: verdict, tables, a box for each method on each sequence."""

import numpy as np

from aerotwin_comparison.schemas import STUDY_SCHEMA
from aerotwin_comparison.study.cells import ALL_SEQUENCES
from aerotwin_comparison.study.results import Study
from aerotwin_comparison.study.scores import Quantity
from aerotwin_comparison.study.tables import (
    interval_table,
    method_comparison_table,
    result_tables,
    run_table,
    xtdrone_table,
)
from aerotwin_core.charts import Series, chart, draw_boxes
from aerotwin_core.plots import HALF_IN, WIDE_IN, colours
from aerotwin_core.section import Figure, Headline, Section, Table

_MOST_BOXES_IN_HALF = 6


def study_section(study: Study) -> Section:
    """Return the chapter; its metrics are `study.metrics()`."""
    return Section(
        title=study.name,
        name="study",
        text=(
            f"{len(study.runs)} runs of {len(study.methods)} methods on {len(study.sequences)} "
            "sequences. The run is the unit: intervals and tests are over runs, not over poses. "
            "Failed runs are counted and stay in: behind all others in medians and tests."
        ),
        verdict=verdict(study),
        headline=_headline(study),
        figures=tuple(_boxes(study, q) for q in study.quantities),
        tables=tuple(study_tables(study)),
        metrics=study.metrics(),
        schema=STUDY_SCHEMA,
        warnings=tuple(study.warnings()),
    )


def study_tables(study: Study) -> list[Table]:
    """Return all tables of a study, in their order."""
    if not study.quantities:
        return [run_table(study)]
    tables = result_tables(study)
    if study.choices.choices.centre == "mean":
        tables = [*(xtdrone_table(study, name) for name in study.sequences), *tables]
    if study.duels:
        tables.append(method_comparison_table(study))
    return [*tables, interval_table(study), run_table(study)]


def verdict(study: Study) -> str:
    """Return as text which method is best by APE, and whether the difference is significant."""
    done = f"{len(study.runs) - study.n_failed} of {len(study.runs)} runs completed."
    ranked = []
    for method in study.methods:
        cell = study.cell(method, ALL_SEQUENCES, "ape_trans_m")
        if cell is not None and cell.centre is not None:
            ranked.append((cell.centre, method))
    if len(ranked) < 2:
        return done
    ranked.sort()
    (best, method), (_, second) = ranked[:2]
    if not np.isfinite(best):
        return f"No method completed most of its runs. {done}"
    shares = study.coverage_apart(ALL_SEQUENCES)
    covers = ", ".join(
        f"{name} {shares[name]:.0f} %" for name in (method, second) if name in shares
    )
    but = f"; but they cover different shares ({covers})" if covers else ""
    sure = _sure(study, method, second)
    return f"{method} has the lowest APE, {best:.3f} m, {sure}{but}. {done}"


def _sure(study: Study, method: str, second: str) -> str:
    """Say whether the best method is significantly better than the next one."""
    for duel in study.duels:
        if duel.quantity.key == "ape_trans_m" and {duel.method_a, duel.method_b} == {
            method,
            second,
        }:
            is_sure = "better" if duel.winner == method else "not significantly better"
            return f"{is_sure} than {second} (p = {duel.p_adjusted:.3g} after Holm)"
    return f"ahead of {second} by one run: whether by more than chance, one run does not tell"


def _headline(study: Study) -> tuple[Headline, ...]:
    share = study.n_failed / len(study.runs)
    tiles = [
        Headline(
            label="Runs completed",
            value=f"{len(study.runs) - study.n_failed} of {len(study.runs)}",
            meaning="none dropped",
            status="good" if study.n_failed == 0 else "warn" if share < 0.5 else "bad",
            computed="a run fails without a pose pair, below the least coverage or above the "
            "largest APE of the protocol",
        )
    ]
    centre = study.choices.choices.centre
    for method in study.methods[:5]:
        cell = study.cell(method, ALL_SEQUENCES, "ape_trans_m")
        if cell is None or cell.centre is None:
            continue
        q = cell.quantity
        tiles.append(
            Headline(
                label=f"APE, {method}",
                value=q.show(cell.centre),
                unit=q.unit if np.isfinite(cell.centre) else "",
                meaning=f"{cell.n_runs - cell.n_failed} of {cell.n_runs} runs completed",
                computed=f"{centre} over all runs of the RMSE; its interval stands below",
                better="lower",
            )
        )
    return tuple(tiles)


def _boxes(study: Study, quantity: Quantity) -> Figure:
    """Draw one box, or single runs where they are few, for each method and sequence."""
    cells = [
        cell
        for sequence in study.sequences
        for method in study.methods
        if (cell := study.cell(method, sequence, quantity.key)) is not None
    ]
    palette = dict(zip(study.methods, colours(len(study.methods))))
    is_one = len(study.sequences) == 1
    series = [
        Series(
            label=cell.method if is_one else f"{cell.method}\n{cell.sequence}",
            values=cell.finite,
            colour=palette[cell.method],
        )
        for cell in cells
    ]
    is_wide = len(series) > _MOST_BOXES_IN_HALF
    shown = [s for s in series if len(s.values)]

    def draw(axes) -> None:
        draw_boxes(axes, shown, quantity=quantity.label, unit=quantity.unit)
        for k, s in enumerate(shown):
            side = np.linspace(-0.12, 0.12, len(s.values)) if len(s.values) > 1 else np.zeros(1)
            axes.plot(k + 1 + side, np.sort(s.values), "o", ms=4, color=s.colour, alpha=0.8)

    lost = [
        f"{c.method} on {c.sequence}: {int(np.isinf(c.values).sum())} of {c.n_runs}"
        for c in cells
        if np.isinf(c.values).any()
    ]
    note = f" Not shown, failed: {'; '.join(lost)}." if lost else ""
    hint = f"{quantity.hint[0].upper()}{quantity.hint[1:]}. " if quantity.hint else ""
    return Figure(
        title=quantity.heading,
        caption=f"{hint}Dots are runs.{note}",
        svg=chart(
            f"study-{quantity.key}", draw, width_in=WIDE_IN if is_wide else HALF_IN, height_in=4.2
        ),
        is_wide=is_wide,
    )
