# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The campaign in small: three vehicles, one transition, full and as point masses."""

from dataclasses import replace

import numpy as np
import pytest

from aerotwin_campaign import load_campaign, report_of_campaign
from aerotwin_formation import SeparationParameters
from aerotwin_formation.record import FormationRecorder
from evidence.child import environment
from evidence.verification.full_formation import FULL, KEPT, POINT_MASS, shape_errors
from evidence.verify_command import CAMPAIGNS
from support.campaigns import carried_out

AGREE_M = 0.1
"""Between the closest two of both flights: either is off its curve by some centimetres."""


@pytest.mark.slow
def test_point_masses_predict_three_full_vehicles(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", environment()["PYTHONPATH"])
    changes = {"seeds": [1000], "base.n_vehicles": 3, "base.n_transitions": 1, "fail_if": []}
    campaign = load_campaign(CAMPAIGNS / "full_formation.yaml", changes)
    report = report_of_campaign(carried_out(campaign, tmp_path, n_workers=1), "")
    assert report.summary["success_share"] == 1.0
    closest = {k: report.summary[f"{k}_closest_m"]["min"] for k in (FULL, POINT_MASS)}
    assert closest[FULL] > 0.8  # 2R
    assert closest[FULL] == pytest.approx(closest[POINT_MASS], abs=AGREE_M)
    (kept,) = tmp_path.rglob(KEPT)
    with np.load(kept) as flown:
        assert flown[FULL][:, 2].min() == pytest.approx(closest[FULL], abs=AGREE_M)
        assert flown[POINT_MASS][-1, 0] == pytest.approx(flown[FULL][-1, 0], abs=1.0)
    assert "Point masses predict full vehicles" in report.page(tmp_path)[0]


def test_a_shape_that_is_shifted_is_right_and_one_vehicle_off_is_not():
    recorder = FormationRecorder(SeparationParameters())
    positions = np.array(
        [[[0.0, 0, 0], [3, 0, 0]], [[5.0, 0, 0], [8, 0, 0]], [[0.0, 0, 0], [3, 4, 0]]]
    )
    for k, position in enumerate(positions):
        recorder.add(k, position, np.zeros((2, 3)), None, 1.0)
    record = replace(recorder.record(), offsets=np.tile([[0.0, 0, 0], [3, 0, 0]], (3, 1, 1)))
    # By hand: both are 2 m from their mean where the follower is 4 m off its place.
    np.testing.assert_allclose(shape_errors(record), [0.0, 0.0, 2.0])
