# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters: one frozen dataclass per model is the only source of names, defaults and ranges.

YAML files, ROS parameters, commands and the reference pages are all read from it. Loading is
strict: an unknown key, a wrong type or a value out of range is a `ParameterError`.
"""

import dataclasses
import difflib
import functools
import math
import types
import typing
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from aerotwin_core.documents import MAX_BYTES, DocumentError, parse_yaml
from aerotwin_core.errors import ParameterError, UserError
from aerotwin_core.foreign_text import printable, shown
from aerotwin_core.limits import check_is_file
from aerotwin_core.origin import Origin, as_origin, keys_of, yaml_lines

T = TypeVar("T")
_MOST_LETTERS = 60
"""Of a name that is not known, as a message shows it."""


def parameter(
    default: Any = dataclasses.MISSING,
    *,
    text: str,
    unit: str = "",
    minimum: float | None = None,
    maximum: float | None = None,
    choices: Sequence[Any] | None = None,
    live: bool = False,
    old_name: str = "",
) -> Any:
    """Declare a dataclass field with its meaning, unit and range; without default it is required.

    A live parameter may be set while a node runs; all others are read-only. Files may still have
    the old name of a renamed one, with a warning.
    """
    metadata = {
        "text": text,
        "unit": unit,
        "minimum": minimum,
        "maximum": maximum,
        "choices": tuple(choices) if choices is not None else None,
        "live": live,
        "old_names": {old_name: ""} if old_name else {},
    }
    return dataclasses.field(default=default, metadata=metadata, kw_only=True)


def group(cls: type, *, old_prefix: str | None = None, **old_names: str) -> Any:
    """Declare a nested dataclass of parameters, which are named `group.parameter`.

    Parameters that stood beside the group before have old names as in `parameter`: those of
    `old_names` (present name = old name, "" = there was none), all others `old_prefix` and their
    present name.
    """
    before = dict(old_names)
    if old_prefix is not None:
        before = {f.name: f"{old_prefix}{f.name}" for f in dataclasses.fields(cls)} | before
    metadata = {"old_names": {old: f".{name}" for name, old in before.items() if old}}
    return dataclasses.field(default_factory=cls, metadata=metadata, kw_only=True)


def load_parameters(
    cls: type[T],
    mapping: Mapping[str, Any] | None,
    *,
    where: str | Origin,
    base: T | None = None,
) -> T:
    """Return cls filled from a mapping; None counts as empty.

    The fields of cls were made by `parameter`; nested dataclasses are mappings. `where` is the
    origin of the values, for messages (a file and its lines, a node). What the mapping leaves out,
    at any level, is as in `base`; without one it has its default.

    Raises `ParameterError` with the key, what was expected, what was found and what to do.
    """
    return _load(cls, mapping, as_origin(where), "", base)


def _load(
    cls: type[T], mapping: Mapping[str, Any] | None, where: Origin, within: str, base: T | None
) -> T:
    """Return cls as `load_parameters`; `within` is what stands before the names of its fields."""
    values = {} if mapping is None else mapping
    owner = where.at(within.rstrip("."))
    if not isinstance(values, Mapping):
        # a file of something else is not quoted: the message may go to a client of a service
        found = "text" if isinstance(values, str) else shown(values)
        raise ParameterError(f"{owner}: expected names with values, found {found}")
    fields = {f.name: f for f in dataclasses.fields(cls) if f.init}  # type: ignore[arg-type]
    values = _renamed(values, cls, where, within)
    for key in values:
        if key not in fields:
            name = printable(str(key), _MOST_LETTERS)
            near = _nearest(name, fields, within)
            place = where.place(*within.split(".")[:-1], str(key))
            raise ParameterError(f"{place}: unknown key '{within}{name}'; {near}")
    hints = typing.get_type_hints(cls)
    loaded: dict[str, Any] = {}
    for name, field in fields.items():
        if name in values:
            inner = getattr(base, name, None)
            value = _convert(values[name], hints[name], where, f"{within}{name}", inner)
            loaded[name] = _check(value, field, where.at(f"{within}{name}"))
        elif base is not None:
            loaded[name] = getattr(base, name)
        elif field.default is dataclasses.MISSING and (
            field.default_factory is dataclasses.MISSING
        ):
            text = field.metadata.get("text", "no description")
            place = where.place(*within.split(".")[:-1])
            raise ParameterError(f"{place}: '{within}{name}' is missing ({text}); add it")
    try:
        return cls(**loaded)
    except ParameterError as error:
        raise _placed(error, where, within) from None
    except (ValueError, TypeError) as error:
        raise ParameterError(f"{owner}: {error}") from error


def _placed(error: ParameterError, where: Origin, within: str) -> ParameterError:
    """Return what a class refuses with its place, in a file whose lines are known.

    Its message begins with the name of a value, in the class or in all.
    """
    if not where.lines:
        return error
    name = str(error).partition(": ")[0]
    candidates = (f"{within}{name}", name, within.rstrip("."))
    keys = next(filter(where.has_line, map(keys_of, candidates)), ())
    return ParameterError(f"{where.place(*keys)}: {error}")


@functools.cache
def old_names(cls: type) -> Mapping[str, str]:
    """Return present names of parameters by their old ones; parts are joined by dots."""
    found = {}
    for field in dataclasses.fields(cls):
        before = field.metadata.get("old_names", {})
        found |= {old: f"{field.name}{rest}" for old, rest in before.items()}
        hint = typing.get_type_hints(cls)[field.name]
        if isinstance(hint, type) and dataclasses.is_dataclass(hint):
            nested = old_names(hint)
            found |= {f"{field.name}.{old}": f"{field.name}.{new}" for old, new in nested.items()}
    return found


def rename_warning(old: str, new: str, *, where: str) -> str:
    """Return the line that says the present name of a parameter given by its old one."""
    return f"{where}: '{old}' is called '{new}' now; the next version refuses it"


def _renamed(values: Mapping[str, Any], cls: type, where: Origin, within: str) -> Mapping[str, Any]:
    """Return values with the present names of renamed parameters."""
    present = {
        old: new
        for old, new in old_names(cls).items()
        # A group may have the old name of one of its parameters.
        if old in values and not (new.startswith(f"{old}.") and _is_group(values[old]))
    }
    renamed = {key: value for key, value in values.items() if key not in present}
    for old, new in present.items():
        folder, _, name = new.rpartition(".")
        inner = renamed.get(folder) if folder else renamed
        if not _is_group(inner):
            continue  # which loading refuses
        inner = dict(inner or {})
        given, present_name = f"{within}{old}", f"{within}{new}"
        if name in inner:
            raise ParameterError(
                f"{where}: '{given}' is the old name of '{present_name}'; remove it"
            )
        warnings.warn(
            rename_warning(given, present_name, where=str(where)), FutureWarning, stacklevel=4
        )
        inner[name] = values[old]
        renamed = {**renamed, folder: inner} if folder else inner
    return renamed


def _is_group(value: Any) -> bool:
    return value is None or isinstance(value, Mapping)


def replaced(parameters: T, changes: Mapping[str, Any]) -> T:
    """Return parameters with other values by their names, those of nested ones joined by dots."""
    nested: dict[str, dict[str, Any]] = {}
    own = {}
    for name, value in changes.items():
        folder, _, rest = name.partition(".")
        if rest:
            nested.setdefault(folder, {})[rest] = value
        else:
            own[name] = value
    for folder, inner in nested.items():
        own[folder] = replaced(own.get(folder, getattr(parameters, folder)), inner)
    return dataclasses.replace(parameters, **own)  # type: ignore[type-var]


def load_parameters_file(cls: type[T], path: str | Path) -> T:
    """Return cls filled from a YAML file; errors as `load_parameters`."""
    return load_parameters(cls, read_yaml(path), where=str(path))


def read_yaml(path: str | Path) -> Any:
    """Return the content of a YAML file.

    Raises `ParameterError` if the file is missing, a device or a pipe, not YAML or has a key twice;
    the message has path and line.
    """
    return _read_yaml(path)[0]


def read_yaml_with_lines(path: str | Path) -> tuple[Any, Origin]:
    """Return the content of a YAML file and its origin with the lines; errors as `read_yaml`."""
    content, data = _read_yaml(path)
    return content, Origin(str(path), yaml_lines(data))


def _read_yaml(path: str | Path) -> tuple[Any, bytes]:
    try:
        check_is_file(path, is_read_once=True)
        with Path(path).open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        return parse_yaml(data), data
    except UserError as error:
        raise ParameterError(str(error)) from None
    except OSError as error:
        raise ParameterError(f"{path}: cannot be read ({error.strerror}); check the path") from None
    except DocumentError as error:
        place = path if error.line is None else f"{path}:{error.line}"
        raise ParameterError(f"{place}: not valid YAML ({error})") from None


def to_mapping(value: Any) -> Any:
    """Return a (nested) dataclass as plain YAML types."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            f.name: to_mapping(getattr(value, f.name)) for f in dataclasses.fields(value) if f.init
        }
    if isinstance(value, Mapping):
        return {str(key): to_mapping(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_mapping(item) for item in value]
    if isinstance(value, Path):
        return str(value)
    return value.item() if hasattr(value, "item") else value


def flat_parameters(
    cls: type, *, within: str = "", defaults: Any = None
) -> Iterator[tuple[str, dataclasses.Field[Any], Any]]:
    """Yield name, field and default of every parameter; names of nested ones are joined by dots.

    `within` is a prefix of each name. The defaults are the values of the instance `defaults`, else
    those of the class, `dataclasses.MISSING` where it has none.
    """
    hints = typing.get_type_hints(cls)
    for field in dataclasses.fields(cls):  # type: ignore[arg-type]
        name = f"{within}{field.name}"
        default = _default(field) if defaults is None else getattr(defaults, field.name)
        if dataclasses.is_dataclass(hints[field.name]):
            nested = None if default is dataclasses.MISSING else default
            yield from flat_parameters(hints[field.name], within=f"{name}.", defaults=nested)
        else:
            yield name, field, default


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def _convert(value: Any, hint: Any, where: Origin, name: str, base: Any = None) -> Any:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    place = where.at(name)
    if origin in (typing.Union, types.UnionType):
        if value is None and type(None) in arguments:
            return None
        options = [a for a in arguments if a is not type(None)]
        return _convert(value, options[0], where, name, base)
    if dataclasses.is_dataclass(hint):
        cls = typing.cast(type, hint)
        is_item = name.endswith("]")
        if is_item:
            return _load(cls, value, where.below(name), "", None)
        return _load(cls, value, where, f"{name}.", base)
    if origin is tuple:
        return _convert_tuple(value, arguments, where, name)
    if origin is dict or hint is dict:
        if not isinstance(value, Mapping):
            raise ParameterError(f"{place}: expected names with values, found {shown(value)}")
        return dict(value)
    return _convert_scalar(value, hint, place)


def _convert_tuple(
    value: Any, arguments: tuple[Any, ...], where: Origin, name: str
) -> tuple[Any, ...]:
    place = where.at(name)
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise ParameterError(f"{place}: expected a list, found {shown(value)}")
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        kinds: Sequence[Any] = [arguments[0]] * len(value)
    else:
        kinds = arguments
    if len(kinds) != len(value):
        raise ParameterError(f"{place}: expected {len(kinds)} values, found {len(value)}")
    pairs = zip(value, kinds, strict=True)
    return tuple(_convert(v, kind, where, f"{name}[{i}]") for i, (v, kind) in enumerate(pairs))


def _convert_scalar(value: Any, hint: Any, place: str) -> Any:
    if hint is Any:
        return value
    if hint is float and isinstance(value, int | float) and not isinstance(value, bool):
        if not math.isfinite(value):
            raise ParameterError(f"{place}: expected a finite number, found {value}")
        return float(value)
    if hint is Path and isinstance(value, str):
        return Path(value)
    exact = isinstance(value, hint) and not (hint is int and isinstance(value, bool))
    if not exact:
        names = {float: "a number", int: "an integer", str: "a text", bool: "true or false"}
        expected = names.get(hint, getattr(hint, "__name__", str(hint)))
        is_read_otherwise = hint is str and isinstance(value, bool | int | float)
        way_out = "; YAML reads it so: put it in quotes" if is_read_otherwise else ""
        raise ParameterError(f"{place}: expected {expected}, found {shown(value)}{way_out}")
    return value


def _check(value: Any, field: dataclasses.Field[Any], place: str) -> Any:
    meta = field.metadata
    choices = meta.get("choices")
    if choices and value not in choices:
        listed = ", ".join(str(choice) for choice in choices if choice is not None)
        raise ParameterError(f"{place}: expected one of {listed}, found {shown(value)}")
    numbers = value if isinstance(value, tuple) else (value,)
    unit = f" {meta['unit']}" if meta.get("unit") else ""
    for number in numbers:
        if not isinstance(number, int | float) or isinstance(number, bool):
            continue
        if meta.get("minimum") is not None and number < meta["minimum"]:
            raise ParameterError(
                f"{place}: expected at least {meta['minimum']}{unit}, found {number}"
            )
        if meta.get("maximum") is not None and number > meta["maximum"]:
            raise ParameterError(
                f"{place}: expected at most {meta['maximum']}{unit}, found {number}"
            )
    return value


def _nearest(key: str, names: Mapping[str, Any], within: str) -> str:
    close = difflib.get_close_matches(key, names, n=1)
    if close:
        return f"did you mean '{within}{close[0]}'?"
    return f"known keys are {', '.join(sorted(names))}"
