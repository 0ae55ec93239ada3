# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The expanded launch file: plain records, ready to be started."""

from collections.abc import Mapping
from dataclasses import dataclass

from aerotwin_launch.errors import FileLine

SIGTERM_TIMEOUT_S = 5.0
SIGKILL_TIMEOUT_S = 4.0  # ROS waits 5 s; one less keeps the promise to be gone within 10 s


@dataclass(frozen=True, kw_only=True)
class ParameterFile:
    """A file to write before the process starts; `index` is its position in the command line."""

    index: int
    text: str


@dataclass(frozen=True, kw_only=True)
class ProcessSpec:
    """One process to start."""

    label: str
    command: tuple[str, ...]
    parameter_files: tuple[ParameterFile, ...] = ()
    environment: Mapping[str, str]
    folder: str | None = None
    uses_shell: bool = False
    output: str = "log"
    is_required: bool = False
    respawns: bool = False
    respawn_delay_s: float = 0.0
    respawn_max_retries: int = -1
    sigterm_timeout_s: float = SIGTERM_TIMEOUT_S
    sigkill_timeout_s: float = SIGKILL_TIMEOUT_S
    needs_terminal: bool = False
    place: FileLine


@dataclass(frozen=True, kw_only=True)
class Argument:
    """An argument that a launch file declares."""

    name: str
    default: str | None
    choices: tuple[str, ...]
    description: str
    is_conditional: bool
    place: FileLine


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Everything that a launch file starts."""

    processes: tuple[ProcessSpec, ...]
    messages: tuple[str, ...]
