# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Which launch file started a run, with which arguments: a file in the run's folder."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

from aerotwin_core.cli import write_text_atomically

LAUNCH_RECORD = "launch.json"
"""Name of the file: an object with `launch_file` and `arguments`, which are texts by name."""
_VARIABLE = "AEROTWIN_LAUNCHED"


def record_environment(launch_file: str, arguments: Mapping[str, str]) -> dict[str, str]:
    """Return what is added to the environment of launched processes, from which they record it."""
    return {_VARIABLE: json.dumps({"launch_file": launch_file, "arguments": dict(arguments)})}


def write_launch_record(folder: Path, environment: Mapping[str, str] = os.environ) -> None:
    """Write the record into a run folder, if this process was started by `aerotwin launch`."""
    if text := environment.get(_VARIABLE):
        write_text_atomically(folder / LAUNCH_RECORD, f"{text}\n")
