# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Repeats of taught routes in closed loop, with seeds never used for tuning, against their bars.

A case says how its route is taught (`case.Case`); the campaign drives what is missing and judges
every seed (`campaign`), the bars become rows (`rows`), and all stands on one page (`page`).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evidence.verification.repeats.bent import CAMPUS_WARP, GRASSLAND_WARP, ROUTE_WARP
from evidence.verification.repeats.driven import DRIVEN
from evidence.verification.repeats.surveyed import SURVEY

CASES = {case.name: case for case in (DRIVEN, CAMPUS_WARP, ROUTE_WARP, GRASSLAND_WARP, SURVEY)}


def verify_repeats(
    names: Sequence[str], seeds: Sequence[int], runs: Path, *, n_workers: int, is_quiet: bool
) -> list[dict[str, Any]]:
    """Drive what is missing of cases (all without names); return a row per figure.

    The page of the cases is written into the folder of the runs. Rows are printed unless quiet.
    """
    from aerotwin_core.cli import progress, say
    from evidence.verification.repeats.campaign import campaign
    from evidence.verification.repeats.page import write_page
    from evidence.verification.repeats.rows import line_of, rows_of

    cases = [CASES[name] for name in names or CASES]
    bar = progress(len(cases) * len(seeds), "repeats", unit="route")
    found = campaign(cases, seeds, runs, n_workers=n_workers, on_done=bar.update)
    bar.close()
    rows = rows_of(cases, found)
    page = write_page(runs, cases, found, rows)
    if not is_quiet:
        for row in rows:
            say(line_of(row))
        say(f"{page}")
    return rows
