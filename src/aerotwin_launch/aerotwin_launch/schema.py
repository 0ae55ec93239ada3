# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Schema of a launch file: actions, their keys, and the type of each value.

The whole file is checked before any action is executed, including actions behind false conditions,
as in ROS's own launch. Features of ROS that this runner lacks are refused by name.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from aerotwin_launch.document import Located, load_document
from aerotwin_launch.errors import FileLine, LaunchError, suggestion
from aerotwin_launch.substitutions import parse_template, unescape


class Kind(Enum):
    """Type of the value of a key."""

    TEMPLATE = "a string"  # with substitutions
    TEXT = "a string without substitutions"
    BOOLEAN = "true or false without quotes"
    INTEGER = "an integer"
    FLOAT = "a number with a decimal point, such as 2.0"
    ENTRIES = "a list of mappings"
    PARAMETER_VALUE = "a boolean, integer, number, string or a list of one of these"


@dataclass(frozen=True, kw_only=True)
class Key:
    """A key of an action or of an entry."""

    kind: Kind
    required: bool = False
    entry: Mapping[str, "Key"] = field(default_factory=dict)  # keys of each mapping of ENTRIES


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A checked mapping: templates are parsed, other values are plain."""

    values: dict[str, Any]
    places: dict[str, FileLine]
    place: FileLine

    def get(self, key: str) -> Any:
        """Return the value of a key, or None if it is absent."""
        return self.values.get(key)


@dataclass(frozen=True, kw_only=True)
class Action(Entry):
    """One action of a launch file."""

    kind: str
    children: tuple["Action", ...] = ()


TEMPLATE = Key(kind=Kind.TEMPLATE)
NAME = Key(kind=Kind.TEMPLATE, required=True)
FLOAT = Key(kind=Kind.FLOAT)
CONDITIONS = {"if": TEMPLATE, "unless": TEMPLATE}
NAME_VALUE = {"name": NAME, "value": NAME}
PARAMETER: dict[str, Key] = {
    "name": TEMPLATE,
    "from": TEMPLATE,
    "value": Key(kind=Kind.PARAMETER_VALUE),
    "type": Key(kind=Kind.TEXT),
}
PARAMETER["param"] = Key(kind=Kind.ENTRIES, entry=PARAMETER)
PROCESS = CONDITIONS | {
    "name": TEMPLATE,
    "cwd": TEMPLATE,
    "output": TEMPLATE,
    "launch-prefix": TEMPLATE,
    "on_exit": Key(kind=Kind.TEXT),
    "respawn": TEMPLATE,
    "respawn_delay": FLOAT,
    "respawn_max_retries": Key(kind=Kind.INTEGER),
    "sigterm_timeout": FLOAT,
    "sigkill_timeout": FLOAT,
    "emulate_tty": Key(kind=Kind.BOOLEAN),
    "env": Key(kind=Kind.ENTRIES, entry=NAME_VALUE),
}
CHOICE = {"value": Key(kind=Kind.TEXT, required=True)}
ACTIONS: dict[str, Mapping[str, Key]] = {
    "arg": CONDITIONS
    | {
        "name": Key(kind=Kind.TEXT, required=True),
        "default": TEMPLATE,
        "description": Key(kind=Kind.TEXT),
        "choice": Key(kind=Kind.ENTRIES, entry=CHOICE),
    },
    "let": CONDITIONS | NAME_VALUE,
    "set_env": CONDITIONS | NAME_VALUE,
    "set_parameter": CONDITIONS | NAME_VALUE,
    "push_ros_namespace": CONDITIONS | {"namespace": NAME},
    "group": CONDITIONS | {"scoped": Key(kind=Kind.BOOLEAN), "forwarding": Key(kind=Kind.BOOLEAN)},
    "include": CONDITIONS | {"file": NAME, "arg": Key(kind=Kind.ENTRIES, entry=NAME_VALUE)},
    "log": CONDITIONS | {"message": NAME},
    "node": PROCESS
    | {
        "pkg": NAME,
        "exec": NAME,
        "exec_name": TEMPLATE,
        "namespace": TEMPLATE,
        "args": TEMPLATE,
        "ros_args": TEMPLATE,
        "param": Key(kind=Kind.ENTRIES, entry=PARAMETER),
        "remap": Key(kind=Kind.ENTRIES, entry={"from": NAME, "to": NAME}),
    },
    "executable": PROCESS | {"cmd": NAME, "shell": Key(kind=Kind.BOOLEAN)},
}
# Misspellings that an edit distance does not catch, by action and key.
SPELT = {
    ("node", "ns"): "namespace",
    ("node", "package"): "pkg",
    ("node", "executable"): "exec",
    ("node", "parameters"): "param",
    ("node", "params"): "param",
    ("node", "arguments"): "args",
    ("node", "remappings"): "remap",
    ("arg", "choices"): "choice",
    ("arg", "default_value"): "default",
    ("log", "msg"): "message",
    ("include", "args"): "arg",
}
TYPES: dict[Kind, Any] = {
    Kind.TEXT: str,
    Kind.TEMPLATE: str,
    Kind.BOOLEAN: bool,
    Kind.INTEGER: int,
    Kind.FLOAT: float,
}


def load_actions(path: Path) -> tuple[Action, ...]:
    """Read and check a launch file.

    Raises `LaunchError` at the first element that is outside the subset or of the wrong type.
    """
    document = load_document(path)
    root = document.value
    if not isinstance(root, dict) or list(root) != ["launch"]:
        raise LaunchError(document.place, "a launch file holds one key, 'launch', and a list below")
    return _actions(root["launch"], "launch")


def _actions(listing: Located, parent: str) -> tuple[Action, ...]:
    if not isinstance(listing.value, list):
        message = f"'{parent}' must hold a list of actions, got {listing.kind}"
        raise LaunchError(listing.place, message)
    return tuple(_action(item) for item in listing.value)


def _action(item: Located) -> Action:
    if not isinstance(item.value, dict) or len(item.value) != 1:
        found = f"the keys {list(item.value)}" if isinstance(item.value, dict) else item.kind
        message = f"an item of the list must be one action such as '- node:', got {found}"
        raise LaunchError(item.place, message)
    [(kind, body)] = item.value.items()
    if kind not in ACTIONS:
        hint = suggestion(kind, ACTIONS) or f"; supported are {', '.join(sorted(ACTIONS))}"
        raise LaunchError(item.place, f"action '{kind}' is not supported{hint}")
    if kind == "group":
        return _group(body)
    entry = _entry(body, kind, ACTIONS[kind])
    _check_conditions(entry, kind)
    return Action(kind=kind, values=entry.values, places=entry.places, place=body.place)


def _group(body: Located) -> Action:
    """Check a group: a mapping with `children`, or only their list."""
    if isinstance(body.value, list):
        children = _actions(body, "group")
        return Action(kind="group", values={}, places={}, place=body.place, children=children)
    if not isinstance(body.value, dict) or "children" not in body.value:
        raise LaunchError(body.place, "a 'group' needs 'children' with a list of actions")
    options = {key: value for key, value in body.value.items() if key != "children"}
    entry = _entry(Located(value=options, place=body.place), "group", ACTIONS["group"])
    _check_conditions(entry, "group")
    return Action(
        kind="group",
        values=entry.values,
        places=entry.places,
        place=body.place,
        children=_actions(body.value["children"], "children"),
    )


def _check_conditions(entry: Entry, kind: str) -> None:
    if "if" in entry.values and "unless" in entry.values:
        raise LaunchError(entry.places["unless"], f"'{kind}' has both 'if' and 'unless'; use one")


def _entry(body: Located, owner: str, keys: Mapping[str, Key]) -> Entry:
    if not isinstance(body.value, dict):
        raise LaunchError(body.place, f"'{owner}' must hold keys and values, got {body.kind}")
    for key, item in body.value.items():
        if key not in keys:
            raise LaunchError(
                item.place, f"unknown key '{key}' in '{owner}'{_hint(owner, key, keys)}"
            )
    for key, rule in keys.items():
        if rule.required and key not in body.value:
            raise LaunchError(body.place, f"'{owner}' lacks the key '{key}'")
    return Entry(
        values={key: _value(item, owner, key, keys[key]) for key, item in body.value.items()},
        places={key: item.place for key, item in body.value.items()},
        place=body.place,
    )


def _hint(owner: str, key: str, keys: Mapping[str, Key]) -> str:
    if (owner, key) in SPELT:
        return f"; use '{SPELT[owner, key]}'"
    return suggestion(key, keys) or f"; it may have {', '.join(keys)}"


def _value(item: Located, owner: str, key: str, rule: Key) -> Any:
    value: Any = item.value
    if rule.kind is Kind.ENTRIES:
        return _entries(item, owner, key, rule)
    if rule.kind is Kind.PARAMETER_VALUE:
        return item.plain
    if type(value) is not TYPES[rule.kind]:
        quote = f'; write "{item.value}" in quotes' if TYPES[rule.kind] is str else ""
        quote = str(quote).replace("True", "true").replace("False", "false")
        message = f"'{key}' of '{owner}' must be {rule.kind.value}, got {item.kind}"
        raise LaunchError(item.place, message + (quote if _is_scalar(item) else ""))
    if rule.kind is Kind.TEMPLATE:
        return parse_template(value, item.place)
    return unescape(value) if rule.kind is Kind.TEXT else value


def _is_scalar(item: Located) -> bool:
    return isinstance(item.value, (bool, int, float))


def _entries(item: Located, owner: str, key: str, rule: Key) -> tuple[Entry, ...]:
    if not isinstance(item.value, list) or not item.value:
        found = "an empty list" if item.value == [] else item.kind
        message = f"'{key}' of '{owner}' must be {rule.kind.value}, got {found}"
        raise LaunchError(item.place, message)
    return tuple(_entry(each, key, rule.entry) for each in item.value)
