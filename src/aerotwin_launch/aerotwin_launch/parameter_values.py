# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The type of a node's parameter.

A value without a substitution retains its YAML type: a quoted "5.0" is a string. A string with a
substitution is read as YAML after evaluation: "$(var rate)" may become a number, a boolean or a
list. `type` overrides both.
"""

from typing import Any

from aerotwin_core.documents import parse_yaml
from aerotwin_launch.errors import FileLine, LaunchError
from aerotwin_launch.schema import Entry
from aerotwin_launch.substitutions import Names, as_boolean, parse_template

SCALARS = (bool, int, float, str)
# identifier: scalar type (None = by the rules of YAML), is a list
IDENTIFIERS: dict[str | None, tuple[type | None, bool]] = {
    None: (None, False),
    "yaml": (None, False),
    "str": (str, False),
    "bool": (bool, False),
    "int": (int, False),
    "float": (float, False),
    "list_of_str": (str, True),
    "list_of_bool": (bool, True),
    "list_of_int": (int, True),
    "list_of_float": (float, True),
}


def parameter_value(entry: Entry, names: Names) -> Any:
    """Return the typed value of an inline parameter.

    Raises `LaunchError` if the value is not of the requested type, or a list is empty or mixed.
    """
    place = entry.places["value"]
    identifier = entry.get("type")
    if identifier not in IDENTIFIERS:
        known = ", ".join(str(name) for name in IDENTIFIERS if name)
        raise LaunchError(
            entry.places["type"], f"'type' must be one of {known}; got '{identifier}'"
        )
    scalar, is_list = IDENTIFIERS[identifier]
    try:
        _check_written(entry.get("value"), scalar, is_list)
        written = entry.get("value")
        if isinstance(written, list):
            value = [_item(item, scalar, names, place) for item in written]
        else:
            value = _item(written, scalar, names, place)
        _check_result(value)
        return value
    except ValueError as error:
        requested = f" (type: {identifier})" if identifier else ""
        raise LaunchError(place, f"parameter value{requested}: {error}") from None


def global_parameter_value(text: str, place: FileLine) -> object:
    """Return the value of `set_parameter`: always read as YAML, even if it is a literal."""
    try:
        value = parse_yaml(text) if text else ""
    except ValueError:
        value = None
    if isinstance(value, list):
        # ROS's launch writes a Python tuple, which the node reads as a string.
        raise LaunchError(place, "'set_parameter' cannot carry a list; use 'param' of the node")
    if not isinstance(value, SCALARS):
        raise LaunchError(place, f"'{text}' is no boolean, number or string")
    return value


def _check_written(value: Any, scalar: type | None, is_list: bool) -> None:
    """Check the value as written; a string may have any type after substitution."""
    if isinstance(value, list):
        if scalar is not None and not is_list:
            raise ValueError(f"must be a {scalar.__name__}, got a list")
        allowed = SCALARS if scalar is None else (scalar, str)
        if not all(isinstance(item, allowed) for item in value):
            raise ValueError(f"every item must be {_names_of(allowed)}")
        return
    if is_list:
        raise ValueError("must be a list; a string cannot stand for it")
    allowed = SCALARS if scalar is None else (scalar, str)
    if not isinstance(value, allowed):
        raise ValueError(f"must be {_names_of(allowed)}, got {value!r}")


def _item(value: Any, scalar: type | None, names: Names, place: FileLine) -> Any:
    if not isinstance(value, str):
        return value
    template = parse_template(value, place)
    if template.literal is None:
        return _coerce(template.evaluate(names), scalar)
    if scalar not in (None, str):
        raise ValueError(
            f"must be a {scalar.__name__}, got the text '{value}'; take off the quotes"
        )
    return template.literal


def _coerce(text: str, scalar: type | None) -> Any:
    if scalar is None:
        return _by_yaml(text)
    return as_boolean(text) if scalar is bool else scalar(text)


def _by_yaml(text: str) -> Any:
    if not text:
        return text
    try:
        value = parse_yaml(text)
    except ValueError:
        raise ValueError(f"'{text}' is not YAML; if a string is meant, add type: str") from None
    if not isinstance(value, (*SCALARS, list)):
        raise ValueError(f"'{text}' is no boolean, number, string or list; add type: str")
    return value


def _check_result(value: Any) -> None:
    if not isinstance(value, list):
        return
    if not value:
        raise ValueError("a list must not be empty: it has no type")
    kinds = {type(item) for item in value}
    if len(kinds) != 1 or not kinds <= set(SCALARS):
        raise ValueError(f"the items of {value} must be of one type (write 5.0, not 5)")


def _names_of(kinds: tuple[type, ...]) -> str:
    return " or ".join(kind.__name__ for kind in kinds)
