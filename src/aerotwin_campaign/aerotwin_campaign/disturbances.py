# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Disturbances of a campaign, from mild to severe: axes, and the runs of a point on them."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, Self

from aerotwin_campaign.axes import Axis, IntegersAxis, ListedAxis, LogUniformAxis, UniformAxis
from aerotwin_campaign.campaign_file import Campaign
from aerotwin_campaign.execution import RunOptions
from aerotwin_campaign.function import versions_of
from aerotwin_campaign.local_engine import run_locally
from aerotwin_campaign.mildest_search import EvaluatedPoint
from aerotwin_campaign.paths import with_value
from aerotwin_campaign.spec import RunSpec, short_id
from aerotwin_campaign.store import Store, StoredRun
from aerotwin_core.errors import ParameterError, UserError
from aerotwin_core.foreign_text import shown
from aerotwin_core.gate import Condition

MOST_RUNS_EACH = 1000
"""Of a point: seeds x repeats."""
_DIGITS = 9
_ROBUSTNESS = "robustness"


@dataclass(frozen=True, kw_only=True)
class Disturbance:
    """The values of one axis from mild to severe."""

    path: str
    mild: float
    severe: float
    is_whole: bool = False
    is_logarithmic: bool = False

    def value(self, t: float) -> float | int:
        """Return the value at t in [0, 1]."""
        if self.is_logarithmic:
            found = self.mild * math.exp(t * math.log(self.severe / self.mild))
        else:
            found = self.mild + t * (self.severe - self.mild)
        return round(found) if self.is_whole else float(f"{found:.{_DIGITS}g}")

    def t(self, value: float) -> float:
        """Return where a value is."""
        if self.is_logarithmic:
            return math.log(value / self.mild) / math.log(self.severe / self.mild)
        return (value - self.mild) / (self.severe - self.mild)


def disturbance_of(path: str, axis: Axis, place: str) -> Disturbance:
    """Return the disturbance of an axis of numbers: from its first value to its last.

    `place` begins the messages. Raises `ParameterError` if it has no two ends.
    """
    if isinstance(axis, ListedAxis):
        ends = axis.values[0], axis.values[-1]
        if all(isinstance(end, int | float) and not isinstance(end, bool) for end in axis.values):
            mild, severe = ends
            if mild != severe:
                is_whole = all(isinstance(value, int) for value in axis.values)
                return Disturbance(path=path, mild=mild, severe=severe, is_whole=is_whole)  # type: ignore[arg-type]
    elif isinstance(axis, UniformAxis | LogUniformAxis | IntegersAxis) and axis.low < axis.high:
        return Disturbance(
            path=path,
            mild=axis.low,
            severe=axis.high,
            is_whole=isinstance(axis, IntegersAxis),
            is_logarithmic=isinstance(axis, LogUniformAxis),
        )
    raise ParameterError(
        f"{place}: has no mild and severe end; expected numbers, or {{uniform, log_uniform or "
        f"integers: {{from, to}}}}; choose axes by --axis {path}=MILD:SEVERE"
    )


@dataclass(frozen=True, kw_only=True)
class Criterion:
    """What breaks a run: by default that it is no success.

    Attributes
    ----------
    expectation : int or None
        Its number: the run breaks if it is not met.
    condition : Condition or None
        On a metric: the run breaks if it holds, or the metric is not known.
    """

    expectation: int | None = None
    condition: Condition | None = None

    def judge(self, run: StoredRun) -> tuple[bool, float | None]:
        """Return whether a run breaks, and its margin: negative if it does, None if unknown.

        Without a condition the margin is a robustness, the least of all or that of the expectation.

        Raises `UserError` if a run that is a success lacks the metric.
        """
        if self.condition is not None:
            return self._by_condition(run, self.condition)
        if self.expectation is not None:
            prefix = f"expect.{self.expectation}"
            is_broken = not self._metric(run, f"{prefix}.is_met", "--expect")
            robustness = [run.metrics.get(f"{prefix}.{_ROBUSTNESS}")]
        else:
            is_broken = not run.is_success
            robustness = [
                value
                for name, value in run.metrics.items()
                if name.rpartition(".")[2] == _ROBUSTNESS
            ]
        margin = min((x for x in robustness if isinstance(x, int | float)), default=None)
        is_consistent = margin is not None and (margin < 0.0) == is_broken
        return is_broken, margin if is_consistent else None

    def _by_condition(self, run: StoredRun, condition: Condition) -> tuple[bool, float | None]:
        value = self._metric(run, condition.name, "--breaks")
        if value is None:
            return True, None
        if not isinstance(value, int | float):
            raise UserError(f"--breaks: {condition.name} = {shown(value)} is no number")
        is_broken = condition.holds(float(value))
        if condition.operator in ("==", "!="):
            return is_broken, None
        sign = 1.0 if condition.operator.startswith(">") else -1.0
        return is_broken, sign * (condition.limit - float(value))

    def _metric(self, run: StoredRun, name: str, option: str) -> Any:
        if run.is_success and name not in run.metrics:
            raise UserError(
                f"{option}: the runs have no metric {name}; they have "
                f"{', '.join(sorted(run.metrics)) or 'none'}"
            )
        return run.metrics.get(name)


@dataclass(frozen=True, kw_only=True)
class DisturbedPoint(EvaluatedPoint):
    """A point, its values by path, and the run of it that is nearest to breaking, or broke."""

    values: Mapping[str, float | int]
    seed: int
    run_id: str
    outcome: str

    def __hash__(self) -> int:
        return hash(self.run_id)


class DisturbedRuns:
    """Makes the runs of points, with workers that stay warm; what the store has is read.

    Used as a context.

    Parameters
    ----------
    campaign : Campaign
        Its seeds and repeats are those of each point.
    document : mapping
        What the function receives, before it is disturbed.
    disturbances : sequence of Disturbance
    criterion : Criterion
    store : Store
    n_workers : int
    on_run : callable
        Called after each run.
    """

    def __init__(
        self,
        campaign: Campaign,
        document: Mapping[str, Any],
        disturbances: Sequence[Disturbance],
        criterion: Criterion,
        store: Store,
        n_workers: int,
        on_run: Callable[[], Any] = lambda: None,
    ) -> None:
        given = campaign.parameters
        if len(campaign.seeds) * given.repeats > MOST_RUNS_EACH:
            raise UserError(
                f"{len(campaign.seeds)} seeds x {given.repeats} repeats are more than "
                f"{MOST_RUNS_EACH} runs of each point; list fewer"
            )
        self._campaign, self._document, self._store = campaign, document, store
        self._disturbances, self._criterion = tuple(disturbances), criterion
        self._on_run, self._versions = on_run, versions_of(campaign.run)
        self._waiting: SimpleQueue[RunSpec] = SimpleQueue()
        self.n_runs = 0
        self._reports = run_locally(
            self._asked(),
            store,
            RunOptions(timeout_s=given.timeout_s, keep=given.keep),
            run=campaign.run,
            n_workers=n_workers,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._reports.close()  # type: ignore[attr-defined]

    def evaluate(self, ts: Sequence[tuple[float, ...]]) -> list[EvaluatedPoint]:
        """Return what becomes of points; raises `UserError` if a run cannot be made."""
        values = [
            {each.path: each.value(t) for each, t in zip(self._disturbances, point)} for point in ts
        ]
        specs = [self._specs(each) for each in values]
        runs = self._made([spec for each in specs for spec in each])
        return [self._point(each, own, runs) for each, own in zip(values, specs)]

    def _specs(self, values: Mapping[str, float | int]) -> list[RunSpec]:
        document: Any = self._document
        for path, value in values.items():
            document = with_value(document, path.split("."), value)
        return [
            RunSpec(
                run=self._campaign.run,
                document=document,
                seed=seed,
                repeat=repeat,
                versions=self._versions,
            )
            for seed in self._campaign.seeds
            for repeat in range(self._campaign.parameters.repeats)
        ]

    def _made(self, specs: Sequence[RunSpec]) -> dict[str, StoredRun]:
        found: dict[str, StoredRun] = {}
        missing = {}
        for spec in specs:
            if self._store.has(spec.id):
                found[spec.id] = self._store.read(spec.id)
            else:
                missing[spec.id] = spec
        for spec in missing.values():
            self._waiting.put(spec)
        for _ in missing:
            report = next(self._reports)
            if report.stored is None:
                raise UserError(f"run {short_id(report.id)} could not be made: {report.failure}")
            found[report.id] = report.stored
            self.n_runs += 1
            self._on_run()
        return found

    def _asked(self) -> Iterator[RunSpec | None]:
        while True:
            found = None
            with suppress(Empty):
                found = self._waiting.get_nowait()
            yield found

    def _point(
        self,
        values: Mapping[str, float | int],
        specs: Sequence[RunSpec],
        runs: Mapping[str, StoredRun],
    ) -> EvaluatedPoint:
        judged = [(*self._criterion.judge(runs[spec.id]), spec) for spec in specs]
        is_broken = any(each[0] for each in judged)
        margins = [each[1] for each in judged if each[1] is not None and each[0] == is_broken]
        _, _, worst = min(
            (each for each in judged if each[0] == is_broken),
            key=lambda each: math.inf if each[1] is None else each[1],
        )
        return DisturbedPoint(
            t=tuple(each.t(values[each.path]) for each in self._disturbances),
            is_broken=is_broken,
            margin=min(margins, default=None),
            values=values,
            seed=worst.seed,
            run_id=worst.id,
            outcome=runs[worst.id].outcome,
        )
