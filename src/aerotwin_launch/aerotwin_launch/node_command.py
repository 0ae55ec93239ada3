# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The command line of a node and of a plain executable, word for word as ROS's launch has it."""

import os
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import yaml

from aerotwin_launch import packages
from aerotwin_launch.errors import LaunchError
from aerotwin_launch.parameter_values import parameter_value
from aerotwin_launch.plan import ParameterFile
from aerotwin_launch.schema import Action, Entry
from aerotwin_launch.scope import Scope
from aerotwin_launch.substitutions import Call, Template

TOKEN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
ANY_NODE = "/**"
_TEXT_TYPES = ("str", "list_of_str")
_STR_TAG = "tag:yaml.org,2002:str"


def absolute_namespace(pushed: str | None, own: str | None) -> str | None:
    """Join pushed and own namespace, None without both; an absolute own one replaces the pushed."""
    if pushed is None and own is None:
        return None
    joined = _joined(pushed, own)
    return joined if joined.startswith("/") else f"/{joined}"


def _joined(pushed: str | None, own: str | None) -> str:
    if own is None:
        joined = pushed or ""
    elif not pushed or own.startswith("/"):
        joined = own
    else:
        joined = f"{'' if pushed == '/' else pushed}/{own}"
    return joined if joined == "/" else joined.rstrip("/")


def is_namespace(text: str) -> bool:
    """Return whether ROS accepts an absolute namespace."""
    return text == "/" or all(TOKEN.fullmatch(token) for token in text[1:].split("/"))


def node_command(action: Action, scope: Scope) -> tuple[list[str], list[ParameterFile]]:
    """Return the tokens of a node's command line and the parameter files to write for it.

    Order: executable, its arguments, ROS arguments, name, namespace, parameters of the scope,
    parameters of the node in their order, remappings. Later ones win in the node.
    """
    name, namespace = _name(action, scope), _namespace(action, scope)
    command = [_executable(action, scope)]
    command += split_tokens(action.get("args"), scope)
    if action.get("ros_args") is not None:
        command += ["--ros-args", *split_tokens(action.get("ros_args"), scope)]
    command.append("--ros-args")
    command += ["-r", f"__node:={name}"] if name is not None else []
    command += ["-r", f"__ns:={namespace}"] if namespace is not None else []
    for key, value in scope.parameters or ():
        command += ["-p", f"{key}:={value}"]
    files = []
    for entry in action.get("param") or ():
        command.append("--params-file")
        if entry.get("from") is not None:
            command.append(_parameter_file(entry, scope))
        else:
            files.append(_inline_file(entry, scope, name, namespace, len(command)))
            command.append("")
    for entry in action.get("remap") or ():
        source, target = entry.get("from").evaluate(scope), entry.get("to").evaluate(scope)
        command += ["-r", f"{source}:={target}"]
    return command, files


def executable_command(action: Action, scope: Scope, environment: dict[str, str]) -> list[str]:
    """Return the tokens of an `executable`'s command line; its program must exist."""
    command = split_tokens(action.get("cmd"), scope)
    if not command or not command[0]:
        raise LaunchError(action.places["cmd"], "'cmd' of 'executable' is empty")
    if not action.get("shell"):
        folder = action.get("cwd")
        require_program(command[0], folder.evaluate(scope) if folder else ".", environment, action)
    return command


def require_program(program: str, folder: str, environment: dict[str, str], action: Action) -> None:
    """Refuse a missing program, before anything is started."""
    if os.sep in program:
        path = Path(folder, program)
        found = path.is_file() and os.access(path, os.X_OK)
    else:
        found = shutil.which(program, path=environment.get("PATH", os.defpath)) is not None
    if not found:
        message = f"the program '{program}' is not there or not executable"
        raise LaunchError(action.place, message)


def split_tokens(template: Template | None, scope: Scope) -> list[str]:
    """Split a command line into tokens, as a shell would, but never inside a substitution's value.

    Only the text around substitutions is split: "a $(var b)c" is two tokens for any value of b.
    """
    if template is None:
        return []
    arguments: list[list[str | Call]] = []
    word: list[str | Call] = []
    for part in template.parts:
        if isinstance(part, Call):
            word.append(part)
            continue
        tokens = _shell_tokens(part, template)
        if not tokens:
            arguments.append(word)  # only spaces: the next part begins a new word
            word = []
            continue
        if part[0].isspace() and word:
            arguments.append(word)
            word = []
        word.append(tokens[0])
        for token in tokens[1:]:
            arguments.append(word)
            word = [token]
        if part[-1].isspace():
            arguments.append(word)
            word = []
    if word:
        arguments.append(word)
    return [template.evaluate_parts(tuple(each), scope) for each in arguments]


def _shell_tokens(text: str, template: Template) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        message = f"cannot split '{text}' in words: {error}; a quote must close before a '$('"
        raise LaunchError(template.place, message) from None


def _executable(action: Action, scope: Scope) -> str:
    package, executable = action.get("pkg").evaluate(scope), action.get("exec").evaluate(scope)
    try:
        return packages.package_executable(package, executable, scope.environment)
    except packages.LookupFailure as error:
        raise LaunchError(action.place, str(error)) from None


def _name(action: Action, scope: Scope) -> str | None:
    if action.get("name") is None:
        return None
    name = action.get("name").evaluate(scope)
    if not TOKEN.fullmatch(name):
        message = f"node name '{name}' must be letters, digits and '_', and not begin with a digit"
        raise LaunchError(action.places["name"], message)
    return name


def _namespace(action: Action, scope: Scope) -> str | None:
    template = action.get("namespace")
    own = template.evaluate(scope) if template is not None else None
    namespace = absolute_namespace(scope.namespace, own)
    if namespace is not None and not is_namespace(namespace):
        raise LaunchError(action.place, f"'{namespace}' is no valid namespace")
    return namespace


def _parameter_file(entry: Entry, scope: Scope) -> str:
    for key in ("name", "value", "type", "param"):
        if key in entry.values:
            raise LaunchError(entry.places[key], f"'param' has both 'from' and '{key}'; use one")
    path = str(Path(entry.get("from").evaluate(scope)))
    if not os.path.isfile(path):
        # ROS's launch only warns, and the node runs with its defaults.
        raise LaunchError(entry.places["from"], f"parameter file '{path}' does not exist")
    return path


def _inline_file(
    entry: Entry, scope: Scope, name: str | None, namespace: str | None, index: int
) -> ParameterFile:
    key = ANY_NODE
    if name is not None and namespace is not None:
        key = f"{'' if namespace == '/' else namespace}/{name}"
    values = dict(_flat(entry, "", scope))
    content = {key: {"ros__parameters": values}}
    text = yaml.dump(content, Dumper=_Dumper, default_flow_style=False)
    return ParameterFile(index=index, text=text)


class _Text(str):
    """A string that must stay a string: the parser of rcl converts y, on and 1e3."""


class _Dumper(yaml.SafeDumper):
    """Writes a `_Text` in quotes, even if YAML needs none."""


_Dumper.add_representer(
    _Text, lambda dumper, text: dumper.represent_scalar(_STR_TAG, str(text), style='"')
)


def _quoted(value: Any) -> Any:
    return [_Text(item) for item in value] if isinstance(value, list) else _Text(value)


def _flat(entry: Entry, prefix: str, scope: Scope) -> list[tuple[str, Any]]:
    """Return the parameters of an entry, nested ones with dotted names."""
    if entry.get("name") is None:
        raise LaunchError(entry.place, "'param' needs 'from' with a file, or 'name' with 'value'")
    if "from" in entry.values:
        raise LaunchError(entry.places["from"], "'from' cannot stand in a nested 'param'")
    name = prefix + entry.get("name").evaluate(scope)
    if ("value" in entry.values) == ("param" in entry.values):
        raise LaunchError(entry.place, "'param' needs either 'value' or a nested 'param'")
    if "value" in entry.values:
        value = parameter_value(entry, scope)
        return [(name, _quoted(value) if entry.get("type") in _TEXT_TYPES else value)]
    if "type" in entry.values:
        raise LaunchError(entry.places["type"], "'type' goes with 'value', not with nested 'param'")
    return [pair for nested in entry.get("param") for pair in _flat(nested, f"{name}.", scope)]
