# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Starts an external SLAM from its launch file, beside the replay and on simulated time."""

import os
import re
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from aerotwin_core.cli import write_text_atomically
from aerotwin_core.errors import UserError
from aerotwin_core.limits import check_is_file
from aerotwin_core.parameters import read_yaml
from aerotwin_launch import expand_launch_file
from aerotwin_launch.packages import LookupFailure, package_share

_OWN, _REAL = (".yaml", ".yml"), (".py", ".xml")


@dataclass(frozen=True, kw_only=True)
class SlamLaunch:
    """How a SLAM is started.

    `file` is the YAML launch file for the argument slam_file of launch/evaluate_bag.launch.yaml,
    `process` a regular expression of its processes' command lines.
    """

    file: Path
    process: str


def is_launch_file(name: str) -> bool:
    """Return whether a token names a launch file."""
    return name.endswith((*_OWN, *_REAL))


def find_description(slam: str) -> Path | None:
    """Return the description of a SLAM by its path, or by its name in config/slams; else None."""
    path = Path(slam)
    if path.suffix not in _OWN:
        path = _shipped() / f"{slam}.yaml"
    if slam in ("", ".", "..") or not path.is_file():
        return None
    content = read_yaml(path)
    is_one = isinstance(content, dict) and "command" in content and "launch" not in content
    return path if is_one else None


def inputs_of(description: Path | None) -> str:
    """Return what a described SLAM reads: dataset or topics; "" without a description."""
    return "" if description is None else str(read_yaml(description).get("inputs", "dataset"))


def described_slams() -> list[str]:
    """Return the names of the descriptions that ship, without the template of one."""
    return sorted({path.stem for path in _shipped().glob("*.yaml")} - {"template"})


def _shipped() -> Path:
    package = "aerotwin_bringup"
    try:
        share = package_share(package, os.environ)
    except LookupFailure:  # not a workspace; wheels put it here
        share = Path(sys.prefix) / "share" / package
    return share / "config" / "slams"


def check_pattern(pattern: str) -> None:
    """Check the regular expression of a SLAM's processes.

    Raises `UserError` with the position of the error.
    """
    try:
        re.compile(pattern)
    except re.error as error:
        raise UserError(
            f"slam_process: expected a regular expression, found '{pattern}': {error}"
        ) from None


def write_slam_launch(
    folder: Path, target: Path, arguments: Mapping[str, str], environment: Mapping[str, str]
) -> SlamLaunch:
    """Write a launch file that includes the SLAM's own one with these arguments.

    YAML files are included; Python and XML files are run by `ros2 launch`, where available.

    Raises `UserError` if the file does not exist, or cannot be run here.
    """
    check_is_file(target)
    if not target.is_file():
        raise UserError(f"--slam: no launch file {target}; name a file, or a SLAM that ships")
    target = target.resolve()
    if target.suffix in _OWN:
        passed = [{"name": name, "value": value} for name, value in arguments.items()]
        action = {"include": {"file": str(target)} | ({"arg": passed} if passed else {})}
    else:
        action = {"executable": {"cmd": _real_command(target, arguments), "output": "screen"}}
    file = folder / "slam.launch.yaml"
    write_text_atomically(file, yaml.safe_dump({"launch": [action]}, sort_keys=False))
    return SlamLaunch(file=file, process=_pattern(file, target, environment))


def write_program_launch(
    folder: Path,
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    working_folder: Path,
) -> SlamLaunch:
    """Write a launch file that starts a program in a folder with more environment variables."""
    variables = [{"name": name, "value": value} for name, value in environment.items()]
    action = {
        "cmd": shlex.join(command),
        "cwd": str(working_folder),
        "output": "screen",
        **({"env": variables} if variables else {}),
    }
    file = folder / "slam.launch.yaml"
    text = yaml.safe_dump({"launch": [{"executable": action}]}, sort_keys=False)
    write_text_atomically(file, text)
    return SlamLaunch(file=file, process=re.escape(" ".join(command[:2])))


def _real_command(target: Path, arguments: Mapping[str, str]) -> str:
    if shutil.which("ros2") is None:
        raise UserError(
            f"--slam: {target.name} is run by ROS's own launch only, and there is no ros2 here; "
            "give a YAML launch file, or start the SLAM by hand and give --slam external"
        )
    tokens = [f"{name}:={value}" for name, value in {"use_sim_time": "true", **arguments}.items()]
    return shlex.join(["ros2", "launch", str(target), *tokens])


def _pattern(file: Path, target: Path, environment: Mapping[str, str]) -> str:
    if target.suffix in _REAL:
        return re.escape(f"launch {target}")
    processes = expand_launch_file(file, {}, environment).processes
    if not processes:
        raise UserError(f"--slam: {target} starts no process")
    # Two tokens, because the first one alone may be an interpreter.
    programs = {" ".join(process.command[:2]) for process in processes}
    return "|".join(re.escape(program) for program in sorted(programs))
