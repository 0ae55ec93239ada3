# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The processes of a plan, as text and as plain values."""

import shlex
from collections.abc import Mapping
from typing import Any

import yaml

from aerotwin_launch.plan import Plan, ProcessSpec


def command_records(plan: Plan, environment: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return label, command, inline parameters, and changes of the environment, per process."""
    return [_record(spec, environment) for spec in plan.processes]


def _record(spec: ProcessSpec, environment: Mapping[str, str]) -> dict[str, Any]:
    command = list(spec.command)
    parameters = []
    for number, file in enumerate(spec.parameter_files, start=1):
        command[file.index] = f"INLINE_{number}"
        parameters.append(yaml.safe_load(file.text))
    return {
        "label": spec.label,
        "command": command,
        "inline_parameters": parameters,
        "environment": {
            name: value
            for name, value in sorted(spec.environment.items())
            if environment.get(name) != value
        },
        "folder": spec.folder,
    }


def command_text(plan: Plan, environment: Mapping[str, str]) -> str:
    """Return the command lines as text; inline parameter files follow as comments."""
    lines = [f"# log: {message}" for message in plan.messages]
    for record in command_records(plan, environment):
        changes = [f"{name}={shlex.quote(value)}" for name, value in record["environment"].items()]
        lines.append(f"# [{record['label']}]")
        lines.append(" ".join([*changes, *map(shlex.quote, record["command"])]))
        for number, parameters in enumerate(record["inline_parameters"], start=1):
            lines.append(
                f"#   INLINE_{number}: {yaml.safe_dump(parameters, width=10**6).strip()!r}"
            )
    return "\n".join(lines) + "\n"
