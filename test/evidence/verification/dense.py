# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Dense localisation close to a wall, with seeds that nothing was tuned on, against its bars."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evidence.dense_study.page import write_page
from evidence.dense_study.results import RESULT, read_result
from evidence.dense_study.seed_study import SeedStudy
from evidence.dense_study.thresholds import Row, rows_of, value_text


def verify_dense(seeds: Sequence[int], runs: Path, *, is_quiet: bool) -> list[dict[str, Any]]:
    """Do what is missing of the study, write its page; return a row for each bar.

    Parameters
    ----------
    seeds : sequence of int
        Of worlds, flights and cameras.
    runs : Path
        A folder for each seed; a scan that is whole is kept, a second call goes on after it.
    is_quiet : bool
        Whether nothing is printed.
    """
    from aerotwin_core.cli import say

    files = [runs / f"seed-{seed}" / RESULT for seed in seeds]
    for seed, file in zip(seeds, files, strict=True):
        if file.is_file():
            continue
        SeedStudy(seed, file.parent).run(
            lambda value_text, seed=seed: (
                None if is_quiet else say(f"dense, seed {seed}: {value_text}")
            )
        )
    rows = rows_of([read_result(file) for file in files])
    page = write_page(runs, files)
    if not is_quiet:
        for row in rows:
            say(_line(row))
        say(f"report: {page}")
    return [_plain(row) for row in rows]


def _line(row: Row) -> str:
    value, unit = value_text(row.value, row.bar.unit)
    limit, _ = value_text(row.limit, row.bar.unit)
    which = "all seeds" if row.seed is None else f"seed {row.seed}"
    sense = "at least" if row.bar.is_least else "at most"
    verdict = "met" if row.is_met else "MISSED"
    figure = f"{row.bar.figure}, {row.mapping} poses"
    return f"{which:<11}{figure:<58}{value:>9} {unit:<3} {sense} {limit:<6} {verdict}"


def _plain(row: Row) -> dict[str, Any]:
    return {
        "figure": row.bar.figure, "mapping": row.mapping, "seed": row.seed, "value": row.value,
        "threshold": row.limit, "met": row.is_met is True,
    }  # fmt: skip
