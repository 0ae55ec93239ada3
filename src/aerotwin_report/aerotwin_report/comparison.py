# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Several runs side by side: key numbers, all measures with the best marked, links to reports.

Each section states which of two numbers is better: `Headline.better` for the tiles; ``title``,
``unit`` and ``better`` in its schema for the numbers of `metrics.json`. Numbers without it are not
ranked, nor are those with an obstacle found by `comparability`.
"""

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from aerotwin_core.section import Headline, ReportLink, Section, Table
from aerotwin_report.runs import Run
from aerotwin_report.schema_check import Measure
from aerotwin_report.writing import write_report

MAX_COVERAGE_APART = 0.01
"""Coverages that differ by more mean different parts of a reference."""


def obstacles(runs: Sequence[Run], section: str) -> list[str]:
    """Return why the numbers of one section may not be ranked over runs; empty if they may."""
    return [*of_all(runs), *of_section(runs, section)]


def of_all(runs: Sequence[Run]) -> list[str]:
    """Return the reasons why no number of the runs is comparable."""
    worlds = {run.name: (run.document["world"] or {}).get("name") for run in runs}
    missions = {run.name: run.document["configuration"].get("mission") for run in runs}
    found = []
    if _are_apart(worlds):
        found.append(f"the runs are of different worlds ({_said(worlds, 'in ')})")
    if _are_apart(missions):
        found.append(f"the runs are of different missions ({_said(missions)})")
    return found


def of_section(runs: Sequence[Run], section: str) -> list[str]:
    """Return the reasons why the numbers of one section are not comparable."""
    parts = {run.name: run.document["sections"].get(section) or {} for run in runs}
    hashes = {name: _hash(part, "protocol") for name, part in parts.items()}
    found = []
    if _are_apart(hashes):
        found.append(f"judged by different protocols ({_said(hashes)})")
    if not all(run.document["world"] for run in runs) and _are_apart(
        {name: _hash(part, "reference") for name, part in parts.items()}
    ):
        found.append(f"judged against different references ({_said(_references(runs))})")
    shares = {
        name: part["coverage"]
        for name, part in parts.items()
        if isinstance(part.get("coverage"), int | float)
    }
    if shares and max(shares.values()) - min(shares.values()) > MAX_COVERAGE_APART:
        said = {name: f"{share:.0%}" for name, share in shares.items()}
        found.append(f"the estimates cover different parts of the reference ({_said(said)})")
    return found


def _hash(part: Mapping[str, Any], key: str) -> str | None:
    known = part.get(key)
    return known.get("hash") if isinstance(known, Mapping) else None


def _are_apart(values: Mapping[str, Any]) -> bool:
    """Return whether two runs report different values; runs without a value are ignored."""
    return len({str(value) for value in values.values() if value is not None}) > 1


def _references(runs: Sequence[Run]) -> dict[str, Any]:
    """Return the last part of each run's reference."""
    named = {run.name: run.document["configuration"].get("reference") for run in runs}
    return {name: str(path).rsplit("/", 1)[-1] if path else None for name, path in named.items()}


def _said(values: Mapping[str, Any], before: str = "") -> str:
    known = {name: value for name, value in values.items() if value is not None}
    return ", ".join(f"{name} {before}{value}" for name, value in known.items())


_DIGITS = 4


def write_comparison(
    folder: str | Path,
    runs: Sequence[Run],
    *,
    title: str = "Runs side by side",
    sections: Sequence[Section] = (),
    configuration: Mapping[str, Any] | None = None,
    warnings: Sequence[str] = (),
    summary: str = "",
    created: datetime | None = None,
) -> Path:
    """Write the comparison of several runs as `report.html` and `metrics.json`; return the former.

    Parameters
    ----------
    folder : path
        Created if missing; the page links to the reports of the runs relative to it.
    runs : sequence of Run
        At least two, with different names; from `aerotwin_report.load_runs`.
    title, summary : str
        Heading, and the text below it.
    sections : sequence of Section
        Additional sections (overlaid plots, statistics over many runs); they come first.
    configuration : mapping, optional
        In addition to the names and titles of the runs.
    warnings : sequence of str
        In the banner, before those that follow from the runs.
    created : datetime, optional
        With time zone; now by default.
    """
    folder = Path(folder)
    listed = [{"name": run.name, "title": run.document["title"]} for run in runs]
    return write_report(
        folder,
        title=title,
        summary=summary,
        sections=[*sections, comparison_section(runs, folder=folder)],
        configuration={"runs": listed, **(configuration or {})},
        warnings=[*warnings, *comparison_warnings(runs)],
        created=created,
    )


def comparison_section(
    runs: Sequence[Run],
    *,
    folder: Path | None = None,
    title: str = "Runs side by side",
    name: str = "comparison",
) -> Section:
    """Return the section that shows runs side by side.

    Parameters
    ----------
    runs : sequence of Run
        At least two, with different names.
    folder : Path, optional
        Of the page, which its links are relative to. No links without.
    title, name : str
        Heading, and key in `metrics.json`.

    Raises
    ------
    ValueError
        If there are fewer than two runs, or two of one name.
    """
    names = [run.name for run in runs]
    if len(runs) < 2 or len(set(names)) != len(names):
        raise ValueError(f"a comparison needs at least two runs of different names, got {names}")
    tiles = _common_tiles(runs)
    ranked = [tile for tile in tiles if _best(tile["numbers"], tile)]
    return Section(
        title=title,
        name=name,
        verdict=_verdict(runs),
        text="Each run as it was judged by itself; the best is marked where the measure says which "
        "way is better and the runs can be compared. One run each: small differences may be "
        "chance.",
        headline=tuple(_headline(tile, names) for tile in ranked),
        tables=(_key_table(tiles, names), _run_table(runs), *_measure_tables(runs)),
        metrics={"runs": {run.name: _numbers(run) for run in runs}},
        links=_links(runs, folder) if folder is not None else (),
    )


def comparison_warnings(runs: Sequence[Run]) -> list[str]:
    """Return why the runs' numbers may not be comparable, one line each."""
    found = [f"{reason[0].upper()}{reason[1:]}: no best is named." for reason in of_all(runs)]
    for section, title in _sections(runs).items():
        found += [f"{title}: {reason}: no best is named." for reason in of_section(runs, section)]
    found += [f"{run.name}: {text}" for run in runs for text in run.document["warnings"]]
    return found


def _sections(runs: Sequence[Run]) -> dict[str, str]:
    """Return name and title of the sections that at least two runs have."""
    names = [name for run in runs for name in run.document["sections"]]
    titles = {k: v for run in runs for k, v in run.document["section_titles"].items()}
    return {name: titles.get(name, name) for name in dict.fromkeys(names) if names.count(name) > 1}


def _verdict(runs: Sequence[Run]) -> str:
    """Return a note if nothing is ranked, or nothing is common."""
    sections = _sections(runs)
    if not sections:
        listed = "; ".join(f"{run.name}: {', '.join(run.document['sections'])}" for run in runs)
        return f"The runs have no section in common ({listed}): there is nothing to compare."
    barred = {title: found for name, title in sections.items() if (found := obstacles(runs, name))}
    if not barred:
        return ""
    common = of_all(runs)
    if common:
        return f"No best is named: {'; '.join(common)}."
    said = "; ".join(f"{title}: {' and '.join(found)}" for title, found in barred.items())
    return f"No best is named for what cannot be compared. {said}."


def _common_tiles(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Return the tiles that at least two runs have, with a text and a number for each run."""
    keys = dict.fromkeys(
        (tile["section"], tile["label"]) for run in runs for tile in run.document["headline"]
    )
    rows = []
    for key in keys:
        tiles = [_tile_of(run, key) for run in runs]
        there = [tile for tile in tiles if tile is not None]
        if len(there) < 2 or len({tile["unit"] for tile in there}) > 1:
            continue
        better = "" if obstacles(runs, key[0]) else there[0]["better"]
        rows.append({**there[0], "better": better, "texts": [t and t["value"] for t in tiles]})
        rows[-1]["numbers"] = [None if t is None else _number(t["value"]) for t in tiles]
    return rows


def _tile_of(run: Run, key: tuple[str, str]) -> dict[str, Any] | None:
    for tile in run.document["headline"]:
        if (tile["section"], tile["label"]) == key:
            return tile
    return None


def _number(text: str) -> float | None:
    try:
        value = float(text.replace(",", "").replace("−", "-"))
    except ValueError:
        return None
    return value if abs(value) < float("inf") else None


def _best(numbers: Sequence[float | None], tile: Mapping[str, Any]) -> list[int]:
    """Return which are the best: none if all are equal, or the tile does not state the order."""
    there = [number for number in numbers if number is not None]
    if not tile["better"] or len(there) < 2 or len(set(there)) == 1:
        return []
    best = min(there) if tile["better"] == "lower" else max(there)
    return [k for k, number in enumerate(numbers) if number == best]


def _headline(tile: Mapping[str, Any], names: Sequence[str]) -> Headline:
    best = _best(tile["numbers"], tile)
    others = ", ".join(
        f"{name} {text}"
        for k, (name, text) in enumerate(zip(names, tile["texts"]))
        if k not in best and text is not None
    )
    return Headline(
        label=tile["label"],
        value=tile["texts"][best[0]],
        unit=tile["unit"],
        meaning=f"best: {' and '.join(names[k] for k in best)}; {others}",
        computed=tile["computed"] or tile["meaning"],
        better=tile["better"],
    )


def _key_table(tiles: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Table:
    return Table(
        title="Key numbers",
        columns=("quantity", "unit", *names),
        rows=tuple((t["label"], t["unit"], *t["texts"]) for t in tiles),
        hints=tuple(" ".join(filter(None, (t["meaning"], t["computed"]))) for t in tiles),
        best=tuple((row, 2 + k) for row, t in enumerate(tiles) for k in _best(t["numbers"], t)),
        caption="The tiles of each report.",
    )


def _run_table(runs: Sequence[Run]) -> Table:
    return Table(
        title="Runs",
        columns=("run", "title", "created", "world", "seed", "complete"),
        rows=tuple(
            (
                run.name,
                run.document["title"],
                run.document["created"][:16].replace("T", " "),
                (run.document["world"] or {}).get("name"),
                run.document["seed"],
                "yes" if run.document["is_complete"] else "no",
            )
            for run in runs
        ),
    )


def _measure_tables(runs: Sequence[Run]) -> list[Table]:
    """Return one table for each section: every rankable number that at least two runs have."""
    found = [{measure.path: measure for measure in run.measures()} for run in runs]
    paths = dict.fromkeys(path for measures in found for path in measures)
    by_section: dict[str, list[list[Measure | None]]] = {}
    for path in paths:
        row = [measures.get(path) for measures in found]
        if sum(measure is not None for measure in row) >= 2:
            by_section.setdefault(path.split(".")[1], []).append(row)
    names = [run.name for run in runs]
    titles = {k: v for run in runs for k, v in run.document["section_titles"].items()}
    return [
        _measure_table(
            f"All measures: {titles.get(section, section)}",
            rows,
            names,
            why_not="; ".join(obstacles(runs, section)),
        )
        for section, rows in by_section.items()
    ]


def _measure_table(
    title: str, rows: list[list[Measure | None]], names: Sequence[str], *, why_not: str
) -> Table:
    first = [next(measure for measure in row if measure is not None) for row in rows]
    values = [[None if measure is None else measure.value for measure in row] for row in rows]
    best = [
        [] if why_not else _best(row, {"better": measure.better})
        for row, measure in zip(values, first)
    ]
    return Table(
        title=title,
        caption=f"No best is marked: {why_not}." if why_not else "",
        columns=("quantity", "unit", *names),
        rows=tuple(
            (measure.label, *_in_shown_unit(measure.unit, row))
            for measure, row in zip(first, values)
        ),
        hints=tuple(
            f"{measure.path} in metrics.json; {measure.better} is better" for measure in first
        ),
        best=tuple((row, 2 + k) for row, which in enumerate(best) for k in which),
    )


def _in_shown_unit(unit: str, values: Sequence[float | None]) -> tuple[str, ...]:
    """Return the unit and the values as text; bytes are shown in millions."""
    scale, unit = (1e-6, "MB") if unit == "bytes" else (1.0, unit)
    return (unit, *("–" if v is None else f"{v * scale:.{_DIGITS}g}" for v in values))


def _numbers(run: Run) -> dict[str, Any]:
    return {
        "title": run.document["title"],
        "created": run.document["created"],
        "measures": {measure.path: measure.value for measure in run.measures()},
    }


def _links(runs: Sequence[Run], folder: Path) -> tuple[ReportLink, ...]:
    return tuple(
        ReportLink(
            text=f"Report of {run.name}",
            path=os.path.relpath(run.report.resolve(), folder.resolve()).replace(os.sep, "/"),
        )
        for run in runs
        if run.report is not None
    )
