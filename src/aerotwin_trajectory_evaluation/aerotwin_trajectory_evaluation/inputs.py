# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What `aerotwin evaluate trajectory` is given: one reference and named estimates, cut to size."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.protocol import Protocol
from aerotwin_trajectory_evaluation.association import coverage_of_time
from aerotwin_trajectory_evaluation.bound import StereoCamera
from aerotwin_trajectory_evaluation.common_stamps import common_poses
from aerotwin_trajectory_evaluation.files import TrajectoryFile, load_trajectory
from aerotwin_trajectory_evaluation.protocol import TrajectoryProtocol
from aerotwin_trajectory_evaluation.window import TimeWindow


@dataclass(frozen=True, kw_only=True)
class TrajectoryRequest:
    """Which trajectories are scored, and how.

    Attributes
    ----------
    reference : str
        A file, a bag or BAG:TOPIC.
    estimates : tuple of str
        The same, or NAME=FILE.
    labels : tuple of str or None
        A name for each estimate.
    file_format, times : str, str or None
        As `load_trajectory` takes them.
    protocol : Protocol
    window : TimeWindow
    has_common_stamps : bool
        Whether estimates are scored only at the stamps that all of them have.
    camera : StereoCamera or None
        Whose noise bounds what can be reached.
    has_evo : bool
        Whether evo scores the same pairs.
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


@dataclass(frozen=True, kw_only=True)
class TrajectoryInputs:
    """A reference and the estimates that are judged against it.

    Attributes
    ----------
    reference : TrajectoryFile
    estimates : dict of TrajectoryFile
        By the name that stands in tables and files.
    notes : tuple of str
        What was left out.
    own_coverage : dict of float
        Share of the reference that each estimate covered before it was cut to the common stamps;
        empty when it was not.
    coverage : float or None
        Share that the common stamps cover.
    """

    reference: TrajectoryFile
    estimates: Mapping[str, TrajectoryFile]
    notes: tuple[str, ...] = ()
    own_coverage: Mapping[str, float]
    coverage: float | None = None

    def within(self, window: TimeWindow, choices: TrajectoryProtocol) -> "TrajectoryInputs":
        """Return the part of them within a window of time."""
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
        n_common = len(first)
        note = f"judged at {n_common} common stamps ({of_each}); what lies between is not there"
        return replace(
            self,
            estimates=cut,
            coverage=coverage_of_time(truth, first),
            notes=(*self.notes, note),
            own_coverage={name: coverage_of_time(truth, path) for name, path in paths.items()},
        )


def read_inputs(request: TrajectoryRequest) -> TrajectoryInputs:
    """Read a reference and its estimates, cut to what is to be judged.

    Raises
    ------
    UserError
        If a file is missing or damaged, names are too few or not different, or nothing is left.
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

    Raises
    ------
    UserError
        If labels are not one for each, a name is empty, or two are the same.

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
    """Return name and path; what is a file as it stands has no name in front."""
    name, sign, path = spec.partition("=")
    if not sign or "/" in name or Path(spec).exists():
        return "", spec
    if not path:
        raise UserError(f"{spec}: expected NAME=FILE, found no file after the =")
    return name, path


def short_names(specs: Sequence[str]) -> list[str]:
    """Return a short name for each: its file's, with as many folders as tell them apart."""
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
