# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Measure speed, as ratios to a peer or a limit in the same run.

A peer that is not installed is printed as missing, never as met.

  make bench                                    everything
  make bench NAMES=flight ARGS="--json -"       one benchmark, for a machine
"""

import argparse
import importlib

from evidence.benchmarks.result import Benchmark

BENCHMARKS = {
    "help": "help:help_time",
    "vehicle": "dynamics:vehicle_steps",
    "flight": "flight:embedded_flight",
    "fleet": "fleet_flight:fleet_flight",
    "view": "live_view:live_view",
    "px4": "flight:px4_flight",
    "ardupilot": "flight:ardupilot_flight",
    "images": "images:stereo_pairs",
    "odometry": "images:stereo_pipeline",
    "camera_flight": "camera_flight:stereo_flight",
    "slam_flight": "camera_flight:slam_flights",
    "landing_report": "landing_report:landing_to_report",
    "lidar": "lidar:lidar_scan",
    "radar": "radar:radar_turn",
    "voxels": "voxels:voxel_export",
    "tiles": "tiles:tileset_loading",
    "registration": "registration:registration_speed",
    "coarse": "coarse:coarse_alignment",
    "teach_repeat": "teach_repeat:teach_repeat_speed",
    "dense": "dense:dense_localisation",
    "campaigns": "campaigns:campaign_speed",
    "maps": "map_metrics:map_metrics",
    "trajectories": "trajectories:trajectory_scores",
}
"""Name -> module of `evidence.benchmarks` and function that returns the figures."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHMARKS)}")
    parser.add_argument("--json", metavar="FILE", help="write the figures as JSON (- = stdout)")


def run(arguments: argparse.Namespace) -> int:
    """Run the benchmarks; 1 if a goal was missed."""
    from aerotwin_core.cli import say, write_json
    from aerotwin_core.errors import UserError

    unknown = [name for name in arguments.names if name not in BENCHMARKS]
    if unknown:
        raise UserError(f"no benchmark '{unknown[0]}'; known are {', '.join(BENCHMARKS)}")
    results = [b for name in arguments.names or BENCHMARKS for b in _measure(name)]
    if arguments.json != "-":
        w = 2 + max(len(b.name) for b in results)
        say(f"{'benchmark':{w}}{'value':>12} {'unit':12}{'ratio':>8}  {'goal':>5}  verdict, peer")
        for b in results:
            value = "missing" if b.value is None else f"{b.value:,.2f}"
            ratio = "missing" if b.ratio is None else f"{b.ratio:.2f}"
            goal = "" if b.goal is None else f"{b.goal:g}"
            verdict = {None: "-", True: "met", False: "MISSED"}[b.is_met]
            say(f"{b.name:{w}}{value:>12} {b.unit:12}{ratio:>8}  {goal:>5}  {verdict}, {b.peer}")
    write_json(arguments.json, [b.record() for b in results])
    return 1 if any(b.is_met is False for b in results) else 0


def _measure(name: str) -> list[Benchmark]:
    module, _, function = BENCHMARKS[name].partition(":")
    return getattr(importlib.import_module(f"evidence.benchmarks.{module}"), function)()
