# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Show what a world is: name, size, triangles, textures, origin, start, attribution, licence.

WORLD is a name (cliff, cliff@1003 for another seed), a YAML file or a folder with world.yaml.

  aerotwin world info cliff
"""

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("world", metavar="WORLD")
    parser.add_argument("--json", metavar="FILE", help="write as JSON ('-': standard output)")


def run(args: argparse.Namespace) -> int:
    """Load the world and print its record."""
    from aerotwin_core.cli import write_json
    from aerotwin_worlds.loading import load_world
    from aerotwin_worlds.world import world_record

    record = world_record(load_world(args.world))
    if args.json:
        write_json(args.json, record)
    if args.json != "-":
        for key, value in record.items():
            print(f"{key:16} {value}")
    return 0
