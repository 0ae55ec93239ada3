# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What `make verify` takes for evidence, without flying."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import yaml

from aerotwin_core.cli import main
from evidence.verification import lounge, slam_study
from evidence.verification.flights import fly_seeds
from evidence.verification.leave_one_out import POSES, LeaveOneOut
from evidence.verification.lounge import FOLDER, STARTS, place_lounge_scans
from evidence.verification.saved_flights import has_succeeded, saved_flight
from evidence.verification.slam_study import METHODS, study_slams

FLOWN, CRASHED = "the mission is flown", "the vehicle crashed"
SEED, WORLD = 1000, "cliff@1000"


def _run(folder, world: str = WORLD, outcome: str | None = FLOWN, name="seed-1000", warnings=()):
    """Leave behind what a flight does; it meets every bar of a seed but, perhaps, its outcome."""
    path = folder / f"20260101-000000-{name}"
    (path / "bag").mkdir(parents=True)
    parameters = {"world": world, "mission": "turns.yaml", "seed": SEED, "slam": "stereo_odometry"}
    flight = {"outcome": outcome, "cross_track_m": {"rms": 0.1}, "path_m": 200.0}
    trajectory = {"segments": {"median_percent": 1.0}, "coverage": 1.0}
    (path / "metrics.json").write_text(
        json.dumps(
            {
                "sections": {"flight": flight, "trajectory": trajectory},
                "configuration": {"parameters": parameters},
                "warnings": list(warnings),
            }
        )
    )
    (path / "config.yaml").write_text(yaml.safe_dump({"parameters": parameters}))
    return path


@pytest.fixture
def launches(monkeypatch):
    """Let no flight start; return the names of those that would have, and their exit code."""
    started = []

    def launch(package, file, arguments):
        assert (package, file) == ("aerotwin_bringup", "sitl_flight.launch.yaml")
        started.append(arguments["name"])
        return launches.code

    launches = SimpleNamespace(started=started, code=1)
    monkeypatch.setattr("aerotwin_launch.launch_command.launch_scenario", launch)
    return launches


def test_a_saved_run_counts_only_for_its_own_world_and_name(tmp_path):
    path = _run(tmp_path)
    assert saved_flight(tmp_path, "seed-1000", WORLD) == path
    assert has_succeeded(path)
    assert saved_flight(tmp_path, "seed-1000", "other") is None
    assert saved_flight(tmp_path, "seed-1001", WORLD) is None


def test_a_failed_flight_is_saved_and_misses_its_thresholds_and_is_not_flown_again(
    tmp_path, launches
):
    path = _run(tmp_path, outcome=CRASHED, warnings=[f"The flight failed: {CRASHED}"])
    assert saved_flight(tmp_path, "seed-1000", WORLD) == path
    (row,) = fly_seeds([SEED], WORLD, tmp_path, is_quiet=True)
    assert launches.started == []
    assert row["cross_track_rms_m"] == 0.1
    assert not row["met"]


def test_an_interrupted_flight_is_flown_again(tmp_path, launches):
    partial = "This report is partial: the run was stopped before its end."
    _run(tmp_path, outcome=None, warnings=[partial])
    (row,) = fly_seeds([SEED], WORLD, tmp_path, is_quiet=True)
    assert launches.started == ["seed-1000"]
    assert not row["met"]
    launches.code = 143
    with pytest.raises(KeyboardInterrupt):
        fly_seeds([SEED], WORLD, tmp_path, is_quiet=True)


def test_a_study_of_slams_counts_the_failed_flights(tmp_path, launches):
    for method in METHODS:
        crashed = method == "kiss_icp"
        _run(
            tmp_path,
            slam_study.WORLD,
            CRASHED if crashed else FLOWN,
            f"{method}-{SEED}",
            [f"The flight failed: {CRASHED}"] if crashed else [],
        )
        config = tmp_path / f"20260101-000000-{method}-{SEED}" / "config.yaml"
        content = yaml.safe_load(config.read_text())
        content["parameters"]["slam_name"] = method
        config.write_text(yaml.safe_dump(content))
    rows = {
        row["method"]: row
        for row in study_slams([SEED], tmp_path, camera_preset="as_flown", is_quiet=True)
    }
    assert launches.started == []
    assert {method: row["met"] for method, row in rows.items()} == {
        method: method != "kiss_icp" for method in METHODS
    }
    study = json.loads((tmp_path / "study.json").read_text())
    assert study["n_runs"] == len(METHODS)
    assert {run["method"] for run in study["runs"] if run["failure"]} >= {"kiss_icp"}


def test_scans_of_the_lounge_are_skipped_with_a_reason_where_they_are_not(tmp_path, capsys):
    arguments = [
        "--data",
        str(tmp_path),
        "--runs",
        str(tmp_path),
        "--json",
        str(tmp_path / "v.json"),
    ]
    assert main(["verify", "lounge", *arguments]) == 0
    assert f"lounge: skipped, real data not present: {FOLDER}" in capsys.readouterr().out
    (row,) = json.loads((tmp_path / "v.json").read_text())["lounge"]
    assert row["met"] is None and "real data" in row["skipped"]


@pytest.mark.parametrize(
    ("shifts_m", "accepted", "n_converged", "met"),
    [
        ([0.01, 0.02, 0.08], [True] * 3, 3, True),
        ([0.01, 0.02, 0.08], [True, True, False], 2, False),
        ([0.01, 0.02, 0.09], [True] * 3, 3, False),
        ([0.03, 0.03, 0.03], [True] * 3, 3, False),
        ([0.01, 0.01, 1.50], [True] * 3, 2, False),
    ],
)
def test_scans_of_the_lounge_count_all_against_their_bars(
    tmp_path, monkeypatch, shifts_m, accepted, n_converged, met
):
    folder = tmp_path / FOLDER
    folder.mkdir(parents=True)
    (folder / POSES).write_text("0 0 1 0 0 0 0 1 0 0 0 0 1 0\n")
    np.save(folder / "scan_000.npy", np.zeros((5, 3)))
    found = LeaveOneOut(
        shifts_m=np.array([shifts_m]), turns_deg=np.zeros((1, 3)), accepted=np.array([accepted])
    )
    monkeypatch.setattr(lounge, "leave_one_out", lambda *_, **__: found)
    rows = place_lounge_scans(tmp_path, [SEED], is_quiet=True)
    assert len(rows) == len(STARTS)
    assert {(row["n"], row["n_converged"], row["met"]) for row in rows} == {(3, n_converged, met)}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["flights", "--seeds", "5"], "--seeds: expected 1000 and above, found 5"),
        (["consistency", "--runs", "/proc/x"], "--runs: /proc/x cannot be made"),
        (["everything"], "no evidence 'everything'"),
    ],
)
def test_what_cannot_be_collected_is_reported_before_anything_flies(capsys, arguments, message):
    assert main(["verify", *arguments]) != 0
    assert message in capsys.readouterr().err
