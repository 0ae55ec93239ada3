# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Evaluates the SLAM of a run from its recordings: trajectories, map, cost."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from aerotwin_core.bag import BagReader, PoseTopic
from aerotwin_core.errors import UserError
from aerotwin_core.threads import in_background
from aerotwin_run_evaluation.bag.camera import true_camera
from aerotwin_run_evaluation.bag.frames import FrameCollector, collect_frames
from aerotwin_run_evaluation.bag.poses import Span, truth_within, within
from aerotwin_run_evaluation.bag.protocols import trajectory_protocol
from aerotwin_run_evaluation.bag.roles import RunTopics
from aerotwin_run_evaluation.map_job import JudgedMap, MapJob, MapOutcome, last_map
from aerotwin_trajectory_evaluation import (
    ResourceUsage,
    TrajectoryEvaluation,
    evaluate_trajectory,
)
from aerotwin_trajectory_evaluation.evaluation import FITTED, JOINED
from aerotwin_trajectory_evaluation.sensor_frames import mounting_of, poses_of_base
from aerotwin_trajectory_evaluation.slam_poses import (
    Placement,
    frames_of_estimate,
    place_estimate,
    read_poses,
)
from aerotwin_trajectory_evaluation.summary import OF_PROTOCOL, Remedies

if TYPE_CHECKING:
    from aerotwin_run_evaluation.map_process import MapProcess
    from aerotwin_worlds import World

NO_TRUTH = (
    "There is no truth, the SLAM is not judged: no topic is called truth, gt, vicon, mocap or "
    "alike; the bag holds {}. Name one of them, or a trajectory file, by --truth"
)
NOTHING_JUDGED = "Nothing was judged: neither a trajectory nor a map. Below stands why."
_ONE_MAP = Lock()
"""Held by the one map that is evaluated: each takes a processor and some memory."""
NO_MAP = "no map was published on {}, and none is judged"


@dataclass(frozen=True, kw_only=True)
class RunRecord:
    """Recordings of a run, and how they are evaluated."""

    # with truth and images, and with the outputs of the SLAM under test (None without one)
    truth_bag: BagReader
    slam_bag: BagReader | None
    world: "World | None"  # the true surface, for the map
    map_process: "MapProcess | None" = None  # that evaluates the map; None = one is started
    usage: ResourceUsage | None = None
    duration_s: float = 0.0  # simulated (or recorded) time
    topics: RunTopics = field(default_factory=RunTopics)
    frames: FrameCollector | None = None  # the frames, if already collected; else they are read
    protocol: str | None = None  # protocol file or preset of the evaluations
    keyframe_gap_s: float | None = None  # instead of the protocol's
    # frame that the estimates are poses of, which the truth's bag mounts; empty = the truth's
    poses_of: str = ""
    span_ns: Span | None = None  # first and last header stamp of the evaluated part; None = all
    # of the SLAM's frame in that of the truth, if it is known; else found by `place_estimate`
    placement: Placement | None = None
    warnings: tuple[str, ...] = ()
    remedies: Remedies = OF_PROTOCOL
    # the run was interrupted: the map is not evaluated, and the report says so
    is_partial: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class JudgedEstimate:
    """An evaluated estimate, and how it was placed in the frame of the truth."""

    source: str
    evaluation: TrajectoryEvaluation
    placement: str


@dataclass(frozen=True, kw_only=True, eq=False)
class RunCost:
    """Resource usage of the SLAM and number of frames; `error` is its error over time, if known."""

    usage: ResourceUsage
    n_frames: int
    error: tuple[np.ndarray, np.ndarray] | None


@dataclass(frozen=True, kw_only=True, eq=False)
class SlamEvaluation:
    """Results of the SLAM of a run.

    `wait_for_map` returns the outcome of the map, which is evaluated in a process of its own:
    trajectories are drawn meanwhile. `map_note` is a remark on the map for a reader of the
    trajectory.
    """

    estimates: tuple[JudgedEstimate, ...] = ()
    wait_for_map: Callable[[], MapOutcome] = MapOutcome
    map_note: str = ""
    cost: RunCost | None = None

    @property
    def map(self) -> JudgedMap | None:
        """The evaluated map; None when it is not evaluated."""
        return self.wait_for_map().judged


@dataclass(frozen=True, kw_only=True, eq=False)
class RunEvaluation:
    """Results of a run: its frames by topic, its SLAM, and warnings but those on the map."""

    record: RunRecord
    frames: tuple[FrameCollector, ...]
    slam: SlamEvaluation
    noted: tuple[str, ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        """All warnings; waits for the map."""
        problem = self.slam.wait_for_map().problem
        return (*self.noted, problem) if problem else self.noted

    @property
    def is_judged(self) -> bool:
        """Whether a trajectory (and with it a map) was evaluated."""
        return bool(self.slam.estimates)

    def not_judged(self) -> UserError:
        """Return the error of a command when nothing was judged: why, the first line of each."""
        reasons = [text.partition("\n")[0] for text in self.warnings if text != NOTHING_JUDGED]
        return UserError("; ".join(["nothing was judged", *reasons]))


def judge_run(record: RunRecord, on_step: Callable[[str], None]) -> RunEvaluation:
    """Evaluate a run; what cannot be evaluated becomes a warning.

    `on_step` is called with the name of each step, for progress.
    """

    @cache
    def read_frames() -> tuple[FrameCollector, ...]:
        on_step("frames")
        return _frames(record)

    slam = SlamEvaluation()
    warnings = [*record.warnings, *(() if record.world is None else record.world.warnings)]
    if record.is_partial:
        warnings.insert(0, "This report is partial: the run was stopped before its end.")
    if record.slam_bag is not None:
        try:
            slam = _judge_slam(record, record.slam_bag, read_frames, warnings, on_step)
        except _NotJudged as reason:
            warnings.append(str(reason))
            slam = SlamEvaluation(
                cost=_cost(record, None, _stamps(record, read_frames()), warnings)
            )
        if not slam.estimates:
            warnings.insert(0, NOTHING_JUDGED)
    frames = read_frames()
    warnings += record.truth_bag.problems
    if not record.truth_bag.is_complete:
        warnings.append("The bag was not closed by its writer; its last second may be missing.")
    return RunEvaluation(
        record=record, frames=frames, slam=slam, noted=tuple(dict.fromkeys(warnings))
    )


class _NotJudged(Exception):
    """Why the SLAM cannot be evaluated."""


def _frames(record: RunRecord) -> tuple[FrameCollector, ...]:
    if record.frames is not None:
        return (record.frames,)
    return tuple(collect_frames(record.truth_bag, topic) for topic in record.topics.frames)


def _stamps(record: RunRecord, frames: tuple[FrameCollector, ...]) -> tuple[np.ndarray, ...]:
    return tuple(each.stamps_within(record.span_ns) for each in frames)


def _judge_slam(
    record: RunRecord,
    bag: BagReader,
    read_frames: Callable[[], tuple[FrameCollector, ...]],
    warnings: list[str],
    on_step: Callable[[str], None],
) -> SlamEvaluation:
    """Evaluate a SLAM: its map begins first, beside which frames are read, and takes longest."""
    topics = record.topics
    if not any(
        bag.counts.get(source.partition(":")[0], 0) > 0 or Path(source).is_file()
        for source in topics.estimates
    ):
        raise _NotJudged("No SLAM output was recorded: neither trajectory nor map is judged.")
    truth = _truth(record, warnings)
    is_map_there = _is_map_there(record, bag)
    wait_for_map: Callable[[], MapOutcome] = MapOutcome
    if record.world is not None and is_map_there and not record.is_partial:
        wait_for_map = _begin_map(record, record.world, bag, truth, warnings, on_step)
    stamps = _stamps(record, read_frames())
    judged: dict[str, JudgedEstimate] = {}
    for source in topics.estimates:
        on_step(f"trajectory {source}")
        try:
            judged[source] = _judge_estimate(record, bag, source, truth, stamps, warnings)
        except UserError as error:
            warnings.append(f"The trajectory is not judged: {error}")
    first = judged.get(topics.estimates[0])
    if topics.map_note:
        warnings.append(topics.map_note)
    return SlamEvaluation(
        estimates=tuple(judged.values()),
        wait_for_map=MapOutcome if first is None else wait_for_map,
        map_note=topics.map_note or ("" if is_map_there else NO_MAP.format(topics.map)),
        cost=_cost(record, first, stamps, warnings),
    )


def _truth(record: RunRecord, warnings: list[str]) -> PoseTopic:
    """Return the true poses of the evaluated part."""
    source = record.topics.truth
    if not source:
        held = ", ".join(record.truth_bag.trajectory_topics()) or "no poses at all"
        raise _NotJudged(NO_TRUTH.format(held))
    try:
        truth = _read(record, record.truth_bag, source)
    except UserError as error:
        raise _NotJudged(f"There is no truth, the SLAM is not judged: {error}") from error
    warnings += truth.problems
    part = truth_within(truth.trajectory, record.span_ns)
    if len(truth.trajectory) < 2:
        raise _NotJudged(f"There is no truth on {source}: the SLAM is not judged.")
    if len(part) < 2:
        raise _NotJudged(
            f"The truth on {source} does not reach into the part that was asked for: the SLAM is "
            "not judged."
        )
    return replace(truth, trajectory=part)


def _read(record: RunRecord, bag: BagReader, source: str) -> PoseTopic:
    duplicates = trajectory_protocol(record.protocol).choices.duplicates
    return read_poses(bag, source, duplicates=duplicates)


def _read_estimate(record: RunRecord, bag: BagReader, source: str, truth: PoseTopic) -> PoseTopic:
    """Return the poses of an estimate as those of the truth's frame."""
    poses = _read(record, bag, source)
    if not record.poses_of:
        return poses
    trajectory, covariances = poses_of_base(
        truth.trajectory,
        poses.trajectory,
        poses.covariances,
        mounting_of(record.poses_of, record.truth_bag.path, record.topics.vehicle),
        trajectory_protocol(record.protocol).choices,
    )
    return replace(poses, trajectory=trajectory, covariances=covariances)


def _judge_estimate(
    record: RunRecord,
    bag: BagReader,
    source: str,
    truth: PoseTopic,
    stamps: tuple[np.ndarray, ...],
    warnings: list[str],
) -> JudgedEstimate:
    poses = within(_read_estimate(record, bag, source, truth), record.span_ns)
    warnings += poses.problems
    placement = record.placement or place_estimate(truth, poses, source, record.topics.truth)
    evaluation = evaluate_trajectory(
        truth.trajectory,
        poses.trajectory,
        protocol=trajectory_protocol(record.protocol),
        covariances=poses.covariances,
        frame_stamps_ns=frames_of_estimate(stamps, poses.trajectory.stamps_ns),
        T_reference_estimate=placement.T_reference_estimate,
        start=FITTED if placement.is_fitted else JOINED,
        keyframe_gap_s=record.keyframe_gap_s,
    )
    return JudgedEstimate(source=source, evaluation=evaluation, placement=placement.text)


def _is_map_there(record: RunRecord, bag: BagReader) -> bool:
    """Return whether there is a map, or one was expected: then a missing one is a fault."""
    topics = record.topics
    return bool(topics.map) and (topics.is_map_expected or bag.counts.get(topics.map, 0) > 0)


def _begin_map(
    record: RunRecord,
    world: "World",
    bag: BagReader,
    truth: PoseTopic,
    warnings: list[str],
    on_step: Callable[[str], None],
) -> Callable[[], MapOutcome]:
    """Begin to evaluate the last map, and return what waits for the outcome."""
    topics = record.topics
    try:
        placement = record.placement or _placement_of_map(record, bag, truth)
        points = last_map(bag, topics.map)
    except (ValueError, UserError) as error:
        warnings.append(f"The map on {topics.map} is not judged: {error}")
        return MapOutcome
    if points is None:
        warnings.append(f"No map was recorded on {topics.map}: it is not judged.")
        return MapOutcome
    job = MapJob(
        points_odom=points,
        T_map_odom=placement.T_reference_estimate,
        camera=true_camera(record.truth_bag, truth.trajectory, topics.vehicle),
        protocol=record.protocol,
        name=topics.section_name("map"),
    )

    def judge() -> MapOutcome:
        with _ONE_MAP, _map_process(record, world) as process:
            try:
                return MapOutcome(judged=process.judge(job, on_step))
            except UserError as error:
                return MapOutcome(problem=f"The map on {topics.map} is not judged: {error}")

    return in_background(judge)


def _placement_of_map(record: RunRecord, bag: BagReader, truth: PoseTopic) -> Placement:
    source = record.topics.map_poses or record.topics.estimates[0]
    poses = _read_estimate(record, bag, source, truth)
    return place_estimate(truth, within(poses, record.span_ns))


@contextmanager
def _map_process(record: RunRecord, world: "World") -> "Iterator[MapProcess]":
    """Yield the process that evaluates maps in a world: that of the record, else one for now."""
    if record.map_process is not None and record.map_process.world is world:
        yield record.map_process
        return
    from aerotwin_run_evaluation.map_process import MapProcess

    process = MapProcess(world)
    try:
        yield process
    finally:
        process.end()


def _cost(
    record: RunRecord,
    first: JudgedEstimate | None,
    stamps: tuple[np.ndarray, ...],
    warnings: list[str],
) -> RunCost | None:
    """Return the cost of the SLAM, None where it was not measured.

    It is a warning when its process was not found.
    """
    usage = record.usage
    if usage is None:
        return None
    if len(usage.n_processes) == 0 or usage.n_processes.max() == 0:
        warnings.append("No process matched slam_process: CPU and memory were not measured.")
        return None
    # A SLAM that reads files answers nothing: it was given the frames of the first topic.
    n_frames = len(usage.latency_s) or max(map(len, stamps[:1]), default=0)
    if first is None:
        return RunCost(usage=usage, n_frames=n_frames, error=None)
    found = first.evaluation
    answered = frames_of_estimate(stamps, found.estimate.stamps_ns)
    return RunCost(
        usage=usage,
        n_frames=n_frames if answered is None else len(answered),
        error=(found.reference.stamps_ns, found.ape_unaligned.trans_m),
    )
