# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Replay a bag through the SLAM under test and judge what comes out.

The bag needs a stereo pair with camera_info (raw ones are rectified) and /tf_static; with
/truth/odom the trajectory is judged, with a world also the map. A bag that a killed run left behind
is read up to its last whole second.

  aerotwin evaluate bag runs/20260101-120000-demo/bag
  aerotwin evaluate bag build/kitti_06 -o build/kitti_report --json -
  aerotwin evaluate bag my_bag --slam external      (start your own SLAM beside it)
  aerotwin evaluate bag runs/.../bag --recorded     (judge the answers that the bag holds)
"""

import argparse
import json
from pathlib import Path

import yaml


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("bag", type=Path, help="bag folder")
    parser.add_argument("-o", "--output", type=Path, help="folder of the report (new by default)")
    parser.add_argument(
        "--world", help="world whose surface is the true map (default: that of the bag's own run)"
    )
    parser.add_argument(
        "--slam",
        choices=("stereo_odometry", "external"),
        default="stereo_odometry",
        help="who answers the frames",
    )
    parser.add_argument(
        "--recorded", action="store_true", help="judge the recorded slam/odom and slam/map instead"
    )
    parser.add_argument("--json", metavar="FILE", help="write the metrics as JSON (- = stdout)")


def run(arguments: argparse.Namespace) -> int:
    """Replay (or read) and report."""
    from aerotwin_core.bag import BagReader
    from aerotwin_core.cli import write_json

    bag = BagReader(arguments.bag)  # a wrong path ends here, before anything starts
    world = arguments.world if arguments.world is not None else _world_of_run(arguments.bag)
    if arguments.recorded:
        folder, code = _judge_recorded(bag, world, arguments.output), 0
    else:
        folder, code = _replay(arguments, world)
    metrics = folder / "metrics.json"
    if arguments.json is not None and code == 0:
        write_json(arguments.json, json.loads(metrics.read_text(encoding="utf-8")))
    return code


def _world_of_run(bag: Path) -> str:
    """Return the world that the configuration beside the bag names, or nothing."""
    configuration = bag.resolve().parent / "config.yaml"
    if not configuration.is_file():
        return ""
    content = yaml.safe_load(configuration.read_text(encoding="utf-8"))
    return str(content.get("parameters", {}).get("world", ""))


def _replay(arguments: argparse.Namespace, world: str) -> tuple[Path, int]:
    from aerotwin_bringup.launch_command import launch_scenario
    from aerotwin_simulator.run_folder import make_run_folder

    output = arguments.output or make_run_folder(Path("runs"), "evaluation")
    code = launch_scenario(
        "evaluate_bag.launch.yaml",
        {
            "bag": str(arguments.bag),
            "world": world,
            "slam": arguments.slam,
            "output": str(output),
        },
    )
    return output, code


def _judge_recorded(bag: object, world: str, output: Path | None) -> Path:
    from aerotwin_bringup.run_report import RunRecord, write_run_report
    from aerotwin_core.bag import BagReader
    from aerotwin_simulator.run_folder import make_run_folder, software_versions
    from aerotwin_worlds import load_world

    assert isinstance(bag, BagReader)
    folder = output or make_run_folder(Path("runs"), "evaluation")
    folder.mkdir(parents=True, exist_ok=True)
    record = RunRecord(
        folder=folder,
        title=f"Evaluation of {bag.path.resolve().name}",
        truth_bag=bag,
        slam_bag=bag,
        world=load_world(world) if world else None,
        configuration={"bag": str(bag.path), "world": world, "versions": software_versions()},
        duration_s=(bag.end_ns - bag.start_ns) * 1e-9,
    )
    print(f"report: {write_run_report(record)}")
    return folder
