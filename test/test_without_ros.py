# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The evaluator works where nothing of ROS is installed: no rclpy, no messages, no generators."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from aerotwin_core import messages
from aerotwin_core.bag import BagWriter
from aerotwin_registration import write_cloud
from support.evaluator_inputs import (
    SECOND,
    SIGMA,
    shifted_ground,
    wavy_ground,
    write_odometry,
    write_trajectories,
)

ROOT = Path(__file__).resolve().parents[1]
# Packages, files and records of ROS in an environment; rosbags is none of it.
OF_ROS = re.compile(
    r"(rcl|rmw|rosidl|rosgraph|rpyutils|ros_|ament|launch|simulation_interfaces|tf2|fastcdr|fastrtps|builtin_interfaces|"
    r"std_srvs|type_description_interfaces|\w+_msgs)"
)
EVALUATOR = (
    "aerotwin_core",
    "aerotwin_registration",
    "aerotwin_meshes",
    "aerotwin_tiles",
    "aerotwin_generated_worlds",
    "aerotwin_rendering",
    "aerotwin_worlds",
    "aerotwin_voxel_cloud",
    "aerotwin_map_evaluation",
    "aerotwin_trajectory_evaluation",
    "aerotwin_comparison",
    "aerotwin_datasets",
    "aerotwin_report",
)
ROUNDING = 1e-3  # of a text of six digits, against doubles

# What the child runs: argument 1 is its path, 2 the modules to load, 3 the commands.
CHILD = """
import importlib, json, sys
sys.path[1:1] = json.loads(sys.argv[1])
for name in ("rclpy", "sensor_msgs", "rosidl_parser", "rmw", "tf2_msgs", "builtin_interfaces"):
    try:
        importlib.import_module(name)
    except ImportError:
        continue
    sys.exit(f"{name} is there after all")
for name in json.loads(sys.argv[2]):
    importlib.import_module(name)
from aerotwin_core.cli import main
codes = [main(words) for words in json.loads(sys.argv[3])]
sys.stderr.write(json.dumps(codes))
"""


@pytest.fixture(scope="module")
def path_without_ros(tmp_path_factory) -> list[str]:
    """A copy of this environment's path, of links, without anything of ROS."""
    folders = []
    for number, entry in enumerate(path for path in sys.path if Path(path).is_dir()):
        if "site-packages" not in entry and not Path(entry).is_relative_to(ROOT):
            continue  # of Python itself
        folder = tmp_path_factory.mktemp(f"path_{number}_")
        for item in Path(entry).iterdir():
            if not OF_ROS.match(item.name):
                (folder / item.name).symlink_to(item)
        folders.append(str(folder))
    return folders


def pure_modules() -> list[str]:
    found = []
    for package in EVALUATOR:
        top = ROOT / "src" / package / package
        for file in sorted(top.rglob("*.py")):
            parts = file.relative_to(top.parent).with_suffix("").parts
            if "ros" not in parts and not file.stem.startswith("test"):
                found.append(".".join(part for part in parts if part != "__init__"))
    return found


def run(path: list[str], modules: list[str], commands: list[list[str]]) -> tuple[list[int], str]:
    """Run commands in a child that sees the path only; return their exit codes and output."""
    retained = (
        "HOME",
        "PATH",
        "LANG",
        "OMP_WAIT_POLICY",
        "OPENBLAS_NUM_THREADS",
        "NUMBA_THREADING_LAYER",
        "NUMBA_CACHE_DIR",
    )
    child = subprocess.run(
        [sys.executable, "-I", "-S", "-c", CHILD, *map(json.dumps, (path, modules, commands))],
        env={name: os.environ[name] for name in retained if name in os.environ},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert child.returncode == 0, child.stderr[-3000:]
    return json.loads(child.stderr[child.stderr.rindex("[") :]), child.stdout


@pytest.fixture
def inputs(tmp_path) -> Path:
    """A folder with a reference and an estimate of a map and of a trajectory, and a bag of both."""
    write_cloud(tmp_path / "model.ply", wavy_ground(6000))
    write_cloud(tmp_path / "slam.npz", shifted_ground())
    rows = write_trajectories(tmp_path)
    with BagWriter(tmp_path / "bag") as writer:
        writer.add_topic("/odom", "nav_msgs/msg/Odometry")
        writer.add_topic("/map", "sensor_msgs/msg/PointCloud2")
        write_odometry(writer, rows)
        cloud = messages.point_cloud_message(0, "map", wavy_ground(4000))
        writer.write("/map", 20 * SECOND, messages.serialize(cloud))
    return tmp_path


def read(folder: Path, name: str) -> dict:
    return json.loads((folder / name).read_text())


def test_the_version_says_that_there_is_no_ros(path_without_ros):
    codes, out = run(path_without_ros, [], [["--version"]])
    assert codes == [0]
    assert re.fullmatch(r"aerotwin \d+\.\d+\.\d+, Python 3\.\d+\.\d+, no ROS\n", out)


@pytest.mark.slow
def test_the_evaluator_runs_where_no_ros_is_installed(path_without_ros, inputs):
    def file(name: str) -> str:
        return str(inputs / name)

    evaluate = ["evaluate"]
    study = {"runs": [{"method": "ours", "sequence": "hall", "reference": file("truth.txt"),
                       "estimate": file("estimate.txt")}]}  # fmt: skip
    (inputs / "study.yaml").write_text(json.dumps(study))
    commands = [
        [*evaluate, "trajectory", file("truth.txt"), file("estimate.txt"), "-o", file("t"),
         "--json", file("t.json")],
        [*evaluate, "trajectory", file("truth.txt"), file("bag:/odom"), "--json", file("b.json")],
        [*evaluate, "map", file("model.ply"), file("slam.npz"), "-o", file("m"),
         "--json", file("m.json")],
        [*evaluate, "map", file("model.ply"), file("bag:/map"), "--json", file("n.json")],
        [*evaluate, "twin", file("slam.npz"), file("slam.npz"), "--reference", file("model.ply"),
         "--kind-a", "simulated", "--kind-b", "real", "--json", file("w.json")],
        [*evaluate, "study", file("study.yaml"), "--json", file("s.json")],
    ]  # fmt: skip
    codes, _ = run(path_without_ros, pure_modules(), commands)
    assert codes == [0] * len(commands)
    rmse, of_bag = (read(inputs, name)["ape"]["trans_m"]["rmse"] for name in ("t.json", "b.json"))
    assert SIGMA < rmse < 2.0 * SIGMA  # of a vector of three: sqrt(3) sigma
    assert of_bag == pytest.approx(rmse, rel=ROUNDING)
    for name in ("m.json", "n.json"):
        assert read(inputs, name)["alignment"]["converged"]
    assert (inputs / "t" / "report.html").stat().st_size > 10_000
    assert (inputs / "m" / "report.html").stat().st_size > 10_000
