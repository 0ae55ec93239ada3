# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of a running simulation as it says them: which act, and the events that repeat them."""

import itertools
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, get_origin, get_type_hints

import yaml

from aerotwin_core.errors import ParameterError
from aerotwin_core.parameters import load_parameters, to_mapping
from aerotwin_faults import KINDS, Fault, FaultEntry
from aerotwin_faults.entry import LONGEST_NAME, check_name
from aerotwin_faults.fault import AIR

OF_ENTRY = ("ramp_s", "duration_s", "vehicle")
"""Values of a fault that stand beside its own parameters."""
MOST_FAULTS = 300
"""That are heard, by their names."""
_MOST_STATUSES = 5000
_MOST_VALUES = 30
_LONGEST_TEXT = 200
_LATEST_S = 1e9


@dataclass(frozen=True, kw_only=True)
class HeardFault:
    """One fault of one vehicle; weather is of all without a name."""

    name: str
    kind: str
    fault: Fault
    is_active: bool
    at_s: float
    ramp_s: float
    duration_s: float
    vehicle: str


@dataclass(frozen=True, kw_only=True)
class SaidFault:
    """What a message of anyone says of a fault.

    `values` are its parameters, and `at_s`, `ramp_s`, `duration_s`, `vehicle`, as texts.
    """

    name: str
    kind: str
    is_active: bool
    values: Sequence[tuple[str, str]]


def heard_faults(said: Iterable[SaidFault]) -> list[HeardFault]:
    """Return what is a fault in what is said; weather of several vehicles is one of all.

    Anyone may publish: what has no valid name, parameters or times, and what is beyond
    `MOST_FAULTS`, is left out.
    """
    heard: dict[str, HeardFault] = {}
    for each in itertools.islice(said, _MOST_STATUSES):
        if (known := heard.get(each.name)) is not None:
            if is_weather(known.kind):
                is_active = known.is_active or each.is_active
                heard[each.name] = replace(known, vehicle="", is_active=is_active)
        elif len(heard) < MOST_FAULTS and (fault := _heard(each)) is not None:
            heard[each.name] = fault
    return list(heard.values())


def is_weather(kind: str) -> bool:
    """Return whether a kind of fault acts on all vehicles, and so is of none of them."""
    return KINDS[kind].place == AIR


def free_name(kind: str, taken: Collection[str]) -> str:
    """Return a name for the next fault of a kind."""
    return next(name for n in itertools.count(1) if (name := f"{kind}_{n}") not in taken)


def entry_text(kind: str, values: Mapping[str, Any]) -> str:
    """Return a fault as the text that the service takes.

    `values` are its parameters and those of `OF_ENTRY`; a duration of zero is none, the vehicle of
    weather is not said.
    """
    if is_weather(kind):
        values = {**values, "vehicle": ""}
    parameters = {key: value for key, value in values.items() if key not in OF_ENTRY}
    beside = {key: values[key] for key in OF_ENTRY if values.get(key)}
    entry = _entry(kind, parameters) | beside
    return yaml.safe_dump(entry, default_flow_style=True, width=math.inf).strip()


def events_text(faults: Sequence[HeardFault]) -> str:
    """Return the events file that repeats faults."""
    events = {fault.name: _event(fault) for fault in faults}
    return yaml.safe_dump({"events": events}, sort_keys=False, default_flow_style=None)


def fault_lines(faults: Sequence[HeardFault]) -> Iterator[str]:
    """Yield a line for each fault that acts."""
    for fault in faults:
        if fault.is_active:
            of = f" of {fault.vehicle}" if fault.vehicle else ""
            yield f"{fault.name}{of} since {fault.at_s:.1f} s"


def _event(fault: HeardFault) -> dict[str, Any]:
    """Return the entry of an events file; one that was ended at once lasts 0 s, not for ever."""
    event = {"at_s": fault.at_s} | _entry(fault.kind, to_mapping(fault.fault))
    if fault.ramp_s:
        event["ramp_s"] = fault.ramp_s
    if math.isfinite(fault.duration_s):
        event["duration_s"] = fault.duration_s
    if fault.vehicle:
        event["vehicle"] = fault.vehicle
    return event


def _entry(kind: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an events file and the service have in common."""
    if not parameters:
        return {"do": kind}
    plain = {
        key: list(value) if isinstance(value, tuple) else value for key, value in parameters.items()
    }
    return {"do": kind, "parameters": plain}


def _heard(said: SaidFault) -> HeardFault | None:
    """Return the fault that is said, None if it is none."""
    if said.kind not in KINDS or len(said.values) > _MOST_VALUES:
        return None
    if any(len(text) > _LONGEST_TEXT for pair in said.values for text in pair):
        return None
    try:
        check_name(said.name, where="a fault")
        return _read(said, dict(said.values))
    except (KeyError, ValueError, ParameterError):
        return None


def _read(said: SaidFault, texts: dict[str, str]) -> HeardFault:
    """Read the texts; raises KeyError, ValueError or ParameterError if they are no fault's."""
    at_s, duration_s = float(texts.pop("at_s")), float(texts.pop("duration_s"))
    beside = {
        "ramp_s": float(texts.pop("ramp_s")),
        "duration_s": None if duration_s == math.inf else duration_s,
        "vehicle": texts.pop("vehicle", ""),
    }
    readers = _readers(said.kind)
    parameters = {key: readers[key](text) for key, text in texts.items()}
    values = _entry(said.kind, parameters) | beside
    entry = load_parameters(FaultEntry, values, where=said.name)
    is_plain = entry.vehicle.isprintable() and len(entry.vehicle) <= LONGEST_NAME
    if not (0.0 <= at_s <= _LATEST_S and is_plain):
        raise ValueError
    return HeardFault(
        name=said.name,
        kind=said.kind,
        fault=entry.fault(said.name),
        is_active=said.is_active,
        at_s=at_s,
        ramp_s=entry.ramp_s,
        duration_s=entry.lasting_s,
        vehicle=entry.vehicle,
    )


@cache
def _readers(kind: str) -> dict[str, Callable[[str], Any]]:
    """Return what reads the text of each parameter of a kind.

    Not YAML: it would take a camera named 7 as number, and 5e-05 as text.
    """
    hints = get_type_hints(KINDS[kind])
    names = [field.name for field in KINDS[kind].__dataclass_fields__.values()]
    return {name: _numbers if get_origin(hints[name]) is tuple else hints[name] for name in names}


def _numbers(text: str) -> list[float]:
    return [float(part) for part in text.removeprefix("[").removesuffix("]").split(",")]
