# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The runs of a study: from a YAML file, from patterns of file names, from run folders."""

import glob
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aerotwin_comparison.run_folder import RunFolder, is_run_folder, open_run_folder
from aerotwin_core.errors import UserError
from aerotwin_core.parameters import load_parameters, parameter, read_yaml

_FIELD = re.compile(r"\{(method|sequence|seed)\}")
_MOST_RUNS = 10_000


@dataclass(frozen=True, kw_only=True)
class StudyRun:
    """One run: its method and sequence, and the files of its results.

    Attributes
    ----------
    method, sequence, seed : str
        Runs of two methods with the same sequence and seed are a pair.
    reference, estimate : str
        Trajectory files, bags or ``BAG:TOPIC``; empty for a run folder, `folder`.
    map, model : str
        Cloud of the SLAM and its reference model; both or none.
    resources : str
        JSON with cpu_cores_mean and pss_bytes_mean or rss_bytes_mean.
    """

    method: str
    sequence: str
    seed: str = ""
    reference: str = ""
    estimate: str = ""
    folder: str = ""
    map: str = ""
    model: str = ""
    resources: str = ""

    @property
    def name(self) -> str:
        """Method, sequence and seed as one text."""
        return "/".join(part for part in (self.method, self.sequence, self.seed) if part)


@dataclass(frozen=True, kw_only=True)
class _Entry:
    """One entry of a study file; {method}, {sequence} and {seed} in paths are matched to files."""

    folder: str = parameter("", text="run folders of aerotwin, * and ? allowed")
    reference: str = parameter("", text="true trajectory: file, bag or BAG:TOPIC")
    estimate: str = parameter("", text="estimated trajectories; {method} … and * allowed")
    map: str = parameter("", text="cloud of the SLAM; needs model")
    model: str = parameter("", text="world, mesh, cloud or binvox that the map is measured against")
    resources: str = parameter("", text="JSON with what the run cost")
    method: str = parameter("", text="name of the method")
    sequence: str = parameter("", text="name of the sequence")
    seed: str = parameter("", text="what sets repeated runs apart")

    def __post_init__(self) -> None:
        if bool(self.folder) == bool(self.estimate):
            raise ValueError("expected either folder, or reference and estimate")
        if self.estimate and not self.reference:
            raise ValueError("reference is missing beside estimate")
        if bool(self.map) != bool(self.model):
            raise ValueError("map and model must be given together")


@dataclass(frozen=True, kw_only=True)
class _StudyFile:
    name: str = parameter("study", text="title")
    runs: tuple[_Entry, ...] = parameter(text="what was run")


def load_study(path: str | Path) -> tuple[str, list[StudyRun]]:
    """Return the name and the runs of a study file; its paths are relative to it.

    Raises
    ------
    UserError
        If the file is wrong, a pattern matches nothing, or a run is listed twice.
    """
    path = Path(path)
    content = read_yaml(path)
    _texts(content)
    study = load_parameters(_StudyFile, content, where=str(path))
    runs: list[StudyRun] = []
    for k, entry in enumerate(study.runs):
        where = f"{path}: runs[{k}]"
        runs += _of_folders(entry, path.parent, where) if entry.folder else _of_files(
            entry, path.parent, where
        )  # fmt: skip
    return study.name, checked(runs, str(path))


def runs_of_folders(patterns: Iterable[str]) -> list[StudyRun]:
    """Return the runs of run folders, by paths or patterns with * and ?.

    Folders of flights without a SLAM are left out: they are not runs of a method.

    Raises
    ------
    UserError
        If a pattern matches no run folder.
    """
    runs = []
    for pattern in patterns:
        folders = _matching_folders(pattern)
        if not folders:
            raise UserError(f"{pattern}: no run folder (config.yaml beside bag/ is expected)")
        runs += [run_of_folder(folder) for folder in _opened(folders) if has_slam(folder)]
    return checked(runs, "--runs")


def folders_without_slam(patterns: Iterable[str]) -> list[str]:
    """Return the run folders that `runs_of_folders` leaves out."""
    folders = [path for pattern in patterns for path in _matching_folders(pattern)]
    return [str(run.path) for run in _opened(folders) if not has_slam(run)]


def has_slam(run: RunFolder) -> bool:
    """Return whether the run includes a SLAM: not a flight with slam:=none."""
    return run.parameters.get("slam") != "none"


def _opened(folders: Iterable[str]) -> Iterator[RunFolder]:
    return (open_run_folder(folder) for folder in folders)


def run_of_folder(run: RunFolder, entry: _Entry | None = None) -> StudyRun:
    """Return the run of a folder: its SLAM, its world and mission, its seed."""
    p, provided = run.parameters, entry or _Entry(folder=str(run.path))
    mission = Path(str(p.get("mission.file", ""))).stem
    world = str(p.get("world", ""))
    place = "/".join(dict.fromkeys(part for part in (Path(world).stem, mission) if part))
    return StudyRun(
        method=provided.method or str(p.get("slam_name") or p.get("slam") or "slam"),
        sequence=provided.sequence or place or run.path.name,
        seed=provided.seed or str(p.get("seed", "")),
        folder=str(run.path),
        map=provided.map,
        model=provided.model,
    )


def checked(runs: list[StudyRun], where: str) -> list[StudyRun]:
    """Return the runs, if they are neither none, too many, nor listed twice."""
    if not runs:
        raise UserError(f"{where}: no run; name some")
    if len(runs) > _MOST_RUNS:
        raise UserError(f"{where}: expected at most {_MOST_RUNS} runs, found {len(runs)}")
    seen: dict[tuple[str, str, str], StudyRun] = {}
    for run in runs:
        key = (run.method, run.sequence, run.seed)
        if key in seen:
            other = seen[key].folder or seen[key].estimate
            raise UserError(
                f"{where}: the run {run.name} is there twice ({other} and "
                f"{run.folder or run.estimate}); give them different seeds"
            )
        seen[key] = run
    return runs


def _texts(content: Any) -> None:
    """Convert numbers to text where names of seeds, sequences and methods are expected."""
    runs = content.get("runs") if isinstance(content, Mapping) else None
    for entry in runs if isinstance(runs, list) else ():
        for key in ("seed", "sequence", "method"):
            if isinstance(entry, dict) and isinstance(entry.get(key), int | float):
                entry[key] = str(entry[key])


def _matching_folders(pattern: str) -> list[str]:
    return [path for path in sorted(glob.glob(pattern)) if is_run_folder(path)]


def _of_folders(entry: _Entry, base: Path, where: str) -> list[StudyRun]:
    folders = _matching_folders(str(base / entry.folder))
    if not folders:
        raise UserError(f"{where}: {entry.folder} matches no run folder")
    return [run_of_folder(open_run_folder(folder), entry) for folder in folders]


def _of_files(entry: _Entry, base: Path, where: str) -> list[StudyRun]:
    """Return one run for each file that the pattern of the estimates matches."""
    found = _matches(entry.estimate, base)
    if not found:
        if _is_pattern(entry.estimate):
            raise UserError(f"{where}: {entry.estimate} matches no file")
        found = [({}, str(base / entry.estimate))]  # a run that left nothing has failed
    runs = []
    for fields, estimate in found:
        names = {
            "method": entry.method or fields.get("method", ""),
            "sequence": entry.sequence or fields.get("sequence", ""),
            "seed": entry.seed or fields.get("seed", ""),
        }
        for key in ("method", "sequence"):
            if not names[key]:
                raise UserError(f"{where}: {key} is missing; name it or put {{{key}}} in estimate")
        others = {
            key: str(base / _filled(value, names)) if value else ""
            for key, value in (
                ("reference", entry.reference),
                ("map", entry.map),
                ("resources", entry.resources),
            )
        }
        model = str(base / entry.model) if (base / entry.model).exists() else entry.model
        runs.append(
            StudyRun(**names, **others, estimate=estimate, model=model if entry.model else "")
        )
    return runs


def _filled(pattern: str, names: Mapping[str, str]) -> str:
    return _FIELD.sub(lambda field: names[field[1]], pattern)


def _is_pattern(text: str) -> bool:
    return bool(_FIELD.search(text)) or any(sign in text for sign in "*?")


def _matches(pattern: str, base: Path) -> list[tuple[dict[str, str], str]]:
    """Return the fields and paths of the files that a pattern with {fields} matches."""
    whole = str(base / pattern)
    names: list[str] = []
    expression = ""
    for part in re.split(r"(\{(?:method|sequence|seed)\}|\*|\?)", whole):
        field = _FIELD.fullmatch(part)
        if field and field[1] in names:
            expression += f"(?P={field[1]})"
        elif field:
            names.append(field[1])
            expression += f"(?P<{field[1]}>[^/]+?)"
        else:
            expression += {"*": "[^/]*", "?": "[^/]"}.get(part, re.escape(part))
    paths = sorted(glob.glob(_FIELD.sub("*", whole)))
    found = [(re.fullmatch(expression, path), path) for path in paths]
    return [(match.groupdict(), path) for match, path in found if match]
