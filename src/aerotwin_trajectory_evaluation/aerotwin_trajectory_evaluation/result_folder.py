# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Output of `aerotwin evaluate trajectory -o DIR`: a report, its numbers, the aligned paths."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from aerotwin_core.errors import UserError
from aerotwin_core.section import Section
from aerotwin_core.tum import write_tum
from aerotwin_trajectory_evaluation.judged_trajectories import JudgedTrajectories


def write_result(
    folder: Path | None,
    judged: JudgedTrajectories,
    *,
    sources: Mapping[str, object],
    figures: Path | None = None,
) -> None:
    """Write report.html, metrics.json and one `NAME_aligned.txt` (TUM) for each estimate.

    Without `folder` only the figures are written. `sources` tell what was read and how: the
    report's configuration. `figures` is a folder for every figure of the report as PDF and SVG.
    Raises UserError if a folder cannot be created.
    """
    from aerotwin_core.plots import keeping_figures

    for made in filter(None, (folder, figures)):
        try:
            made.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(
                f"{made}: no folder can be made here ({error.strerror}); name another"
            ) from error
    with keeping_figures(figures):
        sections = _sections(judged)
    if folder is None:
        return
    from aerotwin_report import write_report

    evaluations = judged.evaluations
    for evaluation, key in zip(evaluations.values(), _keys(list(evaluations)), strict=True):
        write_tum(folder / f"{key}_aligned.txt", evaluation.aligned)
    protocol = next(iter(evaluations.values())).protocol
    write_report(
        folder,
        title=f"Trajectory: {', '.join(evaluations)}",
        sections=sections,
        configuration={**sources, "protocol": protocol.plain()},
    )


def _sections(judged: JudgedTrajectories) -> list[Section]:
    from aerotwin_trajectory_evaluation.comparison import comparison_section
    from aerotwin_trajectory_evaluation.sections import KIND, section

    evaluations, camera, notes = judged.evaluations, judged.camera, judged.notes
    if len(evaluations) == 1:
        return [section(next(iter(evaluations.values())), camera=camera, notes=notes)]
    sections = [comparison_section(evaluations, camera, judged.own_coverage)]
    for (name, evaluation), key in zip(evaluations.items(), _keys(list(evaluations)), strict=True):
        chapter = section(evaluation, title=name, name=key, camera=camera, notes=notes)
        sections.append(_named(replace(chapter, kind=KIND)))
    return sections


def _named(chapter: Section) -> Section:
    """Add the estimate's name to each tile: the tiles of all chapters are shown together."""
    tiles = (replace(tile, label=f"{chapter.title}: {tile.label}") for tile in chapter.headline)
    return replace(chapter, headline=tuple(tiles))


def _keys(names: list[str]) -> list[str]:
    """Return unique names that are valid for files and for keys of metrics.json."""
    keys: list[str] = []
    for name in names:
        key = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "estimate"
        keys.append(key if key not in keys else f"{key}_{len(keys) + 1}")
    return keys
