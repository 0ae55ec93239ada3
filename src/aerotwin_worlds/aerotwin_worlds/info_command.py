# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Show what a world is: source, size, triangles, textures, origin, start, whom to credit, licence.

WORLD is a name (cliff, cliff@1003 for another seed), a YAML file or a folder with world.yaml.
What could not be loaded is listed under "missing", what was assumed or filled in under "notes".

  aerotwin world info cliff
"""

import argparse

_MOST_LINES = 20


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("world", metavar="WORLD")
    parser.add_argument("--json", metavar="FILE", help="write as JSON ('-': standard output)")


def run(args: argparse.Namespace) -> int:
    """Load the world and print its record."""
    import sys

    from aerotwin_core.cli import write_json
    from aerotwin_core.foreign_text import printable
    from aerotwin_worlds.loading import load_world
    from aerotwin_worlds.world import world_record

    record = world_record(load_world(args.world, show_progress=sys.stderr.isatty()))
    if args.json:
        write_json(args.json, record)
    if args.json != "-":
        for key, value in record.items():
            is_text = isinstance(value, list) and all(isinstance(item, str) for item in value)
            lines = (value or ["-"]) if is_text else [value]
            for i, line in enumerate(lines[:_MOST_LINES]):
                print(f"{'' if i else key:18} {printable(str(line))}")
            if len(lines) > _MOST_LINES:
                print(f"{'':18} and {len(lines) - _MOST_LINES} more, all with --json")
    return 0
