# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Scores of relays whose errors are known."""

import numpy as np
import pytest

from aerotwin_core.trajectory import Trajectory
from aerotwin_flight_control.relay import RelayReference
from aerotwin_flight_control.relay_evaluation import RelayResult, relay_sides
from aerotwin_flight_control.relay_section import relay_section

BEGIN_NS = 7_000_000_000
REFERENCES = [RelayReference((1.0, 2.0, 3.0), is_mirrored=mirrored) for mirrored in (False, True)]
INTERPOLATION = 2e-5  # of a position between samples 4 ms apart: a h^2 / 8


def _flown(reference, offset, *, end_s=18.0):
    stamps = np.arange(6_000_000_000, round(end_s * 1e9), 4_000_000, dtype=np.int64)
    t = (stamps - BEGIN_NS) * 1e-9
    p = np.array([reference.at(x).p_map for x in t]) + offset
    return Trajectory(stamps, p, np.tile([0.0, 0.0, 0.0, 1.0], (len(t), 1)))


def _result(first=(0.0, 0.0, 0.0), second=(0.0, 0.0, 0.0), **thresholds):
    truths = [_flown(reference, offset) for reference, offset in zip(REFERENCES, (first, second))]
    sides = relay_sides(truths, REFERENCES, [BEGIN_NS, BEGIN_NS + 1_000_000])
    return RelayResult(
        name="a", title="A", text="as it is", sides=sides, step_s=0.004, **thresholds
    )


def test_a_perfect_relay_has_no_error_but_that_of_its_stamps():
    """The second began 1 ms later: it is 1 ms of its speed ahead, 2.58 mm at most."""
    result = _result()
    assert result.sides[0].distance.max() < INTERPOLATION
    assert result.sides[1].distance.max() == pytest.approx(2.58e-3, rel=0.01)
    assert result.separation.min() == pytest.approx(4.5 - 2.0 / 0.6, abs=1e-3)
    assert result.sides[0].t[0] == pytest.approx(-5.0, abs=0.005)


def test_errors_are_those_that_were_made_and_the_worse_vehicle_counts():
    result = _result(first=(0.03, 0.0, -0.04))
    metrics = result.metrics()
    assert metrics["rmse_m"] == pytest.approx(0.05)
    assert metrics["vehicles"][0]["rmse_xyz_m"] == pytest.approx([0.03, 0.0, 0.04], abs=1e-4)
    assert metrics["vehicles"][1]["rmse_m"] < 0.002


@pytest.mark.parametrize(
    ("thresholds", "is_within"),
    [
        ({}, None),
        ({"bar_rmse_m": 0.06, "bar_separation_m": 1.12}, True),
        ({"bar_rmse_m": 0.04}, False),
        ({"bar_separation_m": 1.2}, False),
    ],
)
def test_bars_are_met_or_missed(thresholds, is_within):
    assert _result(first=(0.05, 0.0, 0.0), **thresholds).is_within_thresholds is is_within


def test_a_relay_that_was_not_flown_to_its_end_is_not_judged():
    truths = [_flown(reference, 0.0, end_s=13.0) for reference in REFERENCES]
    with pytest.raises(ValueError, match="did not fly the whole relay"):
        relay_sides(truths, REFERENCES, [BEGIN_NS, BEGIN_NS])


def test_the_chapter_names_every_case_and_says_what_missed():
    good = _result(bar_rmse_m=0.02, bar_separation_m=1.12)
    chapter = relay_section([good, _result(first=(0.1, 0.0, 0.0), bar_rmse_m=0.05)])
    assert [tile.status for tile in chapter.headline] == ["good", "bad"]
    assert chapter.warnings == ("A: the thresholds are missed.",)
    assert all("<svg" in (figure.svg or "") for figure in chapter.figures)
    assert chapter.tables[0].rows[0][2] == "0.17"  # the second is 1 ms of 1.7 m/s ahead
    assert "1.12 m" in chapter.tables[0].caption
