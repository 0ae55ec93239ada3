# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""From a `node` or `executable` action to the record of the process to start."""

import shlex
from pathlib import Path

from aerotwin_launch.errors import FileLine, LaunchError
from aerotwin_launch.node_command import executable_command, node_command, require_program
from aerotwin_launch.plan import SIGKILL_TIMEOUT_S, SIGTERM_TIMEOUT_S, ParameterFile, ProcessSpec
from aerotwin_launch.schema import Action
from aerotwin_launch.scope import Scope
from aerotwin_launch.substitutions import as_boolean

OUTPUTS = ("screen", "log", "both", "own_log", "full")
LABEL_KEYS = {"node": "exec_name", "executable": "name"}


def process_spec(action: Action, scope: Scope, number: int) -> ProcessSpec:
    """Return the process that an action starts in a scope, as the `number`th of the launch.

    Raises `LaunchError` if a value is out of range, or a requirement of the process is missing.
    """
    environment = _environment(action, scope)
    files: list[ParameterFile] = []
    if action.kind == "node":
        command, files = node_command(action, scope)
    else:
        command = executable_command(action, scope, environment)
    prefix = _prefix(action, scope, environment)
    command = prefix + command
    label = _text(action, LABEL_KEYS[action.kind], scope) or Path(command[0]).name
    retries = action.get("respawn_max_retries")
    return ProcessSpec(
        label=f"{label}-{number}",
        command=tuple(command),
        parameter_files=tuple(
            ParameterFile(index=file.index + len(prefix), text=file.text) for file in files
        ),
        environment=environment,
        folder=_folder(action, scope),
        uses_shell=bool(action.get("shell")),
        output=_output(action, scope),
        is_required=_is_required(action),
        respawns=_respawns(action, scope),
        respawn_delay_s=_not_negative(action, "respawn_delay", 0.0),
        respawn_max_retries=-1 if retries is None else retries,
        sigterm_timeout_s=_not_negative(action, "sigterm_timeout", SIGTERM_TIMEOUT_S),
        sigkill_timeout_s=_not_negative(action, "sigkill_timeout", SIGKILL_TIMEOUT_S),
        needs_terminal=bool(action.get("emulate_tty")),
        place=action.place,
    )


def _text(action: Action, key: str, scope: Scope) -> str | None:
    template = action.get(key)
    return None if template is None else template.evaluate(scope)


def _environment(action: Action, scope: Scope) -> dict[str, str]:
    environment = dict(scope.environment)
    for entry in action.get("env") or ():
        name = environment_name(entry.get("name").evaluate(scope), entry.places["name"])
        environment[name] = entry.get("value").evaluate(scope)
    return environment


def environment_name(name: str, place: FileLine) -> str:
    """Return the name of an environment variable if it is valid (environ(7))."""
    if not name or "=" in name:
        raise LaunchError(place, f"'{name}' cannot be the name of an environment variable")
    return name


def _prefix(action: Action, scope: Scope, environment: dict[str, str]) -> list[str]:
    tokens = shlex.split(_text(action, "launch-prefix", scope) or "")
    if tokens:
        require_program(tokens[0], ".", environment, action)
    return tokens


def _folder(action: Action, scope: Scope) -> str | None:
    folder = _text(action, "cwd", scope)
    if folder is not None and not Path(folder).is_dir():
        raise LaunchError(action.places["cwd"], f"the folder '{folder}' does not exist")
    return folder


def _output(action: Action, scope: Scope) -> str:
    output = _text(action, "output", scope)
    if output is not None and output not in OUTPUTS:
        message = f"'output' must be one of {', '.join(OUTPUTS)}; got '{output}'"
        raise LaunchError(action.places["output"], message)
    return output or "log"


def _is_required(action: Action) -> bool:
    if action.get("on_exit") not in (None, "shutdown"):
        message = f"'on_exit' can only be shutdown; got '{action.get('on_exit')}'"
        raise LaunchError(action.places["on_exit"], message)
    return action.get("on_exit") is not None


def _respawns(action: Action, scope: Scope) -> bool:
    text = _text(action, "respawn", scope)
    try:
        return text is not None and as_boolean(text)
    except ValueError as error:
        raise LaunchError(action.places["respawn"], f"'respawn': {error}") from None


def _not_negative(action: Action, key: str, default: float) -> float:
    value = action.get(key)
    if value is not None and not value >= 0.0:
        raise LaunchError(action.places[key], f"'{key}' must not be negative, got {value}")
    return default if value is None else value
