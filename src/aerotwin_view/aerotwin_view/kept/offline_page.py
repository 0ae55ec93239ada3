# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A recorded flight as one HTML file that plays without a network and without this program."""

from pathlib import Path

from aerotwin_core.atomic_file import atomic_file
from aerotwin_core.errors import UserError
from aerotwin_view.kept.legend import legend_of
from aerotwin_view.page import Page, open_page
from aerotwin_view.page_scripts import with_element, with_scripts
from aerotwin_view.recorded.shown_flight import ShownFlight, ShownRobot
from aerotwin_view.scene.camera_follower import NONE
from aerotwin_view.scene.flight_scene import FlightScene
from aerotwin_view.scene.robot_labels import shown_names
from aerotwin_view.scene.world_scene import COARSE, MEDIUM, WorldScene, place_camera
from aerotwin_worlds import World

MOST_BYTES = 20_000_000
"""Such a file can be sent by mail."""
MOST_PICTURES = 3000
_PICTURES_HZ = 10.0
_BACK_M = 8.0
_ROOTS = ("/world", "/robots", "/labels", "/paths")
"""Of all that is shown."""


def write_offline_page(
    flight: ShownFlight, world: World | None, path: Path, follow: str | None = None
) -> int:
    """Write the flight, played in a loop; return how many bytes the file has.

    The world is in the finest detail with which the file has at most `MOST_BYTES`. Cameras move
    along with the robot `follow`, the only one if it is None; with none of several, or if it is
    "none".

    Raises
    ------
    UserError
        If there is no such robot, the file cannot be written, or it has more bytes with the
        coarsest world.
    """
    followed = _followed(flight, follow)
    for detail in (MEDIUM, COARSE) if world is not None else (COARSE,):
        text = _recorded(flight, world, detail, followed)
        if len(text) <= MOST_BYTES:
            break
    else:
        raise UserError(
            f"{path}: expected at most {MOST_BYTES} bytes, the flight has {len(text)}; "
            "leave its world out by --world none"
        )
    with atomic_file(path) as file:
        file.write(text)
    return len(text)


def _followed(flight: ShownFlight, name: str | None) -> ShownRobot | None:
    """Return the robot of a name; without one the only robot."""
    names = shown_names([each.name for each in flight.robots])
    robots = dict(zip(names, flight.robots, strict=True))
    if name is None:
        return flight.robots[0] if len(robots) == 1 else None
    if name != NONE and name not in robots:
        known = ", ".join((*names, NONE))
        raise UserError(f"--follow: expected one of {known}, found '{name}'; name one of them")
    return robots.get(name)


def _recorded(
    flight: ShownFlight, world: World | None, detail: str, followed: ShownRobot | None
) -> bytes:
    title = f"aerotwin {flight.name}"
    page, _ = open_page(title)
    try:
        if world is not None:
            WorldScene(page, world).show(detail)
        robots = FlightScene(page, flight)
        robots.show_at(flight.start_ns)
        moved = None if followed is None else _MovedScene(page, followed, flight.start_ns)
        recording = page.get_scene_serializer()
        length_ns = flight.end_ns - flight.start_ns
        n = min(max(int(length_ns * 1e-9 * _PICTURES_HZ), 2), MOST_PICTURES)
        for k in range(1, n):
            recording.insert_sleep(length_ns * 1e-9 / n)
            stamp_ns = flight.start_ns + length_ns * k // (n - 1)
            robots.show_at(stamp_ns)
            if moved is not None:
                moved.show_at(stamp_ns)
        scripted = with_scripts(recording.as_html().encode(), title)
        return with_element(scripted, legend_of(flight, world, robots.colours))
    finally:
        page.stop()


class _MovedScene:
    """All that is shown, moved against a robot: its picture stays where it is at first.

    A recording holds no camera: whoever watches it turns and zooms around the robot.
    """

    def __init__(self, page: Page, robot: ShownRobot, stamp_ns: int) -> None:
        self._robot = robot
        self._frames = [page.scene.add_frame(name, show_axes=False) for name in _ROOTS]
        self._first = robot.transform_at(stamp_ns)[:3, 3]
        place_camera(page, self._first, 0.0, back_m=_BACK_M)

    def show_at(self, stamp_ns: int) -> None:
        """Move all to where it belongs at a time [ns]."""
        moved = self._first - self._robot.transform_at(stamp_ns)[:3, 3]
        for frame in self._frames:
            frame.position = moved
