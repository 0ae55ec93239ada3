# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Tables of a study, as sections show them and as Markdown, LaTeX (booktabs) and CSV."""

import csv
import io
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from aerotwin_comparison.schemas import CELL, METHOD_COMPARISON
from aerotwin_comparison.study.cells import ALL_SEQUENCES, Cell
from aerotwin_comparison.study.results import Study
from aerotwin_comparison.study.scores import BY_KEY, FAILS, QUANTITIES, Quantity
from aerotwin_core.section import Table

XTDRONE_ROWS = (
    ("RPE rotation (deg)", "rpe_rot_deg"),
    ("RPE translation (m)", "rpe_trans_m"),
    ("APE rotation (deg)", "ape_rot_deg"),
    ("APE translation (m)", "ape_trans_m"),
    ("CPU (%)", "cpu_percent"),
    ("Memory (MB)", "memory_mb"),
)
"""Tables III and IV of Xiao et al. (2020); memory there is a share of 16 GB."""
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "−": "$-$",
    "…": r"\ldots{}",
    "±": r"$\pm$",
    "×": r"$\times$",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",  # at the start of a row it would be the argument of the \\ before
    "]": "{]}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}


def result_tables(study: Study) -> list[Table]:
    """Return a table for each sequence and one of all: methods as rows, scores as columns."""
    names = [*study.sequences] if len(study.sequences) == 1 else [*study.sequences, ALL_SEQUENCES]
    return [_of_sequence(study, name) for name in names]


def _of_sequence(study: Study, sequence: str) -> Table:
    quantities = study.quantities
    methods = [m for m in study.methods if study.cell(m, sequence, quantities[0].key)]
    rows, best = [], []
    for method in methods:
        cells = [study.cell(method, sequence, q.key) for q in quantities]
        first = next(c for c in cells if c is not None)
        rows.append(
            (method, f"{first.n_runs - first.n_failed}/{first.n_runs}", *map(_shown, cells))
        )
    is_apart = bool(study.coverage_apart(sequence))
    for column, quantity in enumerate(quantities):
        if is_apart and quantity.key in FAILS:
            continue
        leader = _best(study, methods, sequence, quantity)
        if leader is not None and len(methods) > 1:
            best.append((leader, column + 2))
    name = "All sequences" if sequence == ALL_SEQUENCES else f"Sequence {sequence}"
    centre = study.choices.choices.centre
    return Table(
        title=name,
        caption=f"{centre.capitalize()} over runs; completed of all runs. A failed "
        f"run {'ranks behind all others' if centre == 'median' else 'has no part in a mean'}."
        + (" The methods cover different shares: no best is marked by error." if is_apart else ""),
        columns=("method", "runs", *(q.heading for q in quantities)),
        column_hints=("", "completed of all", *(q.hint for q in quantities)),
        rows=tuple(rows),
        best=tuple(best),
    )


def _shown(cell: Cell | None) -> str:
    return "–" if cell is None else cell.quantity.show(cell.centre)


def _best(study: Study, methods: list[str], sequence: str, quantity: Quantity) -> int | None:
    """Return the row of the best method; None without one alone."""
    if not quantity.better:
        return None
    sign = 1.0 if quantity.better == "lower" else -1.0
    found = []
    for row, method in enumerate(methods):
        cell = study.cell(method, sequence, quantity.key)
        if cell is not None and cell.centre is not None and len(cell.finite):
            found.append((sign * cell.centre, row))
    found.sort()
    is_ahead = len(found) > 1 and found[0][0] < found[1][0]
    return found[0][1] if is_ahead else None


def interval_table(study: Study) -> Table:
    """Return quartiles and intervals: one row for each method, sequence and score."""
    rows = []
    for cell in study.cells:
        if cell.centre is not None:
            q = cell.quantity
            numbers = (cell.centre, *cell.quartiles, cell.low, cell.high)
            rows.append(
                (
                    cell.method,
                    cell.sequence,
                    q.heading,
                    str(len(cell.values)),
                    *map(q.show, numbers),
                )
            )
    choices = study.choices.choices
    return Table(
        title="Spread over runs",
        caption=f"Quartiles, and the {choices.confidence:.0%} interval of the {choices.centre}: "
        "bootstrap over runs, the run being the unit; – for a single run.",
        columns=(
            *("method", "sequence", "score", "runs", choices.centre, "25 %", "75 %"),
            *("low", "high"),
        ),
        rows=tuple(rows),
    )


def method_comparison_table(study: Study) -> Table:
    """Return the comparisons of methods."""
    rows = []
    for duel in study.duels:
        c, q = duel.comparison, duel.quantity
        rows.append(
            (
                q.heading,
                duel.method_a,
                duel.method_b,
                f"{c.n_a} pairs" if duel.is_paired else f"{c.n_a}, {c.n_b}",
                "–" if duel.typical is None else f"{duel.typical:+.{q.digits}f}",
                f"{c.effect:+.2f}",
                f"{c.p_value:.4f}",
                f"{duel.p_adjusted:.4f}",
                duel.winner or "not decided",
            )
        )
    return Table(
        title="Methods against each other",
        caption="Differences are b minus a. Runs of the same sequence and seed are pairs (Wilcoxon "
        "signed ranks); without pairs Mann-Whitney. Effect: -1 to 1. Holm: p for all pairs of "
        "methods of a score together.",
        columns=(
            *("score", "a", "b", "runs", "typical difference", "effect", "p", "p (Holm)"),
            "better",
        ),
        rows=tuple(rows),
    )


def run_table(study: Study) -> Table:
    """Return all runs, failed ones with the reason."""
    quantities = study.quantities
    return Table(
        title="All runs",
        columns=("method", "sequence", "seed", *(q.heading for q in quantities), "state"),
        rows=tuple(
            (
                s.run.method,
                s.run.sequence,
                s.run.seed or "–",
                *(q.show(s.value(q.key)) for q in quantities),
                f"failed: {s.failure}" if s.failure else "ok",
            )
            for s in study.runs
        ),
    )


def xtdrone_table(study: Study, sequence: str) -> Table:
    """Return tables III and IV of Xiao et al. (2020) in one: means, methods as columns."""
    rows = []
    for label, key in XTDRONE_ROWS:
        digits = BY_KEY[key].digits
        cells = [study.cell(method, sequence, key) for method in study.methods]
        if all(cell is None or cell.centre is None for cell in cells):
            continue
        shown = (
            "–" if c is None or not len(c.finite) else f"{c.finite.mean():.{digits}f}"
            for c in cells
        )
        rows.append((label, *shown))
    counts = ", ".join(_count(study, method, sequence) for method in study.methods)
    return Table(
        title=f"Accuracy and cost: {sequence}",
        caption="As tables III and IV of Xiao et al. (2020): means over completed runs "
        f"({counts}).",
        columns=("", *study.methods),
        rows=tuple(rows),
    )


def _count(study: Study, method: str, sequence: str) -> str:
    runs = [s for s in study.runs if (s.run.method, s.run.sequence) == (method, sequence)]
    return f"{method} {sum(not s.failure for s in runs)} of {len(runs)}"


def markdown(tables: Sequence[Table], title: str) -> str:
    """Return tables as Markdown."""
    lines = [f"# {_cell_text(title)}", ""]
    for table in tables:
        lines += [f"## {_cell_text(table.title)}", ""]
        lines += [_cell_text(table.caption), ""] if table.caption else []
        lines.append("| " + " | ".join(map(_cell_text, table.columns)) + " |")
        lines.append("|" + "---|" * len(table.columns))
        for r, row in enumerate(table.rows):
            texts = [
                f"**{_cell_text(cell)}**" if (r, c) in table.best else _cell_text(cell)
                for c, cell in enumerate(row)
            ]
            lines.append("| " + " | ".join(texts) + " |")
        lines.append("")
    return "\n".join(lines)


def _cell_text(cell: object) -> str:
    text = "–" if cell is None else str(cell)
    return re.sub(r"([\\|*_`<>])", r"\\\1", " ".join(text.split()))


def latex(tables: Sequence[Table]) -> str:
    r"""Return tables as LaTeX; needs \usepackage{booktabs}."""
    lines = ["% \\usepackage{booktabs}"]
    for table in tables:
        columns = "l" * 1 + "r" * (len(table.columns) - 1)
        lines += ["\\begin{table}", "\\centering", f"\\caption{{{escape_latex(_caption(table))}}}"]
        lines += [f"\\begin{{tabular}}{{{columns}}}", "\\toprule"]
        lines.append(" & ".join(map(escape_latex, table.columns)) + r" \\")
        lines.append("\\midrule")
        for r, row in enumerate(table.rows):
            texts = [
                f"\\textbf{{{escape_latex(cell)}}}" if (r, c) in table.best else escape_latex(cell)
                for c, cell in enumerate(row)
            ]
            lines.append(" & ".join(texts) + r" \\")
        lines += ["\\bottomrule", "\\end{tabular}", "\\end{table}", ""]
    return "\n".join(lines)


def _caption(table: Table) -> str:
    return f"{table.title}. {table.caption}".strip()


def escape_latex(cell: object) -> str:
    r"""Return text for LaTeX.

    Examples
    --------
    >>> print(escape_latex("stereo_odometry 50 %"))
    stereo\_odometry 50 \%
    """
    text = "–" if cell is None else " ".join(str(cell).split())
    return "".join(_LATEX.get(sign, sign) for sign in text)


def csv_of_runs(study: Study) -> str:
    """Return one line for each run: names, state, all scores with units in the headings."""
    rows = [
        (
            *(s.run.method, s.run.sequence, s.run.seed, s.failure),
            *(s.values.get(q.key) for q in QUANTITIES),
        )
        for s in study.runs
    ]
    return _csv(("method", "sequence", "seed", "failure", *(q.key for q in QUANTITIES)), rows)


def csv_of_summary(study: Study) -> str:
    """Return one line for each method, sequence (and "all") and score, in full digits.

    A number is empty where failed runs decide it, or runs are too few; `n_failed` says which.
    """
    return _csv_of(CELL["required"], [cell.plain() for cell in study.cells])


def csv_of_method_comparisons(study: Study) -> str:
    """Return one line for each pair of methods and score; differences are b minus a."""
    return _csv_of(METHOD_COMPARISON["required"], [duel.plain() for duel in study.duels])


def _csv_of(columns: Sequence[str], found: Sequence[dict[str, Any]]) -> str:
    return _csv(columns, [tuple(line[name] for name in columns) for line in found])


def _csv(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_plain(value) for value in row] for row in rows)
    return out.getvalue()


def _plain(value: object) -> str:
    """Return a value for a cell: None is empty, and text is escaped so that it is not a formula."""
    if value is None:
        return ""
    if not isinstance(value, str):
        return repr(value.item() if isinstance(value, np.generic) else value)
    return f"'{value}" if value[:1] in ("=", "+", "-", "@", "\t") else value
