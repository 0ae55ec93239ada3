# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
r"""Repeat a taught route in closed loop: a simulated robot with lidar or radar in the true world.

GRAPH is the folder of a route graph (aerotwin teach). The robot drives the way from its first
vertex to its last, a number of times with slips, noise and start errors of its own, and is judged
at marks on the ground: those that it was taught with, else every 25 m along the route.

  aerotwin repeat build/campus_route --world campus@1003 --seed 1000 -o runs/repeat
  aerotwin repeat build/bent_route --world campus --degradation warp_30cm \
      --degradation-seed 1000 -o runs/bent        # taught in a cloud bent on purpose
  aerotwin repeat build/campus_route --world campus --sensor radar -o runs/radar
  aerotwin repeat build/survey_route --world campus --marks marks.csv -o runs/survey

Of a map that is bent by a known displacement (aerotwin degrade) the marks lie at its exact images
and the floor is printed; of a reconstruction, --marks tells where the painted marks appear in it
(x_map_m,y_map_m,z_map_m) and where they are (x_true_m,y_true_m,z_true_m).

Faults (--fault, may be repeated; times in seconds since the start):
  silent:FROM:SECONDS               the sensor is silent
  blocked:FROM:SECONDS[:RIGHT:LEFT] nothing comes back between two azimuths [deg], 0 = ahead, left
                                    positive; without them from nowhere
  kidnapped:AT:AHEAD[:LEFT[:TURN]]  it is put down elsewhere: metres, degrees to the left

  aerotwin repeat build/campus_route --world campus --repeats 1 --fault silent:20:5 \
      --fault kidnapped:60:-8:0.5:30 -o runs/faults
"""

import argparse
import dataclasses
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aerotwin_core.cli import progress, say, write_json, write_text_atomically
from aerotwin_core.errors import UserError
from aerotwin_core.output_lock import refuse_inputs_as_output

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from aerotwin_repeat_evaluation import TeachRepeatEvaluation
    from aerotwin_scenarios.teach_repeat.closed_loop import OnStep
    from aerotwin_scenarios.teach_repeat.judging import TaughtRouteTruth
    from aerotwin_scenarios.teach_repeat.study import RepeatStudy
    from aerotwin_teach_repeat.repeat import RepeatStep
    from aerotwin_teach_repeat.route_graph import RouteGraph
    from aerotwin_worlds import World


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add = parser.add_argument
    add("graph", type=Path, metavar="GRAPH", help="folder of a route graph")
    add("--world", required=True, help="the true world: a name, NAME@SEED, or a path")
    add("--repeats", type=int, default=3, help="how often (3)")
    add("--seed", type=int, default=0, help="of starts, slip and noise (0)")
    add("--start-error-m", type=float, default=0.5, help="starts up to this far off (0.5)")
    add("--start-error-deg", type=float, default=10.0, help="and turned by up to this (10)")
    add("--start-at-m", type=float, default=0.0, metavar="M", help="where on the route it starts")
    add("--start-unknown", action="store_true", help="do not tell it where on the route it is")
    add("--fault", action="append", default=[], metavar="WORDS", help="what goes wrong, see below")
    add("--vehicle", default="unicycle", help="unicycle, bicycle or a vehicle file (unicycle)")
    add("--sensor", choices=("lidar", "radar"), default="lidar", help="what it sees with (lidar)")
    add("--lidar", default="spinning_16", help="preset or file (spinning_16)")
    add("--radar", default="navtech_cir304", help="preset or file (navtech_cir304)")
    add("--lidar-z-m", type=float, default=1.0, help="height of lidar or radar (1)")
    add("--latency-s", type=float, default=0.1, help="from a scan to its command (0.1)")
    add("--tracker", choices=("mpc", "pure_pursuit"), default="mpc", help="who steers (mpc)")
    add("--from", dest="start_id", type=int, help="vertex to start at (the first)")
    add("--to", dest="goal_id", type=int, help="vertex to end at (the last)")
    add("--marker-spacing-m", type=float, help="between marks (those of the graph, else 25)")
    add("--marks", type=Path, metavar="FILE", help="painted marks: map and true places, CSV")
    add("--degradation", metavar="PRESET", help="how the map was bent: preset or YAML file")
    add("--degradation-seed", type=int, default=0, help="with which seed (0)")
    add("--json", metavar="FILE", help="the scores ('-': standard output)")
    add("-o", "--out", type=Path, required=True, metavar="DIR", help="folder of the result")


def run(args: argparse.Namespace) -> int:
    """Drive, judge, write; 0 when every repeat came to the end of the route."""
    from aerotwin_rendering import WorldQueries
    from aerotwin_repeat_evaluation import metrics_of, section_of
    from aerotwin_scenarios.teach_repeat.closed_loop import run_repeats
    from aerotwin_scenarios.teach_repeat.judging import drives_section, evaluate_repeats
    from aerotwin_scenarios.teach_repeat.radar_page import radar_section, radar_turn
    from aerotwin_teach_repeat.route_graph import RouteGraph
    from aerotwin_worlds import load_world

    refuse_inputs_as_output(args.out, args.graph)
    study = _study(args)
    graph = RouteGraph.load(args.graph)
    ids = _route_ids(graph, args)
    world = load_world(args.world)
    queries, route = WorldQueries(world), _route(args, graph, ids, world)
    with _bar(study, route) as on_step:
        records = run_repeats(
            graph, ids, queries, study, displacement=route.displacement, on_step=on_step
        )
    for number, record in enumerate(records):
        record.write(args.out / f"repeat_{number + 1}")
    method = f"{args.tracker}, {study.radar or args.lidar}"
    evaluation = evaluate_repeats(route, records, method=method)
    turn = radar_turn(graph, ids, queries, study, route.displacement) if study.radar else None
    sections = [section_of(evaluation), drives_section(records)]
    if turn is not None:
        sections.append(radar_section(turn))
    page = _write(args, study, world, evaluation, sections)
    metrics = metrics_of(evaluation)
    write_json(args.json, metrics)
    n = sum(record.is_completed for record in records)
    if args.json != "-":
        say(_verdict(metrics, n, len(records)))
        say(f"{page}")
    return 0 if n == len(records) else 1


def _study(args: argparse.Namespace) -> "RepeatStudy":
    from aerotwin_core.parameters import load_parameters
    from aerotwin_ground_simulator import faults_of
    from aerotwin_scenarios.teach_repeat.study import RepeatStudy

    robot = {
        "vehicle": args.vehicle, "lidar": {"preset": args.lidar, "z_m": args.lidar_z_m},
        "latency_s": args.latency_s,
    }  # fmt: skip
    values = {
        "n_repeats": args.repeats, "seed": args.seed, "start_error_m": args.start_error_m,
        "start_error_deg": args.start_error_deg, "is_start_unknown": args.start_unknown,
        "start_at_m": args.start_at_m, "tracker": args.tracker, "robot": robot,
        "radar": args.radar if args.sensor == "radar" else "",
    }  # fmt: skip
    study = load_parameters(RepeatStudy, values, where="aerotwin repeat")
    return dataclasses.replace(study, faults=faults_of(args.fault))


def _route_ids(graph: "RouteGraph", args: argparse.Namespace) -> list[int]:
    """Return the way: as it was taught, or the shortest between two vertices."""
    if args.start_id is None and args.goal_id is None:
        return list(graph.runs[0])
    first = graph.ids[0] if args.start_id is None else args.start_id
    last = graph.ids[-1] if args.goal_id is None else args.goal_id
    for name, vertex_id in (("--from", first), ("--to", last)):
        if vertex_id not in graph.ids:
            raise UserError(f"{name}: the graph has no vertex {vertex_id}; see aerotwin teach")
    return graph.route(first, last)


def _route(
    args: argparse.Namespace, graph: "RouteGraph", ids: list[int], world: "World"
) -> "TaughtRouteTruth":
    from aerotwin_reconstruction.degradation import field_of, load_degradation
    from aerotwin_repeat_evaluation import Displacement, NoDisplacement
    from aerotwin_scenarios.teach_repeat.judging import route_in_bent_map, route_through_marks

    poses, name = graph.poses_map(ids), args.world
    if args.marks is not None:
        if args.degradation is not None:
            raise UserError("--marks and --degradation exclude each other; give one of them")
        return route_through_marks(name, poses, args.marks)
    displacement: Displacement = NoDisplacement()
    if args.degradation is not None:
        displacement = field_of(load_degradation(args.degradation), args.degradation_seed)
    return route_in_bent_map(name, poses, displacement, world, _stations(args, graph, poses))


def _stations(args: argparse.Namespace, graph: "RouteGraph", poses: "np.ndarray") -> "np.ndarray":
    """Return where the marks are [m]: as asked for, as taught, or evenly."""
    from aerotwin_scenarios.teach_repeat.judging import stations, taught_stations
    from aerotwin_teach_repeat.teaching.route_file import MARKER_SPACING_M

    taught = graph.about.get("markers_s_m")
    is_whole = args.start_id is None and args.goal_id is None
    if args.marker_spacing_m is None and is_whole and taught:
        return taught_stations(taught, poses)
    spacing_m = MARKER_SPACING_M if args.marker_spacing_m is None else args.marker_spacing_m
    return stations(poses, spacing_m)


def _write(
    args: argparse.Namespace,
    study: "RepeatStudy",
    world: "World",
    evaluation: "TeachRepeatEvaluation",
    sections: list,
) -> Path:
    import yaml

    from aerotwin_core.parameters import to_mapping
    from aerotwin_report import write_report

    configuration: dict[str, Any] = {
        "graph": str(args.graph), "world": args.world, "route": evaluation.route,
        "marks": None if args.marks is None else str(args.marks),
        "degradation": args.degradation, "degradation_seed": args.degradation_seed,
        **to_mapping(study),
    }  # fmt: skip
    write_text_atomically(args.out / "config.yaml", yaml.safe_dump(configuration, sort_keys=False))
    return write_report(
        args.out,
        title=f"Repeats of a taught route in {world.name}",
        sections=sections,
        configuration=configuration,
        warnings=world.warnings,
        seed=study.seed,
        world=world.credits,
    )


def _verdict(metrics: dict[str, Any], n_completed: int, n: int) -> str:
    pte, floor = metrics["pte_m"], metrics["floor_m"]
    beside = "" if floor is None else f" (floor {floor['rmse']:.3f} / {floor['max']:.3f} m)"
    lost = metrics["localisation"]
    at_marks = "no mark was passed"
    if pte["rmse"] is not None:
        at_marks = f"at the marks RMSE {pte['rmse']:.3f} m, largest {pte['max']:.3f} m{beside}"
    return (
        f"{n_completed} of {n} repeats completed; {at_marks}; {lost['n_failed']} of {lost['n']} "
        "scans not localised"
    )


@contextmanager
def _bar(study: "RepeatStudy", route: "TaughtRouteTruth") -> "Iterator[OnStep]":
    """Show the progress of all repeats in metres of route; yield the callback of each step."""
    from aerotwin_repeat_evaluation import arc_length

    length = float(arc_length(route.T_map_route[:, :2, 3])[-1])
    with progress(study.n_repeats * length, "repeat", unit="m") as bar:

        def on_step(number: int, step: "RepeatStep") -> None:
            bar.set_postfix_str(f"repeat {number + 1}: {step.state}", refresh=False)
            bar.update(round(number * length + step.s_m, 1) - bar.n)

        yield on_step
