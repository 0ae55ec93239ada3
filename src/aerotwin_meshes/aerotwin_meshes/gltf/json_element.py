# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Strict reading of untrusted JSON trees: every value is read with its expected kind.

A missing value, one of another kind or out of range is a ValueError that names the position in the
tree, what was expected and what was found.
"""

import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from aerotwin_core import documents

LARGEST_INTEGER = 2**53
"""The largest range in which JSON numbers are whole everywhere (RFC 8259, clause 6)."""
LARGEST_FLOAT = 2**1023
"""Whole numbers beyond it have no float64 (IEEE 754)."""
MAX_TREE_BYTES = 800_000_000
"""What the tree of one JSON text may take: that of a tileset.json of some 80 MB."""
MAX_TREE_DEPTH = 500
"""Levels of a JSON text: two for each level of tiles, of which real trees have some twenty."""
_BYTES_OF = {b"{": 72, b"[": 96, b":": 120, b",": 32, b'"': 32}
"""What CPython takes at most for each object, array, member, value and text, by its mark."""
_REQUIRED: Any = object()
_SHOWN_CHARACTERS = 40


@dataclass(frozen=True)
class JsonElement:
    """One object of a JSON tree; ``where`` is the path to it, for messages."""

    values: dict[str, Any]
    where: str

    def integer(
        self,
        key: str,
        default: Any = _REQUIRED,
        *,
        minimum: int = 0,
        maximum: int = LARGEST_INTEGER,
    ) -> Any:
        """Return an integer within a range; a float such as 3.0 is accepted."""
        value = self._value(key, default)
        if value is default:
            return default
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not _is_whole(value) or not minimum <= value <= maximum:
            raise self.wrong(key, f"a whole number from {minimum} to {maximum}")
        return value

    def numbers(self, key: str, n: int, default: Any = _REQUIRED) -> np.ndarray:
        """Return a list of n finite numbers as float64."""
        value = self._value(key, default)
        is_list = isinstance(value, list | tuple) and len(value) == n
        if not is_list or not all(_is_finite(item) for item in value):
            raise self.wrong(key, f"a list of {n} finite numbers")
        return np.array(value, np.float64)

    def number(self, key: str, default: Any = _REQUIRED) -> float:
        """Return one finite number."""
        value = self._value(key, default)
        if not _is_finite(value):
            raise self.wrong(key, "a finite number")
        return float(value)

    def text(self, key: str, default: Any = _REQUIRED) -> Any:
        """Return a string."""
        value = self._value(key, default)
        if value is not default and not isinstance(value, str):
            raise self.wrong(key, "a text")
        return value

    def flag(self, key: str) -> bool:
        """Return true or false; false if missing."""
        value = self._value(key, False)
        if not isinstance(value, bool):
            raise self.wrong(key, "true or false")
        return value

    def element(self, key: str) -> "JsonElement | None":
        """Return a member that is an object, or None if it is missing."""
        value = self._value(key, None)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self.wrong(key, "an object")
        return JsonElement(value, f"{self.where}.{key}")

    def elements(self, key: str) -> "list[JsonElement]":
        """Return a list of objects; empty if missing."""
        value = self._value(key, [])
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.wrong(key, "a list of objects")
        return [JsonElement(item, f"{self.where}.{key}[{i}]") for i, item in enumerate(value)]

    def integers(self, key: str) -> list[int]:
        """Return a list of integers, 0 or more; empty if missing."""
        value = self._value(key, [])
        if not isinstance(value, list) or not all(_is_whole(i) and i >= 0 for i in value):
            raise self.wrong(key, "a list of whole numbers")
        return value

    def texts(self, key: str) -> list[str]:
        """Return a list of strings; empty if missing."""
        value = self._value(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.wrong(key, "a list of texts")
        return value

    def extension(self, name: str) -> "JsonElement | None":
        """Return a glTF or 3-D Tiles extension of this object, or None if missing."""
        extensions = self.element("extensions")
        return None if extensions is None else extensions.element(name)

    def wrong(self, key: str, expected: str) -> ValueError:
        """Return the error that a member is not as expected."""
        if key not in self.values:
            return ValueError(f"{self.where}.{key} is missing, it must be {expected}")
        found = json.dumps(self.values[key])
        if len(found) > _SHOWN_CHARACTERS:
            found = found[:_SHOWN_CHARACTERS] + "…"
        return ValueError(f"{self.where}.{key} must be {expected}, got {found}")

    def _value(self, key: str, default: Any) -> Any:
        return self.values.get(key, None if default is _REQUIRED else default)


def parse_json(data: bytes | memoryview, where: str) -> JsonElement:
    """Parse a JSON object.

    Raises `ValueError` if it is not UTF-8 JSON, not an object, holds NaN or infinity, is nested too
    deep, or would take more than `MAX_TREE_BYTES`.
    """
    data = bytes(data)
    if (n_bytes := _tree_bytes(data)) > MAX_TREE_BYTES:
        raise ValueError(
            f"the JSON of {where} unfolds to up to {n_bytes / 1e6:.0f} MB, expected at most "
            f"{MAX_TREE_BYTES / 1e6:.0f} MB; split it"
        )
    try:
        tree = documents.parse_json(
            data, max_bytes=len(data), max_depth=MAX_TREE_DEPTH, takes_nan=False
        )
    except documents.DocumentError as error:
        raise ValueError(f"the JSON of {where} cannot be read ({error})") from None
    if not isinstance(tree, dict):
        raise ValueError(f"the JSON of {where} must be an object, got {type(tree).__name__}")
    return JsonElement(tree, where)


def _tree_bytes(data: bytes) -> int:
    """Return an upper bound of the memory of a JSON text's tree, without building it."""
    is_narrow = data.isascii() and b"\\u" not in data
    text_bytes = 2 * len(data) * (1 if is_narrow else 4)  # the text and the texts in it (PEP 393)
    return text_bytes + sum(data.count(mark) * n_bytes for mark, n_bytes in _BYTES_OF.items())


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_finite(value: object) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return abs(value) <= LARGEST_FLOAT if isinstance(value, int) else math.isfinite(value)
