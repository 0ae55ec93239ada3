# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The page that shows a flight: how often it is updated, and how much slower the flight is.

A viewer receives what a browser would, and draws nothing.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml
from websockets.exceptions import WebSocketException

from aerotwin_core.errors import UserError
from evidence.benchmarks.flight import N_ROUNDS, launch_flight
from evidence.benchmarks.result import Benchmark
from evidence.verification.launched_flight import read_metrics
from support.page_client import CAMERA, connect_to_page, messages_of, packed

PORT = 18790
N_VEHICLES, UPDATES_HZ = 100, 20.0
WORLD = Path(__file__).resolve().parents[3] / "worlds" / "stadium.yaml"
SPACING_M = 0.27
"""With it the world has two million triangles."""
CLIMB = {"takeoff_altitude_m": 2.0, "climb_rate_m_s": 1.0}
"""Straight up: what stands still needs no update."""
CLIMB_M = 100.0
LEAST_SHARE = 0.95
"""Of its speed, that a flight keeps with one viewer."""
WATCHED_S, ALONE_S = 60.0, 40.0
"""Simulated times [s]."""
MOVING_S = 45.0
"""Of the watched time, which is simulated at real time."""
_EVERYWHERE = {"camera": "false", "slam": "none", "record": "inertial"}
_SHOWN = {"view": "true", "view_port": PORT}
_RECEIVE_S = 1.0


def live_view() -> list[Benchmark]:
    """Watch a hundred point masses in two million triangles, and a flight as fast as it gets."""
    return [_updates(), *_slowing()]


def _updates() -> Benchmark:
    fleet = {"dynamics": "point_mass", "instances": N_VEHICLES, "speed": 1.0}
    with TemporaryDirectory(prefix="aerotwin-bench-") as folder:
        world, mission = _write_world_and_climb(Path(folder))
        flown = {**_EVERYWHERE, **_SHOWN, **fleet, "world": world, "mission": mission}
        flown["duration_s"] = WATCHED_S
        with _viewer() as viewer:
            launch_flight(flown, Path(folder))
    name = f"view, {N_VEHICLES} vehicles, 2 M triangles"
    return Benchmark(
        name=name,
        unit="updates/s",
        value=viewer.rate_hz,
        goal=1.0,
        peer="the limit",
        peer_value=UPDATES_HZ,
        ratio=viewer.rate_hz / UPDATES_HZ,
    )


def _write_world_and_climb(folder: Path) -> tuple[Path, Path]:
    """Write files of a world in fine triangles and of a climb at its start; return their paths."""
    described = yaml.safe_load(WORLD.read_text(encoding="utf-8"))
    described["parameters"] |= {"spacing_m": SPACING_M}
    described["name"] = "large_stadium"
    top = {"position_m": [described["start"]["x_m"], described["start"]["y_m"], CLIMB_M]}
    world, mission = folder / "large_stadium.yaml", folder / "climb.yaml"
    world.write_text(yaml.safe_dump(described), encoding="utf-8")
    mission.write_text(yaml.safe_dump({**CLIMB, "waypoints": [top]}), encoding="utf-8")
    return world, mission


def _slowing() -> Iterator[Benchmark]:
    """Yield the speed of one embedded vehicle with the page, unseen and seen, beside without."""
    without, unseen, seen = [], [], []
    for _ in range(N_ROUNDS):
        without.append(_speed({}))
        unseen.append(_speed(_SHOWN))
        with _viewer():
            seen.append(_speed(_SHOWN))
    for what, factors in (("nobody watches", unseen), ("one watches", seen)):
        yield Benchmark(
            name=f"view, flight while {what}",
            unit="x real time",
            value=max(factors),
            goal=LEAST_SHARE,
            peer="the same without a page",
            peer_value=max(without),
            ratio=max(factors) / max(without),
        )


def _speed(arguments: dict[str, Any]) -> float:
    flown = {**_EVERYWHERE, **arguments, "duration_s": ALONE_S}
    with TemporaryDirectory(prefix="aerotwin-bench-") as folder:
        run = launch_flight({**flown, "world": "grassland"}, Path(folder))
        return float(read_metrics(run)["sections"]["flight"]["real_time_factor"])


class _Viewer:
    """Receives the page's packets until it is stopped or the page is gone."""

    def __init__(self) -> None:
        self._is_stopped = threading.Event()
        self._moved_at: list[float] = []
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End it."""
        self._is_stopped.set()
        self._thread.join()

    @property
    def rate_hz(self) -> float:
        """Packets a second that moved robots, over the last `MOVING_S` in which any did.

        Before they take off robots stand still.

        Raises
        ------
        UserError
            If there were none.
        """
        if len(self._moved_at) < 2:
            raise UserError(f"the page on port {PORT} moved no robot; see above")
        end_s = self._moved_at[-1]
        return sum(each > end_s - MOVING_S for each in self._moved_at) / MOVING_S

    def _watch(self) -> None:
        while not self._is_stopped.is_set():
            with (
                suppress(OSError, WebSocketException),  # it is not there yet, or no more
                connect_to_page(PORT) as page,
            ):
                self._receive(page)
            self._is_stopped.wait(0.2)

    def _receive(self, page: Any) -> None:
        page.send(packed(CAMERA))
        while not self._is_stopped.is_set():
            with suppress(TimeoutError):
                if _moves_robots(page.recv(timeout=_RECEIVE_S)):
                    self._moved_at.append(time.monotonic())


@contextmanager
def _viewer() -> Iterator[_Viewer]:
    viewer = _Viewer()
    try:
        yield viewer
    finally:
        viewer.stop()


def _moves_robots(packet: bytes) -> bool:
    """Return whether a packet of the page has new positions of robots."""
    return any(
        str(each.get("name", "")).startswith("/robots/")
        and "batched_positions" in each.get("updates", {})
        for each in messages_of(packet)
    )
