# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""See a world in the browser: fly around in it, read coordinates, measure, mark way-points.

The page is on loopback and needs no other program and no network. It shows the world as its cameras
see it; a click on the ground tells where that is, in map and on Earth, and how far from the last
one.

  aerotwin view cliff
  aerotwin view my_world.yaml --port 8091

Over another address, as for a tablet in the field, the address that is printed holds a token:

  aerotwin view cliff --host 192.168.1.7
"""

import argparse
import sys
import time

from aerotwin_view.defaults import DEFAULT_PORT, LOOPBACK


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("world", metavar="WORLD", help="a name or a file, as of `world info`")
    parser.add_argument(
        "--host", default=LOOPBACK, help=f"address to listen on ({LOOPBACK}: this machine only)"
    )
    parser.add_argument(
        "--port", type=int, default=DEFAULT_PORT, help=f"or the next free one ({DEFAULT_PORT})"
    )


def run(args: argparse.Namespace) -> int:
    """Show the world until Ctrl-C."""
    from aerotwin_view.page import open_page
    from aerotwin_view.places import Places
    from aerotwin_view.world_scene import WorldScene, place_camera
    from aerotwin_worlds import load_world

    world = load_world(args.world)
    page, address = open_page(f"aerotwin {world.name}", host=args.host, port=args.port)
    try:
        place_camera(page, world.start_p_map, world.start_yaw, back_m=15.0)
        page.gui.add_markdown(f"{world.name}; {world.attribution}; {world.licence}")
        scene = WorldScene(page, world)
        Places(page, world)
        print(f"{address}  (Ctrl-C ends)", flush=True)
        for line in (*world.warnings, *world.notes):
            print(line, file=sys.stderr)
        scene.show_first()
        while True:
            time.sleep(3600.0)
    finally:
        page.stop()
