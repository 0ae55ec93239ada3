# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A campaign from its file to its table: what is in the store is read, the rest is run."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import Any

from aerotwin_campaign.campaign_file import Campaign
from aerotwin_campaign.execution import RunOptions
from aerotwin_campaign.function import declared_metrics, versions_of
from aerotwin_campaign.results_table import ResultsTable
from aerotwin_campaign.spec import RunSpec, is_run_id, short_id
from aerotwin_campaign.specifications import Specifications
from aerotwin_campaign.store import TABLE, Store
from aerotwin_campaign.worker import RunReport
from aerotwin_core.errors import UserError
from aerotwin_core.metric import Metric

MOST_FAILURES = 3
"""Runs in a row that cannot be made: the campaign is given up."""
_TABLE_EVERY_S, _TABLE_SHARE = 10.0, 0.05
"""The table is written anew so often, but takes no more than this share of the time."""

Engine = Callable[[Iterable[RunSpec]], Iterator[RunReport]]
"""Makes runs, and yields a report of each in any order; closing it ends all runs."""


@dataclass(kw_only=True)
class CampaignProgress:
    """How far a campaign is; `n_runs` counts a specification that is there twice once."""

    n_runs: int = 0
    n_done: int = 0
    n_failures: int = 0
    not_made: dict[str, str] = field(default_factory=dict)
    """Why runs could not be made, by their id."""

    @property
    def n_left(self) -> int:
        """Number of runs that are not in the store."""
        return self.n_runs - self.n_done

    def record(self) -> dict[str, Any]:
        """Return the numbers for JSON."""
        return {
            "runs": self.n_runs,
            "done": self.n_done,
            "failures": self.n_failures,
            "left": self.n_left,
            "not_made": dict(self.not_made),
        }


class CampaignRun:
    """A campaign and its store.

    Parameters
    ----------
    campaign : Campaign
    store : Store

    Raises
    ------
    UserError
        If the function's module is not installed.
    """

    def __init__(self, campaign: Campaign, store: Store) -> None:
        given = campaign.parameters
        self.campaign, self.store = campaign, store
        self.specs = Specifications(campaign, versions_of(campaign.run))
        self.options = RunOptions(timeout_s=given.timeout_s, keep=given.keep)
        self.table = ResultsTable(campaign.axis_names, given.measure)
        self.progress = CampaignProgress()
        self._index: dict[bytes, int] = {}
        self._done: set[bytes] = set()

    def read_store(self, on_run: Callable[[], Any] = lambda: None) -> None:
        """Find out which runs are done, and put them into the table; nothing is run.

        `on_run` is called for each specification.
        """
        finished = {bytes.fromhex(each) for each in self.store.ids() if is_run_id(each)}
        self._index.clear()
        found: list[str] = []
        for index, spec in enumerate(self.specs):
            key = bytes.fromhex(spec.id)
            if key not in self._index:
                self._index[key] = index
                if key in finished:
                    found.append(spec.id)
            on_run()
        self.progress = CampaignProgress(n_runs=len(self._index))
        self._done.clear()
        for stored in self.store.read_all(found):
            self._add(RunReport(id=stored.id, stored=stored))

    def carry_out(self, engine: Engine, on_report: Callable[[RunReport], Any]) -> None:
        """Make the runs that are missing; `on_report` is called after each.

        The table is written now and then, and at the end, whatever ends the campaign. `read_store`
        is called before.

        Raises `UserError` if several runs in a row cannot be made for reasons of the machine, or
        the store cannot be written.
        """
        n_in_row, written_s, took_s = 0, time.monotonic(), 0.0
        try:
            with closing(engine(self._missing())) as reports:  # type: ignore[type-var]
                for report in reports:
                    self._add(report)
                    on_report(report)
                    n_in_row = 0 if report.stored is not None else n_in_row + 1
                    if n_in_row >= MOST_FAILURES:
                        break
                    begin_s = time.monotonic()
                    if begin_s - written_s > max(_TABLE_EVERY_S, took_s / _TABLE_SHARE):
                        with suppress(UserError):  # it is written again, and at the end
                            self.write_table()
                        written_s = time.monotonic()
                        took_s = written_s - begin_s
        finally:
            self.write_table()

    def write_table(self) -> None:
        """Write the table of all results that are there; raises `UserError`."""
        declared: dict[str, Metric] = {}
        with suppress(UserError):  # what is installed for the workers may be enough
            declared = declared_metrics(self.campaign.run)
        try:
            self.store.write_file(TABLE, self.table.parquet(declared))
        except OSError as error:
            raise UserError(
                f"{self.store.url}/{TABLE}: cannot be written ({error.strerror or error}); free "
                "space, and resume the campaign"
            ) from None

    def left(self) -> Iterator[tuple[RunSpec, dict[str, Any]]]:
        """Yield the runs that are not in the store, with the values of their axes."""
        for key, index in self._index.items():
            if key not in self._done:
                yield self.specs[index], self.specs.axis_values(index)

    def _missing(self) -> Iterator[RunSpec]:
        for key, index in self._index.items():
            if key not in self._done:
                yield self.specs[index]

    def _add(self, report: RunReport) -> None:
        key = bytes.fromhex(report.id)
        if report.stored is None:
            self.progress.not_made[report.id] = report.failure
            return
        if key in self._done:
            return
        self._done.add(key)
        index = self._index[key]
        self.table.add(index, self.specs[index], self.specs.axis_values(index), report.stored)
        self.progress.n_done += 1
        self.progress.n_failures += not report.stored.is_success


def not_made_text(progress: CampaignProgress) -> str:
    """Return which runs could not be made, and why, in one line."""
    (run_id, why), *others = progress.not_made.items()
    more = f" (and {len(others)} more runs)" if others else ""
    return f"run {short_id(run_id)} could not be made: {why}{more}"
