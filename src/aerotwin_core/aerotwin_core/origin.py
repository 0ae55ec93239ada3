# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Where a value is from: a file, its line and its key, as the beginning of a message."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import yaml

from aerotwin_core.documents import PlainLoader

Keys = tuple[str | int, ...]
"""Keys and list indices from the top of a document down to a value."""
_PART = re.compile(r"\[(\d+)\]|([^.\[\]]+)")


@dataclass(frozen=True)
class Origin:
    """What values are from, and the lines of a file's keys if they are known.

    Attributes
    ----------
    name : str
        A file, a node, a command.
    lines : mapping of Keys to int
        Line of each key and list item, from 1.
    keys : Keys
        Of the part that is looked at.
    label : str
        Its name in messages, as `events.gust` or `expect[2]`.
    """

    name: str
    lines: Mapping[Keys, int] = field(default_factory=dict, repr=False)
    keys: Keys = ()
    label: str = ""

    def below(self, name: str) -> "Origin":
        """Return the origin of a part, by its name with dots and indices."""
        joint = "." if self.label and not name.startswith("[") else ""
        label = f"{self.label}{joint}{name}"
        return replace(self, keys=(*self.keys, *keys_of(name)), label=label)

    def place(self, *keys: str | int) -> str:
        """Return `FILE:LINE: LABEL`; the line is that of these keys, as far down as it is known."""
        asked = (*self.keys, *keys)
        above = (asked[:n] for n in range(len(asked), 0, -1))
        line = next((self.lines[part] for part in above if part in self.lines), None)
        file = self.name if line is None else f"{self.name}:{line}"
        return f"{file}: {self.label}" if self.label else file

    def at(self, name: str) -> str:
        """Return `FILE:LINE: NAME` of a value, by its name with dots and indices."""
        return self.below(name).place() if name else self.place()

    def has_line(self, keys: Keys) -> bool:
        """Tell whether the line of these keys is known."""
        return (*self.keys, *keys) in self.lines

    def __str__(self) -> str:
        return self.place()


def as_origin(where: str | Origin) -> Origin:
    """Return the origin that a text names, or the one that it is."""
    return where if isinstance(where, Origin) else Origin(where)


def yaml_lines(data: bytes | str) -> dict[Keys, int]:
    """Return the lines of all keys and list items of a YAML document, from 1.

    The document was read by `parse_yaml` before, which bounds its size with aliases expanded; the
    lines of what an alias repeats are where that is written.
    """
    return dict(_lines_below(yaml.compose(data, Loader=PlainLoader)))


def _lines_below(root: yaml.Node | None) -> Iterator[tuple[Keys, int]]:
    waiting: list[tuple[Keys, yaml.Node | None]] = [((), root)]
    while waiting:
        above, node = waiting.pop()
        for name, mark, child in _children(node):
            yield (*above, name), mark.line + 1
            if isinstance(child, yaml.CollectionNode):
                waiting.append(((*above, name), child))


def _children(node: yaml.Node | None) -> Iterator[tuple[str | int, Any, yaml.Node]]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield str(key.value), key.start_mark, value
    elif isinstance(node, yaml.SequenceNode):
        for number, item in enumerate(node.value):
            yield number, item.start_mark, item


def keys_of(name: str) -> Keys:
    """Return the keys of a name: `waypoints[0].yaw_deg` has three.

    >>> keys_of("waypoints[0].yaw_deg")
    ('waypoints', 0, 'yaw_deg')
    """
    return tuple(int(index) if index else key for index, key in _PART.findall(name))
