# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Errors of poses over all runs: what is lost, wrong, near, and against which bars."""

from pathlib import Path

import numpy as np
import pytest

from aerotwin_campaign import FinishedRun, load_campaign
from aerotwin_core.gate import exit_code_of_gates
from evidence.verification.pose_errors import PoseErrors, pooled_figures
from evidence.verify_command import CAMPAIGNS

LOST_M, NEAR_M = 0.5, 0.1
NAN = float("nan")


def _errors(shifts_m, turn_deg: float = 0.05) -> PoseErrors:
    shifts = np.array([NAN if shift is None else shift for shift in shifts_m])
    return PoseErrors(
        shifts_m=shifts,
        turns_deg=np.where(np.isnan(shifts), NAN, turn_deg),
        is_found=~np.isnan(shifts),
    )


def _run(folder: Path, axes, errors: PoseErrors | None) -> FinishedRun:
    folder.mkdir(parents=True)
    if errors is not None:
        errors.save(folder)
    return FinishedRun(id=folder.name, axes=axes, seed=1000, repeat=0, metrics={},
                       is_success=errors is not None, outcome="", folder=folder)  # fmt: skip


@pytest.mark.parametrize(
    ("shifts_m", "n_lost", "n_wrong", "placed", "near", "worst_m"),
    [
        ([0.05, 0.1, 0.2, 0.5], 0, 0, 1.0, 0.5, 0.5),
        ([0.05, 0.51], 1, 1, 1.0, 0.5, 0.51),
        ([0.05, None, None, 0.05], 2, 0, 0.5, 0.5, 0.05),
        ([None], 1, 0, 0.0, 0.0, None),
    ],
)
def test_all_poses_count(shifts_m, n_lost, n_wrong, placed, near, worst_m):
    found = _errors(shifts_m).figures(LOST_M, NEAR_M)
    assert (found["n"], found["n_lost"], found["n_wrong"]) == (len(shifts_m), n_lost, n_wrong)
    assert (found["placed_share"], found["near_share"]) == (placed, near)
    assert found["worst_m"] == worst_m
    assert (found["median_deg"] is None) == (worst_m is None)


def test_runs_are_pooled_by_axis_and_shown(tmp_path):
    """One that failed has no errors; that it failed is another condition of its campaign."""
    runs = [
        _run(tmp_path / "a", {"poses": "given"}, _errors([0.01, 0.02])),
        _run(tmp_path / "b", {"poses": "given"}, _errors([0.03])),
        _run(tmp_path / "c", {"poses": "own"}, _errors([None])),
        _run(tmp_path / "d", {"poses": "own"}, None),
    ]
    found = pooled_figures(runs, "poses", "Images", lost_m=LOST_M, near_m=NEAR_M)
    assert found.values["given"]["n"] == 3
    assert found.values["given"]["median_m"] == pytest.approx(0.02)
    assert found.values["own"] | {"n": 1, "median_m": None} == found.values["own"]
    (section,) = found.sections
    assert [row[0] for row in section.tables[0].rows] == ["given", "own"]


@pytest.mark.parametrize(
    ("shifts_m", "turn_deg", "code"),
    [
        ([0.03] * 20, 0.05, 0),
        ([0.03] * 18 + [0.2] * 2, 0.05, 3),  # 90 % within 10 cm
        ([0.05] * 20, 0.05, 3),
        ([0.03] * 20, 0.2, 3),
        ([None] * 20, 0.05, 3),
    ],
)
def test_the_bars_of_placed_images_are_kept(tmp_path, shifts_m, turn_deg, code):
    campaign = load_campaign(CAMPAIGNS / "kitti.yaml")
    run = _run(tmp_path / "a", {"poses": "given"}, _errors(shifts_m, turn_deg))
    found = pooled_figures([run], "poses", "Images", lost_m=LOST_M, near_m=NEAR_M)
    assert exit_code_of_gates(campaign.conditions, {"n_failures": 0, **found.values}, {}) == code
