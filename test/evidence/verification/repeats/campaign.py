# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Drive what is missing of a campaign, one process for each route; judge what is there.

A folder for each case and seed holds the taught graph, a folder for each repeat, and the scores of
all of them. A repeat is whole when its `repeat.json` is there, which is written last; what was
interrupted is driven again, what failed is kept like any other.
"""

import json
import os
import signal
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aerotwin_core.child_python import spawning_context
from aerotwin_core.cli import write_text_atomically
from aerotwin_core.errors import UserError
from aerotwin_rendering import WorldQueries
from aerotwin_repeat_evaluation import metrics_of
from aerotwin_scenarios.teach_repeat import RepeatStudy, run_repeat
from aerotwin_scenarios.teach_repeat.judging import TaughtRouteTruth, evaluate_runs
from aerotwin_scenarios.teach_repeat.record import RECORD, read_run
from evidence.verification.repeats.case import Case

SCORES = "scores.json"
_END_S = 10.0


@dataclass(frozen=True, kw_only=True)
class Work:
    """The repeats of one case with one seed, and where they are kept."""

    case: Case
    seed: int
    runs: Path

    @property
    def folder(self) -> Path:
        """Of everything of this case and seed."""
        return self.runs / self.case.name / f"seed-{self.seed}"

    def repeat_folder(self, number: int) -> Path:
        """Of one repeat."""
        return self.folder / f"repeat_{number + 1}"

    @property
    def is_done(self) -> bool:
        """Whether it was judged."""
        return (self.folder / SCORES).is_file()

    def do(self) -> None:
        """Teach, repeat and judge what is not there yet."""
        if self.is_done:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        taught = self.case.teach(self.seed, self.folder)
        study = RepeatStudy(n_repeats=self.case.n_repeats, seed=self.seed)
        queries = WorldQueries(taught.world)
        for number in range(study.n_repeats):
            if not (self.repeat_folder(number) / RECORD).is_file():
                record = run_repeat(
                    taught.graph, taught.ids, queries, study, number,
                    displacement=taught.route.displacement,
                )  # fmt: skip
                record.write(self.repeat_folder(number))
        text = json.dumps(self._judged(taught.route), indent=1)
        write_text_atomically(self.folder / SCORES, text + "\n")

    def _judged(self, route: TaughtRouteTruth) -> dict[str, Any]:
        """Return the scores of the repeats; one that never drove passed no mark."""
        folders = [self.repeat_folder(number) for number in range(self.case.n_repeats)]
        found = [run for folder in folders if (run := read_run(folder)) is not None]
        if not found:
            raise UserError(f"no repeat drove: see states.csv of {self.folder}")
        evaluation = evaluate_runs(route, found, method=self.case.title)
        floor, scores = evaluation.floor_at_marks_m, metrics_of(evaluation)
        n_stood = len(folders) - len(found)
        scores["marks"]["n_missed"] += n_stood * len(route.marks)
        scores["interventions"]["n"] += n_stood
        return scores | {
            "case": self.case.name,
            "seed": self.seed,
            "floor_at_marks_m": None if floor is None else floor.tolist(),
            "drives": [json.loads((folder / RECORD).read_text("utf-8")) for folder in folders],
        }

    def scores(self) -> dict[str, Any]:
        """Return what `do` found."""
        return dict(json.loads((self.folder / SCORES).read_text(encoding="utf-8")))


def campaign(
    cases: Iterable[Case], seeds: Sequence[int], runs: Path, *, n_workers: int,
    on_done: Callable[[], Any],
) -> dict[str, list[dict[str, Any]]]:  # fmt: skip
    """Do what is missing; return the scores of every seed by the name of the case.

    Parameters
    ----------
    cases : iterable of Case
    seeds : sequence of int
        Of worlds, maps and runs.
    runs : Path
        Where everything is kept.
    n_workers : int
        Processes at a time, each on a core of its own; 1 works in this one.
    on_done : callable
        Called after each case and seed.
    """
    works = [Work(case=case, seed=seed, runs=runs) for seed in seeds for case in cases]
    if n_workers == 1:
        for work in works:
            work.do()
            on_done()
    else:
        _do_together(works, n_workers, on_done)
    found: dict[str, list[dict[str, Any]]] = {}
    for work in works:
        found.setdefault(work.case.name, []).append(work.scores())
    return found


def _do_together(works: Sequence[Work], n_workers: int, on_done: Callable[[], Any]) -> None:
    """Do works in processes, each on a core of its own."""
    context = spawning_context()
    cores = context.Queue()
    available = sorted(os.sched_getaffinity(0))
    for k in range(n_workers):
        cores.put(available[k % len(available)])
    with ProcessPoolExecutor(
        n_workers, mp_context=context, initializer=_pin_to_core, initargs=(cores,)
    ) as pool:
        try:
            for done in as_completed([pool.submit(work.do) for work in works]):
                done.result()
                on_done()
        except BaseException:  # the pool would wait for all works that were begun
            pool.shutdown(wait=False, cancel_futures=True)
            for child in (children := context.active_children()):
                child.terminate()
            for child in children:
                child.join(_END_S)
            raise


def _pin_to_core(cores: Any) -> None:
    """Keep this process, and all pools of threads in it, to one core.

    Ctrl-C ends it in silence: as an exception it would end the work under way, not the next one.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.sched_setaffinity(0, {cores.get()})
