# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The JSON schema of parameters: what `load_parameters` accepts, for editors and other programs."""

import dataclasses
import types
import typing
from collections.abc import Collection
from pathlib import Path
from typing import Any

from aerotwin_core.metric import Schema

_TYPES = {float: "number", int: "integer", str: "string", bool: "boolean", Path: "string"}


def parameter_schema(cls: type, *, optional: Collection[str] = ()) -> Schema:
    """Return the JSON schema (2020-12) of a dataclass whose fields were made by `parameter`.

    Texts and units are descriptions, ranges and choices are checked, other keys are refused. Old
    names of parameters and what a class checks beyond the ranges of its fields are not in it.
    `optional` are fields that need not be there although they have no default.
    """
    hints = typing.get_type_hints(cls)
    fields = [field for field in dataclasses.fields(cls) if field.init]
    required = [
        field.name for field in fields if _is_required(field) and field.name not in optional
    ]
    schema: Schema = {
        "type": "object",
        "description": (cls.__doc__ or "").partition("\n")[0],
        "properties": {field.name: _field_schema(field, hints[field.name]) for field in fields},
        "additionalProperties": False,
    }
    return {**schema, "required": required} if required else schema


def _is_required(field: "dataclasses.Field[Any]") -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _field_schema(field: "dataclasses.Field[Any]", hint: Any) -> Schema:
    meta = field.metadata
    if dataclasses.is_dataclass(hint):
        return _or_null(parameter_schema(typing.cast(type, hint)))
    schema = _value_schema(hint, meta)
    unit = f" [{meta['unit']}]" if meta.get("unit") else ""
    schema["description"] = f"{meta.get('text', '')}{unit}"
    if isinstance(field.default, bool | int | float | str):
        schema["default"] = field.default
    return schema


def _value_schema(hint: Any, meta: Any) -> Schema:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        inner = next(part for part in arguments if part is not type(None))
        return _or_null(_value_schema(inner, meta))
    if origin is tuple:
        is_open = len(arguments) == 2 and arguments[1] is Ellipsis
        items = {"type": "array", "items": _value_schema(arguments[0], meta)}
        n = len(arguments)
        return items if is_open else {**items, "minItems": n, "maxItems": n}
    if dataclasses.is_dataclass(hint):
        return parameter_schema(typing.cast(type, hint))
    if origin is dict or hint is dict:
        return {"type": "object"}
    if hint is Any:
        return {}
    if meta.get("choices"):
        return {"enum": list(meta["choices"])}
    schema: Schema = {"type": _TYPES[hint]}
    if hint in (int, float):
        limits = {"minimum": meta.get("minimum"), "maximum": meta.get("maximum")}
        schema |= {key: limit for key, limit in limits.items() if limit is not None}
    return schema


def _or_null(schema: Schema) -> Schema:
    if "enum" in schema:
        return {**schema, "enum": [*schema["enum"], None]}
    return {**schema, "type": [schema["type"], "null"]} if "type" in schema else schema
