# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What the reports of launched flights say to their campaigns."""

import pytest

from evidence.verification.flights import THRESHOLDS, metrics_of, missed_thresholds

GOOD = {
    "flight": {"cross_track_m": {"rms": 0.1}, "path_m": 200.0},
    "trajectory": {"segments": {"median_percent": 1.0}, "coverage": 1.0},
}


def test_a_good_flight_misses_no_threshold():
    assert missed_thresholds(metrics_of(GOOD)) == []


@pytest.mark.parametrize("name", THRESHOLDS)
def test_every_threshold_can_be_missed_and_what_is_not_known_is_missed(name):
    sense, threshold = THRESHOLDS[name]
    wrong = threshold * (1.01 if sense == "at most" else 0.99)
    metrics = metrics_of(GOOD)
    assert len(missed_thresholds({**metrics, name: wrong})) == 1
    assert missed_thresholds({**metrics, name: None}) == [f"{name} is not known"]


def test_a_flight_without_a_slam_is_not_known_to_be_good():
    assert len(missed_thresholds(metrics_of({"flight": GOOD["flight"]}))) == 2
