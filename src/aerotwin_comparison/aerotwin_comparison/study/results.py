# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Results of a study: by method and sequence, and comparisons of methods."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aerotwin_comparison.study.cells import ALL_SEQUENCES, Cell, cells_of
from aerotwin_comparison.study.method_comparisons import MethodComparison, method_comparisons_of
from aerotwin_comparison.study.protocol import PART, StudyProtocol
from aerotwin_comparison.study.runs import StudyRun
from aerotwin_comparison.study.scores import QUANTITIES, Quantity, RunScores, score_run
from aerotwin_core.protocol import DEFAULT, Protocol
from aerotwin_map_evaluation import MapProtocol
from aerotwin_trajectory_evaluation import TrajectoryProtocol

_COVERAGE_APART_PERCENT = 5.0  # of medians over runs; single runs of one method differ by some
_MOST_NAMED = 5


@dataclass(frozen=True, kw_only=True)
class Study:
    """Result of a study.

    `runs` include failed ones, in input order. There is one of `cells` for each method, sequence
    (and all of them together) and score that any run has. `protocols` are those of the scores.
    """

    name: str
    runs: tuple[RunScores, ...]
    cells: tuple[Cell, ...]
    duels: tuple[MethodComparison, ...]
    choices: Protocol[StudyProtocol]
    protocols: dict[str, dict[str, Any]]

    @property
    def methods(self) -> list[str]:
        """In the order of the runs."""
        return list(dict.fromkeys(s.run.method for s in self.runs))

    @property
    def sequences(self) -> list[str]:
        """In the order of the runs."""
        return list(dict.fromkeys(s.run.sequence for s in self.runs))

    @property
    def quantities(self) -> list[Quantity]:
        """The scores that any run has."""
        keys = {cell.quantity.key for cell in self.cells}
        return [q for q in QUANTITIES if q.key in keys]

    def cell(self, method: str, sequence: str, key: str) -> Cell | None:
        """Return one cell; None where the method has no run on the sequence."""
        for cell in self.cells:
            if (cell.method, cell.sequence, cell.quantity.key) == (method, sequence, key):
                return cell
        return None

    def coverage_apart(self, sequence: str) -> dict[str, float]:
        """Return the coverage of each method [%] where it differs too much to rank their errors."""
        cells = [self.cell(method, sequence, "coverage_percent") for method in self.methods]
        shares = {c.method: c.centre for c in cells if c is not None and c.centre is not None}
        is_apart = max(shares.values(), default=0.0) - min(shares.values(), default=0.0)
        return shares if is_apart > _COVERAGE_APART_PERCENT else {}

    @property
    def n_failed(self) -> int:
        """Runs that failed."""
        return sum(bool(s.failure) for s in self.runs)

    def warnings(self) -> list[str]:
        """Return what must be known before trusting the numbers."""
        found = []
        if self.n_failed:
            found.append(
                f"{self.n_failed} of {len(self.runs)} runs failed; they count as the worst "
                "(medians, tests) and are listed with the reason."
            )
        found += _missing_runs(self)
        found += _single_runs(self)
        found += _different_coverage(self)
        found += _as_large_as_the_step(self)
        dead = [d for d in self.duels if d.comparison.smallest_p_value > self.choices.choices.alpha]
        if dead:
            n = max(d.comparison.n_a for d in dead)
            found.append(
                f"Up to {n} runs cannot reach a p-value below "
                f"{min(d.comparison.smallest_p_value for d in dead):.3g}, however large the "
                "difference: no significance there does not mean equal."
            )
        return found

    def metrics(self) -> dict[str, Any]:
        """Return the numbers for JSON."""
        return {
            "n_runs": len(self.runs),
            "n_failed": self.n_failed,
            "methods": self.methods,
            "sequences": self.sequences,
            "runs": [s.plain() for s in self.runs],
            "cells": [cell.plain() for cell in self.cells],
            "comparisons": [duel.plain() for duel in self.duels],
            "overall": self._overall(),
            "protocol": {PART: self.choices.plain(), **self.protocols},
        }

    def _overall(self) -> dict[str, dict[str, float | None]]:
        """Return the centre over all runs by method and score, for conditions on them."""
        found: dict[str, dict[str, float | None]] = {}
        for cell in self.cells:
            if cell.sequence == ALL_SEQUENCES:
                centre = cell.centre
                shown = centre if centre is not None and np.isfinite(centre) else None
                row = found.setdefault(cell.method, {"failed": float(cell.n_failed)})
                row[cell.quantity.key] = shown
        return found


def evaluate_study(
    name: str,
    runs: Sequence[StudyRun],
    *,
    protocol: Protocol[StudyProtocol] | None = None,
    trajectory: Protocol[TrajectoryProtocol] | None = None,
    maps: Protocol[MapProtocol] | None = None,
    on_run: Callable[[str], None] | None = None,
) -> Study:
    """Score all runs and compare the methods.

    Each method, sequence and seed occurs at most once. `on_run` is called with the name of each run
    after it was scored.
    """
    chosen = protocol or Protocol(name=DEFAULT, part=PART, choices=StudyProtocol())
    trajectory = trajectory or Protocol(
        name=DEFAULT, part="trajectory", choices=TrajectoryProtocol()
    )
    maps = maps or Protocol(name=DEFAULT, part="map", choices=MapProtocol())
    scored = []
    for run in runs:
        scored.append(score_run(run, study=chosen.choices, trajectory=trajectory, maps=maps))
        if on_run is not None:
            on_run(run.name)
    return study_of(name, scored, chosen, {"trajectory": trajectory.plain(), "map": maps.plain()})


def study_of(
    name: str,
    scored: Sequence[RunScores],
    choices: Protocol[StudyProtocol],
    protocols: dict[str, dict[str, Any]],
) -> Study:
    """Return the study of scored runs."""
    return Study(
        name=name,
        runs=tuple(scored),
        cells=tuple(cells_of(scored, choices.choices)),
        duels=tuple(method_comparisons_of(scored, choices.choices)),
        choices=choices,
        protocols=protocols,
    )


def _single_runs(study: Study) -> list[str]:
    """Say which methods have too few runs for any test."""
    counts = {m: sum(s.run.method == m for s in study.runs) for m in study.methods}
    single = [method for method, n in counts.items() if n == 1]
    if not single or len(study.methods) < 2:
        return []
    return [
        f"One run of {', '.join(single)}: no significance test and no interval can be given; a "
        "difference may be chance. Repeat each method, six times or more with the same sequences "
        "and seeds."
    ]


def _different_coverage(study: Study) -> list[str]:
    """Say where methods are ranked by errors over different shares of a sequence."""
    found = []
    for sequence in study.sequences:
        shares = study.coverage_apart(sequence)
        if shares:
            said = ", ".join(f"{method} {share:.0f} %" for method, share in shares.items())
            found.append(
                f"On {sequence} the methods cover different shares ({said}): their errors stand "
                "for different parts of it, no best is marked by them."
            )
    return found


def _as_large_as_the_step(study: Study) -> list[str]:
    """Say whose relative error is as large as the motion: frames are mixed up, or it is at rest."""
    step_m = study.protocols.get("trajectory", {}).get("choices", {}).get("rpe_m", np.inf)
    names = [s.run.name for s in study.runs if s.values.get("rpe_trans_m", 0.0) >= step_m]
    if not names:
        return []
    shown = ", ".join(names[:_MOST_NAMED]) + (" …" if len(names) > _MOST_NAMED else "")
    return [
        f"RPE over {step_m:g} m is as large as the step itself in {len(names)} runs ({shown}): are "
        "the attitudes of the same body axes as the truth's?"
    ]


def _missing_runs(study: Study) -> list[str]:
    requested = study.choices.choices.n_runs
    if not requested:
        return []
    odd = []
    for method in study.methods:
        for sequence in study.sequences:
            n = sum((s.run.method, s.run.sequence) == (method, sequence) for s in study.runs)
            if n != requested:
                odd.append(f"{method} on {sequence}: {n}")
    return [f"The protocol asks for {requested} runs of each: {'; '.join(odd)}."] if odd else []
