# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What `aerotwin evaluate trajectory -o DIR` leaves: a report, its numbers, the aligned paths."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from aerotwin_core.errors import UserError
from aerotwin_core.section import Section
from aerotwin_trajectory_evaluation.bound import StereoCamera
from aerotwin_trajectory_evaluation.evaluation import TrajectoryEvaluation
from aerotwin_trajectory_evaluation.files import write_tum


def write_result(
    folder: Path,
    evaluations: Mapping[str, TrajectoryEvaluation],
    *,
    camera: StereoCamera | None,
    notes: Sequence[str],
    sources: Mapping[str, object],
) -> None:
    """Write report.html, metrics.json and one `NAME_aligned.txt` (TUM) for each estimate.

    Raises
    ------
    UserError
        If the folder cannot be made.
    """
    from aerotwin_report import write_report
    from aerotwin_trajectory_evaluation.comparison import comparison_section
    from aerotwin_trajectory_evaluation.sections import section

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"{folder}: no folder can be made here ({error.strerror}); name another with -o"
        ) from error
    is_alone = len(evaluations) == 1
    sections = [] if is_alone else [comparison_section(evaluations, camera)]
    keys = _keys(list(evaluations))
    for (name, evaluation), key in zip(evaluations.items(), keys, strict=True):
        chapter = section(
            evaluation,
            title="Trajectory" if is_alone else name,
            name="trajectory" if is_alone else key,
            camera=camera,
            notes=tuple(notes),
        )
        sections.append(chapter if is_alone else _named(chapter))
        write_tum(folder / f"{key}_aligned.txt", evaluation.aligned)
    protocol = next(iter(evaluations.values())).protocol
    write_report(
        folder,
        title=f"Trajectory: {', '.join(evaluations)}",
        sections=sections,
        configuration={**sources, "protocol": protocol.plain()},
    )


def _named(chapter: Section) -> Section:
    """Say on each tile whose number it is: the tiles of all chapters stand together."""
    tiles = (replace(tile, label=f"{chapter.title}: {tile.label}") for tile in chapter.headline)
    return replace(chapter, headline=tuple(tiles))


def _keys(names: list[str]) -> list[str]:
    """Return names fit for files and for keys of metrics.json, all different."""
    keys: list[str] = []
    for name in names:
        key = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "estimate"
        keys.append(key if key not in keys else f"{key}_{len(keys) + 1}")
    return keys
