# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The settings a ground station may read and change in flight, under PX4's names."""

import dataclasses
import math
from typing import Any

from aerotwin_autopilot.parameters import TunableParameters

PX4_NAMES: dict[str, str] = {
    field.metadata["text"].rpartition("(")[2].rstrip(")"): field.name
    for field in dataclasses.fields(TunableParameters)
}
"""Parameter name on the wire, in brackets in its text -> field of `TunableParameters`."""

INTEGERS = frozenset(
    name for name, field in PX4_NAMES.items() if TunableParameters.__annotations__[field] is int
)
"""Names whose values are whole numbers on the wire (as in PX4)."""


class Settings:
    """The present values of `TunableParameters`, which change within their ranges."""

    def __init__(self, parameters: TunableParameters) -> None:
        self.values = parameters
        self._ranges = {
            field.name: (field.metadata["minimum"], field.metadata["maximum"])
            for field in dataclasses.fields(parameters)
        }

    def get(self, name: str) -> float:
        """Return a value by its name on the wire."""
        return float(getattr(self.values, PX4_NAMES[name]))

    def set(self, name: str, value: float) -> bool:
        """Change a value; False when it is out of range or not finite, and then nothing changes."""
        field = PX4_NAMES[name]
        minimum, maximum = self._ranges[field]
        if not math.isfinite(value):
            return False
        if not (minimum is None or value >= minimum) or not (maximum is None or value <= maximum):
            return False
        change: dict[str, Any] = {field: round(value) if name in INTEGERS else value}
        self.values = dataclasses.replace(self.values, **change)
        return True
