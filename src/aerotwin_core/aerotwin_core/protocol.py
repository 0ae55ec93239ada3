# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Evaluation protocols: every choice of an evaluation in one YAML file, identified by a hash.

A protocol file has a name and one part for each kind of evaluation:

.. code-block:: yaml

    name: my_protocol
    trajectory: {align: yaw, max_gap_s: 0.02}
    map: {voxel_m: 0.5}
    twin: {mean_margin_m: 0.02}

Missing values have their defaults. The hash covers all values, so two results have the same hash
exactly when every choice was the same, whatever the layout of the files.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from aerotwin_core.errors import ParameterError
from aerotwin_core.parameters import load_parameters, read_yaml, to_mapping

T = TypeVar("T")

PARTS = ("trajectory", "map", "twin", "study")
DEFAULT = "default"
_HASH_DIGITS = 16


@dataclass(frozen=True, kw_only=True)
class Protocol(Generic[T]):
    """The choices of one kind of evaluation, `part` (one of `PARTS`), with defaults filled in.

    `name` is that of the file or the preset.
    """

    name: str
    part: str
    choices: T

    @property
    def hash(self) -> str:
        """The first 16 hexadecimal digits of the SHA-256 of all choices, names sorted."""
        content = {"part": self.part, "choices": to_mapping(self.choices)}
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()[:_HASH_DIGITS]

    def plain(self) -> dict[str, Any]:
        """Return name, hash and all choices for JSON."""
        return {"name": self.name, "hash": self.hash, "choices": to_mapping(self.choices)}


def load_protocol(
    cls: type[T], part: str, spec: str | Path | None, presets: Mapping[str, Mapping[str, Any]]
) -> Protocol[T]:
    """Return one part (one of `PARTS`) of a protocol; `cls` is its parameters dataclass.

    `spec` is the name of a preset (a key of `presets`) or the path of a YAML file; without it, the
    defaults of `cls` are used.

    Raises `ParameterError` if there is no such preset or file, or a key or a value is unknown.
    """
    if spec is None:
        return Protocol(name=DEFAULT, part=part, choices=load_parameters(cls, {}, where=DEFAULT))
    if str(spec) in presets:
        choices = load_parameters(cls, presets[str(spec)], where=f"protocol {spec}")
        return Protocol(name=str(spec), part=part, choices=choices)
    path = Path(spec)
    if not path.exists():
        known = ", ".join(sorted(presets)) or "none"
        raise ParameterError(f"{spec}: no such protocol file; presets for this are {known}")
    content = read_yaml(path)
    if not isinstance(content, Mapping):
        raise ParameterError(f"{path}: expected a name and the parts {', '.join(PARTS)}")
    unknown = sorted(set(content) - {"name", *PARTS}, key=str)
    if unknown:
        raise ParameterError(
            f"{path}: unknown key '{unknown[0]}'; known keys are name, {', '.join(PARTS)}"
        )
    choices = load_parameters(cls, content.get(part), where=f"{path}: {part}")
    return Protocol(name=str(content.get("name", path.stem)), part=part, choices=choices)
