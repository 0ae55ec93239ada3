# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Values that a simulator refuses: it is asked itself, before a run is started."""

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from aerotwin_core.check_only import CHECK_ONLY
from aerotwin_core.errors import UserError
from aerotwin_core.foreign_text import printable
from aerotwin_launch import ProcessSpec, expand_launch_file
from aerotwin_launch.shipped import ShippedLaunchFile
from aerotwin_launch.written_command import written_command
from aerotwin_view.start.named_files import FieldError

_PROGRAMS = {"sitl_flight", "recorded_flight", "relay", "ground_simulator", "bridge_node"}
"""Those that end after their checks where `CHECK_ONLY` is in the environment."""
_PATIENCE_S = 60.0
"""A check that lasts longer is given up: the run says by itself what is wrong."""
_FATAL = re.compile(r"^fatal: (?:parameters of node \S+: )?(.+)$", re.MULTILINE)
_NAME = re.compile(r"([\w.]+): ")
_MOST_LETTERS = 600


def check_with_simulator(file: ShippedLaunchFile, values: Mapping[str, str]) -> None:
    """Ask the simulator of a launch file whether it would fly with these arguments.

    Raises
    ------
    FieldError
        If it refuses a parameter that is the value of an argument.
    UserError
        If it refuses anything else.
    """
    for spec in expand_launch_file(file.path, values, os.environ).processes:
        if Path(spec.command[0]).name in _PROGRAMS and (text := _refusal(spec)):
            raise refused(file, text)


def refused(file: ShippedLaunchFile, text: str) -> UserError:
    """Return what a simulator refuses as an error that names the argument, if there is one."""
    match = _NAME.match(text)
    if match is None:
        return UserError(text)
    name = file.parameter_arguments.get(match[1], match[1].lower())
    if name not in {argument.name for argument in file.arguments}:
        return UserError(text)
    way_out = "" if "; " in text else "; correct it"
    return FieldError(name, f"{name}: {text[match.end() :]}{way_out}")


def _refusal(spec: ProcessSpec) -> str:
    """Return what a simulator refuses at its start, empty for nothing."""
    with TemporaryDirectory(prefix="aerotwin-") as folder:
        try:
            ended = subprocess.run(
                written_command(spec, Path(folder)),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                env=dict(spec.environment) | dict(CHECK_ONLY),
                cwd=spec.folder,
                timeout=_PATIENCE_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return ""
    found = _FATAL.search(ended.stderr.decode("utf-8", "replace"))
    return "" if found is None or not ended.returncode else printable(found[1], _MOST_LETTERS)
