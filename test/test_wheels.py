# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Wheels in a fresh virtual environment: no ROS, no colcon, no compiler, nothing of the workspace.

The second test adds to the environment of the first.
"""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from aerotwin_core import messages
from aerotwin_core.bag import BagWriter
from aerotwin_core.camera_messages import image_message
from aerotwin_registration import write_cloud
from support.evaluator_inputs import (
    SIGMA,
    shifted_ground,
    wavy_ground,
    write_odometry,
    write_trajectories,
)

ROOT = Path(__file__).resolve().parents[1]
LARGEST_BYTES = 400e6  # of the environment with `aerotwin[evaluate]`, pip included
API = """
from aerotwin_trajectory_evaluation import evaluate_trajectory, read_trajectory
evaluation = evaluate_trajectory(read_trajectory("truth.txt"), read_trajectory("estimate.txt"))
print((evaluation.ape.trans_m**2).mean() ** 0.5)
"""

pytestmark = [pytest.mark.slow, pytest.mark.machine_network]


@pytest.fixture(scope="module")
def wheels(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheels")
    command = [sys.executable, "-P", str(ROOT / ".ci" / "wheels.py"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


class FreshEnvironment:
    """A virtual environment that nothing of the workspace leaks into, and a folder to work in."""

    def __init__(self, folder: Path, wheels: Path) -> None:
        self.prefix, self.work, self._wheels = folder / "venv", folder / "work", wheels
        self.work.mkdir()
        subprocess.run([sys.executable, "-P", "-m", "venv", str(self.prefix)], check=True)

    def pip(self, *words: str) -> subprocess.CompletedProcess[str]:
        of_workspace = ("PYTHONPATH", "VIRTUAL_ENV", "AMENT_PREFIX_PATH", "LD_LIBRARY_PATH")
        command = [str(self.prefix / "bin/python"), "-m", "pip", *words, "--no-input", "--quiet"]
        return subprocess.run(
            [*command, "--disable-pip-version-check"],
            env={name: text for name, text in os.environ.items() if name not in of_workspace},
            capture_output=True,
            text=True,
            check=False,
        )

    def install(self, requirement: str) -> None:
        """Install from the wheels and the package index; nothing may have to be compiled."""
        links = ("--find-links", str(self._wheels), "--only-binary", ":all:")
        done = self.pip("install", *links, requirement)
        assert done.returncode == 0, done.stderr[-3000:]

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment, which is all that is on the PATH."""
        return subprocess.run(
            [str(self.prefix / "bin" / words[0]), *words[1:]],
            env={"HOME": str(self.work), "PATH": str(self.prefix / "bin")},
            cwd=self.work,
            capture_output=True,
            text=True,
            check=False,
        )

    def size_bytes(self) -> int:
        files = (path.lstat() for path in self.prefix.rglob("*"))
        return sum(file.st_blocks * 512 for file in files)


@pytest.fixture(scope="module")
def fresh(tmp_path_factory, wheels) -> FreshEnvironment:
    environment = FreshEnvironment(tmp_path_factory.mktemp("fresh"), wheels)
    tried = environment.pip("download", "--no-deps", "tqdm", "-d", str(environment.work / "tried"))
    if tried.returncode != 0:
        pytest.skip(f"no package index can be reached: {tried.stderr.strip()[-200:]}")
    write_inputs(environment.work)
    return environment


def write_inputs(folder: Path) -> None:
    """Write a reference and an estimate of a map and of a trajectory, and a bag of the latter."""
    write_cloud(folder / "model.ply", wavy_ground(6000))
    write_cloud(folder / "slam.ply", shifted_ground())
    rows = write_trajectories(folder)
    image = image_message(0, "cam", np.full((48, 64), 90, np.uint8))
    with BagWriter(folder / "bag") as writer:
        writer.add_topic("/odom", "nav_msgs/msg/Odometry")
        writer.add_topic("/camera/image_raw", "sensor_msgs/msg/Image")
        writer.write("/camera/image_raw", 0, messages.serialize(image))
        write_odometry(writer, rows)


def result_of(fresh: FreshEnvironment, *words: str) -> dict:
    """Run a verb of `aerotwin` that writes JSON, and return that."""
    done = fresh.run("aerotwin", *words, "--json", "result.json")
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads((fresh.work / "result.json").read_text())


def test_a_wheel_holds_its_data_and_no_tests(wheels):
    assert len([*wheels.glob("*.whl")]) == len([*ROOT.glob("src/*/setup.py")])
    names = [name for path in wheels.glob("*.whl") for name in zipfile.ZipFile(path).namelist()]
    assert not [name for name in names if "/test" in name or name.startswith("test")]
    for end in ("worlds/cliff.yaml", "metrics.schema.json", "launch/sitl_flight.launch.yaml",
                "config/missions/cliff.yaml", "page/report.css", "airframes/iris.yaml",
                "network/loopback.xml", "presets/camera/mt9v034_stereo.yaml"):  # fmt: skip
        assert [name for name in names if name.endswith(end)], end


def test_the_evaluator_is_small_and_judges_trajectories_and_bags(fresh):
    fresh.install("aerotwin[evaluate]")
    assert fresh.size_bytes() < LARGEST_BYTES
    trajectory = result_of(
        fresh, "evaluate", "trajectory", "truth.txt", "estimate.txt", "-o", "trajectory"
    )
    rmse = trajectory["ape"]["trans_m"]["rmse"]
    assert SIGMA < rmse < 2.0 * SIGMA  # of a vector of three: sqrt(3) sigma
    bag = result_of(fresh, "evaluate", "bag", "bag", "--estimate", "/odom", "--truth", "truth.txt",
                    "-o", "run", "--fail-if", "ape_rmse_m > 0.1")  # fmt: skip
    assert bag["sections"].keys() >= {"trajectory", "frames"}
    for name in ("trajectory", "run"):
        assert (fresh.work / name / "report.html").stat().st_size > 10_000
    done = fresh.run("python", "-c", API)
    assert float(done.stdout) == pytest.approx(rmse), done.stderr


def test_what_the_evaluator_lacks_is_named_with_the_extra_that_brings_it(fresh):
    fresh.install("aerotwin[evaluate]")
    for words, missing in (
        (["evaluate", "map", "model.ply", "slam.ply"], "evaluate map is not installed"),
        (["evaluate", "bag", "bag", "--estimate", "/odom", "--truth", "truth.txt", "--world",
          "cliff", "-o", "with_map"], "evaluate bag: needs aerotwin_worlds"),
    ):  # fmt: skip
        done = fresh.run("aerotwin", *words)
        assert done.returncode == 2
        (line,) = done.stderr.splitlines()
        assert missing in line and "pip install 'aerotwin[maps]'" in line


def test_maps_voxels_and_worlds_come_with_their_extra(fresh):
    fresh.install("aerotwin[maps]")
    judged = result_of(fresh, "evaluate", "map", "model.ply", "slam.ply", "-o", "map")
    assert judged["alignment"]["converged"]
    for words, written in (
        (["voxels", "model.ply", "--resolution-m", "1", "-o", "voxels.ply"], "voxels.ply"),
        (["world", "render", "grassland", "-o", "grassland.png"], "grassland.png"),
    ):
        done = fresh.run("aerotwin", *words)
        assert done.returncode == 0, done.stdout + done.stderr
        assert (fresh.work / written).stat().st_size > 1000
