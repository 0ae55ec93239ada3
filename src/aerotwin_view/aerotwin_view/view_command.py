# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""See a world, a map, a recorded flight or what runs now in the browser; play it, measure, steer.

Without anything to show it prints the address of the start page: there a run is chosen and started
with its view, its report and those of past runs are read. Ctrl-C ends the page and its run.

The page is on loopback and needs no other program and no network. A world is shown as its cameras
see it; a click on the ground tells where that is, in map and on Earth, and how far from the last
one. A bag or a run folder is played: every robot of it, the paths it flew and those of its
estimates, in the world that its run folder names. With --live the robots are those that are heard
by their topics, as of a simulation that another terminal runs: they are shown and steered.

A map is a cloud or a mesh of any SLAM, by height; with --reference (a world, a mesh or a cloud) by
the distances that `evaluate map` measures, without an alignment unless --align asks for one. The
folder of `aerotwin repeat` shows the taught route and its repeats by their lateral errors.

  aerotwin view                                                  # the start page
  aerotwin view cliff
  aerotwin view slam_map.ply --reference cliff
  aerotwin view runs/20261127-120000-flight
  aerotwin view my_bag --world my_world.yaml --port 8091
  aerotwin view --live --world cliff
  aerotwin view runs/20261127-120000-flight --html flight.html   # one file that plays anywhere
  aerotwin view runs/20261127-120000-flight --video flight.mp4 --rate 4

Over another address, as for a tablet in the field, the address that is printed holds a token:

  aerotwin view cliff --host 192.168.1.7
"""

import argparse
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from aerotwin_core.errors import UserError
from aerotwin_view.defaults import (
    DEFAULT_PORT,
    FIRST_PORT,
    LAST_PORT,
    LOOPBACK,
    NO_WORLD,
    RUNS,
)

if TYPE_CHECKING:
    from aerotwin_view.page import Page
    from aerotwin_view.recorded.shown_flight import ShownFlight
    from aerotwin_worlds import World

_Wait = Callable[[], None]
ALIGNMENTS = ("none", "icp", "coarse")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "shown",
        metavar="WORLD|BAG|MAP",
        nargs="?",
        help="a world as of `world info`, a bag, a run folder, or a map; left out: the start page",
    )
    parser.add_argument(
        "--live", action="store_true", help="show and steer the robots that are heard"
    )
    parser.add_argument(
        "--world", help="of a bag (that of its run folder) or of what is heard; none: without one"
    )
    parser.add_argument(
        "--reference", metavar="R", help="of a map, which it is coloured by: world, mesh or cloud"
    )
    parser.add_argument(
        "--align", choices=ALIGNMENTS, help="how the map is aligned to it first (none)"
    )
    parser.add_argument(
        "--html", type=Path, metavar="FILE", help="write a bag as a page that plays offline"
    )
    parser.add_argument(
        "--follow", metavar="ROBOT", help="of --html: cameras move along with it (the only one)"
    )
    parser.add_argument(
        "--video", type=Path, metavar="FILE", help="film a bag: .mp4, or .png for one picture"
    )
    parser.add_argument("--rate", type=float, default=1.0, help="of the film: 2 is twice as fast")
    parser.add_argument(
        "--runs",
        type=Path,
        default=Path(RUNS),
        metavar="DIR",
        help=f"of the start page: folder of the runs ({RUNS})",
    )
    parser.add_argument(
        "--host", default=LOOPBACK, help=f"address to listen on ({LOOPBACK}: this machine only)"
    )
    parser.add_argument(
        "--port", type=_port, default=DEFAULT_PORT, help=f"or the next free one ({DEFAULT_PORT})"
    )


def _port(text: str) -> int:
    """Return the number of a port. Raises ArgumentTypeError if it is none that is free to use."""
    if not (text.isdecimal() and len(text) <= 5 and FIRST_PORT <= int(text) <= LAST_PORT):
        raise argparse.ArgumentTypeError(
            f"expected a number from {FIRST_PORT} to {LAST_PORT}, found {text!r}"
        )
    return int(text)


def run(args: argparse.Namespace) -> int:
    """Show it until Ctrl-C."""
    if args.live and args.shown is not None:
        raise UserError("expected a world, a bag, a map or --live, one of them")
    if args.live:
        _refuse(args, "html", "video", beside="a bag")
        _refuse(args, "reference", beside="a map")
    if args.html is None:
        _refuse(args, "follow", beside="--html")
    if args.align is not None and args.reference is None:
        raise UserError("--align: expected a map with --reference beside it, found none")
    if args.live:
        return _show_live(args)
    if args.shown is None:
        return _open_start_page(args)
    if _is_map(args):
        return _show_map(args)
    from aerotwin_view.recorded.shown_flight import bag_folder, read_flight
    from aerotwin_worlds import load_world

    bag = bag_folder(Path(args.shown))
    if bag is None and _is_repeated_route(Path(args.shown)):
        return _show_repeats(args)
    flight = None if bag is None else read_flight(bag)
    name = args.world or (args.shown if flight is None else flight.world)
    world = None if name in (None, NO_WORLD) else load_world(name)
    if args.html is not None:
        return _write_page(flight, world, args.html, args.follow)
    if args.video is not None:
        return _film(flight, world, args.video, args.rate)
    title = flight.name if flight is not None else args.shown
    return _serve(args, title, lambda page: _show(page, world, flight))


def _serve(
    args: argparse.Namespace, title: str, show: "Callable[[Page], tuple[Iterable[str], _Wait]]"
) -> int:
    """Open a page, let `show` fill it, print what it reports, and wait as it says."""
    from aerotwin_view.page import open_page

    page, address = open_page(f"aerotwin {title}", host=args.host, port=args.port)
    try:
        lines, wait = show(page)
        print(f"{address}  (Ctrl-C ends)", flush=True)
        for line in lines:
            print(line, file=sys.stderr)
        wait()
    finally:
        page.stop()
    return 0


def _for_ever() -> None:
    threading.Event().wait()


def _is_map(args: argparse.Namespace) -> bool:
    if args.reference is not None:
        return True
    from aerotwin_view.scene.map_scene import is_map_file

    return is_map_file(args.shown)


def _show_map(args: argparse.Namespace) -> int:
    from aerotwin_view.scene.map_scene import show_map

    _refuse(args, "html", "video", "world", beside="a bag")

    def show(page: "Page") -> tuple[Iterable[str], _Wait]:
        show_map(page, args.shown, args.reference, args.align or ALIGNMENTS[0])
        return (), _for_ever

    return _serve(args, Path(args.shown).name, show)


def _is_repeated_route(path: Path) -> bool:
    from aerotwin_view.recorded.repeated_route import is_repeated_route

    return path.is_dir() and is_repeated_route(path)


def _show_repeats(args: argparse.Namespace) -> int:
    from aerotwin_view.recorded.repeated_route import read_repeated_route
    from aerotwin_view.scene.repeats_scene import show_repeats
    from aerotwin_view.scene.world_scene import show_world
    from aerotwin_worlds import load_world

    _refuse(args, "html", "video", beside="a bag")
    found = read_repeated_route(Path(args.shown))
    name = args.world or found.world
    world = None if name in (None, NO_WORLD) else load_world(name)

    def show(page: "Page") -> tuple[Iterable[str], _Wait]:
        show_world(page, world)
        show_repeats(page, found)
        return () if world is None else (*world.warnings, *world.notes), _for_ever

    return _serve(args, found.name, show)


def _refuse(args: argparse.Namespace, *options: str, beside: str) -> None:
    """Raise UserError for options that need something else to be shown."""
    for option in options:
        if getattr(args, option) is not None:
            raise UserError(f"--{option}: expected {beside} beside it, found none")


def _open_start_page(args: argparse.Namespace) -> int:
    from aerotwin_view.start.server import StartServer

    options = ("html", "video", "world", "reference")
    _refuse(args, *options, beside="a world, a bag, a map or --live")
    server = StartServer(args.host, args.port, args.runs)
    try:
        print(f"{server.address}  (Ctrl-C ends)", flush=True)
        threading.Event().wait()
    finally:
        server.stop()
    return 0


def _write_page(
    flight: "ShownFlight | None", world: "World | None", path: Path, follow: str | None
) -> int:
    from aerotwin_view.kept.offline_page import write_offline_page

    if flight is None:
        raise UserError("--html: expected a bag, which can be played, not a world")
    n_bytes = write_offline_page(flight, world, path, follow)
    print(f"{path}: {n_bytes / 1e6:.1f} MB; a browser plays it, also without a network")
    return 0


def _film(flight: "ShownFlight | None", world: "World | None", path: Path, speed: float) -> int:
    from aerotwin_core.cli import progress
    from aerotwin_view.kept.flight_video import write_video

    if flight is None or world is None:
        raise UserError("--video: expected a bag and its world; name the world by --world")
    if not 0.01 <= speed <= 1000.0:
        raise UserError(f"--rate: must be 0.01 to 1000, got {speed:g}")
    with progress(1.0, path.name) as bar:
        n = write_video(flight, world, path, speed, lambda done, n: bar.update(done / n - bar.n))
    print(f"{path}: {n} picture{'s' if n > 1 else ''}")
    return 0


def _show_live(args: argparse.Namespace) -> int:
    from aerotwin_view.parameters import ViewParameters
    from aerotwin_view.ros.view_node import run_view
    from aerotwin_worlds.loading import find_world

    world = args.world or NO_WORLD
    if world != NO_WORLD:
        find_world(world)
    return run_view(ViewParameters(world=world, host=args.host, port=args.port))


def _show(
    page: "Page", world: "World | None", flight: "ShownFlight | None"
) -> tuple[Iterable[str], "_Wait"]:
    from aerotwin_rendering import WorldQueries
    from aerotwin_view.panels.places import Places
    from aerotwin_view.panels.time_line import TimeLine
    from aerotwin_view.scene.flight_scene import FlightScene
    from aerotwin_view.scene.world_scene import show_world

    show_world(page, world)
    lines: list[str] = [] if world is None else [*world.warnings, *world.notes]
    wait = _for_ever
    robots = None
    if flight is not None:
        robots = FlightScene(page, flight)
        wait = TimeLine(page, flight.start_ns, flight.end_ns, robots.show_at).run
        lines += flight.problems
    if world is not None:
        queries = WorldQueries(world)
        Places(page, world, queries)
        if robots is not None:
            robots.see_past(queries.cast_one)
    return lines, wait
