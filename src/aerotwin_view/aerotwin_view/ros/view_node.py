# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Node `view`: a page in the browser that shows the robots that are heard, and steers them."""

import sys
import time
from concurrent.futures import Future

import rclpy

from aerotwin_core.cli import say
from aerotwin_core.ros.lockstep import create_wall_timer
from aerotwin_core.ros.node import run_node
from aerotwin_core.ros.parameters import ConfiguredNode, declare_parameters
from aerotwin_core.threads import begin_in_background
from aerotwin_rendering import WorldQueries
from aerotwin_view.defaults import NO_WORLD, TIME_PASSES
from aerotwin_view.page import open_page
from aerotwin_view.parameters import ViewParameters
from aerotwin_view.ros.live_page import LivePage
from aerotwin_view.ros.run_clock import RunClock
from aerotwin_view.scene.world_scene import show_world
from aerotwin_worlds import World, load_world
from aerotwin_worlds.loading import find_world

BEGIN_S = 0.25
"""Between two looks at whether simulated time has begun, while nobody watches."""


class ViewNode(ConfiguredNode):
    """Shows what is heard while somebody watches; nothing is read otherwise.

    The first who watches lets the world be loaded: a flight that nobody watches shares the
    processor with nothing. `parameters`: those of this node if None. What is heard is read by a
    second node that is never spun: no message wakes this process.
    """

    def __init__(self, parameters: ViewParameters | None = None) -> None:
        super().__init__("view")
        self._p = p = parameters or declare_parameters(self, ViewParameters)
        if p.world != NO_WORLD:
            find_world(p.world)
        self._loading: Future[tuple[World, WorldQueries]] | None = None
        title = "aerotwin" if p.world == NO_WORLD else f"aerotwin {p.world}"
        self._page, self.address = open_page(title, host=p.host, port=p.port)
        self._flight = self._page.add_text("no robot is heard yet")
        self._world = self._page.add_text()
        self._listener = rclpy.create_node("view_listener", use_global_arguments=False)
        self._clock_of_run = RunClock(self._listener, time.monotonic())
        self._shown: LivePage | None = None
        self._begin_s = 0.0
        self._is_begun = False
        create_wall_timer(self, 1.0 / p.rate_hz, self._on_tick)
        say(f"view: {self.address}")

    def destroy_node(self) -> None:
        """End what the doctor checks, then the page, then the nodes."""
        if self._shown is not None:
            self._shown.close()
        ended = "the run and this view" if self._clock_of_run.is_over else "this view"
        self._flight.set(f"{ended} ended")
        self._page.stop()
        self._listener.destroy_node()
        super().destroy_node()

    def _on_tick(self) -> None:
        now_s = time.monotonic()
        self._say_that_time_passes(now_s)
        if not self._page.get_clients():
            if self._shown is not None:
                self._shown.rest()
            if self._is_begun:
                self._clock_of_run.rest()
        else:
            if self._shown is None:
                self._shown = self._begin_to_show()
            if self._loading is not None and self._loading.done():
                loading, self._loading = self._loading, None
                self._shown.show_world(*loading.result())
                self._world.set("")
            self._shown.step(now_s)

    def _begin_to_show(self) -> LivePage:
        """Fill the page; its world appears once it is loaded, beside what goes on."""
        if self._p.world == NO_WORLD:
            show_world(self._page, None)
        else:
            self._world.set(f"the world {self._p.world} is being loaded")
            self._loading = begin_in_background(self._load_world)
        return LivePage(
            self, self._listener, self._page, self._flight, self._clock_of_run,
            simulator=self._p.simulator,
        )  # fmt: skip

    def _load_world(self) -> tuple[World, WorldQueries]:
        world = load_world(self._p.world)
        return world, WorldQueries(world)

    def _say_that_time_passes(self, now_s: float) -> None:
        """Say once, also while nobody watches, that the simulation has begun."""
        if not self._is_begun and now_s >= self._begin_s:
            self._begin_s = now_s + BEGIN_S
            self._clock_of_run.read(now_s)
            self._is_begun = self._clock_of_run.stamp_ns > 0
            if self._is_begun:
                say(TIME_PASSES)


def run_view(parameters: ViewParameters | None = None) -> int:
    """Show until Ctrl-C; return the exit code."""
    return run_node(lambda: ViewNode(parameters))


def main() -> None:
    """Run the node."""
    sys.exit(run_view())


if __name__ == "__main__":
    main()
