# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Replay a bag through the SLAM under test and judge what comes out, or what the bag holds.

BAG is any rosbag2 folder or file (MCAP, SQLite). Its cameras, lidar, truth and estimates are found
by type and name and printed; --topic, --truth, --estimate and --map put a wrong guess right. What
of a damaged bag is whole is used, what is not is said.

  aerotwin evaluate bag runs/20260101-120000-demo/bag
  aerotwin evaluate bag build/kitti_06 -o build/kitti_report --json -
  aerotwin evaluate bag my_bag --slam my_slam.launch.yaml config:=euroc.yaml --truth gt.txt
  aerotwin evaluate bag my_bag --topic stereo/left/image_raw:=/cam0/image_raw --start-s 10
  aerotwin evaluate bag my_bag --slam dso program:=~/dso/build/bin/dso_dataset --start-s 8
  aerotwin evaluate bag my_bag --slam external --rate 1   (start your own SLAM beside it)
  aerotwin evaluate bag my_bag --estimate /vio/odom       (judge what it holds; needs no ROS)
  aerotwin evaluate bag fleet_bag --vehicle uav1          (a SLAM gets its topics as if alone)

A SLAM of your own that reads files needs a description: copy config/slams/template.yaml, name
command, data set and outputs (docs/tutorials/slam_of_others.md), and give --slam my_slam.yaml.
Where it writes key-frames (the poses of a few chosen frames), the description says keyframe_gap_s,
and the time between two of them counts as tracked.

Exit code: 0 when something was judged, 1 when nothing was or the program of a described SLAM
failed (what it had written is judged), 3 when a --fail-if condition holds, 2
when an argument is wrong or the program cannot be started; else that of the replay.
"""

import argparse
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from aerotwin_core.cli import progress, say, say_fatal, write_json
from aerotwin_core.errors import UserError
from aerotwin_core.foreign_text import listed
from aerotwin_core.gate import add_gate_argument, check_gate_names, exit_code_of_gates
from aerotwin_run_evaluation.bag.slam_choice import AUTO, EXTERNAL, NONE, choose_slam

if TYPE_CHECKING:
    from aerotwin_core.bag import BagReader
    from aerotwin_run_evaluation.bag.roles import BagRoles
    from aerotwin_run_evaluation.run_judgement import RunEvaluation, RunRecord
    from aerotwin_worlds import World

DATASET = "dataset"
EXIT_FAILED = 1
OF_REPLAY = ("topic", "topics", "rate", "slam_process")  # no effect where nothing is played


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    # Arguments of the SLAM's launch file may stand between the options.
    parser.parse_args = parser.parse_intermixed_args  # type: ignore[method-assign]
    add = parser.add_argument
    add("bag", type=Path, help="bag: a folder, or one file of it")
    add("words", nargs="*", metavar="name:=value", help="arguments of the SLAM's file")
    add("--vehicle", default="", metavar="NAME", help="of a fleet, whose topics begin with NAME")
    add("-o", "--output", type=Path, help="folder of the report (runs/<time>-evaluation)")
    add(
        "--slam",
        default=AUTO,
        metavar="SLAM",
        help="stereo_odometry, kiss_icp; a description, by path or name (dso, openvins, ...: "
        "config/slams); a launch file; external (started by you), or none: judge what the bag "
        "holds; by default what its sensors suit",
    )
    add(
        "--slam-process",
        default="",
        metavar="REGEX",
        help="of the SLAM's command line, to measure its cost (known for a launch file)",
    )
    add("--recorded", action="store_true", help="the same as --slam none")
    _configure_replay(parser)
    add(
        "--truth",
        default="",
        metavar="SOURCE",
        help="topic, /tf:PARENT.CHILD or trajectory file (default: found in the bag)",
    )
    add(
        "--estimate",
        action="append",
        default=[],
        metavar="SOURCE",
        help="the same of the estimate: what the SLAM publishes (slam/odom), or, without --slam, "
        "what of the bag is judged; then it may be given several times",
    )
    add("--poses-of", default="", metavar="FRAME", help="frame that its poses are of (base_link)")
    add(
        "--map",
        default="",
        metavar="TOPIC",
        help="map of the SLAM (slam/map); of another source than the estimate only if named here",
    )
    add("--world", help="world whose surface is the true map (default: that of the bag's own run)")
    add("--protocol", metavar="NAME|FILE", help="fixes every choice of trajectory and map")
    add("--json", metavar="FILE", help="write the metrics as JSON (- = stdout)")
    add_gate_argument(parser)


def _configure_replay(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--rate",
        type=float,
        help="0 = lockstep, as fast as the SLAM answers; above = times real time (default: "
        "lockstep, and real time for a SLAM of yours that does not answer each frame)",
    )
    add("--start-s", type=float, default=0.0, help="leave out what was before")
    add("--duration-s", type=float, default=0.0, help="play no more than this")
    add(
        "--topic",
        action="append",
        default=[],
        metavar="NAME:=TOPIC",
        help="play a topic of the bag under another name; may be given several times",
    )
    add("--topics", nargs="+", default=[], metavar="TOPIC", help="play only these")
    add("--frames", default="", metavar="TOPIC", help="topic that makes the frames")


def run(arguments: argparse.Namespace) -> int:
    """Replay (or read), report, and check the result against the conditions."""
    from aerotwin_core.bag import BagReader
    from aerotwin_core.run_folder import make_run_folder
    from aerotwin_launch.arguments import split_tokens
    from aerotwin_report.runs import load_run, summary_lines
    from aerotwin_run_evaluation.bag.camera import body_frame
    from aerotwin_run_evaluation.bag.playing import first_sensor
    from aerotwin_run_evaluation.bag.protocols import map_protocol, trajectory_protocol
    from aerotwin_run_evaluation.bag.roles import find_roles, flight_parameters
    from aerotwin_run_evaluation.bag.slam_launch import find_description, inputs_of
    from aerotwin_run_evaluation.bag.vehicles import choose_vehicle
    from aerotwin_run_evaluation.declared_metrics import aliases
    from aerotwin_trajectory_evaluation.sensor_frames import mounting_of

    bag = BagReader(arguments.bag)  # a wrong path ends here, before anything starts
    vehicle = choose_vehicle(arguments.vehicle, bag)
    roles = find_roles(bag.topics, bag.counts, vehicle)
    asked = NONE if arguments.recorded else arguments.slam
    slam = choose_slam(asked, bag, roles, has_estimate=bool(arguments.estimate))
    description = find_description(slam)
    reads = inputs_of(description)
    _check(arguments, slam, bag, reads)
    if description is not None:
        from aerotwin_run_evaluation.described_slam import check_startable

        check_startable(description, split_tokens(arguments.words)[1])
    if arguments.poses_of:
        mounting_of(arguments.poses_of, arguments.bag, vehicle)
    trajectory_protocol(arguments.protocol)
    map_protocol(arguments.protocol)
    if (world := arguments.world) is None:
        world = str(flight_parameters(arguments.bag).get("world", ""))
    is_new = arguments.output is None or not arguments.output.exists()
    folder = arguments.output or make_run_folder(Path("runs"), "evaluation")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        if slam == NONE:
            code = _evaluate_recorded(arguments, bag, roles, folder, world)
        elif description is not None and reads == DATASET:
            code = _evaluate_described(arguments, description, bag, roles, folder, world)
        else:
            body = body_frame(bag, first_sensor(slam, roles, arguments.topic), vehicle)
            code = _replay(arguments, slam, folder, body, world, description)
    except UserError:
        if is_new and reads == DATASET:
            _remove_unused(folder)
        raise
    if code not in (0, EXIT_FAILED) or not (folder / "metrics.json").is_file():
        return code
    result = load_run(folder)
    if arguments.json != "-":
        say("\n".join(summary_lines(result)))
    write_json(arguments.json, result.document)
    return exit_code_of_gates(arguments.fail_if, result.document["sections"], aliases()) or code


def _check(arguments: argparse.Namespace, slam: str, bag: "BagReader", reads: str) -> None:
    """Check the arguments before anything starts; raises `UserError`, naming the option."""
    from aerotwin_run_evaluation.bag.slam_launch import check_pattern, is_launch_file
    from aerotwin_run_evaluation.declared_metrics import aliases

    for name in ("start-s", "duration-s", "rate"):
        value = getattr(arguments, name.replace("-", "_"))
        if value is not None and not 0.0 <= value < float("inf"):
            raise UserError(f"--{name}: expected a finite number from 0 on, found {value:g}")
    if (output := arguments.output) is not None and output.exists() and not output.is_dir():
        raise UserError(f"-o {output}: is no folder; name one, or nothing")
    if arguments.frames and arguments.frames not in bag.topics:
        held = listed(sorted(bag.topics)) or "nothing"
        raise UserError(f"--frames {arguments.frames}: no topic of the bag; it holds {held}")
    if arguments.words and not (reads or is_launch_file(slam)):
        word = arguments.words[0]
        raise UserError(f"{word}: arguments are for a launch file or a description, not {slam}")
    check_pattern(arguments.slam_process)
    _refuse_unheard(arguments, slam, reads)
    check_gate_names(arguments.fail_if, aliases())


def _refuse_unheard(arguments: argparse.Namespace, slam: str, reads: str) -> None:
    """Refuse options without effect, whether a bag is played or read.

    Raises `UserError`, naming the option and the way out.
    """
    if arguments.recorded and arguments.slam not in (AUTO, NONE):
        asked = f"--slam {arguments.slam}"
        raise UserError(f"--recorded judges what the bag holds, {asked} replays it: leave one out")
    of_files = (*OF_REPLAY, "estimate", "poses_of", "map")
    unheard = OF_REPLAY if slam == NONE else of_files if reads == DATASET else ()
    set_ones = [name for name in unheard if getattr(arguments, name) not in (None, "", [])]
    option = f"--{set_ones[0].replace('_', '-')}" if set_ones else ""
    if option and slam == NONE:
        raise UserError(
            f"{option} says how a bag is played, and nothing is played: what it holds is judged "
            "(--recorded, --slam none, --estimate alone); leave it out, or name a --slam"
        )
    if option:
        raise UserError(
            f"{option} has no effect on a SLAM that reads files; its description says what it "
            f"reads and writes: {slam}"
        )
    if not unheard and len(arguments.estimate) > 1:
        raise UserError(f"--estimate {arguments.estimate[1]}: a SLAM that is replayed has one "
                        "estimate; several are judged with --recorded")  # fmt: skip


def _replay(
    arguments: argparse.Namespace,
    slam: str,
    folder: Path,
    body: str,
    world: str,
    description: Path | None,
) -> int:
    from aerotwin_launch.arguments import split_tokens
    from aerotwin_launch.launch_command import launch_scenario
    from aerotwin_run_evaluation.bag.slam_launch import is_launch_file, write_slam_launch
    from aerotwin_run_evaluation.described_slam import words_of_replay

    words = {
        "bag": str(arguments.bag),
        "slam": slam,
        "topics": " ".join(arguments.topic),
        "only": " ".join(arguments.topics),
        "start_s": repr(arguments.start_s),
        "duration_s": repr(arguments.duration_s),
        "output": str(folder),
        "base_frame": body,
        "world": world,
    }
    for name in ("vehicle", "slam_process", "frames", "map", "truth", "protocol", "poses_of"):
        words[name] = getattr(arguments, name) or ""
    words["estimate"] = arguments.estimate[0] if arguments.estimate else ""
    if arguments.rate is not None:
        words["rate"] = repr(arguments.rate)
    of_slam = split_tokens(arguments.words)[1]
    if description is not None:
        described = words_of_replay(description, arguments.bag, folder, of_slam, words["vehicle"])
        words |= {name: words.get(name) or value for name, value in described.items()}
        words["slam"] = EXTERNAL
    elif is_launch_file(slam):
        started = write_slam_launch(folder, Path(slam), of_slam, dict(os.environ))
        words |= {"slam": EXTERNAL, "slam_file": str(started.file)}
        words["slam_process"] = words["slam_process"] or started.process
    (folder / "metrics.json").unlink(missing_ok=True)  # of an earlier run
    provided = {name: value for name, value in words.items() if value}
    return launch_scenario("aerotwin_bringup", "evaluate_bag.launch.yaml", provided)


def _evaluate_recorded(
    arguments: argparse.Namespace, bag: "BagReader", roles: "BagRoles", folder: Path, world: str
) -> int:
    """Evaluate what a bag holds, write the report, and return the exit code."""
    from aerotwin_core.run_folder import software_versions
    from aerotwin_run_evaluation.report.run_report import write_run_report
    from aerotwin_run_evaluation.run_judgement import judge_run

    record = _record(arguments, bag, roles, world)
    topics, is_quiet = record.topics, arguments.json == "-"
    n_steps = 2 + len(topics.estimates)
    if record.world is not None:
        from aerotwin_map_evaluation.evaluation import STEPS

        n_steps += 2 * len(STEPS)
    if not is_quiet:
        say(f"judges {', '.join(topics.estimates)} against {topics.truth or 'no truth'}")
    with progress(n_steps, "evaluate bag") as bar:

        def next_step(text: str) -> None:
            bar.set_postfix_str(text)
            bar.update(1)

        evaluation = judge_run(record, next_step)
        next_step("report")
        page = write_run_report(
            folder,
            evaluation,
            title=f"Evaluation of {bag.path.resolve().name}",
            configuration={
                "bag": str(bag.path),
                "vehicle": roles.vehicle,
                "world": world,
                "truth": topics.truth,
                "estimates": list(topics.estimates),
                "poses_of": arguments.poses_of,
                "map": topics.map,
                "versions": software_versions(),
            },
        )
    if not is_quiet:
        say(f"report: {page}")
    return _exit_code(evaluation)


def _remove_unused(folder: Path) -> None:
    """Remove the folder of a SLAM that was not started."""
    from aerotwin_slam_runs.run import has_output

    if not has_output(folder):
        shutil.rmtree(folder, ignore_errors=True)


def _exit_code(evaluation: "RunEvaluation") -> int:
    if evaluation.is_judged:
        return 0
    say_fatal(evaluation.not_judged())
    return EXIT_FAILED


def _evaluate_described(
    arguments: argparse.Namespace,
    description: Path,
    bag: "BagReader",
    roles: "BagRoles",
    folder: Path,
    world: str,
) -> int:
    """Run the SLAM of a description, write the report, and return the exit code."""
    from aerotwin_launch.arguments import split_tokens
    from aerotwin_run_evaluation.described_slam import DescribedRun, evaluate_described

    requested = DescribedRun(
        bag=bag,
        roles=roles,
        description=description,
        paths=split_tokens(arguments.words)[1],
        start_s=arguments.start_s,
        duration_s=arguments.duration_s,
        truth=arguments.truth,
        protocol=arguments.protocol,
        world=_world(world),
    )
    with progress(0, "evaluate bag") as bar:
        found = evaluate_described(requested, folder, bar.set_postfix_str)
    if arguments.json != "-":
        say(f"report: {found.page}")
    code = _exit_code(found.evaluation)
    if code == 0 and found.failure:
        say_fatal(UserError(f"{found.failure}; what it had written is judged"))
        return EXIT_FAILED
    return code


def _world(name: str) -> "World | None":
    if not name:
        return None
    from aerotwin_worlds import load_world

    return load_world(name)


def _record(
    arguments: argparse.Namespace, bag: "BagReader", roles: "BagRoles", world: str
) -> "RunRecord":
    """Return what of a bag is evaluated; without a world no map is."""
    from aerotwin_run_evaluation.bag.poses import on_header_clock
    from aerotwin_run_evaluation.bag.roles import recorded_topics
    from aerotwin_run_evaluation.run_judgement import RunRecord

    topics = recorded_topics(
        bag, roles, truth=arguments.truth, estimates=arguments.estimate,
        slam_map=arguments.map, frames=arguments.frames,
    )  # fmt: skip
    span_ns = None
    if arguments.start_s > 0.0 or arguments.duration_s > 0.0:
        start_ns = bag.start_ns + round(arguments.start_s * 1e9)
        duration_ns = round(arguments.duration_s * 1e9)
        end_ns = start_ns + duration_ns if duration_ns > 0 else bag.end_ns
        sources = (topics.truth, *topics.estimates, *topics.frames)
        span_ns = on_header_clock((start_ns, end_ns), ((bag, source) for source in sources))
    return RunRecord(
        truth_bag=bag, slam_bag=bag, world=_world(world), topics=topics,
        protocol=arguments.protocol, span_ns=span_ns, poses_of=arguments.poses_of,
        duration_s=(bag.end_ns - bag.start_ns) * 1e-9,
    )  # fmt: skip
