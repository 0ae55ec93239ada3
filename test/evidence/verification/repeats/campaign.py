# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""One run: a route is taught and repeated with one seed, and judged.

Its folder holds the taught graph, a folder for each repeat, and the scores of all of them.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aerotwin_campaign import RunContext
from aerotwin_core.cli import write_text_atomically
from aerotwin_core.errors import UserError
from aerotwin_rendering import WorldQueries
from aerotwin_repeat_evaluation import metrics_of
from aerotwin_scenarios.teach_repeat import RepeatStudy, run_repeat
from aerotwin_scenarios.teach_repeat.judging import TaughtRouteTruth, evaluate_runs
from aerotwin_scenarios.teach_repeat.record import RECORD, read_run
from evidence.verification.repeats import CASES
from evidence.verification.repeats.case import Case
from evidence.verification.repeats.rows import (
    SCORES,
    Row,
    metrics_of_run,
    missed,
    rows_of_run,
    shown,
)


def repeat(document: Mapping[str, Any], context: RunContext) -> dict[str, Any]:
    """Teach, repeat and judge the `case` of a document with the seed of a run."""
    if document["case"] not in CASES:
        raise UserError(f"case: {document['case']} must be one of {', '.join(CASES)}")
    case = CASES[document["case"]]
    scores = scores_of_case(case, context.seed, context.folder)
    found = missed(rows_of_run(case, scores))
    texts = ["{} {} {}, at most {}".format(row["figure"], *_values(row)) for row in found]
    return {
        "metrics": metrics_of_run(case, scores),
        "is_success": not found,
        "outcome": "; ".join(texts) or "all limits met",
    }


def _values(row: Row) -> tuple[str, str, str]:
    value, threshold, unit, _ = shown(row)
    return value, unit, threshold


def scores_of_case(case: Case, seed: int, folder: Path) -> dict[str, Any]:
    """Teach, repeat and judge a case in an empty folder; write the scores there and return them."""
    taught = case.teach(seed, folder)
    study = RepeatStudy(n_repeats=case.n_repeats, seed=seed)
    queries = WorldQueries(taught.world)
    folders = [folder / f"repeat_{number + 1}" for number in range(case.n_repeats)]
    for number, each in enumerate(folders):
        record = run_repeat(
            taught.graph, taught.ids, queries, study, number,
            displacement=taught.route.displacement,
        )  # fmt: skip
        record.write(each)
    scores = judged(case, seed, taught.route, folders)
    write_text_atomically(folder / SCORES, json.dumps(scores, indent=1) + "\n")
    return scores


def judged(case: Case, seed: int, route: TaughtRouteTruth, folders: list[Path]) -> dict[str, Any]:
    """Return the scores of the repeats in folders; one that never drove passed no mark."""
    found = [run for folder in folders if (run := read_run(folder)) is not None]
    if not found:
        raise UserError(f"no repeat drove: see states.csv of {folders[0].parent}")
    evaluation = evaluate_runs(route, found, method=case.title)
    floor, scores = evaluation.floor_at_marks_m, metrics_of(evaluation)
    n_stood = len(folders) - len(found)
    scores["marks"]["n_missed"] += n_stood * len(route.marks)
    scores["interventions"]["n"] += n_stood
    return scores | {
        "case": case.name,
        "seed": seed,
        "floor_at_marks_m": None if floor is None else floor.tolist(),
        "drives": [json.loads((folder / RECORD).read_text("utf-8")) for folder in folders],
    }
