# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Makes the events of a scenario happen in the loop, by simulated time and the vehicles' state."""

from collections.abc import Sequence
from functools import partial
from typing import Protocol

from aerotwin_core.errors import ParameterError, UserError
from aerotwin_core.geodesy import LocalTangentPlane
from aerotwin_core.messages import diagnostics_message, serialize
from aerotwin_core.parameters import to_mapping
from aerotwin_core.time import Schedule, from_seconds, to_seconds
from aerotwin_faults import Fault, FaultTiming
from aerotwin_faults.fault import AIR, GROUND_STATION
from aerotwin_faults.together import link_delay_s
from aerotwin_px4_bridge.dialects import ARDUPILOT, PX4
from aerotwin_px4_bridge.ground_station import GroundStation
from aerotwin_rendering import WorldQueries
from aerotwin_simulator import topics
from aerotwin_simulator.controllers.commanded_autopilot import CommandedAutopilot
from aerotwin_simulator.events.begun_fault import begin_fault
from aerotwin_simulator.events.history import SAMPLE_RATE_HZ, SignalHistory
from aerotwin_simulator.events.plan import Event
from aerotwin_simulator.robot import SimulatedRobot
from aerotwin_simulator.signals import FleetSignals
from aerotwin_simulator.topics import SinkGroup
from aerotwin_temporal_logic import Trace, Trigger
from aerotwin_worlds import Obstacle

STATION_RATE_HZ = 50.0
"""At which ground stations read and send."""


class ObstacleHost(Protocol):
    """Where obstacles come into the world."""

    def check_obstacle(self, obstacle: Obstacle) -> None:
        """Refuse one that could not be added; raises UserError."""

    def add_obstacle(self, obstacle: Obstacle, stamp_ns: int) -> None:
        """Add one at a simulated time [ns]; raises UserError."""


class EventEngine:
    """The events of one flight, and the record that conditions over the flight need.

    Parameters
    ----------
    events : sequence of Event
        As read by `plan`.
    vehicles : sequence of SimulatedRobot
        Of the simulation; conditions are of those that are there from the start, weather without a
        name acts on those that are there then.
    obstacles : ObstacleHost
        The simulation itself.
    sinks : SinkGroup
        Where `topics.EVENTS` is published.

    Attributes
    ----------
    instants_s : dict
        When each event happened, simulated time; None until then.

    Raises
    ------
    ParameterError
        If an event names a vehicle that does not exist, or a part that its vehicle does not have.
    """

    def __init__(
        self,
        events: Sequence[Event],
        vehicles: Sequence[SimulatedRobot],
        queries: WorldQueries,
        plane: LocalTangentPlane,
        *,
        obstacles: ObstacleHost,
        sinks: SinkGroup,
    ) -> None:
        self._events, self._vehicles = tuple(events), tuple(vehicles)
        self._present = vehicles
        self._queries, self._plane = queries, plane
        self._obstacles, self._sinks = obstacles, sinks
        sinks.add([topics.EVENTS])
        for event in self._events:
            self._check(event)
        self._stations: dict[int, GroundStation] = {}
        self._past_refusals: list[str] = []
        self.restart(0)

    def restart(self, stamp_ns: int) -> None:
        """Begin again, as after a reset: no event has happened."""
        self.close()
        self.instants_s: dict[str, float | None] = {event.name: None for event in self._events}
        self._signals = FleetSignals(self._vehicles, self._queries)
        self._history = SignalHistory(self._signals, [each.name for each in self._vehicles])
        self._look_due = Schedule(SAMPLE_RATE_HZ, stamp_ns - 1)
        self._station_due = Schedule(STATION_RATE_HZ, stamp_ns - 1)
        self._start_ns = stamp_ns
        self._timed = sorted(
            (stamp_ns + from_seconds(event.at_s), k)
            for k, event in enumerate(self._events)
            if event.at_s is not None
        )
        self._triggers = {
            event.name: (event, Trigger(event.when), self._index(event.vehicle))
            for event in self._events
            if event.when is not None
        }
        for event in self._events:
            self._prepare_station(event)

    def _index(self, vehicle: str) -> int:
        names = [each.name for each in self._vehicles]
        return names.index(vehicle) if vehicle else 0

    def _check(self, event: Event) -> None:
        names = [vehicle.name for vehicle in self._vehicles]
        if event.vehicle and event.vehicle not in names:
            known = ", ".join(filter(None, names)) or "a single one without a name"
            raise ParameterError(
                f"{event.where}: vehicle: no '{event.vehicle}'; the vehicles are {known}"
            )
        if isinstance(event.action, Obstacle):
            try:
                self._obstacles.check_obstacle(event.action)
            except UserError as error:
                raise ParameterError(f"{event.where}: {error}") from None
            return
        for vehicle in self._concerned(event):
            if isinstance(event.action, Fault):
                vehicle.faults.check(event.where, event.action)
            elif event.action is not None and not isinstance(vehicle.backend, CommandedAutopilot):
                raise ParameterError(
                    f"{event.where}: an order needs an autopilot, and {vehicle.title} is a "
                    f"{vehicle.kind}"
                )

    def _concerned(self, event: Event) -> Sequence[SimulatedRobot]:
        """Return the vehicles on which an event acts: weather without a name on all."""
        is_weather = isinstance(event.action, Fault) and event.action.place == AIR
        if is_weather and not event.vehicle:
            return self._present
        return (self._vehicles[self._index(event.vehicle)],)

    def _prepare_station(self, event: Event) -> None:
        """Give a vehicle whose ground station has a part in the events one, from the start."""
        k = self._index(event.vehicle)
        if event.needs_station and k not in self._stations:
            vehicle = self._vehicles[k]
            self._stations[k] = GroundStation(
                self._plane,
                vehicle.parameters.fleet.link_number,
                partial(link_delay_s, vehicle.faults.of(GROUND_STATION)),
                ARDUPILOT if vehicle.parameters.controller.is_ardupilot else PX4,
            )

    # -- in the loop --------------------------------------------------------------------------

    def advance(self, stamp_ns: int) -> None:
        """Make happen what is due at the beginning of a step; call it at every step."""
        while self._timed and self._timed[0][0] <= stamp_ns:
            _, k = self._timed.pop(0)
            self._happen(self._events[k], stamp_ns)
        if self._look_due.until(stamp_ns):
            self._look(stamp_ns)
        if self._stations and self._station_due.until(stamp_ns):
            for station in self._stations.values():
                station.poll(stamp_ns)

    def _look(self, stamp_ns: int) -> None:
        """Look at the conditions, and record the signals."""
        self._signals.update(stamp_ns)
        time_s = to_seconds(stamp_ns)
        for event, trigger, k in list(self._triggers.values()):
            values = self._signals.values(trigger.formula.signals, k)
            if trigger.update(time_s, values):
                del self._triggers[event.name]
                self._happen(event, stamp_ns)
        self._history.record(time_s)

    def _happen(self, event: Event, stamp_ns: int) -> None:
        time_s = self.instants_s[event.name] = to_seconds(stamp_ns)
        for _, trigger, _ in self._triggers.values():
            trigger.event_happened(event.name, time_s)
        self._publish(event, stamp_ns)
        action = event.action
        if isinstance(action, Obstacle):
            self._add_obstacle(event.name, action, stamp_ns)
        elif isinstance(action, Fault):
            timing = FaultTiming(
                begin_ns=stamp_ns, ramp_s=event.ramp_s, duration_s=event.duration_s
            )
            begin_fault(self._concerned(event), event.name, action, timing)
        elif action is not None:
            station = self._stations[self._index(event.vehicle)]
            station.give_order(event.name, action, stamp_ns)

    def _add_obstacle(self, name: str, obstacle: Obstacle, stamp_ns: int) -> None:
        try:
            self._obstacles.add_obstacle(obstacle, stamp_ns)
        except UserError as error:  # a client of the simulation may have added one of this name
            self._past_refusals.append(f"{name}: {error}")

    def _publish(self, event: Event, stamp_ns: int) -> None:
        if self._sinks.is_empty:
            return
        values = {name: str(value) for name, value in to_mapping(event.action or {}).items()}
        if isinstance(event.action, Fault):
            values |= {"ramp_s": str(event.ramp_s), "duration_s": str(event.duration_s)}
        if event.vehicle:
            values["vehicle"] = event.vehicle
        message = diagnostics_message(stamp_ns, [(event.name, 0, event.do, values)])
        self._sinks.publish_cdr(topics.EVENTS, stamp_ns, serialize(message))

    # -- afterwards ----------------------------------------------------------------------------

    def finish(self, stamp_ns: int) -> None:
        """Record the end of the flight, which lies between two samples."""
        self._signals.update(stamp_ns)
        self._history.record(to_seconds(stamp_ns))

    @property
    def refusals(self) -> list[str]:
        """Orders that autopilots did not follow, and why."""
        present = (text for station in self._stations.values() for text in station.refusals)
        return [*self._past_refusals, *present]

    def trace(self) -> Trace:
        """Return the recorded signals of all vehicles, with the instants of all events."""
        return self._history.trace(self.instants_s)

    def close(self) -> None:
        """Free the ports of the ground stations; safe to call twice."""
        for station in self._stations.values():
            self._past_refusals += station.refusals
            station.close()
        self._stations.clear()
