# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""How a SLAM is run: the YAML file that describes its command, inputs and outputs."""

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from aerotwin_core.errors import ParameterError, UserError
from aerotwin_core.foreign_text import shown
from aerotwin_core.home_path import expanded
from aerotwin_core.parameters import load_parameters, parameter, read_yaml
from aerotwin_datasets.export_command import FORMATS

DATASET, TOPICS, SETTINGS, OUTPUT = "dataset", "topics", "settings", "output"
_OF_THE_RUN = (DATASET, SETTINGS, OUTPUT)
_NAME = re.compile(r"\{([a-z_][a-z0-9_]*)\}")
POSES_OF = ("imu", "camera", "rectified_camera", "lidar", "base")


@dataclass(frozen=True, kw_only=True)
class ProgramPath:
    """The path of a file that a user has: a program, a vocabulary."""

    name: str = parameter(text="its name as an argument, and in the command as {name}")
    environment: str = parameter("", text="environment variable that may hold it")
    default: str = parameter("", text="name on PATH, or a value for none; empty = it must be given")
    text: str = parameter("", text="what it is and from where")


@dataclass(frozen=True, kw_only=True)
class TrajectoryOutput:
    """The trajectory that the SLAM writes or publishes."""

    file: str = parameter("", text="path of the file; {output} is the folder that it runs in")
    topic: str = parameter("", text="of its poses, of a SLAM that hears topics")
    form: str = parameter(
        "tum", text="format of its lines", choices=("tum", "tum-ns", "euroc", "kitti", "csv")
    )
    poses_of: str = parameter(
        "imu",
        text="whose poses: camera = optical frame of the first one; rectified_camera = the same, "
        "turned by the rectification of the first two",
        choices=POSES_OF,
    )
    is_metric: bool = parameter(True, text="whether its scale is known; else it is fitted")
    keyframe_gap_s: float = parameter(
        0.0,
        text="it holds key-frames only: what lies between two of them at most this far apart "
        "counts as tracked; 0 = it holds every frame",
        unit="s",
        minimum=0.0,
    )


@dataclass(frozen=True, kw_only=True)
class MapOutput:
    """The map that the SLAM writes or publishes."""

    topic: str = parameter("", text="PointCloud2 of a SLAM that hears topics; empty = none")
    file: str = parameter("", text="path of a PLY or PCD file; empty = it writes none")
    is_optional: bool = parameter(False, text="whether nothing is wrong without the file")


@dataclass(frozen=True, kw_only=True)
class SlamDescription:
    """A SLAM as a program: it reads a data set and writes a trajectory, or both by topics."""

    name: str = parameter(text="name in tables and reports")
    about: str = parameter("", text="one line: kind, authors, year")
    command: tuple[str, ...] = parameter(
        text="program and arguments, with {dataset}, {settings}, {output} and the names of paths"
    )
    paths: tuple[ProgramPath, ...] = parameter((), text="files that the user has")
    inputs: str = parameter(
        "dataset",
        text="dataset = the bag as files; topics = the bag is replayed, and it publishes",
        choices=(DATASET, TOPICS),
    )
    topics: tuple[str, ...] = parameter(
        (), text="NAME:=TOPIC_OF_THE_BAG: topics that are replayed under another name"
    )
    dataset: str = parameter(
        "euroc", text="format of the data set, as in `aerotwin export`", choices=FORMATS
    )
    cameras: tuple[str, ...] = parameter((), text="cameras in its order; empty = all of the bag")
    settings: str = parameter("", text="folder of the settings that the export writes for it")
    environment: tuple[str, ...] = parameter((), text="environment variables, as NAME=VALUE")
    timeout_s: float = parameter(
        3600.0, text="longest run; then it is ended", unit="s wall", minimum=1.0
    )
    output_limit_gb: float = parameter(
        10.0, text="what its files may take; then it is ended", unit="GB", minimum=0.001
    )
    trajectory: TrajectoryOutput = field(default_factory=TrajectoryOutput)
    map: MapOutput = field(default_factory=MapOutput)


def load_description(path: Path) -> SlamDescription:
    """Return the description in a YAML file.

    Raises `ParameterError`, naming key and file, if a value is wrong, or the command has a name in
    braces that stands for nothing.
    """
    description = load_parameters(SlamDescription, read_yaml(path), where=str(path))
    if not description.command:
        raise ParameterError(f"{path}: command: expected a program and its arguments, found none")
    own = "file" if description.inputs == DATASET else "topic"
    if not getattr(description.trajectory, own):
        raise ParameterError(f"{path}: trajectory.{own}: expected one, found none")
    if description.inputs == TOPICS and description.trajectory.poses_of in (
        "rectified_camera",
        "lidar",
    ):
        raise ParameterError(
            f"{path}: trajectory.poses_of: a topic is of a frame of the bag: imu, camera or base; "
            f"found {description.trajectory.poses_of}"
        )
    for word in description.topics:
        if ":=" not in word:
            raise ParameterError(f"{path}: topics: expected NAME:=TOPIC, found '{word}'")
    for entry in description.environment:
        if entry.find("=") < 1:
            raise ParameterError(f"{path}: environment: expected NAME=VALUE, found '{entry}'")
    known = [*_OF_THE_RUN]
    for each in description.paths:
        if each.name in known or not _NAME.fullmatch(f"{{{each.name}}}"):
            raise ParameterError(
                f"{path}: paths: expected a name of its own of a-z, 0-9 and _, found "
                f"{shown(each.name)}; taken are {', '.join(known)}"
            )
        known.append(each.name)
    if description.settings and Path(description.settings).name != description.settings:
        raise ParameterError(
            f"{path}: settings: expected the name of a folder that the export writes, found "
            f"{shown(description.settings)}"
        )
    texts = [*description.command, description.trajectory.file, description.map.file]
    for text in [*texts, *description.environment]:
        for name in _NAME.findall(text):
            if name not in known:
                raise ParameterError(
                    f"{path}: {{{name}}} in '{text}' stands for nothing; known are "
                    f"{', '.join(known)}"
                )
    return description


def find_paths(
    description: SlamDescription, given: Mapping[str, str], environment: Mapping[str, str]
) -> dict[str, str]:
    """Return the paths of a description: as given, else of the environment, else the default.

    Raises `UserError`, naming argument and environment variable, if one is missing or not there.
    """
    names = {each.name for each in description.paths}
    for name in given:
        if name not in names:
            raise UserError(
                f"{name}: {description.name} has no such argument; it has "
                f"{', '.join(sorted(names)) or 'none'}"
            )
    return {each.name: _found(description, each, given, environment) for each in description.paths}


def _found(
    description: SlamDescription,
    path: ProgramPath,
    given: Mapping[str, str],
    environment: Mapping[str, str],
) -> str:
    value = given.get(path.name) or environment.get(path.environment, "") or path.default
    ways = f"give {path.name}:=PATH" + (f" or set {path.environment}" if path.environment else "")
    if not value:
        raise UserError(f"{description.name}: needs {path.text or path.name}; {ways}")
    place = expanded(value)
    if place.exists():
        return str(place.absolute())  # a link to an interpreter names its virtual environment
    if os.sep not in value and (found := shutil.which(value)):
        return found
    raise UserError(f"{description.name}: {path.name}: no file {value}; {ways}")


def filled(text: str, values: Mapping[str, str]) -> str:
    """Return a text with its names in braces replaced; other braces stay."""
    return _NAME.sub(lambda match: values.get(match[1], match[0]), text)
