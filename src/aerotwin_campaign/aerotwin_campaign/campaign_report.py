# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The report of a campaign: one page of what the store has of it."""

import io
import os
import shlex
from argparse import ArgumentTypeError
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from aerotwin_campaign.campaign_file import CampaignParameters
from aerotwin_campaign.campaign_results import ResultColumns, shown_value
from aerotwin_campaign.campaign_run import CampaignRun
from aerotwin_campaign.overall_figures import OverallFigures, overall_figures, read_values
from aerotwin_campaign.report_runs import cost_section, failure_section, worst_section
from aerotwin_campaign.report_sections import (
    expectation_section,
    metric_section,
    sensitivity_section,
    success_section,
)
from aerotwin_campaign.spec import RunSpec, short_id
from aerotwin_campaign.store import CAMPAIGN, RESULT, SPEC, TABLE, Store
from aerotwin_core.documents import DocumentError, parse_json, parse_yaml
from aerotwin_core.errors import ParameterError, UserError
from aerotwin_core.foreign_text import listed
from aerotwin_core.gate import Condition, exit_code_of_gates, parse_condition
from aerotwin_core.section import ReportLink, Section, Table
from aerotwin_report import report_page

PAGE, _RUN_PAGE = "report.html", "report.html"
_LONGEST_FILE = 4 << 20


@dataclass(frozen=True, kw_only=True)
class CampaignReport:
    """What a report is made of.

    Attributes
    ----------
    content : mapping
        The keys of the campaign file.
    results : ResultColumns
    store : Store
    file : str
        The campaign file, for the commands that make a run again.
    conditions : tuple of Condition
        Under which the campaign fails.
    overall : OverallFigures
        What the campaign's own function makes of all runs.
    n_runs : int or None
        How many the campaign stands for; None if it was not asked.
    left : iterable of (RunSpec, axis values)
        Runs that are not made; may be consumed once.
    not_made : mapping of str to str
        Why some of them could not be made, by their id.
    """

    content: Mapping[str, Any]
    results: ResultColumns
    store: Store
    file: str
    conditions: tuple[Condition, ...] = ()
    overall: OverallFigures = field(default_factory=OverallFigures)
    n_runs: int | None = None
    left: Iterable[tuple[RunSpec, Mapping[str, Any]]] = ()
    not_made: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of the campaign."""
        return str(self.content.get("name") or "campaign")

    @property
    def summary(self) -> dict[str, Any]:
        """What conditions are about: of the results, and over all runs."""
        return {**self.results.summary, **self.overall.values}

    def exit_code(self) -> int:
        """Print which conditions hold; return 3 if one does, else 0.

        Raises `UserError` if a condition names what the summary does not have.
        """
        return exit_code_of_gates(self.conditions, self.summary, {})

    def page(self, folder: Path | None, created: datetime | None = None) -> tuple[str, Any]:
        """Return the page, and its document for JSON.

        Links to runs are relative to the `folder` in which the page will be; None if it is no
        folder of this machine: then there are no links. `created` is now by default.
        """
        results = self.results
        sections = [
            self._overview(),
            success_section(results, self.n_runs, self.conditions, self.summary),
            *self.overall.sections,
            expectation_section(results),
            worst_section(results, self.conditions, lambda x: self._link(x, folder), self._command),
            failure_section(results),
            metric_section(results),
            sensitivity_section(results),
            cost_section(results),
        ]
        warnings = []
        if self.n_runs is not None and len(results) < self.n_runs:
            warnings.append(f"{self.n_runs - len(results)} of {self.n_runs} runs are not done.")
        warnings += [f"run {short_id(key)} could not be made: {why}"
                     for key, why in list(self.not_made.items())[:3]]  # fmt: skip
        return report_page(
            title=f"Campaign {self.name}",
            sections=[each for each in sections if each is not None],
            configuration={
                "campaign": dict(self.content), "store": self.store.url,
                "versions_of_the_runs": self._versions(),
            },
            warnings=warnings,
            created=created,
        )  # fmt: skip

    def _overview(self) -> Section:
        content, results = self.content, self.results
        sampling = str(content.get("sampling", "grid"))
        if "samples" in content:
            seed = content.get("sampling_seed", 0)
            sampling += f", {content['samples']} samples, sampling seed {seed}"
        hosts = [str(x) for x in dict.fromkeys(results.costs.get("host", ())) if x]
        rows = [
            ("function", str(content.get("run") or "scenario flights")),
            ("scenarios", listed(sorted(set(results.axes.get("scenario", ()))))
             or shown_value(content.get("scenario") or "")),
            *((f"axis {path}", _values(values)) for path, values in results.axes.items()
              if path != "scenario"),
            ("sampling", sampling),
            ("seeds", _values(sorted(results.seeds))),
            ("repeats", str(content.get("repeats", 1))),
            ("runs", f"{len(results)}" if self.n_runs is None
             else f"{len(results)} of {self.n_runs}"),
            ("machines", listed(hosts)),
            ("when", self._when()),
            ("store", self.store.url),
        ]  # fmt: skip
        versions = self._versions()
        tables = [
            Table(title="Campaign", columns=("what", "value"),
                  rows=tuple(row for row in rows if row[1])),
        ]  # fmt: skip
        if versions:
            tables.append(Table(
                title="Versions of the runs", columns=("what", "version"),
                rows=tuple(sorted(versions.items())),
            ))  # fmt: skip
        return Section(title="What was run", name="campaign", tables=tuple(tables))

    def _versions(self) -> dict[str, str]:
        """Return the versions that the first run depends on; none if it cannot be read."""
        for run_id in self.results.run_ids[:1]:
            try:
                text = self.store.read_file(f"{self.store.path_of(run_id)}/{SPEC}")
                found = parse_json(text, max_bytes=_LONGEST_FILE, takes_nan=False)["versions"]
                return {str(key): str(value) for key, value in found.items()}
            except (OSError, DocumentError, KeyError, TypeError, AttributeError):
                return {}
        return {}

    def _when(self) -> str:
        """Return when the first and the last result were written, in a folder."""
        times = []
        for run_id in self.results.run_ids if self.store.local is not None else ():
            try:
                path = f"{self.store.local}/{self.store.path_of(run_id)}/{RESULT}"
                times.append(os.stat(path).st_mtime)
            except OSError:  # the table was moved alone
                continue
        if not times:
            return ""
        ends = [datetime.fromtimestamp(x, UTC).strftime("%Y-%m-%d %H:%M:%S")
                for x in (min(times), max(times))]  # fmt: skip
        return " to ".join(dict.fromkeys(ends)) + " UTC"

    def _link(self, run_id: str, folder: Path | None) -> ReportLink | None:
        if folder is None or self.store.local is None:
            return None
        target = self.store.local / self.store.path_of(run_id)
        if not target.is_dir():
            return None
        page = target / _RUN_PAGE
        path = os.path.relpath(page if page.is_file() else target, folder.absolute())
        try:
            return ReportLink(text=short_id(run_id), path=Path(path).as_posix())
        except ValueError:  # a character in a folder's name that a link cannot have
            return None

    def _command(self, run_id: str) -> str:
        parts = ["aerotwin", "campaign", "reproduce", self.file, run_id]
        local = self.store.local
        default = Path("runs/campaigns", self.name).absolute()
        if local is None or local != default:
            parts += ["--store", self.store.url]
        return shlex.join(parts)


def _values(values: list[Any]) -> str:
    """Return the values of an axis: all of few, or the ends of many."""
    distinct = list(dict.fromkeys(values))
    if len(distinct) <= 8:
        return ", ".join(map(shown_value, distinct))
    if all(isinstance(x, int | float) for x in distinct):
        low, high = shown_value(min(distinct)), shown_value(max(distinct))
        return f"{len(distinct)} values, {low} to {high}"
    return f"{len(distinct)} values, as {', '.join(map(shown_value, distinct[:3]))}"


def report_of_campaign(
    found: CampaignRun, file: str, conditions: Iterable[Condition] = ()
) -> CampaignReport:
    """Return the report of a campaign whose store was read; with more conditions than its own.

    Raises `UserError` if its figures over all runs cannot be made.
    """
    given, default = found.campaign.parameters, CampaignParameters()
    results, overall = ResultColumns(found.table.table()), OverallFigures()
    if given.figures:
        overall = overall_figures(given.figures, results, found.store)
    return CampaignReport(
        content={k: v for k, v in vars(given).items() if v != getattr(default, k)},
        results=results,
        store=found.store,
        file=file,
        conditions=(*found.campaign.conditions, *conditions),
        overall=overall,
        n_runs=found.progress.n_runs,
        left=found.left(),
        not_made=dict(found.progress.not_made),
    )


def report_of_store(store: Store, conditions: Iterable[Condition] = ()) -> CampaignReport:
    """Return the report of the table in a store, whatever software made it.

    No function that its campaign names is called: it may be a stranger's.

    Raises `UserError` if there is none, or it is damaged.
    """
    from pyarrow import ArrowException, parquet

    try:
        content = parse_yaml(store.read_file(CAMPAIGN).decode("utf-8", "replace"))
        table = parquet.read_table(io.BytesIO(store.read_file(TABLE)))
    except (FileNotFoundError, NotADirectoryError):
        raise UserError(
            f"{store.url}: is no store of a campaign, which has {CAMPAIGN} and {TABLE}; name a "
            "campaign file or another store"
        ) from None
    except (OSError, DocumentError, ArrowException) as error:
        raise UserError(f"{store.url}: cannot be read ({error}); resume the campaign") from None
    needed = {"run_id", "seed", "repeat", "is_success", "outcome"}
    if not isinstance(content, Mapping) or not needed <= set(table.column_names):
        raise UserError(f"{store.url}: its {CAMPAIGN} or {TABLE} is damaged; resume the campaign")
    own = content.get("fail_if") or ()
    file = f"{store.url.rstrip('/')}/{CAMPAIGN}"
    try:
        stored = [parse_condition(text) for text in ([own] if isinstance(own, str) else own)]
    except (ArgumentTypeError, TypeError) as error:
        raise ParameterError(f"{file}: fail_if: {error}") from None
    return CampaignReport(
        content=content,
        results=ResultColumns(table),
        store=store,
        file=file,
        conditions=(*stored, *conditions),
        overall=OverallFigures(values=read_values(store) if content.get("figures") else {}),
    )
