# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Dense localisation close to a wall, with seeds that nothing was tuned on, against its bars."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from aerotwin_campaign import FinishedRun, OverallFigures, RunContext
from evidence.dense_study.page import sections_of
from evidence.dense_study.results import RESULT, read_result
from evidence.dense_study.seed_study import SeedStudy
from evidence.dense_study.thresholds import Row, rows_of, value_text


def study_seed(document: Mapping[str, Any], context: RunContext) -> dict[str, Any]:
    """Map, scan and judge the wall of the seed of a run."""
    result = SeedStudy(context.seed, context.folder).run(lambda stage: print(stage, flush=True))
    rows = [row for row in rows_of([result]) if row.seed is not None]
    missed = [_text(row) for row in rows if row.is_met is not True]
    return {
        "metrics": {_name(row): row.value for row in rows},
        "is_success": not missed,
        "outcome": "; ".join(missed) or "all bars are met",
    }


def figures(runs: Sequence[FinishedRun]) -> OverallFigures:
    """Judge all seeds together; `n_bars_missed` is None if there is none."""
    files = [file for run in runs if (file := run.file(RESULT)).is_file()]
    if not files:
        return OverallFigures(values={"n_bars_missed": None})
    results = [read_result(file) for file in files]
    n_missed = sum(row.is_met is not True for row in rows_of(results))
    return OverallFigures(
        values={"n_bars_missed": n_missed}, sections=sections_of(results, files[0].parent)
    )


def _name(row: Row) -> str:
    words = re.sub(r"[^a-z0-9]+", "_", row.bar.figure.lower())
    unit = f"_{row.bar.unit}" if row.bar.unit else ""
    return f"{row.mapping}_{words}{unit}"


def _text(row: Row) -> str:
    value, unit = value_text(row.value, row.bar.unit)
    limit, _ = value_text(row.limit, row.bar.unit)
    sense = "at least" if row.bar.is_least else "at most"
    return f"{row.bar.figure}, {row.mapping} poses: {value} {unit}, {sense} {limit}"
