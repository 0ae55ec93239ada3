# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A launch file as YAML values with their line numbers."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from aerotwin_core.documents import DocumentError, PlainLoader, check_yaml
from aerotwin_core.limits import file_size
from aerotwin_launch.errors import FileLine, LaunchError

MAX_FILE_BYTES = 1_000_000
MAX_VALUES = 50_000
"""Keys and values with aliases written out; the largest file here has about 2,000."""


@dataclass(frozen=True, kw_only=True)
class Located:
    """A YAML value, a scalar, `dict[str, Located]` or `list[Located]`, and its file and line."""

    value: Any
    place: FileLine

    @property
    def plain(self) -> Any:
        """The value without line numbers, as from `yaml.safe_load`."""
        if isinstance(self.value, dict):
            return {key: item.plain for key, item in self.value.items()}
        if isinstance(self.value, list):
            return [item.plain for item in self.value]
        return self.value

    @property
    def kind(self) -> str:
        """The type in the terms of a launch file's author."""
        names = {str: "a string", bool: "a boolean", int: "an integer", float: "a number"}
        names |= {dict: "a mapping", list: "a list", type(None): "nothing"}
        return names.get(type(self.value), f"a {type(self.value).__name__}")


def load_document(path: Path) -> Located:
    """Read a YAML file; every value of the result has its line.

    Raises `LaunchError` if the file cannot be read, is no YAML, nests too deep, or has a duplicate
    key (PyYAML would silently use the last one).
    """
    start = FileLine(path=path, line=1)
    text = _read(path, start)
    loader = PlainLoader(text)
    try:
        with suppress(yaml.YAMLError):  # said below, with a line that fits better
            check_yaml(text, max_nodes=MAX_VALUES)
        node = loader.get_single_node()
        if node is None:
            raise LaunchError(start, "the file is empty; it must hold 'launch:' and a list")
        return _locate(loader, node, path, {})
    except DocumentError as error:
        raise LaunchError(start, str(error)) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        n_lines = len(text.splitlines())  # where something is missing at the end, one too many
        place = FileLine(path=path, line=min(mark.line + 1, n_lines) if mark else 1)
        raise LaunchError(place, f"this is not YAML: {error.problem}") from None
    except yaml.YAMLError as error:
        raise LaunchError(start, f"this is not YAML: {str(error).splitlines()[0]}") from None
    finally:
        loader.dispose()


def _read(path: Path, start: FileLine) -> str:
    try:
        if file_size(path) > MAX_FILE_BYTES:
            raise LaunchError(start, f"larger than {MAX_FILE_BYTES} bytes: no launch file")
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise LaunchError(start, "this is not text in UTF-8") from None
    except OSError as error:
        raise LaunchError(None, f"launch file {path}: {error.strerror}") from None


def _locate(
    loader: yaml.SafeLoader, node: yaml.Node, path: Path, known: dict[int, Located]
) -> Located:
    """Convert a node; `known` holds the targets of aliases."""
    if id(node) not in known:
        place = FileLine(path=path, line=node.start_mark.line + 1)
        known[id(node)] = Located(value=_value(loader, node, path, known), place=place)
    return known[id(node)]


def _value(loader: yaml.SafeLoader, node: yaml.Node, path: Path, known: dict[int, Located]) -> Any:
    if isinstance(node, yaml.SequenceNode):
        return [_locate(loader, item, path, known) for item in node.value]
    if isinstance(node, yaml.MappingNode):
        _refuse_duplicates(node, path)
        loader.flatten_mapping(node)
        return {
            _key(loader, key, path): _at_key(key, _locate(loader, item, path, known))
            for key, item in node.value
        }
    return loader.construct_object(node, deep=True)


def _key(loader: yaml.SafeLoader, node: yaml.Node, path: Path) -> str:
    key = loader.construct_object(node, deep=True)
    if not isinstance(key, str):
        place = FileLine(path=path, line=node.start_mark.line + 1)
        raise LaunchError(place, f"the key {key!r} must be a string; write it in quotes")
    return key


def _at_key(key: yaml.Node, item: Located) -> Located:
    """Set the line of a block mapping or list to that of its key, where a reader looks for it."""
    if isinstance(item.value, (dict, list)):
        line = key.start_mark.line + 1
        return Located(value=item.value, place=FileLine(path=item.place.path, line=line))
    return item


def _refuse_duplicates(node: yaml.MappingNode, path: Path) -> None:
    seen: dict[str, int] = {}
    for key, _ in node.value:
        line = key.start_mark.line + 1
        if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
            if key.value in seen:
                message = f"the key '{key.value}' stands twice (first in line {seen[key.value]})"
                raise LaunchError(FileLine(path=path, line=line), message)
            seen[key.value] = line
