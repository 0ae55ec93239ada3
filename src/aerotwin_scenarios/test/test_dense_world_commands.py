# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""`aerotwin map` and `aerotwin localize` in a world, on flights that keep to their plan."""

import json
from itertools import pairwise

import numpy as np
import pytest

from aerotwin_core.camera import PinholeCamera
from aerotwin_core.cli import main
from aerotwin_core.errors import UserError
from aerotwin_core.parameters import load_parameters
from aerotwin_dense_localization.mapping import load_map
from aerotwin_scenarios.dense_localization import mapping
from aerotwin_scenarios.dense_localization.commands import (
    localization_page,
    scan_task,
    world_flights,
)
from aerotwin_scenarios.dense_localization.flights import T_BODY_OPTICAL, CameraTrack
from aerotwin_trajectory_evaluation.files import read_trajectory
from support.wall_stage import HIGH_M, WALL_Y_M, wall_world

RIG = PinholeCamera(width=320, height=200, fx=228.0, fy=228.0, cx=159.5, cy=99.5)
CAMERA = PinholeCamera(width=188, height=120, fx=115.0, fy=115.0, cx=93.5, cy=59.5)
GNSS_M = np.array([0.3, -0.1, 0.2])
"""What the estimator of the flights is off by."""
PLACED_M = 0.06
"""A pixel of the rig is 5 cm on the wall, 11 m away."""
AFAR = ["--corner", "-2", f"{WALL_Y_M}", "5", "--extent", "4", "1.5", "--standoff-m", "11"]
NEAR = ["--corner", "-1", f"{WALL_Y_M}", "5.2", "--extent", "2", "0.8", "--standoff-m", "4"]


def planned(world, path, folder, *, rate_hz, **_):
    """Return the track of a flight that is where it was planned to be, eight times a line."""
    folder.mkdir(parents=True, exist_ok=True)
    shares = np.linspace(0.0, 1.0, 8, endpoint=False)
    true = np.array([a + s * (b - a) for a, b in pairwise(path) for s in shares])
    reported = true.copy()
    reported[:, :3, 3] += GNSS_M
    stamps = (1 + np.arange(len(true))) * round(1e9 / rate_hz)
    return CameraTrack(stamps_ns=stamps, T_map_optical=true, T_map_optical_reported=reported)


@pytest.fixture
def stage(monkeypatch):
    world = wall_world()
    for module in (world_flights, scan_task):
        monkeypatch.setattr(module, "world_of", lambda source: world)
    for module in (mapping, world_flights):
        monkeypatch.setattr(module, "RIG", RIG)
    for module in (world_flights, scan_task):
        monkeypatch.setattr(module, "fly_camera", planned)
    monkeypatch.setattr(scan_task, "CAMERA", CAMERA)
    # Its page is drawn in the tests of recordings.
    monkeypatch.setattr(localization_page, "write_page", lambda folder, *_: folder)


def test_a_wall_is_mapped_measured_and_a_scan_of_it_is_placed(stage, tmp_path):
    arguments = [
        *AFAR,
        "--row-m",
        "1.5",
        "-o",
        str(tmp_path / "map"),
        "--json",
        str(tmp_path / "j"),
    ]
    assert main(["map", "wall", "--seed", "3", *arguments]) == 0
    numbers = json.loads((tmp_path / "j").read_text())
    off_m = np.linalg.norm(GNSS_M)
    assert numbers["map"]["mean_m"] < PLACED_M
    assert numbers["map"]["keyframes_unaligned_mean_m"] == pytest.approx(off_m, abs=PLACED_M)
    assert numbers["map"]["keyframes_mean_m"] < PLACED_M
    assert numbers["map"]["completeness"] > 0.95
    about = load_map(tmp_path / "map")[1]
    assert (about["source"], about["seed"], about["kind"]) == ("wall", 3, "world")
    assert about["poses"]["is_truth"] is False
    np.testing.assert_allclose(np.array(about["T_true_map"])[:3, 3], -GNSS_M, atol=PLACED_M)

    arguments = [
        *NEAR,
        "--row-m",
        "0.8",
        "-o",
        str(tmp_path / "scan"),
        "--json",
        str(tmp_path / "j"),
    ]
    assert main(["localize", str(tmp_path / "map"), "wall", *arguments]) == 0
    numbers = json.loads((tmp_path / "j").read_text())
    assert (numbers["n_lost"], numbers["n_without_pose"]) == (0, 0)
    assert numbers["ate_m"]["mean"] < PLACED_M
    assert numbers["ate_unaligned_m"]["mean"] == pytest.approx(off_m, abs=PLACED_M)
    camera = read_trajectory(tmp_path / "scan/camera.tum").transforms()
    base = read_trajectory(tmp_path / "scan/base.tum").transforms()
    np.testing.assert_allclose(camera, base @ T_BODY_OPTICAL, atol=1e-6)


def test_a_scan_beside_the_map_is_refused(stage, tmp_path, capsys):
    arguments = [*AFAR, "--poses", "truth", "-o", str(tmp_path / "map")]
    assert main(["map", "wall", *arguments]) == 0
    assert load_map(tmp_path / "map")[1]["poses"] == {"source": "truth", "is_truth": True}
    far = ["--corner", "40", f"{WALL_Y_M}", "5", "--extent", "2", "1", "-o", str(tmp_path / "s")]
    assert main(["localize", str(tmp_path / "map"), "wall", *far]) == 2
    assert "the map shows no surface before" in capsys.readouterr().err
    assert not (tmp_path / "s").exists()


def test_a_region_holds_what_lies_before_and_behind_it():
    flight = world_flights.WallFlight(corner_m=(0.0, 5.0, 1.0), extent_m=(4.0, 2.0), yaw_deg=90.0)
    points = [[1.0, 9.0, 2.0], [1.0, 0.0, 2.0], [-0.1, 5.0, 2.0], [4.1, 5, 2], [1, 5, 0.9], [1, 5, HIGH_M]]  # fmt: skip # noqa: E501
    np.testing.assert_array_equal(flight.covers(np.array(points)), [1, 1, 0, 0, 0, 0])
    west = world_flights.WallFlight(corner_m=(0.0, 0.0, 0.0), extent_m=(4.0, 2.0), yaw_deg=180.0)
    assert west.covers(np.array([[-9.0, 1.0, 1.0], [-9.0, -1.0, 1.0]])).tolist() == [True, False]


def test_sizes_of_a_flight_are_checked():
    with pytest.raises(UserError, match="standoff_m"):
        load_parameters(world_flights.WallFlight, {"standoff_m": -1.0}, where="flight")
