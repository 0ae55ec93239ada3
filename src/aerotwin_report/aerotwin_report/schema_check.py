# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Check a document against a JSON schema, and find its comparable numbers.

Supported keywords of JSON Schema 2020-12: ``$ref`` (to ``#/$defs/…``), ``type``, ``const``,
``enum``, ``anyOf``, ``required``, ``properties``, ``additionalProperties``, ``items``,
``minItems``, ``maxItems``, ``minimum``, ``maximum``. Any other keyword that would change the result
is refused. Three annotations are ours: ``unit``, ``better`` (``lower`` or ``higher``) and
``title`` of a number; unit and better also hold for everything below.

It replaces the package jsonschema, which its tests compare it with: sections carry their schemas
in the document, and untrusted schemas must neither fetch references nor run patterns.

References
----------
JSON Schema: Core and Validation, draft 2020-12, https://json-schema.org/draft/2020-12
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda v: isinstance(v, Mapping),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
    "number": lambda v: isinstance(v, int | float) and not isinstance(v, bool),
    "integer": lambda v: (
        (isinstance(v, int) and not isinstance(v, bool))
        or (isinstance(v, float) and v.is_integer())
    ),
}
_ANNOTATIONS = {"$schema", "$defs", "title", "description", "unit", "better", "$comment"}
_PREFIX = "#/$defs/"


def faults(document: Any, schema: Mapping[str, Any]) -> list[str]:
    """Return the violations of the schema, one line each: where, expected, found; empty if valid.

    Raises
    ------
    ValueError
        If the schema has an unsupported keyword, or a reference without a target.
    """
    return list(_faults(document, schema, schema, ""))


def _faults(value: Any, node: Any, root: Mapping[str, Any], where: str) -> Iterator[str]:
    if node is True or node is False:
        if not node:
            yield f"{where or 'document'}: is not expected here"
        return
    for keyword, argument in node.items():
        if keyword in _ANNOTATIONS:
            continue
        if keyword not in _CHECKS:
            raise ValueError(f"schema keyword {keyword!r} at {where or 'root'} is not understood")
        yield from _CHECKS[keyword](value, argument, node, root, where)


def _resolved(reference: str, root: Mapping[str, Any]) -> Mapping[str, Any]:
    target = root.get("$defs", {}).get(reference.removeprefix(_PREFIX))
    if not reference.startswith(_PREFIX) or target is None:
        raise ValueError(f"schema reference {reference!r} has no target below {_PREFIX}")
    return target


def _fault(where: str, expected: str, value: Any) -> str:
    shown = repr(value)
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    return f"{where or 'document'}: expected {expected}, found {shown}"


def _check_ref(value, reference, _node, root, where):
    yield from _faults(value, _resolved(reference, root), root, where)


def _check_type(value, names, _node, _root, where):
    names = [names] if isinstance(names, str) else names
    if not any(_TYPES[name](value) for name in names):
        yield _fault(where, " or ".join(names), value)


def _check_const(value, expected, _node, _root, where):
    if not _is_same(value, expected):
        yield _fault(where, repr(expected), value)


def _check_enum(value, known, _node, _root, where):
    if not any(_is_same(value, one) for one in known):
        yield _fault(where, f"one of {known}", value)


def _is_same(a: Any, b: Any) -> bool:
    """Return whether two values are equal in JSON, where true is not 1."""
    return a == b and isinstance(a, bool) == isinstance(b, bool)


def _check_any_of(value, nodes, _node, root, where):
    tried = [list(_faults(value, node, root, where)) for node in nodes]
    if all(tried):
        yield min(tried, key=len)[0]


def _check_required(value, names, _node, _root, where):
    if isinstance(value, Mapping):
        for name in names:
            if name not in value:
                yield f"{where or 'document'}: lacks '{name}'"


def _check_properties(value, nodes, _node, root, where):
    if isinstance(value, Mapping):
        for name, node in nodes.items():
            if name in value:
                yield from _faults(value[name], node, root, _joined(where, name))


def _check_additional(value, rest, node, root, where):
    if isinstance(value, Mapping):
        for name in value:
            if name not in node.get("properties", {}):
                yield from _faults(value[name], rest, root, _joined(where, name))


def _check_items(value, node_of_item, _node, root, where):
    if isinstance(value, list):
        for k, item in enumerate(value):
            yield from _faults(item, node_of_item, root, f"{where}[{k}]")


def _check_min_items(value, limit, _node, _root, where):
    if isinstance(value, list) and len(value) < limit:
        yield f"{where}: expected at least {limit} items, found {len(value)}"


def _check_max_items(value, limit, _node, _root, where):
    if isinstance(value, list) and len(value) > limit:
        yield f"{where}: expected at most {limit} items, found {len(value)}"


def _check_minimum(value, limit, _node, _root, where):
    if _TYPES["number"](value) and value < limit:
        yield _fault(where, f"at least {limit}", value)


def _check_maximum(value, limit, _node, _root, where):
    if _TYPES["number"](value) and value > limit:
        yield _fault(where, f"at most {limit}", value)


_CHECKS: dict[str, Callable[..., Iterator[str]]] = {
    "$ref": _check_ref,
    "type": _check_type,
    "const": _check_const,
    "enum": _check_enum,
    "anyOf": _check_any_of,
    "required": _check_required,
    "properties": _check_properties,
    "additionalProperties": _check_additional,
    "items": _check_items,
    "minItems": _check_min_items,
    "maxItems": _check_max_items,
    "minimum": _check_minimum,
    "maximum": _check_maximum,
}


def _joined(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A finite number of a document that its schema declares comparable.

    `path` is names joined by dots, `label` its title and those of its parents, `better` is
    ``lower`` or ``higher``.
    """

    path: str
    label: str
    unit: str
    better: str
    value: float


def measures(document: Any, schema: Mapping[str, Any]) -> list[Measure]:
    """Return the finite numbers of a document with a title and ``better`` in the schema."""
    return list(_measures(document, schema, schema, "", (), "", ""))


def _measures(value, node, root, path, titles, unit, better) -> Iterator[Measure]:
    if not isinstance(node, Mapping):
        return
    own = node.get("title", "")
    titles = (*titles, own) if own and path else titles
    unit, better = node.get("unit", unit), node.get("better", better)
    for below in [node["$ref"]] if "$ref" in node else []:
        yield from _measures(value, _resolved(below, root), root, path, titles, unit, better)
    for below in node.get("anyOf", ()):
        yield from _measures(value, below, root, path, titles, unit, better)
    if isinstance(value, Mapping):
        known, rest = node.get("properties", {}), node.get("additionalProperties")
        for name, part in value.items():
            below = known.get(name, rest)
            is_named = name in known
            named = titles if is_named else (*titles, name)
            yield from _measures(part, below, root, _joined(path, name), named, unit, better)
    elif own and better and _TYPES["number"](value) and math.isfinite(value):
        label = ", ".join(titles)
        yield Measure(path=path, label=label, unit=unit, better=better, value=float(value))
