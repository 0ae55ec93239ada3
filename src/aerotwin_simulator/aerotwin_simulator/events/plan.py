# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The events of a scenario: read from the mapping `events` of its file, checked before a flight."""

import difflib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aerotwin_core.errors import ParameterError
from aerotwin_core.foreign_text import printable, shown
from aerotwin_core.origin import Origin, as_origin
from aerotwin_core.parameters import load_parameters, parameter, read_yaml_with_lines
from aerotwin_faults import KINDS, Fault, FaultEntry
from aerotwin_faults.entry import LONGEST_NAME, check_name
from aerotwin_faults.fault import GROUND_STATION
from aerotwin_px4_bridge.ground_station import ORDERS, OperatorOrder
from aerotwin_simulator.signals import signals_of
from aerotwin_temporal_logic import Formula, Signal, Trigger, parse
from aerotwin_worlds import Obstacle

MARK = "mark"
"""The action that does nothing: its event only names an instant."""
OBSTACLE = "obstacle"
"""The action that brings an obstacle into the world; it has the name of its event."""
MOST_EVENTS = 1000


@dataclass(frozen=True, kw_only=True)
class EventParameters(FaultEntry):
    """One entry of `events`; its key is the name of the event."""

    at_s: float | None = parameter(
        None, text="simulated time at which it happens; or when", unit="s", minimum=0.0
    )
    when: str = parameter(
        "", text="condition at whose first moment it happens: height_m > 5, 3 s after gnss_lost"
    )
    do: str = parameter(text="a fault, weather, an order, obstacle, or mark")
    vehicle: str = parameter(
        "",
        text="its name in a fleet, whose signals those without a name in when are; empty = the "
        "first one, weather has all of them",
    )


@dataclass(frozen=True, kw_only=True)
class Event:
    """An event: what happens, to which vehicle, and when.

    Either `at_s` or `when` is set; `action`, of the kind `do`, is None for a mark; `where` is
    where it was read, for messages.
    """

    name: str
    where: str
    do: str
    at_s: float | None
    when: Formula | None
    action: Fault | OperatorOrder | Obstacle | None
    vehicle: str
    ramp_s: float
    duration_s: float

    @property
    def needs_station(self) -> bool:
        """Whether a ground station has a part in it."""
        action = self.action
        if isinstance(action, Fault):
            return action.place == GROUND_STATION
        return action is not None and not isinstance(action, Obstacle)


def load_events(path: str | Path, *, vehicles: Sequence[str] | None = None) -> tuple[Event, ...]:
    """Return the events of a scenario file, whose other keys are not read.

    `vehicles` as in `parse_events`.

    Raises
    ------
    ParameterError
        If the file cannot be read, has no `events`, or one of them is wrong.
    """
    content, origin = read_yaml_with_lines(path)
    if not isinstance(content, Mapping) or "events" not in content:
        raise ParameterError(f"{path}: expected the key events, found {shown(content)}")
    return parse_events(content["events"], where=origin, vehicles=vehicles)


def parse_events(
    values: Any, *, where: str | Origin, vehicles: Sequence[str] | None = None
) -> tuple[Event, ...]:
    """Return the events of a mapping from names to entries.

    `vehicles` are the names of a fleet's, whose signals conditions may name; None if they are not
    known yet.

    Raises
    ------
    ParameterError
        If an entry is wrong: its name, its time, its condition, what it does.
    """
    origin = as_origin(where).below("events")
    if values is None:
        return ()
    if not isinstance(values, Mapping):
        raise ParameterError(f"{origin}: expected names with entries, found {shown(values)}")
    if len(values) > MOST_EVENTS:
        raise ParameterError(f"{origin}: expected at most {MOST_EVENTS}, found {len(values)}")
    signals = signals_of(vehicles or ())
    for name in values:
        _check_name(name, signals, origin)
    events = []
    for name in values:
        others = [other for other in values if other != name]
        events.append(_event(name, values[name], signals, others, origin.below(name), vehicles))
    _refuse_same_obstacles(events)
    return tuple(events)


def _check_name(name: Any, signals: Collection[str], origin: Origin) -> None:
    place = origin.place(str(name))
    check_name(name, where=place)
    if name in signals:
        raise ParameterError(f"{place}: {name} is a signal; give the event another name")


def _refuse_same_obstacles(events: Sequence[Event]) -> None:
    owners: dict[str, Event] = {}
    for event in events:
        if isinstance(event.action, Obstacle):
            other = owners.setdefault(event.action.name, event)
            if other is not event:
                raise ParameterError(
                    f"{event.where}: parameters.name: {other.name} has an obstacle of the name "
                    f"{event.action.name}; give this one another"
                )


def _event(
    name: str,
    values: Any,
    signals: Mapping[str, Signal],
    others: Sequence[str],
    place: Origin,
    vehicles: Sequence[str] | None,
) -> Event:
    entry = load_parameters(EventParameters, values, where=place)
    if (entry.at_s is None) == (not entry.when):
        raise ParameterError(f"{place}: expected either at_s or when, found "
                             f"{'neither' if entry.at_s is None else 'both'}")  # fmt: skip
    if vehicles is not None and entry.vehicle and entry.vehicle not in vehicles:
        known = ", ".join(filter(None, vehicles)) or "a single one without a name"
        raise ParameterError(
            f"{place.at('vehicle')}: no '{printable(entry.vehicle, LONGEST_NAME)}'; "
            f"the vehicles are {known}"
        )
    when = None
    if entry.when:
        when = parse(entry.when, signals, others, where=place.at("when"))
        Trigger(when)  # refuses conditions that only the whole flight can answer
    action = _action(entry, name, place)
    is_instant = not isinstance(action, Fault)
    if is_instant and (entry.ramp_s or entry.duration_s is not None):
        key = "ramp_s" if entry.ramp_s else "duration_s"
        raise ParameterError(f"{place.at(key)}: {entry.do} is done at once; remove it")
    return Event(
        name=name,
        where=str(place),
        do=entry.do,
        at_s=entry.at_s,
        when=when,
        action=action,
        vehicle=entry.vehicle,
        ramp_s=entry.ramp_s,
        duration_s=entry.lasting_s,
    )


def _action(
    entry: EventParameters, name: str, place: Origin
) -> Fault | OperatorOrder | Obstacle | None:
    known = (*KINDS, *ORDERS, OBSTACLE, MARK)
    if entry.do not in known:
        near = difflib.get_close_matches(entry.do, known, n=3)
        way_out = f"did you mean {', '.join(near)}?" if near else f"known are {', '.join(known)}"
        raise ParameterError(
            f"{place.at('do')}: no '{printable(entry.do, LONGEST_NAME)}'; {way_out}"
        )
    own = place.below("parameters")
    if entry.do in KINDS:
        return entry.fault(place)
    if entry.do in ORDERS:
        order: OperatorOrder = load_parameters(ORDERS[entry.do], entry.parameters, where=own)
        return order
    if entry.do == OBSTACLE:
        return load_parameters(Obstacle, {"name": name, **(entry.parameters or {})}, where=own)
    if entry.parameters:
        raise ParameterError(f"{own}: {MARK} has none; remove them")
    return None
