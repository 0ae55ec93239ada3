# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The campaign in small: the bounds are those of chi-square, and a filter that boasts is caught."""

from dataclasses import replace

import numpy as np
import pytest

from aerotwin_autopilot import Autopilot
from evidence.verification import consistency
from evidence.verification.consistency import Consistency, fly, gnss_parameters, run_campaign

SEEDS = (1000, 1001, 1002)
DURATION_S = 24.0
LOOSE = (0.2, 2.5)
"""NEES per degree of freedom over three flights of four judged seconds: nine numbers, correlated
in time, so chi-square of nine at 0.001 and 0.995."""


@pytest.fixture(scope="module")
def campaign() -> Consistency:
    flown = []
    result = run_campaign("gnss_default", SEEDS, DURATION_S, flown.append)
    assert flown == [1, 1, 1]
    return result


def test_the_estimator_is_as_wrong_as_it_says(campaign):
    means = campaign.mean.mean(axis=0)
    assert (means > LOOSE[0]).all()
    assert (means < LOOSE[1]).all()


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
    figures = Consistency(gnss="white", seeds=SEEDS, nees=nees).figures()
    assert figures["bounds_per_dof"] == pytest.approx([2.70 / 9.0, 19.02 / 9.0], abs=1e-3)
    assert figures["met"]
    assert figures["share_within_bounds"] == {"position": 1.0, "velocity": 1.0, "attitude": 1.0}
    wrong = Consistency(gnss="gnss_default", seeds=SEEDS, nees=2.0 * nees).figures()
    assert not wrong["met"]


def test_the_picture_shows_each_campaign(campaign, tmp_path):
    figure = consistency.picture([campaign, campaign])
    assert len(figure.axes) == 2
    figure.savefig(tmp_path / "nees.png")
