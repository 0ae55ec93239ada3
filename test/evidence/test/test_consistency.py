# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The campaign in small: the bounds are those of chi-square, and a filter that boasts is caught."""

from dataclasses import replace

import numpy as np
import pytest

from aerotwin_autopilot import Autopilot
from aerotwin_campaign import load_campaign, report_of_campaign
from evidence.child import environment
from evidence.verification import consistency
from evidence.verification.consistency import BLOCKS, Consistency, fly, gnss_parameters
from evidence.verify_command import CAMPAIGNS
from support.campaigns import carried_out

SEEDS = (1000, 1001, 1002)
DURATION_S = 24.0
LOOSE = (0.2, 2.5)
"""NEES per degree of freedom over three flights of four judged seconds: nine numbers, correlated
in time, so chi-square of nine at 0.001 and 0.995."""


def test_the_estimator_is_as_wrong_as_it_says(tmp_path, monkeypatch):
    """The campaign in small; its pooled means are those of the runs."""
    monkeypatch.setenv("PYTHONPATH", environment()["PYTHONPATH"])
    base = {"gnss": "gnss_default", "duration_s": DURATION_S}
    changes = {"seeds": [*SEEDS], "axes.gnss": ["gnss_default"], "base": base, "fail_if": []}
    campaign = load_campaign(CAMPAIGNS / "consistency.yaml", changes)
    report = report_of_campaign(carried_out(campaign, tmp_path, n_workers=2), "")
    means = report.summary["gnss_default"]["nees_per_dof"]
    for block in BLOCKS:
        assert LOOSE[0] < means[block] < LOOSE[1]
        assert means[block] == pytest.approx(report.summary[f"nees_{block}_per_dof"]["mean"])
    assert "Consistency of the estimator" in report.page(tmp_path)[0]


def test_a_filter_that_believes_itself_five_times_too_good_is_caught(monkeypatch):
    honest = Autopilot.__init__

    def boastful(self, parameters, instance=0):
        e = parameters.estimator
        better = replace(
            e,
            gnss_velocity_std_m_s=tuple(s / 5.0 for s in e.gnss_velocity_std_m_s),
            barometer_std_m=e.barometer_std_m / 5.0,
        )
        honest(self, replace(parameters, estimator=better), instance)

    monkeypatch.setattr(consistency.Autopilot, "__init__", boastful)
    rows = fly(SEEDS[0], gnss_parameters("white"), DURATION_S)
    assert rows.mean(axis=0)[1] / 3.0 > LOOSE[1]


def test_bounds_are_those_of_the_tables():
    """Bar-Shalom et al., 2001, table of chi-square: 9 degrees, 2.70 and 19.02."""
    nees = np.full((3, 10, 3), 3.0)
    found = Consistency(gnss="white", nees=nees)
    assert found.bounds == pytest.approx([2.70 / 9.0, 19.02 / 9.0], abs=1e-3)
    assert found.values()["share_within_bounds"] == dict.fromkeys(BLOCKS, 1.0)
    wrong = Consistency(gnss="white", nees=8.0 * nees).values()
    assert wrong["share_within_bounds"] == dict.fromkeys(BLOCKS, 0.0)
