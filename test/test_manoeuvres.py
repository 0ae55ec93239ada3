# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The launch files of the relay and of recorded flights, as a user starts them."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

from aerotwin_core.bag import BagReader
from aerotwin_core.geodesy import LocalTangentPlane
from aerotwin_worlds import load_world

pytestmark = [pytest.mark.ros, pytest.mark.slow]

ROOT = Path(__file__).resolve().parent.parent
LAUNCH = [sys.executable, "-m", "aerotwin_core.cli", "launch"]
INSTANCE = 93
LIMIT_S = 400.0
BAR_HIDDEN_M = 0.05
BAR_SEPARATION_M = 1.12
GNSS_AND_CONTROL_M = 1.5  # of gnss_default within a minute of the anchor, three sigma


def launch(folder: Path, file: str, **arguments: object) -> subprocess.CompletedProcess:
    tokens = [f"{name}:={value}" for name, value in {"runs_dir": "runs", **arguments}.items()]
    return subprocess.run(
        [*LAUNCH, str(ROOT / "launch" / file), *tokens],
        cwd=folder, capture_output=True, text=True, timeout=LIMIT_S, check=False,
    )  # fmt: skip


def run_folder(folder: Path) -> Path:
    (found,) = (folder / "runs").iterdir()
    return found


def test_the_relay_is_flown_judged_and_reported(tmp_path):
    """The case with lag, hidden drag and mass; the other one is flown in its package's tests."""
    cases = yaml.safe_load((ROOT / "config" / "relay" / "cases.yaml").read_text())
    (hidden,) = [case for case in cases["cases"] if case["name"] == "hidden"]
    for key in ("airframe", "known_airframe"):
        hidden[key] = str(ROOT / "config" / "relay" / hidden[key])
    (tmp_path / "cases.yaml").write_text(yaml.safe_dump({"cases": [hidden]}))
    done = launch(tmp_path, "relay.launch.yaml", cases=tmp_path / "cases.yaml", seed=1000)
    assert done.returncode == 0, done.stdout + done.stderr
    folder = run_folder(tmp_path)
    result = json.loads((folder / "metrics.json").read_text())
    assert result["seed"] == 1000
    case = result["sections"]["relay"]["hidden"]
    assert case["rmse_m"] <= BAR_HIDDEN_M
    assert case["separation_min_m"] >= BAR_SEPARATION_M
    bag = BagReader(folder / "hidden" / "bag")
    assert {"/first/truth/odom", "/second/command/pose"} <= set(bag.topics)
    assert "<svg" in (folder / "report.html").read_text()
    config = yaml.safe_load((folder / "config.yaml").read_text())
    assert config["cases"][0]["control"]["integral_gain_1_s3"] == 10.0
    assert "aerotwin_simulator" in config["versions"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"origin_east_m": 130.0}, "leaves the world"),
        ({"cases": "nowhere.yaml"}, "nowhere.yaml: cannot be read"),
    ],
)
def test_a_relay_that_cannot_be_flown_is_one_clear_line(tmp_path, arguments, message):
    done = launch(tmp_path, "relay.launch.yaml", **arguments)
    output = done.stdout + done.stderr
    assert done.returncode != 0
    assert message in output
    assert "Traceback" not in output
    assert not (tmp_path / "runs").exists()


def recorded_csv(path: Path) -> Path:
    """Write a flight above the beach as a receiver would: up, 12 m east, down; 5 Hz."""
    world = load_world("cliff")
    plane = LocalTangentPlane(world.origin)
    t = np.arange(0.0, 30.0, 0.2)
    x = 12.0 * np.clip((t - 6.0) / 15.0, 0.0, 1.0)
    z = 5.0 * np.clip(np.minimum(t, 29.8 - t) / 5.0, 0.0, 1.0) + 700.0
    lines = ["time_s,lat,lon,alt"]
    for row in np.column_stack([t, x + 2.0, 0.0 * t - 4.0, z]):
        latitude, longitude, altitude = plane.to_geodetic(world.start_p_map + row[1:])
        lines.append(f"{row[0]:.3f},{latitude:.9f},{longitude:.9f},{altitude:.3f}")
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_recorded_flight_is_flown_again_where_it_was_recorded(tmp_path):
    recording = recorded_csv(tmp_path / "flight.csv")
    done = launch(
        tmp_path, "recorded_flight.launch.yaml", recording=recording, instance=INSTANCE, seed=1001
    )
    assert done.returncode == 0, done.stdout + done.stderr
    folder = run_folder(tmp_path)
    result = json.loads((folder / "metrics.json").read_text())
    chapter = result["sections"]["recorded_flight"]
    assert chapter["coverage"] == 1.0
    assert chapter["time_scale"] == 1.0
    assert chapter["deviation_m"]["rmse"] < GNSS_AND_CONTROL_M
    assert chapter["path_m"] > 12.0
    assert {"track.csv", "mission.yaml", "bag", "config.yaml"} <= {p.name for p in folder.iterdir()}
    truth = BagReader(folder / "bag").trajectory("/truth/odom").p_ref_body
    start = load_world("cliff").start_p_map
    reached = start[:2] + np.array([14.0, -4.0])
    assert np.linalg.norm(truth[-1, :2] - reached) < GNSS_AND_CONTROL_M


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        (
            "time_s,lat,lon,alt\n0,1,1,1\n1,1,1,2\n2,1,1,3\n",
            {"placement": "geodetic"},
            "placement:=start",
        ),
        # The world could not be loaded: it is never reached.
        ("1 2 3\n", {"world": "world.yaml"}, "no trajectory"),
        (None, {"world": "world.yaml"}, "no such file"),
    ],
)
def test_a_recording_that_cannot_be_flown_is_one_clear_line(tmp_path, text, arguments, message):
    path = tmp_path / "flight.csv"
    if text is not None:
        path.write_text(text)
    (tmp_path / "world.yaml").write_text("name: w\nmesh: missing.obj\n")
    if "world" in arguments:
        arguments = {**arguments, "world": tmp_path / arguments["world"]}
    done = launch(
        tmp_path, "recorded_flight.launch.yaml", recording=path, instance=INSTANCE, **arguments
    )
    output = done.stdout + done.stderr
    assert done.returncode != 0
    assert message in output
    assert "Traceback" not in output
    assert not list((tmp_path / "runs").glob("*"))
