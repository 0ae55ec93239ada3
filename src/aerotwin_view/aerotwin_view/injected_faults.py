# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of a running simulation as it says them: which act, and the events that repeat them."""

import itertools
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from aerotwin_core.documents import DocumentError, parse_yaml

OF_ENTRY = ("ramp_s", "duration_s", "vehicle")
"""Values of a fault that stand beside its own parameters."""


@dataclass(frozen=True, kw_only=True)
class HeardFault:
    """One fault of one vehicle.

    `values` are its parameters, and `at_s`, `ramp_s`, `duration_s`, `vehicle`, as texts.
    """

    name: str
    kind: str
    is_active: bool
    values: dict[str, str]


def free_name(kind: str, taken: Collection[str]) -> str:
    """Return a name for the next fault of a kind."""
    return next(name for n in itertools.count(1) if (name := f"{kind}_{n}") not in taken)


def entry_text(kind: str, values: dict[str, Any]) -> str:
    """Return a fault as the text that the service takes.

    `values` are its parameters and those of `OF_ENTRY`.
    """
    return yaml.safe_dump(_entry(kind, values), default_flow_style=True, width=math.inf).strip()


def events_text(faults: Sequence[HeardFault]) -> str:
    """Return the events file that repeats faults; those of all vehicles are one event."""
    events = {}
    for fault in faults:
        values = {key: _plain(text) for key, text in fault.values.items()}
        entry = {"at_s": values.pop("at_s"), **_entry(fault.kind, values)}
        if fault.name in events:
            entry.pop("vehicle", None)
        events[fault.name] = entry
    return yaml.safe_dump({"events": events}, sort_keys=False, default_flow_style=None)


def fault_lines(faults: Sequence[HeardFault]) -> Iterator[str]:
    """Yield a line for each fault that acts."""
    for fault in faults:
        if fault.is_active:
            of = f" of {fault.values['vehicle']}" if fault.values.get("vehicle") else ""
            yield f"{fault.name}{of} since {float(fault.values['at_s']):.1f} s"


def _entry(kind: str, values: dict[str, Any]) -> dict[str, Any]:
    """Return the entry of an events file; infinity and emptiness are left out."""
    entry: dict[str, Any] = {"do": kind}
    parameters = {key: value for key, value in values.items() if key not in OF_ENTRY}
    if parameters:
        entry["parameters"] = {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in parameters.items()
        }
    for key in OF_ENTRY:
        if (value := values.get(key)) not in ("", None, 0.0, math.inf):
            entry[key] = value
    return entry


def _plain(text: str) -> Any:
    """Return the number that a text is, else the text."""
    if text == "inf":
        return math.inf
    try:
        return parse_yaml(text) if text else ""
    except DocumentError:
        return text
