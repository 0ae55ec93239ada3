# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The report of one run: report.html and metrics.json from its bag."""

import dataclasses
import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from aerotwin_core.cli import say
from aerotwin_core.messages import stamp_ns
from aerotwin_core.plots import TRUTH
from aerotwin_core.scene import PathLayer, PointLayer, ReportScene
from aerotwin_core.section import Figure, Section
from aerotwin_report import write_report
from aerotwin_run_evaluation.bag.frames import FrameCollector
from aerotwin_run_evaluation.map_job import JudgedMap
from aerotwin_run_evaluation.run_judgement import (
    JudgedEstimate,
    RunEvaluation,
    RunRecord,
    SlamEvaluation,
)
from aerotwin_trajectory_evaluation import TrajectoryEvaluation, resource_section
from aerotwin_trajectory_evaluation import section as trajectory_section
from aerotwin_trajectory_evaluation.evaluation import AS_GIVEN

MAX_DRIFT_PERCENT = 3.0
"""Above this the report marks the drift of a stereo odometry as poor."""
WIDTH_PX = 420
CHANNELS = {"mono8": 1, "8UC1": 1, "rgb8": 3, "bgr8": 3}
"""Encodings of the camera frames that are shown."""


def write_run_report(
    folder: Path,
    evaluation: RunEvaluation,
    *,
    title: str,
    configuration: Mapping[str, Any],
    lead: Sequence[Section] = (),
    end: Sequence[Section] = (),
) -> Path:
    """Write report.html, metrics.json and maps of a run; return the path of the first.

    `configuration` reproduces the run; `lead` and `end` are the first and last sections.
    """
    record = evaluation.record
    sections = run_sections(evaluation)
    write_map(folder, evaluation.slam.map)
    return write_report(
        folder,
        title=title,
        sections=[*lead, *sections, *end],
        configuration=configuration,
        warnings=evaluation.warnings,
        seed=configuration.get("parameters", {}).get("seed"),
        world=None if record.world is None else record.world.credits,
    )


def say_step(name: str) -> None:
    """Print the current step of a report, which may take minutes."""
    say(f"writing the report: {name}")


def run_sections(evaluation: RunEvaluation) -> list[Section]:
    """Return the sections on trajectory, map, cost and frames; of a fleet, of one vehicle.

    Those of a vehicle of a fleet begin with its name, and show no tiles of their own.
    """
    record = evaluation.record
    sections = _slam_sections(record, evaluation.slam)
    pictures = () if record.is_partial else map(frames_section, evaluation.frames)
    sections += [section for section in pictures if section is not None][:1]
    if not record.topics.is_among_others:
        return sections
    return [_of_vehicle(section, record.topics.vehicle) for section in sections]


def _of_vehicle(section: Section, vehicle: str) -> Section:
    kind = section.name.removesuffix(f"_{vehicle}")
    return dataclasses.replace(
        section,
        title=f"{vehicle}: {section.title}",
        name=f"{kind}_{vehicle}",
        kind=section.kind or kind,
        headline=(),
        verdict=f"{vehicle}: {section.verdict}" if section.verdict else "",
    )


def _slam_sections(record: RunRecord, slam: SlamEvaluation) -> list[Section]:
    """Return the sections on trajectory, map and cost."""
    source = record.topics.estimates[0]
    sections = [_trajectory_section(record, each, slam.map_note) for each in slam.estimates]
    first = next((each.evaluation for each in slam.estimates if each.source == source), None)
    # Results of two sources are not drawn together.
    cloud = None if record.topics.map_poses else slam.map
    space = space_section(first, cloud, has_paths=any(section.scenes for section in sections))
    sections[1:1] = () if slam.map is None else slam.map.sections
    if slam.cost is not None:
        sections.append(
            resource_section(
                slam.cost.usage, n_frames=slam.cost.n_frames, simulated_s=record.duration_s,
                error=slam.cost.error, name=record.topics.section_name("resources"),
            )
        )  # fmt: skip
    return sections if space is None else [space, *sections]


def _trajectory_section(record: RunRecord, found: JudgedEstimate, map_note: str) -> Section:
    sources, source = record.topics.estimates, found.source
    is_first, key = source == sources[0], re.sub(r"[^a-z0-9]+", "_", source.lower()).strip("_")
    return trajectory_section(
        found.evaluation,
        title="Trajectory" if len(sources) == 1 else f"Trajectory {source}",
        name=record.topics.section_name("trajectory") if is_first else f"trajectory_{key}",
        max_drift_percent=MAX_DRIFT_PERCENT,
        remedies=record.remedies,
        notes=(found.placement, map_note) if is_first and map_note else (found.placement,),
    )


def write_map(folder: Path, judged: JudgedMap | None) -> None:
    """Write the map and its reference voxels into a folder, which is made where it is missing."""
    if judged is None:
        return
    from aerotwin_registration import write_cloud

    folder.mkdir(exist_ok=True)
    write_cloud(folder / "slam_map.ply", judged.points_map)
    for edge_m, voxels in judged.voxels_map.items():
        write_cloud(folder / f"voxels_{edge_m:g}m.ply", voxels)


def frames_section(frames: FrameCollector) -> Section | None:
    """Return the section with frames spread over the bag, None when there are no images."""
    if not frames.samples or frames.stamps_ns is None:
        return None
    start_ns = int(frames.stamps_ns[0])
    figures = [
        Figure(
            title=f"t = {(stamp_ns(message) - start_ns) * 1e-9:.2f} s",
            caption=f"frame {number}",
            png=png,
        )
        for number, message in frames.samples
        if (png := _png(message)) is not None
    ]
    return Section(
        title="Camera frames",
        name="frames",
        text="What the left camera saw, as it was recorded.",
        figures=tuple(figures),
        metrics={"n_frames": len(frames.stamps_ns)},
    )


def _png(message: Any) -> bytes | None:
    """Return the picture as PNG; None if its encoding is not shown or its sizes disagree."""
    channels = CHANNELS.get(message.encoding)
    height, width, step = message.height, message.width, message.step
    data = np.asarray(message.data)
    if channels is None or width * height == 0 or step < width * channels:
        return None
    if data.size < height * step:
        return None
    rows = data[: height * step].reshape(height, step)
    image = rows[:, : width * channels].reshape(height, width, channels)
    if message.encoding == "bgr8":
        image = image[:, :, ::-1]
    picture = Image.fromarray(np.ascontiguousarray(image[:, :, 0] if channels == 1 else image))
    scale = min(1.0, WIDTH_PX / width)
    size = (max(round(scale * width), 1), max(round(scale * height), 1))
    png = io.BytesIO()
    picture.resize(size, Image.Resampling.BOX).save(png, "PNG")
    return png.getvalue()


def space_section(
    trajectory: TrajectoryEvaluation | None, cloud: JudgedMap | None, *, has_paths: bool
) -> Section | None:
    """Return the section with the view; None where there is nothing to show.

    Paths alone are skipped if the trajectory's section shows them (`has_paths`).
    """
    if trajectory is None or (cloud is None and has_paths):
        return None
    is_placed = trajectory.start != AS_GIVEN
    layers: list[PathLayer | PointLayer] = [
        PathLayer(name="truth", points_map=trajectory.reference.p_ref_body, colour=TRUTH),
        PathLayer(
            name="estimate",
            points_map=trajectory.estimate.p_ref_body,
            values=trajectory.ape_unaligned.trans_m,
            unit="m",
        ),
    ]
    if cloud is not None:
        layers.append(_map_layer(cloud))
    return Section(
        title="Map and trajectory in space",
        name="space",
        scenes=(
            ReportScene(
                title="What the SLAM made of the place",
                caption=(
                    "Both as the SLAM gave them, "
                    f"{trajectory.start if is_placed else 'in the frame of truth'}. The path is "
                    "coloured by its distance to the true one, map points by their distance to "
                    "the reference."
                ),
                layers=tuple(layers),
            ),
        ),
    )


def _map_layer(cloud: JudgedMap) -> PointLayer:
    return PointLayer(
        name="map",
        points_map=cloud.points_map,
        values=np.where(np.isfinite(cloud.distances), cloud.distances, np.nan),
        unit="m",
    )
