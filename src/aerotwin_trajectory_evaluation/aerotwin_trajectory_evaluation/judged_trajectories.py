# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Computation of `aerotwin evaluate trajectory`: from a request to an evaluation of each estimate.

Several estimates are comparable only at moments at which all have a pose: one that stops early has
left out the hard part.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.protocol import Protocol
from aerotwin_core.time import stamp_of_text
from aerotwin_core.trajectory import Trajectory
from aerotwin_trajectory_evaluation.association import associate, coverage_of_time, pair
from aerotwin_trajectory_evaluation.bound import StereoCamera
from aerotwin_trajectory_evaluation.evaluation import TrajectoryEvaluation, evaluate_trajectory
from aerotwin_trajectory_evaluation.files import TrajectoryFile, load_trajectory
from aerotwin_trajectory_evaluation.protocol import TrajectoryProtocol
from aerotwin_trajectory_evaluation.sensor_frames import file_of_base

if TYPE_CHECKING:
    from aerotwin_trajectory_evaluation.evo_check import EvoCheck

_NS = 10**9


@dataclass(frozen=True, kw_only=True)
class TimeWindow:
    """A closed interval of time [ns]; None = from the beginning, to the end.

    Stamps are those of the files if `is_absolute`, else counted from the reference's first pose.
    Raises UserError if it ends before it starts.
    """

    start_ns: int | None = None
    end_ns: int | None = None
    is_absolute: bool = False

    def __post_init__(self) -> None:
        if self.start_ns is None or self.end_ns is None:
            return
        if self.start_ns > self.end_ns:
            raise UserError(
                "--t-start must be before --t-end, got "
                f"{self.start_ns / _NS:g} s and {self.end_ns / _NS:g} s"
            )

    @property
    def is_whole(self) -> bool:
        """Whether it excludes nothing."""
        return self.start_ns is None and self.end_ns is None

    def of_reference(self, reference: Trajectory) -> Trajectory:
        """Return the poses of the reference within the window.

        Raises UserError if fewer than two are left.
        """
        inside = reference.select(self._inside(reference, reference, 0))
        if len(inside) < 2:
            raise UserError(self._nothing(reference, len(inside)))
        return inside

    def of_estimate(
        self, reference: Trajectory, estimate: Trajectory, *, margin_s: float
    ) -> np.ndarray:
        """Return which poses of an estimate are in the window, or may be paired with its ends.

        `reference` is the whole one: times are counted from its first pose. A pose may lie
        `margin_s` from its pair [s].
        """
        return self._inside(reference, estimate, round(margin_s * _NS))

    def words(self, n_left: int, n_whole: int) -> str:
        """Describe the window, and how much of the reference it leaves."""
        start = "its beginning" if self.start_ns is None else f"{self.start_ns / _NS:.3f} s"
        end = "its end" if self.end_ns is None else f"{self.end_ns / _NS:.3f} s"
        since = "as stamps" if self.is_absolute else "since its first pose"
        left = "all" if n_left == n_whole else f"{n_left} of {n_whole}"
        return f"judged from {start} to {end} of the reference ({since}): {left} of its poses"

    def _inside(self, reference: Trajectory, which: Trajectory, margin_ns: int) -> np.ndarray:
        zero = 0 if self.is_absolute or not len(reference) else int(reference.stamps_ns[0])
        is_in = np.ones(len(which), dtype=bool)
        if self.start_ns is not None:
            is_in &= which.stamps_ns >= self.start_ns + zero - margin_ns
        if self.end_ns is not None:
            is_in &= which.stamps_ns <= self.end_ns + zero + margin_ns
        return np.flatnonzero(is_in)

    def _nothing(self, reference: Trajectory, n: int) -> str:
        first, last = (int(stamp) for stamp in reference.stamps_ns[[0, -1]])
        asked = [ns for ns in (self.start_ns, self.end_ns) if ns is not None]
        way_out = "choose times within"
        if not self.is_absolute and any(first <= ns <= last for ns in asked):
            way_out = "stamps as in the files need --t-absolute"
        elif self.is_absolute and all(ns <= last - first for ns in asked):
            way_out = "leave out --t-absolute to count from its first pose"
        return (
            f"--t-start, --t-end: {n} poses of the reference are left, two are needed; it lasts "
            f"from 0 to {(last - first) / _NS:.3f} s (stamps {first / _NS:.3f} to "
            f"{last / _NS:.3f} s); {way_out}"
        )


def nanoseconds(text: str) -> int:
    """Return seconds written as decimals as whole nanoseconds: a double would round a stamp.

    Examples
    --------
    >>> nanoseconds("1403715524.907143")
    1403715524907143000
    """
    try:
        return stamp_of_text(text)
    except ValueError as error:
        raise ValueError(f"expected seconds, got {text!r}") from error


def common_poses(
    reference: Trajectory, estimates: Sequence[Trajectory], choices: TrajectoryProtocol
) -> list[np.ndarray]:
    """Return for each estimate the indices (m,) of its poses at the common moments.

    The moments are those of the estimate with the fewest pairs; every other one is represented by
    its nearest pose, at most `max_gap_s` away. Poses without a pair in the reference are left out,
    and a pose is used for one moment only. Raises UserError if the estimates share fewer than two
    moments.
    """
    paired = [pair(reference, estimate, choices)[2] for estimate in estimates]
    fewest = min(range(len(paired)), key=lambda k: len(paired[k]))
    base = estimates[fewest].select(paired[fewest])
    chosen = [
        _at(base, estimate, own, choices.max_gap_s) for estimate, own in zip(estimates, paired)
    ]
    is_common = np.all([index >= 0 for index in chosen], axis=0)
    n_common = int(is_common.sum())
    if n_common < 2:
        raise UserError(
            f"--common-stamps: the estimates share {n_common} stamps to {choices.max_gap_s:g} s, "
            "two are needed; raise --max-gap-s, or compare them without"
        )
    return [index[is_common] for index in chosen]


def _at(base: Trajectory, estimate: Trajectory, own: np.ndarray, max_gap_s: float) -> np.ndarray:
    """Return which pose of the estimate (among its own) matches each of base; -1 for none."""
    found = np.full(len(base), -1)
    of_base, of_own = associate(base, estimate.select(own), max_gap_s=max_gap_s)
    _, first = np.unique(of_own, return_index=True)
    found[of_base[first]] = own[of_own[first]]
    return found


@dataclass(frozen=True, kw_only=True)
class TrajectoryRequest:
    """Which trajectories are scored, and how.

    Reference and estimates are a file, a bag or BAG:TOPIC, estimates also NAME=FILE; `labels` are a
    name for each. `file_format` and `times` are those of `load_trajectory`. `has_common_stamps`
    scores estimates only at the stamps that all of them have; the noise of `camera` bounds the
    accuracy that can be reached; `has_evo` also scores the same pairs with evo. The estimates are
    poses of a frame with the mounting `T_base_estimate`.
    """

    reference: str
    estimates: tuple[str, ...]
    labels: tuple[str, ...] | None = None
    file_format: str = "auto"
    times: str | None = None
    protocol: Protocol[TrajectoryProtocol]
    window: TimeWindow
    has_common_stamps: bool = False
    camera: StereoCamera | None = None
    has_evo: bool = False
    T_base_estimate: np.ndarray | None = None


@dataclass(frozen=True, kw_only=True)
class TrajectoryInputs:
    """A reference and the estimates to score against it, by the name used in tables and files.

    `own_coverage` is the share of the reference that each estimate covered before it was reduced to
    the common stamps (empty if it was not), `coverage` that of the common stamps. `notes` say what
    was left out.
    """

    reference: TrajectoryFile
    estimates: Mapping[str, TrajectoryFile]
    notes: tuple[str, ...] = ()
    own_coverage: Mapping[str, float]
    coverage: float | None = None

    def within(self, window: TimeWindow, choices: TrajectoryProtocol) -> "TrajectoryInputs":
        """Return the inputs within a window of time."""
        if window.is_whole:
            return self
        whole = self.reference.trajectory
        margin_s = choices.max_gap_s
        if choices.apply_time_offset:
            margin_s += choices.max_time_offset_s
        part = window.of_reference(whole)
        cut = {
            name: _taken(file, window.of_estimate(whole, file.trajectory, margin_s=margin_s))
            for name, file in self.estimates.items()
        }
        return replace(
            self,
            reference=replace(self.reference, trajectory=part),
            estimates=cut,
            notes=(*self.notes, window.words(len(part), len(whole))),
        )

    def at_common_stamps(self, choices: TrajectoryProtocol) -> "TrajectoryInputs":
        """Return the estimates at the stamps that all of them have."""
        truth = self.reference.trajectory
        paths = {name: file.trajectory for name, file in self.estimates.items()}
        chosen = dict(zip(paths, common_poses(truth, list(paths.values()), choices)))
        of_each = ", ".join(f"{len(paths[name])} of {name}" for name in paths)
        cut = {k: _taken(file, chosen[k]) for k, file in self.estimates.items()}
        first = next(iter(cut.values())).trajectory
        coverage = partial(coverage_of_time, truth, keyframe_gap_s=choices.keyframe_gap_s)
        note = f"judged at {len(first)} common stamps ({of_each}); what lies between is not there"
        return replace(
            self,
            estimates=cut,
            coverage=coverage(first),
            notes=(*self.notes, note),
            own_coverage={name: coverage(path) for name, path in paths.items()},
        )


def read_inputs(request: TrajectoryRequest) -> TrajectoryInputs:
    """Read a reference and its estimates, reduced to the window and stamps to score.

    Raises UserError if a file is missing or damaged, names are too few or not unique, or nothing is
    left.
    """
    choices = request.protocol.choices

    def read(spec: str) -> TrajectoryFile:
        path, _, topic = spec.partition(":")
        if Path(spec).exists():
            path, topic = spec, ""
        return load_trajectory(
            path, file_format=request.file_format, times=request.times, topic=topic or None,
            duplicates=choices.duplicates,
        )  # fmt: skip

    truth = read(request.reference)
    named = name_estimates(request.estimates, request.labels)
    found = {name: read(spec) for name, spec in named.items()}
    _refuse_mixed(truth, found)
    if (T := request.T_base_estimate) is not None:
        found = {
            name: file_of_base(truth.trajectory, file, T, choices) for name, file in found.items()
        }
    notes = [*truth.notes, *(note for file in found.values() for note in file.notes)]
    whole = TrajectoryInputs(reference=truth, estimates=found, notes=tuple(notes), own_coverage={})
    part = whole.within(request.window, choices)
    return part.at_common_stamps(choices) if request.has_common_stamps else part


def _refuse_mixed(reference: TrajectoryFile, estimates: Mapping[str, TrajectoryFile]) -> None:
    for file in estimates.values():
        if reference.has_stamps != file.has_stamps:
            without = "estimate" if reference.has_stamps else "reference"
            raise UserError(
                f"the {without} is a KITTI file without stamps, the other trajectory has some: "
                "their poses cannot be paired; give its stamps with --times FILE"
            )


def name_estimates(specs: Sequence[str], labels: Sequence[str] | None = None) -> dict[str, str]:
    """Return the estimates by name: labels, the NAME of NAME=FILE, or short names of their files.

    Raises UserError if there is not one label for each, a name is empty, or two are the same.

    Examples
    --------
    >>> name_estimates(["orb=results/1.txt", "results/vins.txt"])
    {'orb': 'results/1.txt', 'vins': 'results/vins.txt'}
    """
    provided = [_named(spec) for spec in specs]
    files = [path for _, path in provided]
    if labels is not None and len(labels) != len(specs):
        raise UserError(
            f"--labels: expected one for each of {len(specs)} estimates, found {len(labels)}"
        )
    names = list(labels) if labels is not None else [name for name, _ in provided]
    if not all(names):
        short = short_names(files)
        names = [name or short[k] for k, name in enumerate(names)]
    if len(set(names)) < len(names):
        raise UserError(
            f"names of estimates must be different, found {', '.join(names)}; "
            "name them with --labels or NAME=FILE"
        )
    return dict(zip(names, files))


def _named(spec: str) -> tuple[str, str]:
    """Return name and path of NAME=FILE; the name of a plain path is empty."""
    name, sign, path = spec.partition("=")
    if not sign or "/" in name or Path(spec).exists():
        return "", spec
    if not path:
        raise UserError(f"{spec}: expected NAME=FILE, found no file after the =")
    return name, path


def short_names(specs: Sequence[str]) -> list[str]:
    """Return a short name for each: its file name, with as many folders as make it unique."""
    parts = [Path(spec.replace(":/", "/")).with_suffix("").parts for spec in specs]
    for n in range(1, max(len(part) for part in parts) + 1):
        names = ["/".join(part[-n:]) for part in parts]
        if len(set(names)) == len(names):
            return names
    raise UserError("two estimates are the same file; give each once")


def _taken(file: TrajectoryFile, index: np.ndarray) -> TrajectoryFile:
    return replace(
        file,
        trajectory=file.trajectory.select(index),
        covariances=None if file.covariances is None else file.covariances[index],
    )


@dataclass(frozen=True, kw_only=True)
class JudgedTrajectories:
    """Evaluations of estimates against one reference, by the name of the estimate.

    `own_coverage` is that of `TrajectoryInputs`; `evo` holds evo's scores, if requested.
    """

    evaluations: Mapping[str, TrajectoryEvaluation]
    camera: StereoCamera | None = None
    notes: tuple[str, ...] = ()
    own_coverage: Mapping[str, float]
    evo: "Mapping[str, EvoCheck]"

    @property
    def is_reliable(self) -> bool:
        """Whether each alignment is determined, and evo's scores agree."""
        are_determined = all(e.alignment.is_determined for e in self.evaluations.values())
        return are_determined and all(check.agrees for check in self.evo.values())

    def metrics(self) -> dict[str, Any]:
        """Return the numbers of a single estimate, or those of each by name."""
        each = {name: found.metrics(self.camera) for name, found in self.evaluations.items()}
        for name, check in self.evo.items():
            each[name]["evo"] = check.plain()
        return next(iter(each.values())) if len(each) == 1 else {"estimates": each}


def judge_trajectories(request: TrajectoryRequest) -> JudgedTrajectories:
    """Read the files and score each estimate.

    Raises UserError if a file cannot be read, or an estimate cannot be scored.
    """
    inputs = read_inputs(request)
    evaluations = {name: _evaluate(inputs, name, request) for name in inputs.estimates}
    notes, evo = list(inputs.notes), {}
    if request.has_evo:
        from aerotwin_trajectory_evaluation.evo_check import check_with_evo

        evo = {name: check_with_evo(evaluation) for name, evaluation in evaluations.items()}
        for name, check in evo.items():
            says = "says the same" if check.agrees else "DIFFERS"
            notes.append(f"{name}: evo {check.version} {says} (to {check.largest:.1e})")
    return JudgedTrajectories(
        evaluations=evaluations,
        camera=request.camera,
        notes=tuple(notes),
        own_coverage=inputs.own_coverage,
        evo=evo,
    )


def _evaluate(
    inputs: TrajectoryInputs, name: str, request: TrajectoryRequest
) -> TrajectoryEvaluation:
    estimate = inputs.estimates[name]
    try:
        return evaluate_trajectory(
            inputs.reference.trajectory,
            estimate.trajectory,
            protocol=request.protocol,
            covariances=estimate.covariances,
            coverage=inputs.coverage,
        )
    except UserError as error:
        raise UserError(f"{name}: {error}") from error
