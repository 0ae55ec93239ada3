# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""YAML and JSON from any source: the expanded size of a document is known before it is built.

A hundred bytes of YAML aliases can expand to more values than a machine can hold, 50,000 brackets
exhaust the stack, and an integer of 5,000 digits cannot be printed. A document here has at most
`MAX_DEPTH` levels, `MAX_DIGITS` digits in an integer and, in YAML, `MAX_NODES` values with its
aliases expanded.
"""

import json
import re
from pathlib import Path
from typing import Any

import yaml

from aerotwin_core.foreign_text import printable
from aerotwin_core.limits import check_is_file

MAX_BYTES = 16 << 20
MAX_NODES = 500_000
"""A bag of a thousand topics has about 20,000 in its metadata."""
MAX_DEPTH = 100
MAX_DIGITS = 100
"""Of an integer: more than any number that is meant, fewer than Python refuses to print."""
_MOST_LETTERS = 300
_ESCAPED = re.compile(rb"\\.", re.DOTALL)
_STEP_BYTES = 1 << 20
PlainLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
PlainDumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
"""PyYAML may be built without libyaml."""


class DocumentError(ValueError):
    """A document is invalid or above the size limits; the message is one line.

    `line` is where, from 1; None if it is not known.
    """

    line: int | None = None


def parse_yaml(data: bytes | str) -> Any:
    """Return the content of a YAML document.

    Raises `DocumentError` if it is not valid, has a key twice in a mapping, or is beyond the limits
    above.
    """
    _check_size(data, MAX_BYTES)
    try:
        check_yaml(data)
        return yaml.load(data, Loader=_Loader)
    except DocumentError:
        raise
    except (yaml.YAMLError, ArithmeticError, AttributeError, TypeError, ValueError) as error:
        # The constructors of PyYAML raise the last four, for instance at a 13th month.
        refused = DocumentError(_one_line(error))
        mark = getattr(error, "problem_mark", None)
        refused.line = None if mark is None else mark.line + 1
        raise refused from None


def parse_json(
    data: bytes | str,
    *,
    max_bytes: int = MAX_BYTES,
    max_depth: int = MAX_DEPTH,
    takes_nan: bool = True,
) -> Any:
    """Return the content of a JSON document in UTF-8.

    `takes_nan` accepts NaN and Infinity, which JSON does not have, but many programs write.

    Raises `DocumentError` if it is not valid, or exceeds `max_bytes`, `max_depth` or the limits
    above.
    """
    _check_size(data, max_bytes)
    try:
        _check_depth(data.encode("utf-8", "replace") if isinstance(data, str) else data, max_depth)
        text = data if isinstance(data, str) else str(data, "utf-8-sig")
        constant = None if takes_nan else _refuse_constant
        return json.loads(text, parse_int=_integer, parse_constant=constant)
    except DocumentError:
        raise
    except RecursionError:  # the stack was exhausted before
        raise DocumentError("its values are nested too deep") from None
    except ValueError as error:
        raise DocumentError(_one_line(error)) from None


def read_json(
    path: str | Path,
    *,
    max_bytes: int = MAX_BYTES,
    max_depth: int = MAX_DEPTH,
    takes_nan: bool = True,
) -> Any:
    """Return the content of a JSON file; limits as in `parse_json`.

    Raises `DocumentError` as `parse_json`. Raises `UserError` if it is a device or a pipe. Raises
    `OSError` if the file cannot be read.
    """
    check_is_file(path, is_read_once=True)
    with Path(path).open("rb") as file:
        data = file.read(max_bytes + 1)
    return parse_json(data, max_bytes=max_bytes, max_depth=max_depth, takes_nan=takes_nan)


def _check_size(data: bytes | str, max_bytes: int) -> None:
    if len(data) > max_bytes:
        raise DocumentError(f"it has more than {max_bytes} bytes")


def _check_depth(data: bytes, max_depth: int) -> None:
    """Raise DocumentError if brackets outside of strings nest too deep, found without recursion."""
    if data.count(b"[") + data.count(b"{") <= max_depth:
        return
    import numpy as np  # loaded here: a launch file is read without it

    turns = np.zeros(256, dtype=np.int64)
    turns[list(b"[{")], turns[list(b"]}")] = 1, -1
    values = np.frombuffer(_ESCAPED.sub(b"", data) if b"\\" in data else data, dtype=np.uint8)
    depth, is_text = 0, False
    for start in range(0, len(values), _STEP_BYTES):
        step = values[start : start + _STEP_BYTES]
        texts = np.logical_xor.accumulate(step == ord('"')) ^ is_text
        depths = depth + np.cumsum(np.where(texts, 0, turns[step]))
        if depths.max() > max_depth:
            raise DocumentError(f"its values are nested more than {max_depth} deep")
        depth, is_text = int(depths[-1]), bool(texts[-1])


def _refuse_constant(name: str) -> float:
    raise DocumentError(f"{name} is not JSON; a number that is missing is null")


def _integer(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise DocumentError(f"an integer has {len(text)} digits, at most {MAX_DIGITS} are read")
    return int(text)


def _one_line(error: Exception) -> str:
    text = " ".join(str(error).split()).replace('in "<byte string>",', "at")
    return printable(text, _MOST_LETTERS)


def check_yaml(data: bytes | str, *, max_nodes: int = MAX_NODES) -> None:
    """Raise DocumentError if a YAML document nests too deep or expands to too many values.

    The events of the parser come one by one, without recursion; invalid YAML raises
    `yaml.YAMLError`.
    """
    n_nodes, open_nodes, of_anchor = 0, [], {}
    for event in yaml.parse(data, Loader=PlainLoader):
        if isinstance(event, yaml.CollectionEndEvent):
            anchor, before = open_nodes.pop()
            of_anchor[anchor] = n_nodes - before
            continue
        if isinstance(event, yaml.AliasEvent):
            n_nodes += of_anchor.get(event.anchor, 0)
            if any(anchor == event.anchor for anchor, _ in open_nodes):
                raise DocumentError(f"the alias *{event.anchor[:40]} holds itself")
        elif isinstance(event, yaml.NodeEvent):
            n_nodes += 1
            if isinstance(event, yaml.CollectionStartEvent):
                open_nodes.append((event.anchor, n_nodes - 1))
            elif event.anchor is not None:
                of_anchor[event.anchor] = 1
        if len(open_nodes) > MAX_DEPTH:
            raise DocumentError(f"its values are nested more than {MAX_DEPTH} deep")
        if n_nodes > max_nodes:
            raise DocumentError(f"it stands for more than {max_nodes} values")


class _Loader(PlainLoader):  # type: ignore[misc, valid-type]
    """Refuses a key that a mapping has twice: YAML 1.2 (3.2.1.3) forbids it, PyYAML does not."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                if (key.tag, key.value) in seen:
                    problem = f"the key '{key.value}' is there twice; remove one"
                    raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
                seen.add((key.tag, key.value))
        return super().construct_mapping(node, deep)

    def construct_yaml_int(self, node: yaml.ScalarNode) -> int:
        n_digits = len(str(node.value))
        if n_digits > MAX_DIGITS:
            problem = f"an integer has {n_digits} digits, at most {MAX_DIGITS} are read"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
        return super().construct_yaml_int(node)


_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_yaml_int)
