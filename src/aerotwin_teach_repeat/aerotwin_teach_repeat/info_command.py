# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Show what a route graph holds, test every submap against its checksum, and find ways in it.

Exit code 1 when a submap is damaged, the teach was cut off, or the graph falls into parts.

Examples
--------
  aerotwin teach info loop
  aerotwin teach info loop --route 0 250
  aerotwin teach info loop --json -
"""

import argparse
from pathlib import Path
from typing import Any

from aerotwin_core.cli import progress, write_json

EXIT_DOUBTFUL = 1


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("graph", metavar="GRAPH", type=Path, help="folder of a route graph")
    parser.add_argument(
        "--route",
        nargs=2,
        type=int,
        metavar=("FROM", "TO"),
        help="the shortest way between two ids",
    )
    parser.add_argument("--no-check", action="store_true", help="do not read the submaps")
    parser.add_argument("--json", metavar="FILE", help="write the result as JSON (- = stdout)")


def run(args: argparse.Namespace) -> int:
    """Read and describe the graph."""
    from aerotwin_teach_repeat.route_graph import DamagedSubmapError, RouteGraph

    graph = RouteGraph.load(args.graph)
    n_points, n_damaged = 0, 0
    if not args.no_check:
        with progress(len(graph.submap_ids), "submaps") as bar:
            for vertex_id in graph.submap_ids:
                try:
                    n_points += len(graph.submap(vertex_id).points)
                except DamagedSubmapError:
                    n_damaged += 1
                bar.update(1)
    payload = describe(graph) | {
        "graph": str(args.graph),
        "n_points": None if args.no_check else n_points,
        "n_damaged": None if args.no_check else n_damaged,
    }
    if args.route is not None:
        way = graph.route(*args.route)
        payload["route"] = {"ids": way, "length_m": graph.length_m(way)}
    if args.json != "-":
        _print(payload)
    write_json(args.json, payload)
    return EXIT_DOUBTFUL if graph.problems or len(graph.parts) > 1 else 0


def describe(graph) -> dict[str, Any]:
    """Return what the JSON says about a graph."""
    shifts, turns = graph.edge_residuals()
    positions = graph.poses_map()[:, :3, 3]
    return {
        "n_vertices": len(graph),
        "n_edges": len(graph.edges),
        "n_spatial": sum(edge.kind == "spatial" for edge in graph.edges),
        "n_submaps": len(graph.submap_ids),
        "runs": [
            {"from_id": run[0], "to_id": run[-1], "n": len(run), "length_m": graph.length_m(run)}
            for run in graph.runs
        ],
        "n_parts": len(graph.parts),
        "frame": graph.frame,
        "bounds_low_m": positions.min(axis=0).tolist(),
        "bounds_high_m": positions.max(axis=0).tolist(),
        "largest_edge_residual_m": float(shifts.max(initial=0.0)),
        "largest_edge_residual_rad": float(turns.max(initial=0.0)),
        "about": graph.about,
        "problems": list(graph.problems),
    }


def _print(payload: dict[str, Any]) -> None:
    print(
        f"{payload['graph']}: {payload['n_vertices']} vertices, {payload['n_edges']} edges "
        f"({payload['n_spatial']} spatial), {payload['n_submaps']} submaps, frame "
        f"{payload['frame']}"
    )
    for number, run in enumerate(payload["runs"]):
        print(
            f"run {number}: vertex {run['from_id']} to {run['to_id']}, {run['n']} vertices, "
            f"{run['length_m']:.2f} m"
        )
    if payload["n_points"] is not None:
        print(
            f"submaps: {payload['n_points']} points, {payload['n_damaged']} damaged, all others "
            "as written"
        )
    if payload["n_parts"] > 1:
        print(f"the graph falls into {payload['n_parts']} parts that no edge joins")
    if "route" in payload:
        ids = payload["route"]["ids"]
        print(f"route: {len(ids)} vertices, {payload['route']['length_m']:.2f} m: {_short(ids)}")
    for line in payload["problems"]:
        print(f"problem: {line}")


def _short(ids: list[int]) -> str:
    arguments = [str(i) for i in ids]
    return " ".join(arguments if len(arguments) <= 12 else [*arguments[:6], "…", *arguments[-5:]])
