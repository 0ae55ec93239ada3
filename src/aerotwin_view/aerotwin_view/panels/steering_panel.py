# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What a person at a page asks of a simulation and of its vehicles."""

import time
from collections.abc import Mapping, Sequence
from enum import Enum
from queue import Empty, SimpleQueue
from typing import Any, TypeAlias

from aerotwin_teleop.key_maps import Request
from aerotwin_teleop.motion import AT_REST, SteeredMotion
from aerotwin_view.page import Page
from aerotwin_view.scene.robot_labels import shown_names


class RunOrder(Enum):
    """What is asked of the simulation."""

    PAUSE = "pause"
    RUN = "run"
    STEP = "step"
    RESET = "reset"


class SpeedOrder(Enum):
    """How fast simulated time is to pass, times real time; 0 = as fast as possible."""

    HALF = 0.5
    REAL = 1.0
    DOUBLE = 2.0
    FREE = 0.0

    @property
    def text(self) -> str:
        """The speed in words."""
        return speed_text(self.value)


class PlaceOrder(Enum):
    """What is asked with the places that were clicked."""

    FLY = "fly to the places"
    CANCEL = "cancel"


class JoinOrder(Enum):
    """What is asked about who takes part."""

    ADD = "add"
    REMOVE = "remove"


Order: TypeAlias = RunOrder | SpeedOrder | PlaceOrder | JoinOrder | Request

_NONE = "none"
"""In the choice of a vehicle: none is heard."""
HOLD_HZ = 10.0
_RELEASE_S = 0.3
"""After a press of a button or a key its motion ends."""
_MOST_WAITING = 50
_COMMANDS: tuple[dict[str, tuple[Order, ...]], ...] = (
    {
        "Take off": (Request.ARM, Request.TAKE_OFF),
        "Hold": (Request.HOLD,),
        "Land": (Request.LAND,),
    },
    {"Arm": (Request.ARM,), "Disarm": (Request.DISARM,), "Return": (Request.RETURN,)},
)
_PLACES: dict[str, tuple[Order, ...]] = {
    "Fly to the places": (PlaceOrder.FLY,),
    "Stop there": (PlaceOrder.CANCEL,),
}
_FLEET: dict[str, tuple[Order, ...]] = {
    "Add at the last place": (JoinOrder.ADD,),
    "Remove the chosen": (JoinOrder.REMOVE,),
}
_MOTIONS = (
    ("Forward", "I", SteeredMotion(forward=1.0)),
    ("Back", "M", SteeredMotion(forward=-1.0)),
    ("Left", "H", SteeredMotion(left=1.0)),
    ("Right", "N", SteeredMotion(left=-1.0)),
    ("Up", "T", SteeredMotion(up=1.0)),
    ("Down", "B", SteeredMotion(up=-1.0)),
    ("Turn left", "J", SteeredMotion(turn=1.0)),
    ("Turn right", "L", SteeredMotion(turn=-1.0)),
)


def speed_text(speed: float) -> str:
    """Return a speed, times real time, in words."""
    return f"{speed:g}x" if speed > 0.0 else "as fast as possible"


class SteeringPanel:
    """Buttons and keys of pages; what they ask for is taken from it, by one thread at a time.

    Answers are shown beside the buttons: `run_notice`, `notice` of a vehicle, `fleet_notice`.
    """

    def __init__(self, page: Page) -> None:
        self._page = page
        self._orders: SimpleQueue[Order] = SimpleQueue()
        self._pressed, self._until_s = AT_REST, 0.0
        self._can_fly = True
        with page.gui.add_folder("Simulation"):
            self._add_buttons({order.value.capitalize(): (order,) for order in RunOrder})
            self._add_buttons({order.text.capitalize(): (order,) for order in SpeedOrder})
            self.run_notice = page.add_text("")
        with page.gui.add_folder("Steer"):
            self._vehicle = page.gui.add_dropdown("Vehicle", (_NONE,), initial_value=_NONE)
            self._names: tuple[str, ...] = ()
            self._of_flight = [self._add_buttons(row) for row in (*_COMMANDS, _PLACES)]
            self.notice = page.add_text("")
        with page.gui.add_folder("Fleet", expand_by_default=False):
            self._add_buttons(_FLEET)
            self.fleet_notice = page.add_text("")
        with page.gui.add_folder("Drive by hand", expand_by_default=False):
            self._speed = page.gui.add_slider("Speed [m/s]", 0.1, 10.0, step=0.1, initial_value=1.0)
            for text, key, motion in _MOTIONS:
                button = self._add_motion(text, key, motion)
                if motion.up:
                    self._of_flight.append(button)

    @property
    def vehicle(self) -> str:
        """The namespace of the vehicle that is steered."""
        shown = shown_names(self._names)
        chosen = str(self._vehicle.value)
        return self._names[shown.index(chosen)] if chosen in shown else ""

    def set_vehicles(self, names: Sequence[str]) -> None:
        """Offer these vehicles."""
        self._names = tuple(names)
        options = tuple(shown_names(names)) or (_NONE,)
        if options != tuple(self._vehicle.options):
            self._vehicle.options = options

    def set_flight(self, can_fly: bool) -> None:
        """Show the orders of a flight, or hide them from a robot that has none."""
        self._can_fly = can_fly
        for control in self._of_flight:
            if control.visible != can_fly:
                control.visible = can_fly

    def take_orders(self) -> list[Order]:
        """Return what was asked for since the last call."""
        orders: list[Order] = []
        while len(orders) < _MOST_WAITING:
            try:
                orders.append(self._orders.get_nowait())
            except Empty:
                break
        return orders

    def motion(self, time_s: float) -> SteeredMotion:
        """Return the motion that is asked for at a monotonic time [s]."""
        if time_s >= self._until_s:
            return AT_REST
        speed = float(self._speed.value)
        return self._pressed.scaled(speed, 1.0)

    def _add_buttons(self, row: Mapping[str, Sequence[Order]]) -> Any:
        buttons = self._page.gui.add_button_group("", tuple(row))

        @buttons.on_click
        def _(_: object) -> None:
            for order in row[buttons.value]:
                if self._orders.qsize() < _MOST_WAITING:
                    self._orders.put(order)

        return buttons

    def _add_motion(self, text: str, key: Any, motion: SteeredMotion) -> Any:
        button = self._page.gui.add_button(f"{text} ({key})")
        command = self._page.gui.add_command(f"Drive: {text}", hotkey=key)

        def press(_: object) -> None:
            if motion.up and not self._can_fly:
                return
            self._pressed, self._until_s = motion, time.monotonic() + _RELEASE_S

        button.on_hold(press, callback_hz=HOLD_HZ)
        button.on_click(press)
        command.on_trigger(press)
        return button
