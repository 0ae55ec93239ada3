# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Saved results: read, checked, and summarised for a terminal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from aerotwin_core.documents import DocumentError, read_json
from aerotwin_core.errors import UserError
from aerotwin_report.metrics import SCHEMA_VERSION, schema_of
from aerotwin_report.schema_check import Measure, faults, measures

MAX_BYTES = 256 * 2**20
_N_FAULTS_SAID = 3


@dataclass(frozen=True, kw_only=True)
class Run:
    """One result.

    Attributes
    ----------
    name : str
        Its label among several runs.
    document : mapping
        The contents of its `metrics.json`, valid by its schema.
    report : Path, optional
        Its page, if there is one.
    """

    name: str
    document: Mapping[str, Any]
    report: Path | None = None

    def measures(self) -> list[Measure]:
        """Return all numbers that its schema declares comparable."""
        return measures(self.document, schema_of(self.document))


def load_run(path: str | Path, name: str | None = None) -> Run:
    """Read a result: a folder with `metrics.json`, or that file.

    The name is that of the folder by default.

    Raises
    ------
    UserError
        If there is none, it is no JSON, or it violates its schema.
    """
    path = Path(path)
    file = path / "metrics.json" if path.is_dir() else path
    document = read_document(file)
    found = document_faults(document)
    if found:
        said = "; ".join(found[:_N_FAULTS_SAID])
        raise UserError(f"{file}: breaks the schema of metrics.json in {len(found)} places: {said}")
    report = file.with_name("report.html")
    return Run(
        name=name or file.resolve().parent.name,
        document=document,
        report=report if report.is_file() else None,
    )


def load_runs(paths: Sequence[str | Path], names: Sequence[str] | None = None) -> list[Run]:
    """Read several results; folders of one name are distinguished by the folders above them.

    Raises
    ------
    UserError
        If the number of names does not match, or two names are equal.
    """
    if names is not None and len(names) != len(paths):
        raise UserError(f"expected one name for each of {len(paths)} runs, found {len(names)}")
    runs = [load_run(path, None if names is None else names[k]) for k, path in enumerate(paths)]
    called = [run.name for run in runs]
    if len(set(called)) == len(called):
        return runs
    if names is not None:
        raise UserError(f"names of runs must be different, found {', '.join(called)}")
    numbered = [f"{name} ({k + 1})" for k, name in enumerate(called)]
    folders = [Path(path).resolve() for path in paths]
    above = [f.parents[0 if f.is_dir() else 1].name for f in folders]
    longer = [f"{folder}/{name}" if folder else name for folder, name in zip(above, called)]
    better = longer if len(set(longer)) == len(longer) else numbered
    return [
        Run(name=name, document=run.document, report=run.report) for name, run in zip(better, runs)
    ]


def read_document(file: Path) -> dict[str, Any]:
    """Return the contents of a `metrics.json`, checked only to be one JSON object.

    Raises UserError if it is missing, too large, or no JSON object.
    """
    try:
        document = read_json(file, max_bytes=MAX_BYTES, takes_nan=False)
    except OSError as error:
        raise UserError(
            f"{file}: cannot be read ({error.strerror}); name a run folder or its metrics.json"
        ) from error
    except DocumentError as error:
        raise UserError(f"{file}: is no JSON: {error}") from error
    if not isinstance(document, dict):
        raise UserError(f"{file}: expected a JSON object, found {type(document).__name__}")
    return document


def document_faults(document: Mapping[str, Any]) -> list[str]:
    """Return the violations of the schema of metrics.json, including that of its own sections."""
    version = document.get("schema_version")
    if version != SCHEMA_VERSION:
        return [
            f"schema_version: expected {SCHEMA_VERSION}, found {version!r}; "
            "evaluate again with this version"
        ]
    try:
        return faults(document, schema_of(document))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        return [f"section_schemas: cannot be used: {error}"]


def summary_lines(run: Run) -> list[str]:
    """Return the summary of a report for a terminal: warnings, verdicts, key numbers."""
    document = run.document
    lines = [f"{document['title']}  ({document['created']})"]
    lines += [document["summary"]] if document["summary"] else []
    lines += [f"! {_indented(text)}" for text in document["warnings"]]
    titles = document["section_titles"]
    for name, title in titles.items():
        tiles = [tile for tile in document["headline"] if tile["section"] == name]
        verdict = document["verdicts"].get(name)
        warnings = document["section_warnings"].get(name, [])
        if tiles or verdict or warnings:
            lines += ["", title]
        lines += [f"  {verdict}"] if verdict else []
        lines += [f"  ! {_indented(text)}" for text in warnings]
        lines += [
            f"  {tile['label']:24} {tile['value']:>10} {tile['unit']:5} {tile['meaning']}".rstrip()
            for tile in tiles
        ]
    return lines


def _indented(text: str) -> str:
    """Return a warning with its further lines, as of a log, below the first."""
    return text.replace("\n", "\n    ")


_BY_SECTION = ("sections", "section_titles", "section_warnings", "section_schemas", "verdicts")


def split_run(run: Run) -> list[Run]:
    """Return one run for each section of a kind that has several; else the run itself.

    In each the section has the name of its kind, so that it is compared with those of other runs;
    sections without a kind, which cover all subjects, are left out.
    """
    kinds: Mapping[str, str] = run.document.get("section_kinds", {})
    several = [name for name, kind in kinds.items() if list(kinds.values()).count(kind) > 1]
    if not several:
        return [run]
    titles = run.document["section_titles"]
    return [
        replace(
            run,
            name=f"{run.name}/{titles[name]}",
            document=_of_section(run.document, name, kinds[name]),
        )
        for name in several
    ]


def _of_section(document: Mapping[str, Any], name: str, kind: str) -> dict[str, Any]:
    """Return the document of one section, under the name of its kind."""
    title = document["section_titles"][name]
    parts = {
        part: {kind: document[part][name]} if name in document[part] else {} for part in _BY_SECTION
    }
    tiles = [
        {**tile, "section": kind, "label": tile["label"].removeprefix(f"{title}: ")}
        for tile in document["headline"]
        if tile["section"] == name
    ]
    parts["section_titles"] = {kind: kind.capitalize()}
    return {**document, **parts, "section_kinds": {}, "headline": tiles, "title": title}
