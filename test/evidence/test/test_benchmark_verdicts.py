# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Verdicts of benchmarks: by the ratio to a peer, on a fast machine and on a slow one."""

import sys

import numpy as np
import pytest

from aerotwin_sensor_models import detect
from evidence.benchmarks import fleet_flight, radar, registration
from evidence.benchmarks.result import Benchmark


def _row(value: float | None, peer_value: float | None, goal: float | None = 2.0) -> Benchmark:
    return Benchmark.beside("job", "s", value, peer="peer", peer_value=peer_value, goal=goal)


@pytest.mark.parametrize("slowness", [0.5, 1.0, 3.0])
def test_the_verdict_is_the_same_on_a_slower_machine(slowness):
    assert _row(0.4 * slowness, 1.0 * slowness).is_met is True
    assert _row(0.8 * slowness, 1.0 * slowness).is_met is False
    assert _row(0.4 * slowness, 1.0 * slowness).ratio == pytest.approx(2.5)


def test_thresholds_of_fleets_scale_with_what_one_vehicle_makes(monkeypatch):
    """On a machine of half the speed, half the factors count; the cost per vehicle may grow."""
    factors = {1: 15.0, 10: 2.1, 100: 0.4, 1000: 0.6}
    monkeypatch.delenv("PX4_DIR", raising=False)
    monkeypatch.setattr(fleet_flight, "_launched", lambda a: (factors[a["instances"]], 50.0))
    rows = {row.name: row for row in fleet_flight.fleet_flight()}
    ten, hundred, growth, start, point_masses, px4 = rows.values()
    assert ten.ratio == pytest.approx(2.1 / 2.0)
    assert hundred.ratio == pytest.approx(0.4 / 0.5)
    assert growth.value == pytest.approx(15.0 / 40.0)
    assert point_masses.ratio == pytest.approx(0.6 / 0.5)
    met = [row.is_met for row in (ten, hundred, growth, start, point_masses, px4)]
    assert met == [True, False, True, True, True, None]


def test_what_was_not_measured_is_never_met():
    assert _row(None, 1.0).is_met is None
    assert _row(0.4, None).is_met is None
    assert _row(0.4, 1.0, goal=None).is_met is None


def test_a_peer_that_is_not_installed_has_no_time_and_no_error(monkeypatch):
    monkeypatch.setitem(sys.modules, "small_gicp", None)
    points = np.random.default_rng(5).uniform(size=(100, 3))
    assert registration.peer_score(points, points, points) == (None, None)


def test_scipys_peaks_are_those_of_the_detector():
    """The peer does the same job: it finds each echo that stands out of noise, and no other."""
    levels = np.random.default_rng(5).integers(20, 40, (4, 1000)).astype(np.uint8)
    echoes = [(0, 300), (1, 500), (3, 700)]
    for azimuth, cell in echoes:
        levels[azimuth, cell] = 180
    found = detect(levels, 0.05)
    ours = set(zip(found.azimuth.tolist(), (found.range_m / 0.05).astype(int).tolist()))
    assert ours == set(echoes)
    assert set(map(tuple, radar.scipy_peaks(levels).tolist())) == set(echoes)
