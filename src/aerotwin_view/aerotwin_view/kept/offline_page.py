# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A recorded flight as one HTML file that plays without a network and without this program."""

from pathlib import Path

from aerotwin_core.atomic_file import atomic_file
from aerotwin_core.errors import UserError
from aerotwin_view.page import open_page
from aerotwin_view.page_scripts import with_scripts
from aerotwin_view.recorded.shown_flight import ShownFlight
from aerotwin_view.scene.flight_scene import FlightScene
from aerotwin_view.scene.world_scene import COARSE, MEDIUM, WorldScene
from aerotwin_worlds import World

MOST_BYTES = 20_000_000
"""Such a file can be sent by mail."""
MOST_PICTURES = 3000
_PICTURES_HZ = 10.0


def write_offline_page(flight: ShownFlight, world: World | None, path: Path) -> int:
    """Write the flight, played in a loop; return how many bytes the file has.

    The world is in the finest detail with which the file has at most `MOST_BYTES`.

    Raises
    ------
    UserError
        If the file cannot be written, or has more bytes with the coarsest world.
    """
    for detail in (MEDIUM, COARSE) if world is not None else (COARSE,):
        text = _recorded(flight, world, detail)
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


def _recorded(flight: ShownFlight, world: World | None, detail: str) -> bytes:
    page, _ = open_page(f"aerotwin {flight.name}")
    try:
        if world is not None:
            WorldScene(page, world).show(detail)
        robots = FlightScene(page, flight)
        robots.show_at(flight.start_ns)
        recording = page.get_scene_serializer()
        length_ns = flight.end_ns - flight.start_ns
        n = min(max(int(length_ns * 1e-9 * _PICTURES_HZ), 2), MOST_PICTURES)
        for k in range(1, n):
            recording.insert_sleep(length_ns * 1e-9 / n)
            robots.show_at(flight.start_ns + length_ns * k // (n - 1))
        return with_scripts(recording.as_html().encode(), f"aerotwin {flight.name}")
    finally:
        page.stop()
