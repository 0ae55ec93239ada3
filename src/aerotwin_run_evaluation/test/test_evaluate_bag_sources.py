# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""`aerotwin evaluate bag`: which trajectory and map are judged together, and how placed."""

import json
import os
import signal

import numpy as np
import pytest

from aerotwin_core import messages
from aerotwin_core.bag import BagWriter
from aerotwin_core.cli import main
from aerotwin_run_evaluation.bag.protocols import map_protocol, trajectory_protocol
from aerotwin_run_evaluation.bag.slam_launch import described_slams
from aerotwin_run_evaluation.map_process import MapProcess

LEVEL, ZERO = (0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0)
N_POSES = 60
AWAY_M = np.array([12.0, 2.0, 0.5])
ROUNDING = 1e-6
# A hill of 20 m by 20 m, few triangles: judged in a second.
WORLD = """name: hill
mesh: hill.obj
attribution: this test
licence: Apache-2.0
origin: {latitude_deg: 47.0, longitude_deg: 8.0, altitude_m: 400.0}
"""
QUICK = "name: quick\nmap: {sensitivity_m: [], voxel_m: 1.0}\n"


def path_at(k):
    return np.array([0.1 * k, 1.5 * np.sin(0.1 * k), 3.0])


def ground(n=2000):
    rng = np.random.default_rng(1000)
    xy = rng.uniform(-9.0, 9.0, (n, 2))
    return np.column_stack([xy, np.sin(0.4 * xy[:, 0]) + np.cos(0.5 * xy[:, 1])])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A bag of a SLAM that began 12 m away, with its map; another SLAM's path; a world."""
    monkeypatch.chdir(tmp_path)
    with BagWriter(tmp_path / "bag") as writer:
        writer.add_topic("/truth/odom", "nav_msgs/msg/Odometry")
        writer.add_topic("/slam/odom", "nav_msgs/msg/Odometry")
        writer.add_topic("/slam/map", "sensor_msgs/msg/PointCloud2")
        lines = []
        for k in range(N_POSES):
            stamp, p = k * 50_000_000, path_at(k)
            for topic, frame, at in (("/truth/odom", "map", p), ("/slam/odom", "odom", p - AWAY_M)):
                odometry = messages.odometry_message(stamp, frame, "body", at, LEVEL, ZERO, ZERO)
                writer.write(topic, stamp, messages.serialize(odometry))
            other = p + np.array([40.0, 0.0, 0.0])
            lines.append(f"{k * 0.05:.2f} {other[0]} {other[1]} {other[2]} 0 0 0 1")
        cloud = messages.point_cloud_message(stamp, "odom", ground() - AWAY_M)
        writer.write("/slam/map", stamp, messages.serialize(cloud))
    (tmp_path / "other_slam.tum").write_text("\n".join(lines))
    (tmp_path / "quick.yaml").write_text(QUICK)
    n = 41
    x, y = (each.ravel() for each in np.meshgrid(*[np.linspace(-10.0, 10.0, n)] * 2, indexing="ij"))
    z = np.sin(0.4 * x) + np.cos(0.5 * y)
    mesh = [f"v {a} {b} {c}" for a, b, c in zip(x, y, z, strict=True)]
    for i in range(n - 1):
        for j in range(n - 1):
            a = i * n + j + 1
            mesh += [f"f {a} {a + n} {a + n + 1}", f"f {a} {a + n + 1} {a + 1}"]
    (tmp_path / "hill.obj").write_text("\n".join(mesh))
    (tmp_path / "hill.yaml").write_text(WORLD)
    return tmp_path


def judged(folder, capsys, *tokens):
    options = ("--slam", "none", "--world", "hill.yaml", "--protocol", "quick.yaml", "-o", "out")
    code = main(["evaluate", "bag", "bag", *options, *tokens])
    said = capsys.readouterr()
    assert code == 0, said.err
    return json.loads((folder / "out" / "metrics.json").read_text()), said.out


def test_what_was_joined_is_not_called_as_given(folder, capsys):
    metrics, said = judged(folder, capsys)
    trajectory = metrics["sections"]["trajectory"]
    assert trajectory["start"]["state"] == "first poses joined"
    away = np.linalg.norm(AWAY_M)
    assert trajectory["start"]["as_given_rmse_m"] == pytest.approx(away, abs=ROUNDING)
    assert trajectory["ape_unaligned"]["trans_m"]["rmse"] == pytest.approx(0.0, abs=ROUNDING)
    verdict = metrics["verdicts"]["trajectory"]
    assert "with first poses joined; 12.2 m as given (in its own frame, which" in verdict
    assert verdict in said
    assert "first poses joined, nothing else fitted" in said
    page = (folder / "out" / "report.html").read_text()
    assert "m, nothing fitted" not in page
    # The SLAM's own map, where its own start puts it.
    surface = metrics["sections"]["map"]["surface"]["unaligned"]
    assert surface["median_m"] < 0.02
    assert metrics["warnings"] == []


def test_a_report_says_what_is_missing_when_the_process_of_the_map_is_killed(
    folder, capsys, monkeypatch
):
    judge = MapProcess.judge

    def killed(self, *rest):
        os.kill(self.pid, signal.SIGKILL)
        return judge(self, *rest)

    monkeypatch.setattr(MapProcess, "judge", killed)
    metrics, said = judged(folder, capsys)
    assert metrics["sections"].keys() >= {"trajectory"}
    assert "map" not in metrics["sections"]
    (line,) = metrics["warnings"]
    assert line.startswith("The map on /slam/map is not judged: the process that evaluates it was")
    assert line in said


def test_the_map_of_another_slam_is_not_judged_with_a_given_path(folder, capsys):
    metrics, said = judged(folder, capsys, "--estimate", "other_slam.tum")
    assert metrics["sections"].keys() >= {"trajectory"}
    assert "map" not in metrics["sections"]
    line = "The map on /slam/map is not judged: it is of another source than other_slam.tum."
    assert any(line in text for text in metrics["warnings"])
    assert line in said


def test_two_sources_that_are_asked_for_are_said_to_be_two(folder, capsys):
    metrics, said = judged(folder, capsys, "--estimate", "other_slam.tum", "--map", "/slam/map")
    line = "Two sources: the trajectory is other_slam.tum, the map on /slam/map is of another SLAM"
    assert line in said
    assert "where the first pose of /slam/odom puts it" in said
    surface = metrics["sections"]["map"]["surface"]["unaligned"]
    assert surface["median_m"] < 0.02
    assert "space" not in metrics["sections"]


def test_a_bag_without_truth_names_what_it_holds(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with BagWriter(tmp_path / "bag") as writer:
        for topic in ("/vio/odom", "/autopilot/pose"):
            writer.add_topic(topic, "nav_msgs/msg/Odometry")
            for k in range(N_POSES):
                odometry = messages.odometry_message(
                    k * 50_000_000, "odom", "body", path_at(k), LEVEL, ZERO, ZERO
                )
                writer.write(topic, k * 50_000_000, messages.serialize(odometry))
    assert main(["evaluate", "bag", "bag", "--recorded", "-o", "out"]) == 1
    said = capsys.readouterr()
    assert "/truth/odom" not in said.out + said.err
    assert "no topic is called truth" in said.err
    assert "the bag holds /autopilot/pose, /vio/odom" in said.err
    assert "by --truth" in said.err


@pytest.mark.parametrize("name", ["kitti", "beam2024"])
def test_a_file_of_the_working_folder_does_not_take_the_place_of_a_preset(
    tmp_path, monkeypatch, name
):
    meant = [made and made.hash for made in (trajectory_protocol(name), map_protocol(name))]
    (tmp_path / name).write_text(QUICK)
    monkeypatch.chdir(tmp_path)
    assert [p and p.hash for p in (trajectory_protocol(name), map_protocol(name))] == meant
    assert map_protocol(f"./{name}").choices.voxel_m == 1.0


def test_the_template_of_a_description_is_no_slam_that_ships():
    assert {"dso", "openvins"} < {*described_slams()}
    assert "template" not in described_slams()
