# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The events of a scenario: read from the mapping `events` of its file, checked before a flight."""

import difflib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aerotwin_core.errors import ParameterError
from aerotwin_core.foreign_text import printable, shown
from aerotwin_core.parameters import load_parameters, parameter, read_yaml
from aerotwin_faults import KINDS, Fault, load_fault
from aerotwin_faults.fault import GROUND_STATION
from aerotwin_simulator.ground_station import ORDERS, OperatorOrder
from aerotwin_simulator.signals import SIGNALS
from aerotwin_temporal_logic import Formula, Trigger, parse

MARK = "mark"
"""The action that does nothing: its event only names an instant."""
LONGEST_NAME = 60
MOST_EVENTS = 1000


@dataclass(frozen=True, kw_only=True)
class EventParameters:
    """One entry of `events`; its key is the name of the event."""

    at_s: float | None = parameter(
        None, text="simulated time at which it happens; or when", unit="s", minimum=0.0
    )
    when: str = parameter(
        "", text="condition at whose first moment it happens: height_m > 5, 3 s after gnss_lost"
    )
    do: str = parameter(text="a fault, weather, an order, or mark")
    parameters: dict[str, Any] | None = parameter(None, text="those of what it does")
    ramp_s: float = parameter(
        0.0, text="how long it takes to grow, and to end", unit="s", minimum=0.0, maximum=1e4
    )
    duration_s: float | None = parameter(
        None, text="how long it lasts until it ends; none = to the end of the flight", unit="s",
        minimum=0.0,
    )  # fmt: skip
    vehicle: str = parameter(
        "", text="its name in a fleet; empty = the first one, weather has all of them"
    )


@dataclass(frozen=True, kw_only=True)
class Event:
    """An event: what happens, to which vehicle, and when.

    Either `at_s` or `when` is set; `action` is None for a mark.
    """

    name: str
    at_s: float | None
    when: Formula | None
    action: Fault | OperatorOrder | None
    vehicle: str
    ramp_s: float
    duration_s: float

    @property
    def needs_station(self) -> bool:
        """Whether a ground station has a part in it."""
        action = self.action
        return action is not None and (
            not isinstance(action, Fault) or action.place == GROUND_STATION
        )


def load_events(path: str | Path) -> tuple[Event, ...]:
    """Return the events of a scenario file, whose other keys are not read.

    Raises
    ------
    ParameterError
        If the file cannot be read, has no `events`, or one of them is wrong.
    """
    content = read_yaml(path)
    if not isinstance(content, Mapping) or "events" not in content:
        raise ParameterError(f"{path}: expected the key events, found {shown(content)}")
    return parse_events(content["events"], where=str(path))


def parse_events(values: Any, *, where: str) -> tuple[Event, ...]:
    """Return the events of a mapping from names to entries.

    Raises
    ------
    ParameterError
        If an entry is wrong: its name, its time, its condition, what it does.
    """
    if values is None:
        return ()
    if not isinstance(values, Mapping):
        raise ParameterError(f"{where}: events: expected names with entries, found {shown(values)}")
    if len(values) > MOST_EVENTS:
        raise ParameterError(
            f"{where}: events: expected at most {MOST_EVENTS}, found {len(values)}"
        )
    names = [_checked_name(name, where) for name in values]
    return tuple(_event(name, values[name], names, where) for name in names)


def _checked_name(name: Any, where: str) -> str:
    if not isinstance(name, str) or not name.isidentifier() or len(name) > LONGEST_NAME:
        raise ParameterError(
            f"{where}: events: '{printable(str(name), LONGEST_NAME)}' is no name; letters, digits "
            f"and _ make one, of {LONGEST_NAME} at most"
        )
    if name in SIGNALS:
        raise ParameterError(f"{where}: events: {name} is a signal; give the event another name")
    return name


def _event(name: str, values: Any, names: Sequence[str], where: str) -> Event:
    place = f"{where}: events.{name}"
    entry = load_parameters(EventParameters, values, where=place)
    if (entry.at_s is None) == (not entry.when):
        raise ParameterError(f"{place}: expected either at_s or when, found "
                             f"{'neither' if entry.at_s is None else 'both'}")  # fmt: skip
    when = None
    if entry.when:
        others = [other for other in names if other != name]
        when = parse(entry.when, SIGNALS, others, where=f"{place}.when")
        Trigger(when)  # refuses conditions that only the whole flight can answer
    action = _action(entry, place)
    is_instant = not isinstance(action, Fault)
    if is_instant and (entry.ramp_s or entry.duration_s is not None):
        raise ParameterError(f"{place}: {entry.do} is done at once; remove ramp_s and duration_s")
    return Event(
        name=name,
        at_s=entry.at_s,
        when=when,
        action=action,
        vehicle=entry.vehicle,
        ramp_s=entry.ramp_s,
        duration_s=math.inf if entry.duration_s is None else entry.duration_s,
    )


def _action(entry: EventParameters, place: str) -> Fault | OperatorOrder | None:
    known = (*KINDS, *ORDERS, MARK)
    if entry.do not in known:
        near = difflib.get_close_matches(entry.do, known, n=3)
        way_out = f"did you mean {', '.join(near)}?" if near else f"known are {', '.join(known)}"
        raise ParameterError(f"{place}.do: no '{printable(entry.do, LONGEST_NAME)}'; {way_out}")
    own = f"{place}.parameters"
    if entry.do in KINDS:
        return load_fault(entry.do, entry.parameters, where=own)
    if entry.do in ORDERS:
        order: OperatorOrder = load_parameters(ORDERS[entry.do], entry.parameters, where=own)
        return order
    if entry.parameters:
        raise ParameterError(f"{own}: {MARK} has none; remove them")
    return None
