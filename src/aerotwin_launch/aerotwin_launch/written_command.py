# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The command line of a process with its parameter files."""

from pathlib import Path

from aerotwin_launch.plan import ProcessSpec


def written_command(spec: ProcessSpec, folder: Path) -> list[str]:
    """Write the parameter files of a process into a folder and return its command line."""
    command = list(spec.command)
    for file in spec.parameter_files:
        path = folder / f"launch_params_{spec.label.replace('/', '_')}_{file.index}.yaml"
        path.write_text(file.text, encoding="utf-8")
        command[file.index] = str(path)
    return command
