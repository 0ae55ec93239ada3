# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Programs that read a data set and write a trajectory, through `aerotwin evaluate bag --slam`."""

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from scipy.spatial.distance import pdist

from aerotwin_core.bag import BagReader
from aerotwin_core.cli import main
from aerotwin_core.frames import make_transform
from aerotwin_core.messages import deserialize
from aerotwin_core.point_clouds import point_cloud_arrays
from aerotwin_datasets import export_bag, export_settings, read_recording
from aerotwin_datasets.calibration import calibrated
from aerotwin_datasets.stereo_rectification import rectified_pair
from aerotwin_slam_runs import load_description, program
from support.dataset_samples import N_FRAMES, START_NS, mounting, state, write_recording
from support.slam_scripts import DESCRIPTION, FRAME_NS, IMU_TRUTH

FILE_DIGITS = 1e-6  # of the scripts below, relative
SCALE, YAW = 0.25, 0.7
NOTICE_BYTES = 64


def sections(folder: Path) -> dict:
    return json.loads((folder / "metrics.json").read_text())["sections"]


def poses_in(folder: Path) -> np.ndarray:
    return BagReader(folder / "bag").trajectory("/slam/odom").p_ref_body


def tum_script(stamps_ns, poses, extra="") -> str:
    """A program that writes these poses, and what it is told beside."""
    from aerotwin_core.frames import pose_from_transform

    lines = []
    for at, T in zip(stamps_ns, poses, strict=True):
        p, q = pose_from_transform(T)
        lines.append(" ".join(map(repr, [at * 1e-9, *map(float, p), *map(float, q)])))
    return f"open('trajectory.txt', 'w').write({chr(10).join(lines)!r})\n{extra}"


def true_base(stamps_ns) -> list[np.ndarray]:
    found = []
    for at in stamps_ns:
        p, R, _, _ = state((at - START_NS) * 1e-9)
        found.append(make_transform(R.as_matrix(), p))
    return found


FRAMES_NS = [START_NS + k * FRAME_NS for k in range(N_FRAMES)]


def test_a_program_that_writes_the_true_poses_of_the_imu_has_no_error(evaluate):
    code, folder, _ = evaluate(IMU_TRUTH)
    assert code == 0
    found = sections(folder)
    assert found["trajectory"]["ape"]["trans_m"]["rmse"] < FILE_DIGITS
    assert found["resources"]["n_frames"] == N_FRAMES
    assert "slam.py" in json.dumps(json.loads((folder / "metrics.json").read_text()))


def test_a_camera_without_scale_is_laid_onto_the_truth_with_its_map(evaluate):
    true = true_base(FRAMES_NS)
    yaw = np.array([[np.cos(YAW), -np.sin(YAW), 0], [np.sin(YAW), np.cos(YAW), 0], [0, 0, 1]])
    shift = np.array([3.0, -1.0, 2.0])

    def in_slam(T):
        return make_transform(yaw @ T[:3, :3], SCALE * (yaw @ T[:3, 3]) + shift)

    points = np.array([[0.5, 0.25, 1.0], [4.0, -2.0, 0.5], [1.0, 8.0, 2.0]])
    rows = (
        "\\n".join(" ".join(map(repr, SCALE * (yaw @ p) + shift)) for p in points)
        .replace("np.float64", "")
        .replace("(", "")
        .replace(")", "")
    )
    ply = (
        "open('map.ply', 'w').write('ply\\nformat ascii 1.0\\nelement vertex 3\\n"
        "property double x\\nproperty double y\\nproperty double z\\nend_header\\n"
        f"{rows}\\n')"
    )
    code, folder, _ = evaluate(
        tum_script(FRAMES_NS, [in_slam(T @ mounting(0)) for T in true], ply),
        cameras=["stereo_left"],
        trajectory={"file": "trajectory.txt", "poses_of": "camera", "is_metric": False},
        map={"file": "map.ply"},
    )
    assert code == 0
    assert poses_in(folder) == pytest.approx(np.array([T[:3, 3] for T in true]), abs=1e-5)
    (cloud,) = [raw for _, _, raw in BagReader(folder / "bag").raw(["/slam/map"])]
    arrays = point_cloud_arrays(deserialize(cloud, "sensor_msgs/msg/PointCloud2"))
    placed = np.column_stack([arrays[axis] for axis in "xyz"])
    assert placed == pytest.approx(points, abs=1e-4)
    report = (folder / "report.html").read_text()
    assert "Sim(3), scale 4" in report
    start = sections(folder)["trajectory"]["start"]
    assert start["state"] == "scale, shift and rotation fitted beforehand"
    assert start["as_given_rmse_m"] is None
    assert "as given" not in report.split("</h1>")[1].split("Map and trajectory")[0]


def test_poses_of_the_rectified_camera_are_turned_back(evaluate, bag):
    pair = [calibrated(c, c.name, np.eye(4), 0.0) for c in read_recording(bag).cameras]
    (R_left, _), _ = rectified_pair(*pair)
    turn = make_transform(R_left.T, np.zeros(3))
    assert np.trace(R_left) < 3.0 - 5e-5  # half a degree
    poses = [T @ mounting(0) @ turn for T in true_base(FRAMES_NS)]
    code, folder, _ = evaluate(
        tum_script(FRAMES_NS, poses),
        cameras=["stereo_left", "stereo_right"],
        trajectory={"file": "trajectory.txt", "poses_of": "rectified_camera"},
    )
    assert code == 0
    true = np.array([T[:3, 3] for T in true_base(FRAMES_NS)])
    # The frame of the SLAM is its own: distances are compared.
    np.testing.assert_allclose(pdist(poses_in(folder)), pdist(true), atol=1e-6)
    code, _, errors = evaluate(
        "pass",
        cameras=["stereo_left"],
        trajectory={"file": "trajectory.txt", "poses_of": "rectified_camera"},
    )
    assert code == 2
    assert "rectified_camera needs two cameras side by side, found stereo_left" in errors


def test_poses_of_a_lidar_become_those_of_the_body(tmp_path, evaluate):
    lever = make_transform(mounting(1)[:3, :3], [0.3, 0.2, 0.5])
    scans = write_recording(tmp_path / "scans" / "bag", frame_ns=FRAME_NS, T_base_lidar=lever)
    code, folder, _ = evaluate(
        tum_script(FRAMES_NS, [T @ lever for T in true_base(FRAMES_NS)]),
        bag=scans,
        trajectory={"file": "trajectory.txt", "poses_of": "lidar"},
    )
    assert code == 0
    true = np.array([T[:3, 3] for T in true_base(FRAMES_NS)])
    np.testing.assert_allclose(pdist(poses_in(folder)), pdist(true), atol=1e-6)


def test_the_scale_of_a_metric_slam_is_its_error(evaluate):
    halved = [make_transform(T[:3, :3], 0.5 * T[:3, 3]) for T in true_base(FRAMES_NS)]
    trajectory = {"file": "trajectory.txt", "poses_of": "base"}
    code, folder, _ = evaluate(tum_script(FRAMES_NS, halved), trajectory=trajectory)
    assert code == 0
    path_m = np.linalg.norm(np.ptp([T[:3, 3] for T in true_base(FRAMES_NS)], axis=0))
    assert sections(folder)["trajectory"]["ape"]["trans_m"]["rmse"] > 0.1 * path_m


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("raise SystemExit(3)", ["ended with code 3", "slam.log, which is empty"]),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", ["ended with signal 11"]),
        ("pass", ["wrote no trajectory trajectory.txt"]),
        ("open('trajectory.txt', 'w').write('')", ["trajectory.txt"]),
        ("open('trajectory.txt', 'w').write('1 2 nonsense\\n')", ["trajectory.txt"]),
        (
            "open('trajectory.txt', 'w').write('1.0 nan 0 0 0 0 0 1\\n2.0 0 0 0 0 0 0 1\\n')",
            ["trajectory.txt"],
        ),
    ],
)
def test_a_slam_that_fails_is_a_result_that_says_how(evaluate, script, expected):
    code, folder, errors = evaluate(script)
    assert code == 1
    page = (folder / "report.html").read_text()
    for text in expected:
        assert text in errors
        assert text in page
    assert (folder / "slam.log").is_file()
    assert sections(folder)["resources"]


def test_key_frames_cover_what_lies_between_them(evaluate, bag, tmp_path):
    some = [0, 1, 3, 4]
    poses = true_base([FRAMES_NS[k] for k in some])
    script = tum_script([FRAMES_NS[k] for k in some], poses)
    flight = {"world": "cliff", "mission": {"file": "cliff.yaml"}, "seed": 7}
    (bag.parent / "config.yaml").write_text(yaml.safe_dump({"parameters": flight}))
    for gap_s, coverage in ((0.0, 0.8), (1.1, 1.0)):
        trajectory = {"file": "trajectory.txt", "poses_of": "base", "keyframe_gap_s": gap_s}
        code, folder, _ = evaluate(script, "--world", "", trajectory=trajectory)
        assert code == 0
        assert sections(folder)["trajectory"]["coverage"] == pytest.approx(coverage)
        result = tmp_path / "study.json"
        study = ["evaluate", "study", "--runs", str(folder), "-o", str(tmp_path / "study")]
        assert main([*study, "--json", str(result)]) == 0
        (row,) = json.loads(result.read_text())["runs"]
        assert row["coverage_percent"] == pytest.approx(100.0 * coverage)


def test_what_helps_is_named_by_the_keys_of_the_description(evaluate):
    tenths = [*range(5), *range(21, 26)]  # a gap of 1.7 s
    some = [START_NS + k * 100_000_000 for k in tenths]
    as_camera = {"file": "trajectory.txt", "poses_of": "camera"}
    for poses_of in ("base", "camera"):
        trajectory = as_camera | {"poses_of": poses_of}
        script = tum_script(some, true_base(some))
        _, folder, _ = evaluate(script, trajectory=trajectory)
        metrics = json.loads((folder / "metrics.json").read_text())
        said = " ".join(metrics["section_warnings"]["trajectory"])
        assert "trajectory.keyframe_gap_s: 2 in its description" in said
        assert ("trajectory.poses_of in its description" in said) == (poses_of == "camera")
        assert "--" not in said


STARTS_A_SLEEPER = """
import subprocess, sys, time
code = "import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(600)"
sleeper = subprocess.Popen({command})
while not (os.path.exists("pid") and open("pid").read()):
    time.sleep(0.01)
print("waiting", flush=True)
"""


@pytest.mark.parametrize(
    "command",
    [
        '[sys.executable, "-c", code]',
        '[sys.executable, "-c", code], start_new_session=True',
        """["sh", "-c", 'env -i setsid "$0" -c "$1" &', sys.executable, code]""",
    ],
    ids=["child", "session", "daemon"],
)
@pytest.mark.parametrize("is_hung", [False, True])
def test_nothing_that_a_slam_started_outlives_it(evaluate, command, is_hung):
    script = "import os" + STARTS_A_SLEEPER.format(command=command)
    script += "time.sleep(600)" if is_hung else IMU_TRUTH
    code, folder, errors = evaluate(script, timeout_s=3.0 if is_hung else 60.0)
    assert code == int(is_hung)
    assert ("had not ended after 3 s" in errors) == is_hung
    page = (folder / "report.html").read_text()
    assert ("it left processes running, which were ended" in page) != is_hung
    assert "waiting" in page
    assert not is_alive(int((folder / "slam" / "pid").read_text()))


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_slam_that_floods_its_log_is_ended(evaluate, monkeypatch):
    monkeypatch.setattr(program, "LARGEST_LOG_BYTES", 2**20)
    code, folder, errors = evaluate("while True: print('x' * 1000)")
    assert code == 1
    assert "its log is above 1 MB" in errors
    assert (folder / "slam.log").stat().st_size <= 2**20 + NOTICE_BYTES


def test_a_log_that_grew_too_long_keeps_its_begin_and_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr(program, "LARGEST_LOG_BYTES", 2**20)
    log = tmp_path / "slam.log"
    log.write_text("begin\n" + "x" * 3 * 2**20 + "\nthe reason\n")
    program.shorten(log)
    text = log.read_text()
    assert text.startswith("begin\nxxx")
    assert "x\n[2.0 MB were left out here]\nx" in text
    assert text.endswith("xxx\nthe reason\n")
    assert len(text) <= 2**20 + NOTICE_BYTES
    assert program.last_lines(log).endswith("\nthe reason")


def test_a_slam_that_fills_the_disk_is_ended(evaluate):
    code, _, errors = evaluate(
        "import time\nopen('map', 'wb').write(bytes(8_000_000))\n"
        "open('hole', 'wb').truncate(10**12)\ntime.sleep(600)",
        output_limit_gb=0.004,
    )
    assert code == 1
    assert "its files are above 0.004 GB (output_limit_gb)" in errors


def test_only_the_part_asked_for_is_run_and_judged(evaluate):
    code, folder, _ = evaluate(IMU_TRUTH, "--start-s", "0.9", "--duration-s", "1.2")
    assert code == 0
    images = sorted(path.name for path in (folder / "dataset/mav0/cam0/data").iterdir())
    assert images == [f"{START_NS + k * FRAME_NS:019d}.png" for k in (2, 3, 4)]
    assert sections(folder)["resources"]["n_frames"] == 3


@pytest.mark.parametrize(
    ("changes", "tokens", "expected"),
    [
        ({"paths": [{"name": "program", "environment": "NO_SUCH_PROGRAM"}, {"name": "script"}]}, (),
         "copier: needs program; give program:=PATH or set NO_SUCH_PROGRAM"),
        ({}, ("program:=/none/there",), "program: no file /none/there"),
        ({}, ("vocabulary:=x",), "vocabulary: copier has no such argument; it has program, script"),
        ({"command": ["{program}", "{no}"]}, (), "{no} in '{no}' stands for nothing"),
        ({"command": ["{program}", "{map_2}"]}, (), "{map_2} in '{map_2}' stands for nothing"),
        ({"command": ["{program}", "a\0b"]}, (), "cannot be started (embedded null byte)"),
        ({"paths": [*DESCRIPTION["paths"], {"name": "output"}]}, (), "found 'output'"),
        ({"paths": [*DESCRIPTION["paths"], {"name": "a b"}]}, (), "found 'a b'"),
        ({"settings": "../../.."}, (), "settings: expected the name of a folder"),
        ({"command": []}, (), "command: expected a program and its arguments, found none"),
        ({"environment": ["X"]}, (), "environment: expected NAME=VALUE, found 'X'"),
        ({"inputs": "topics"}, (), "trajectory.topic: expected one, found none"),
        ({"inputs": "topics", "trajectory": {"topic": "/odom"}, "topics": ["/a"]}, (),
         "topics: expected NAME:=TOPIC, found '/a'"),
        ({"inputs": "topics", "trajectory": {"topic": "/odom", "poses_of": "rectified_camera"}}, (),
         "trajectory.poses_of: a topic is of a frame of the bag: imu, camera or base; found"),
        ({"trajectory": {"file": "poses.txt", "poses_of": "lidar"}}, (), "no scans of a lidar"),
        ({"settings": "no_such_slam"}, (), "no settings"),
        ({"cameras": ["front"]}, (), "no camera 'front'; it has stereo_left"),
        ({"dataset": "mp4"}, (), "mp4"),
        ({"colour": "red"}, (), "colour"),
        ({}, ("--rate", "1"), "--rate has no effect on a SLAM that reads files"),
        ({}, ("--estimate", "/a"), "--estimate has no effect on a SLAM that reads files"),
        ({}, ("--start-s", "9"), "is 2.5 s long, and is to begin at 9 s"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_before_anything_is_run(evaluate, changes, tokens, expected):
    code, folder, errors = evaluate("open('ran', 'w')", *tokens, **changes)
    assert code == 2
    assert expected in errors
    assert not (folder / "slam" / "ran").exists()


def test_a_folder_of_another_run_is_not_written_into(evaluate, bag):
    before = (bag / "metadata.yaml").read_bytes()
    code, _, errors = evaluate(IMU_TRUTH, "-o", str(bag.parent))
    assert code == 2
    assert "holds another run; name a new folder" in errors
    assert (bag / "metadata.yaml").read_bytes() == before
    assert evaluate(IMU_TRUTH)[0] == evaluate(IMU_TRUTH)[0] == 0  # its own folder is


def test_the_report_is_a_run_of_the_flight_for_a_study(evaluate, bag, tmp_path):
    flight = {"world": "cliff", "mission": {"file": "cliff.yaml"}, "seed": 7, "slam": "none"}
    (bag.parent / "config.yaml").write_text(yaml.safe_dump({"parameters": flight}))
    assert evaluate(IMU_TRUTH, "--world", "")[0] == 0
    result = tmp_path / "study.json"
    tokens = ["--runs", str(tmp_path / "report"), "-o", str(tmp_path / "study")]
    assert main(["evaluate", "study", *tokens, "--json", str(result)]) == 0
    (row,) = json.loads(result.read_text())["runs"]
    assert (row["method"], row["sequence"], row["seed"]) == ("copier", "cliff", "7")
    assert row["ape_trans_m"] < FILE_DIGITS


DESCRIPTIONS = Path(__file__).resolve().parents[3] / "config" / "slams"


@pytest.mark.parametrize("path", sorted(DESCRIPTIONS.glob("*.yaml")), ids=lambda path: path.stem)
def test_a_description_that_ships_finds_its_settings_and_cameras(tmp_path, path):
    description = load_description(path)
    recording = read_recording(write_recording(tmp_path / "bag", T_base_lidar=np.eye(4)))
    if description.inputs == "topics":
        problems = export_settings(recording, tmp_path / "set", cameras=description.cameras)
    else:
        problems = export_bag(
            description.dataset, recording, tmp_path / "set", cameras=description.cameras
        ).problems
    settings = tmp_path / "set" / "settings" / description.settings
    assert settings.is_dir(), problems
    named = [text for text in description.command if "{settings}/" in text]
    assert bool(named) == bool(description.settings)
    for text in named:
        assert (settings / text.partition("{settings}/")[2]).exists(), text


def test_a_path_is_taken_from_the_environment(evaluate, monkeypatch, tmp_path):
    monkeypatch.setenv("MY_PYTHON", sys.executable)
    paths = [{"name": "program", "environment": "MY_PYTHON"}, {"name": "script"}]
    code, _, _ = evaluate(IMU_TRUTH, paths=paths, environment=["WHERE={dataset}"])
    assert code == 0
    assert "WHERE" not in os.environ
