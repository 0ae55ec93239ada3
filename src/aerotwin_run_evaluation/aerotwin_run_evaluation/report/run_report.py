# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The report of one run: report.html and metrics.json from its bag."""

import dataclasses
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aerotwin_core.cli import say
from aerotwin_core.section import Section
from aerotwin_report import write_report
from aerotwin_run_evaluation.report.frames_section import frames_section
from aerotwin_run_evaluation.report.space_section import space_section
from aerotwin_run_evaluation.run_judgement import (
    JudgedEstimate,
    RunRecord,
    SlamEvaluation,
    judge_run,
)
from aerotwin_trajectory_evaluation import resource_section
from aerotwin_trajectory_evaluation import section as trajectory_section

if TYPE_CHECKING:
    from aerotwin_map_evaluation import MapEvaluation

MAX_DRIFT_PERCENT = 3.0
"""Above this the report marks the drift of a stereo odometry as poor."""
JUDGED = ("trajectory", "map")
"""Sections of which a report has at least one if anything was evaluated."""


def write_run_report(record: RunRecord, *, on_step: Callable[[str], None] | None = None) -> Path:
    """Evaluate the run and write its report; return the path of report.html.

    `on_step` is called with the name of each step, for progress.
    """
    step = on_step or (lambda text: None)
    found = judge_run(record, step)
    step("report")
    sections = _slam_sections(record, found.slam)
    pictures = () if record.is_partial else map(frames_section, found.frames)
    sections += [section for section in pictures if section is not None][:1]
    _write_maps(record.folder, found.slam.maps)
    write_report(
        record.folder,
        title=record.title,
        sections=[*record.lead, *sections, *record.end],
        configuration=record.configuration,
        warnings=found.warnings,
        seed=record.configuration.get("parameters", {}).get("seed"),
        world=None if record.world is None else record.world.credits,
    )
    return record.folder / "report.html"


def say_step(name: str) -> None:
    """Print the current step of a report, which may take minutes."""
    say(f"writing the report: {name}")


def is_judged(metrics: Mapping[str, Any]) -> bool:
    """Return whether a report's `metrics.json` evaluates a trajectory or a map."""
    return any(name.startswith(JUDGED) for name in metrics["sections"])


def _slam_sections(record: RunRecord, slam: SlamEvaluation) -> list[Section]:
    """Return the sections on trajectory, map and cost."""
    source = record.topics.estimates[0]
    sections = [_trajectory_section(record, each, slam.map_note) for each in slam.estimates]
    first = next((each.evaluation for each in slam.estimates if each.source == source), None)
    # Results of two sources are not drawn together.
    cloud = slam.maps[0] if slam.maps and not record.topics.map_poses else None
    space = space_section(first, cloud, has_paths=any(section.scenes for section in sections))
    sections[1:1] = _map_sections(slam.maps)
    if slam.cost is not None:
        sections.append(
            resource_section(
                slam.cost.usage, n_frames=slam.cost.n_frames, simulated_s=record.duration_s,
                error=slam.cost.error,
            )
        )  # fmt: skip
    return sections if space is None else [space, *sections]


def _trajectory_section(record: RunRecord, found: JudgedEstimate, map_note: str) -> Section:
    sources, source = record.topics.estimates, found.source
    is_first = source == sources[0]
    return trajectory_section(
        found.evaluation,
        title="Trajectory" if len(sources) == 1 else f"Trajectory {source}",
        name="trajectory" if is_first else f"trajectory_{_key(source)}",
        max_drift_percent=MAX_DRIFT_PERCENT,
        notes=(found.placement, map_note) if is_first and map_note else (found.placement,),
    )


def _key(source: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", source.lower()).strip("_")


def _map_sections(maps: "tuple[MapEvaluation, ...]") -> list[Section]:
    """Return the sections on the map; for finer voxels only the numbers."""
    if not maps:
        return []
    from aerotwin_map_evaluation import section as map_section

    sections = [map_section(maps[0])]
    for finer in maps[1:]:
        title = f"Map against voxels of {finer.choices.choices.voxel_m:g} m"
        chapter = map_section(finer, title=title, name="map_fine", has_pictures=False)
        sections.append(dataclasses.replace(chapter, headline=(), verdict=""))
    return sections


def _write_maps(folder: Path, maps: "tuple[MapEvaluation, ...]") -> None:
    """Write the map and its reference voxels, beside the report."""
    if not maps:
        return
    from aerotwin_registration import write_cloud

    write_cloud(folder / "slam_map.ply", maps[0].points_map)
    for each in maps:
        name = f"voxels_{each.choices.choices.voxel_m:g}m.ply"
        write_cloud(folder / name, each.voxels_map)
