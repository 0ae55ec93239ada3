# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Sends what people at pages ask for, by the topics and services that any node would use."""

import importlib.util
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from rclpy.node import Node

from aerotwin_core.frames import FloatArray
from aerotwin_teleop.key_maps import Request
from aerotwin_teleop.motion import AT_REST, SteeredMotion
from aerotwin_teleop.outgoing import OutgoingMotion
from aerotwin_teleop.ros.vehicle_link import VehicleLink
from aerotwin_teleop.status import VehicleStatus
from aerotwin_view.panels.places import Places
from aerotwin_view.panels.steering_panel import (
    JoinOrder,
    Order,
    PlaceOrder,
    RunOrder,
    SpeedOrder,
    SteeringPanel,
)
from aerotwin_view.ros.place_flight import DISARMED, PlaceFlight
from aerotwin_view.ros.run_commands import RunCommands

if TYPE_CHECKING:  # its message types may not be installed
    from aerotwin_view.ros.fleet_commands import FleetCommands

_DRIVEN = "driven by hand; letting go stops"
_STOPPED = "stopped: the vehicle holds where it is"


class Commands:
    """Connects the steering panel to a simulator and to the vehicle that is chosen there."""

    def __init__(self, node: Node, panel: SteeringPanel, on_reset: Callable[[], None]) -> None:
        self._node, self._panel, self._on_reset = node, panel, on_reset
        self._places: Places | None = None
        self._outgoing = OutgoingMotion()
        self._is_driven, self._notice = False, ""
        self._link: VehicleLink | None = None
        self._flight: PlaceFlight | None = None
        self._simulator = ""
        self._run: RunCommands | None = None
        self._fleet: FleetCommands | None = None

    def set_places(self, places: Places) -> None:
        """Take the places to fly to, and where vehicles join, from there."""
        self._places = places

    def set_simulator(self, name: str) -> None:
        """Give orders about the run to the node of this name; to none if it is empty."""
        if name != self._simulator:
            self._simulator, self._fleet = name, None
            if self._run is not None:
                self._run.close()
            self._run = RunCommands(self._node, name, self._panel.run_notice.set) if name else None
        if self._run is not None:
            self._run.look()

    @property
    def speed(self) -> float | None:
        """The speed that is asked of the simulator, 0 = as fast as possible; None if unknown."""
        return None if self._run is None else self._run.speed

    @property
    def can_fly(self) -> bool:
        """Whether the chosen vehicle takes orders of a flight, or may yet."""
        return self._link is None or self._link.may_take(Request.LAND)

    def step(self, p_map: FloatArray | None, stamp_ns: int) -> VehicleStatus | None:
        """Send what was asked for; `p_map` is where the chosen vehicle is, at `stamp_ns` [ns].

        Returns the status of that vehicle, None without one.
        """
        self._choose(None if p_map is None else self._panel.vehicle)
        for order in self._panel.take_orders():
            self._on_order(order)
        if self._link is None or p_map is None:
            return None
        now_s = time.monotonic()
        motion = self._panel.motion(now_s)
        if self._outgoing.is_due(motion, now_s):
            self._end_flight()
            self._link.send(motion)
            self._say_driven(motion)
        elif self._flight is not None:
            is_disarmed = self._link.status.is_armed is False
            self._notify(self._flight.step(p_map, stamp_ns, is_disarmed=is_disarmed))
        self._link.call_waiting()
        return self._link.status

    def rest(self) -> None:
        """Steer nothing until the next step: nobody watches."""
        self._choose(None)

    def _choose(self, vehicle: str | None) -> None:
        if self._link is not None and self._link.status.name == vehicle:
            return
        self._end_flight()
        if self._link is not None:
            self._link.close()
        self._link = None if vehicle is None else VehicleLink(self._node, vehicle, self._notify)

    def _on_order(self, order: Order) -> None:
        if isinstance(order, RunOrder | SpeedOrder):
            self._order_run(order)
        elif isinstance(order, JoinOrder):
            self._order_fleet(order)
        elif self._link is None:
            self._notify(f"{order.value}: no vehicle is heard")
        elif isinstance(order, Request):
            self._end_flight()
            self._outgoing.end(time.monotonic())
            self._link.request(order)
        elif order is PlaceOrder.FLY:
            self._fly_to_places(self._link.status)
        else:
            self._end_flight()
            self._notify(_STOPPED)

    def _order_fleet(self, order: JoinOrder) -> None:
        notify = self._panel.fleet_notice.set
        if self._fleet is None:
            if importlib.util.find_spec("simulation_interfaces") is None:
                notify(f"{order.value}: the package simulation_interfaces is not installed")
                return
            from aerotwin_view.ros.fleet_commands import FleetCommands

            self._fleet = FleetCommands(self._node, self._simulator, notify)
        places = [] if self._places is None else self._places.ground_points
        if order is JoinOrder.REMOVE:
            self._fleet.remove(self._panel.vehicle)
        elif places:
            self._fleet.add(places[-1])
        else:
            notify("no place is clicked yet: click the ground where it shall stand")

    def _fly_to_places(self, vehicle: VehicleStatus) -> None:
        places = [] if self._places is None else self._places.waypoints
        self._end_flight()
        if not places:
            self._notify("no place is clicked yet: click the ground")
        elif vehicle.is_armed is False:
            self._notify(f"{PlaceOrder.FLY.value}: {DISARMED}")
        else:
            self._flight = PlaceFlight(self._node, vehicle.name, places)

    def _end_flight(self) -> None:
        if self._flight is not None:
            self._flight.close()
            self._flight = None

    def _order_run(self, order: RunOrder | SpeedOrder) -> None:
        if self._run is None:
            self._panel.run_notice.set("no simulator is heard")
        elif isinstance(order, SpeedOrder):
            self._run.pace(order)
        else:
            if order is RunOrder.RESET:
                self._end_flight()
                self._on_reset()
            self._run.order(order)

    def _say_driven(self, motion: SteeredMotion) -> None:
        """Say that a motion begins or ends, unless something else was said meanwhile."""
        was_driven, self._is_driven = self._is_driven, motion != AT_REST
        if self._is_driven and not was_driven:
            self._notify(_DRIVEN)
        elif was_driven and not self._is_driven and self._notice == _DRIVEN:
            self._notify(_STOPPED)

    def _notify(self, notice: str) -> None:
        self._notice = notice
        self._panel.notice.set(notice)
