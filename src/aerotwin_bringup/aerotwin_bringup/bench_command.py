# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Measure speed, as ratios to a peer or a limit in the same run.

A peer that is not installed is printed as missing, never as met.

  aerotwin bench                     everything
  aerotwin bench flight --json -     one benchmark, for a machine
"""

import argparse

NAMES = ("vehicle", "flight", "px4", "images")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}")
    parser.add_argument("--json", metavar="FILE", help="write the figures as JSON (- = stdout)")


def run(arguments: argparse.Namespace) -> int:
    """Run the benchmarks; 1 if a goal was missed."""
    from aerotwin_bringup.benchmarks.dynamics import vehicle_steps
    from aerotwin_bringup.benchmarks.flight import inertial_flight, px4_flight
    from aerotwin_bringup.benchmarks.images import stereo_pipeline
    from aerotwin_core.cli import say, write_json
    from aerotwin_core.errors import UserError

    runs = (vehicle_steps, inertial_flight, px4_flight, stereo_pipeline)
    known = dict(zip(NAMES, runs, strict=True))
    unknown = [name for name in arguments.names if name not in known]
    if unknown:
        raise UserError(f"no benchmark '{unknown[0]}'; known are {', '.join(NAMES)}")
    results = [b for name in arguments.names or NAMES for b in known[name]()]
    if arguments.json != "-":
        say(f"{'benchmark':36}{'value':>12} {'unit':12}{'ratio':>8}  {'goal':>5}  verdict, peer")
        for b in results:
            value = "missing" if b.value is None else f"{b.value:,.2f}"
            ratio = "missing" if b.ratio is None else f"{b.ratio:.2f}"
            goal = "" if b.goal is None else f"{b.goal:g}"
            verdict = {None: "-", True: "met", False: "MISSED"}[b.is_met]
            say(f"{b.name:36}{value:>12} {b.unit:12}{ratio:>8}  {goal:>5}  {verdict}, {b.peer}")
    write_json(arguments.json, [b.record() for b in results])
    return 1 if any(b.is_met is False for b in results) else 0
