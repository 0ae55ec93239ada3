# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The report of one run: evaluate what its bag holds and write report.html and metrics.json."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from aerotwin_core.bag import BagReader, PoseTopic
from aerotwin_core.cli import say
from aerotwin_core.errors import UserError
from aerotwin_core.section import Section
from aerotwin_run_evaluation.bag.frames import FrameCollector, collect_frames
from aerotwin_run_evaluation.bag.poses import Span, truth_within, within
from aerotwin_run_evaluation.bag.protocols import trajectory_protocol
from aerotwin_run_evaluation.bag.run_topics import RunTopics
from aerotwin_run_evaluation.report.frames_section import frames_section
from aerotwin_run_evaluation.report.space_section import space_section
from aerotwin_trajectory_evaluation import (
    ResourceUsage,
    TrajectoryEvaluation,
    evaluate_trajectory,
    resource_section,
)
from aerotwin_trajectory_evaluation import section as trajectory_section
from aerotwin_trajectory_evaluation.evaluation import JOINED
from aerotwin_trajectory_evaluation.slam_poses import frames_of_estimate, place_estimate, read_poses

if TYPE_CHECKING:
    from aerotwin_run_evaluation.report.map_chapters import MapChapters
    from aerotwin_worlds import World

MAX_DRIFT_PERCENT = 3.0
"""Above this the report marks the drift of a stereo odometry as poor."""
JUDGED = ("trajectory", "map")
"""Chapters without which nothing was judged."""
NO_MAP = "no map was published on {}, and none is judged"
NO_TRUTH = (
    "There is no truth, the SLAM is not judged: no topic is called truth, gt, vicon, mocap or "
    "alike; the bag holds {}. Name one of them, or a trajectory file, by --truth"
)
NOTHING_JUDGED = "Nothing was judged: neither a trajectory nor a map. Below stands why."


@dataclass(frozen=True, kw_only=True)
class RunRecord:
    """What a run left behind for its report.

    Attributes
    ----------
    folder : Path
        Where report.html and metrics.json go.
    title : str
        Heading of the report.
    truth_bag : BagReader
        Where truth and images are.
    slam_bag : BagReader or None
        Where the outputs of the SLAM under test are; None if none took part.
    world : World or None
        The true surface, for the map.
    configuration : dict
        What repeats the run.
    usage : ResourceUsage or None
        What the SLAM cost.
    duration_s : float
        Simulated (or recorded) time.
    topics : RunTopics
        Where the bags have what is judged.
    frames : FrameCollector or None
        The frames, where they were seen already; else they are read.
    protocol : str or None
        Protocol file or preset of the evaluations.
    span_ns : (int, int) or None
        First and last header stamp of the part that is judged; None = all.
    lead, end : tuple of Section
        Chapters that come first, and last.
    warnings : tuple of str
        What the reader must know.
    is_partial : bool
        The run was cut short: the map is not evaluated, the report says so.
    """

    folder: Path
    title: str
    truth_bag: BagReader
    slam_bag: BagReader | None
    world: "World | None"
    configuration: dict[str, Any]
    usage: ResourceUsage | None = None
    duration_s: float = 0.0
    topics: RunTopics = field(default_factory=RunTopics)
    frames: FrameCollector | None = None
    protocol: str | None = None
    span_ns: Span | None = None
    lead: tuple[Section, ...] = ()
    end: tuple[Section, ...] = ()
    warnings: tuple[str, ...] = field(default=())
    is_partial: bool = False


@dataclass(frozen=True)
class _Inputs:
    """What the chapters on the SLAM need beside the record."""

    truth: PoseTopic
    frames: tuple[np.ndarray, ...]
    warnings: list[str]
    step: Callable[[str], None]


def write_run_report(record: RunRecord, *, on_step: Callable[[str], None] | None = None) -> Path:
    """Evaluate the run and write its report; return the path of report.html.

    Parameters
    ----------
    record : RunRecord
        What the run left behind.
    on_step : callable, optional
        Called with the name of each step, for progress.
    """
    from aerotwin_report import write_report

    step = on_step or (lambda text: None)
    warnings = list(record.warnings)
    if record.world is not None:
        warnings += record.world.warnings
    if record.is_partial:
        warnings.insert(0, "This report is partial: the run was stopped before its end.")
    step("frames")
    frames = _frames(record)
    judged = _slam_sections(record, frames, warnings, step)
    if record.slam_bag is not None and not any(s.name.startswith(JUDGED) for s in judged):
        warnings.insert(0, NOTHING_JUDGED)
    step("report")
    sections = [*record.lead, *judged]
    pictures = [] if record.is_partial else [frames_section(each) for each in frames]
    sections += [section for section in pictures if section is not None][:1]
    write_report(
        record.folder,
        title=record.title,
        sections=[*sections, *record.end],
        configuration=record.configuration,
        warnings=list(dict.fromkeys([*warnings, *_bag_warnings(record.truth_bag)])),
        seed=record.configuration.get("parameters", {}).get("seed"),
        world=None if record.world is None else record.world.credits,
    )
    return record.folder / "report.html"


def say_step(name: str) -> None:
    """Say which part of a report is worked on: it may take minutes."""
    say(f"writing the report: {name}")


def _frames(record: RunRecord) -> list[FrameCollector]:
    if record.frames is not None:
        return [record.frames]
    return [collect_frames(record.truth_bag, topic) for topic in record.topics.frames]


def is_judged(metrics: Mapping[str, Any]) -> bool:
    """Tell whether a report's `metrics.json` judges a trajectory or a map."""
    return any(name.startswith(JUDGED) for name in metrics["sections"])


def _bag_warnings(bag: BagReader) -> list[str]:
    warnings = list(bag.problems)
    if not bag.is_complete:
        warnings.append("The bag was not closed by its writer; its last second may be missing.")
    return warnings


def _slam_sections(
    record: RunRecord,
    frames: list[FrameCollector],
    warnings: list[str],
    step: Callable[[str], None],
) -> list[Section]:
    """Return the chapters on trajectory, map and cost; what is missing becomes a warning."""
    if record.slam_bag is None:
        return []
    if not any(_has_poses(record.slam_bag, source) for source in record.topics.estimates):
        warnings.append("No SLAM output was recorded: neither trajectory nor map is judged.")
        return []
    if not record.topics.truth:
        held = ", ".join(record.truth_bag.trajectory_topics()) or "no poses at all"
        warnings.append(NO_TRUTH.format(held))
        return []
    try:
        truth = _read(record, record.truth_bag, record.topics.truth)
    except UserError as error:
        warnings.append(f"There is no truth, the SLAM is not judged: {error}")
        return []
    warnings += truth.problems
    within_span = truth_within(truth.trajectory, record.span_ns)
    if len(within_span) < 2:
        where = record.topics.truth
        warnings.append(
            f"There is no truth on {where}: the SLAM is not judged."
            if len(truth.trajectory) < 2
            else f"The truth on {where} does not reach into the part that was asked for: the SLAM "
            "is not judged."
        )
        return []
    stamps = tuple(each.stamps_within(record.span_ns) for each in frames)
    inputs = _Inputs(replace(truth, trajectory=within_span), stamps, warnings, step)
    sections, first = _trajectory_sections(record, inputs)
    maps = None if first is None else _map_chapters(record, inputs)
    if record.topics.map_note:
        inputs.warnings.append(record.topics.map_note)
    # What two sources made is not drawn as one.
    cloud = None if maps is None or record.topics.map_poses else maps.evaluation
    space = space_section(first, cloud, has_paths=any(section.scenes for section in sections))
    sections[1:1] = () if maps is None else maps.sections
    cost = _cost_sections(record, inputs, first)
    return [*([space] if space is not None else []), *sections, *cost]


def _read(record: RunRecord, bag: BagReader, source: str) -> PoseTopic:
    duplicates = trajectory_protocol(record.protocol).choices.duplicates
    return read_poses(bag, source, duplicates=duplicates)


def _has_poses(bag: BagReader, source: str) -> bool:
    return bag.counts.get(source.partition(":")[0], 0) > 0 or Path(source).is_file()


def _trajectory_sections(
    record: RunRecord, inputs: _Inputs
) -> tuple[list[Section], TrajectoryEvaluation | None]:
    """Return a chapter for each estimate that can be judged, and the first's evaluation."""
    assert record.slam_bag is not None
    sections: list[Section] = []
    first = None
    sources = record.topics.estimates
    for number, source in enumerate(sources):
        inputs.step(f"trajectory {source}")
        try:
            evaluation, placed = _evaluate(record, inputs, source)
        except UserError as error:
            inputs.warnings.append(f"The trajectory is not judged: {error}")
            continue
        first = evaluation if number == 0 else first
        sections.append(
            trajectory_section(
                evaluation,
                title="Trajectory" if len(sources) == 1 else f"Trajectory {source}",
                name="trajectory" if number == 0 else f"trajectory_{_key(source)}",
                max_drift_percent=MAX_DRIFT_PERCENT,
                notes=(placed, *_map_notes(record)) if number == 0 else (placed,),
            )
        )
    return sections, first


def _evaluate(record: RunRecord, inputs: _Inputs, source: str) -> tuple[TrajectoryEvaluation, str]:
    """Return the evaluation of an estimate, and how it came into the frame of the truth."""
    assert record.slam_bag is not None
    found = within(_read(record, record.slam_bag, source), record.span_ns)
    inputs.warnings.extend(found.problems)
    placement = place_estimate(inputs.truth, found, source, record.topics.truth)
    evaluation = evaluate_trajectory(
        inputs.truth.trajectory,
        found.trajectory,
        protocol=trajectory_protocol(record.protocol),
        covariances=found.covariances,
        frame_stamps_ns=frames_of_estimate(inputs.frames, found.trajectory.stamps_ns),
        T_reference_estimate=placement.T_reference_estimate,
        start=JOINED,
    )
    return evaluation, placement.text


def _key(source: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", source.lower()).strip("_")


def _cost_sections(
    record: RunRecord, inputs: _Inputs, evaluation: TrajectoryEvaluation | None
) -> list[Section]:
    """Return the chapter on the SLAM's cost, a warning when its process was not found."""
    usage = record.usage
    if usage is None:
        return []
    if len(usage.n_processes) == 0 or usage.n_processes.max() == 0:
        inputs.warnings.append("No process matched slam_process: CPU and memory were not measured.")
        return []
    error, stamps = None, None
    if evaluation is not None:
        error = evaluation.reference.stamps_ns, evaluation.ape_unaligned.trans_m
        stamps = frames_of_estimate(inputs.frames, evaluation.estimate.stamps_ns)
    n_frames = len(usage.latency_s) if stamps is None else len(stamps)
    return [resource_section(usage, n_frames=n_frames, simulated_s=record.duration_s, error=error)]


def _map_notes(record: RunRecord) -> tuple[str, ...]:
    """Return what the reader of the trajectory must know of the map."""
    if record.topics.map_note:
        return (record.topics.map_note,)
    return (NO_MAP.format(record.topics.map),) if _has_no_map(record) else ()


def _has_no_map(record: RunRecord) -> bool:
    """Tell whether there is no map where none was expected: nothing is wrong then."""
    assert record.slam_bag is not None
    topics = record.topics
    return not topics.map or (
        not topics.is_map_expected and record.slam_bag.counts.get(topics.map, 0) == 0
    )


def _map_chapters(record: RunRecord, inputs: _Inputs) -> "MapChapters | None":
    """Judge the map where there is a surface to judge it by."""
    if record.world is None or record.is_partial or _has_no_map(record):
        return None
    from aerotwin_run_evaluation.report.map_chapters import map_chapters

    assert record.slam_bag is not None
    found = _read(record, record.slam_bag, record.topics.map_poses or record.topics.estimates[0])
    placement = place_estimate(inputs.truth, within(found, record.span_ns))
    chapters = map_chapters(
        record.folder,
        record.slam_bag,
        record.topics.map,
        world=record.world,
        truth_bag=record.truth_bag,
        truth=inputs.truth.trajectory,
        T_map_odom=placement.T_reference_estimate,
        protocol=record.protocol,
        on_step=inputs.step,
    )
    if chapters.warning:
        inputs.warnings.append(chapters.warning)
    return chapters
