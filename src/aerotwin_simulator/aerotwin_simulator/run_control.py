# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""State of a run and the orders of clients: play, pause, steps, resets, another world.

Everything here runs on the thread of the loop; other threads wait for `Order.ended` only.
"""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Literal

from aerotwin_core.errors import UserError
from aerotwin_px4_bridge import AutopilotLost
from aerotwin_worlds import World

MOST_FLEET_ORDERS = 64


class RunState(IntEnum):
    """State of a run, numbered as in simulation_interfaces/SimulationState."""

    STOPPED = 0
    PLAYING = 1
    PAUSED = 2
    QUITTING = 3
    NO_WORLD = 4
    LOADING_WORLD = 5


class OrderRefused(UserError):
    """An order does not fit the state of the run."""


@dataclass
class Order:
    """An order of a client; `ended` gets "" when it is carried out, else why it is not."""

    ended: "Future[str]" = field(default_factory=Future)

    def end(self, reason: str = "") -> None:
        """Report the end, once."""
        if not self.ended.done():
            self.ended.set_result(reason)


@dataclass
class StepOrder(Order):
    """Steps while the run is paused."""

    n_requested: int = 1
    n_done: int = 0

    def count(self) -> bool:
        """Count a step; returns whether it was the last one."""
        self.n_done += 1
        return self.n_done >= self.n_requested


@dataclass
class FleetOrder(Order):
    """A vehicle joins or leaves between two steps; what `carry_out` raises is why it does not."""

    carry_out: Callable[[], None] = lambda: None


@dataclass
class ChangeOrder(Order):
    """A reset or another world.

    `vehicles` go back to their starts while time goes on; `all` begins the simulation anew, at time
    zero, `load` in `world`; `unload` leaves none. These three set the `state` of the run.
    """

    kind: Literal["vehicles", "all", "load", "unload"] = "vehicles"
    state: RunState = RunState.STOPPED
    world: World | None = None
    world_name: str = ""  # as the parameter `world`


class RunControl:
    """State of a run; at most one order of each kind is carried out at a time."""

    def __init__(self, *, is_paused: bool) -> None:
        self.state = RunState.PAUSED if is_paused else RunState.PLAYING
        self._n_single_steps = 0
        self._steps: StepOrder | None = None
        self._change: ChangeOrder | None = None
        self._fleet: deque[FleetOrder] = deque()

    @property
    def is_standing(self) -> bool:
        """Whether the next step must wait for a client."""
        if self.state == RunState.PLAYING:
            return False
        return self._n_single_steps == 0 and self._steps is None

    @property
    def change(self) -> ChangeOrder | None:
        """The change to be made before the next step."""
        return self._change

    @property
    def is_ending(self) -> bool:
        """Whether the simulation is to be ended for another one, or for none."""
        return self._change is not None and self._change.kind != "vehicles"

    def play(self) -> None:
        """Run on; ordered steps that are left are given up."""
        self._require_world()
        self._give_up_steps("the run was resumed")
        self.state = RunState.PLAYING

    def pause(self) -> None:
        """Stand still after the current step."""
        self._require_world()
        self.state = RunState.PAUSED

    def step_once(self) -> None:
        """Pause, and make one step more than those that are already ordered."""
        self.pause()
        self._n_single_steps += 1

    def order_steps(self, n: int) -> StepOrder:
        """Order steps. Raises OrderRefused unless the run is paused and no steps are ordered."""
        if self.state != RunState.PAUSED:
            raise OrderRefused(f"the run must be paused, it is {self.state.name}; pause it first")
        self._require_world()
        if self._steps is not None:
            left = self._steps.n_requested - self._steps.n_done
            raise OrderRefused(f"{left} steps of another request are left; wait or cancel them")
        self._steps = StepOrder(n_requested=n)
        return self._steps

    def cancel_steps(self, order: StepOrder) -> None:
        """Give up what is left of an order."""
        if order is self._steps:
            self._give_up_steps("cancelled")

    def order_change(self, change: ChangeOrder) -> ChangeOrder:
        """Order a change. Raises OrderRefused while another is made."""
        if self._change is not None:
            raise OrderRefused("a reset or another world is under way; wait for its end")
        self._give_up_steps("the run was reset")
        self._n_single_steps = 0
        self._change = change
        return change

    def order_fleet(self, order: FleetOrder) -> FleetOrder:
        """Order a vehicle to join or leave. Raises OrderRefused while too many others wait."""
        self._require_world()
        if len(self._fleet) >= MOST_FLEET_ORDERS:
            raise OrderRefused(f"{len(self._fleet)} vehicles are to join or leave; wait for them")
        self._fleet.append(order)
        return order

    def carry_out_fleet_orders(self) -> None:
        """Let vehicles join and leave; call it between two steps."""
        while self._fleet:
            order = self._fleet.popleft()
            try:
                order.carry_out()
            except (UserError, AutopilotLost) as error:
                order.end(str(error))
            else:
                order.end()

    def count_step(self) -> None:
        """Count a step that was made."""
        self._n_single_steps = max(0, self._n_single_steps - 1)
        order = self._steps
        if order is None:
            return
        if order.count():
            self._steps = None
            order.end()

    def begin_loading(self) -> None:
        """Stand still while a world is read."""
        self._give_up_steps("another world is loaded")
        self._n_single_steps = 0
        self.state = RunState.LOADING_WORLD

    def end_change(self, reason: str = "") -> None:
        """Report that the change is made, or why it is not."""
        if self._change is None:
            return
        change, self._change = self._change, None
        if not reason and change.kind != "vehicles":
            self.state = change.state
        change.end(reason)

    def lose_world(self, reason: str) -> None:
        """Stand without a world, because it could not be simulated."""
        self.state = RunState.NO_WORLD
        self.end_change(reason)

    def close(self, reason: str) -> None:
        """Give up every order."""
        while self._fleet:
            self._fleet.popleft().end(reason)
        self._give_up_steps(reason)
        self.end_change(reason)

    def _give_up_steps(self, reason: str) -> None:
        if self._steps is not None:
            order, self._steps = self._steps, None
            order.end(f"{order.n_done} of {order.n_requested} steps were made: {reason}")

    def _require_world(self) -> None:
        if self.state in (RunState.NO_WORLD, RunState.LOADING_WORLD, RunState.QUITTING):
            raise OrderRefused(f"the state is {self.state.name}; load a world first")
        if self.is_ending:
            raise OrderRefused("the simulation begins anew; wait for its end")
