# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The chapter on a fleet, from vehicles at known distances."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from aerotwin_core import plots
from aerotwin_core.bag import BagReader, BagWriter
from aerotwin_core.trajectory import Trajectory
from aerotwin_run_evaluation.report.fleet_section import (
    MOST_NAMED,
    FleetMember,
    closest_approach,
    fleet_section,
    read_member,
)
from aerotwin_run_evaluation.report.flight_section import read_tracks

LEVEL = (0.0, 0.0, 0.0, 1.0)
KIND = "ground robot bicycle"


def member(name: str, north_m: float, first_ns: int = 0) -> FleetMember:
    """Return a vehicle that flies east at 1 m/s for 10 s."""
    stamps = first_ns + np.arange(101, dtype=np.int64) * 100_000_000
    p = np.column_stack([stamps * 1e-9, np.full(101, north_m), np.full(101, 2.0)])
    truth = Trajectory(stamps, p, np.tile(LEVEL, (101, 1)))
    return FleetMember(name=name, kind=KIND, outcome="flown", n_missed=0, truth=truth, errors=None)


def test_the_closest_approach_is_that_of_the_closest_pair():
    section = fleet_section([member("a", 0.0), member("b", 5.0), member("c", 3.5)])
    assert section.metrics["separation_min_m"] == pytest.approx(1.5)
    assert "b and c" in section.headline[0].meaning
    assert [row[0] for row in section.tables[0].rows] == ["a", "b", "c"]


def test_the_table_says_what_a_vehicle_is_and_when_it_was_there():
    late = member("late", 4.0, first_ns=2_030_000_000)
    rows = fleet_section([member("a", 0.0), late]).tables[0].rows
    assert [row[1:3] for row in rows] == [(KIND, "0.0 – 10.0"), (KIND, "2.0 – 12.0")]


def test_vehicles_are_compared_at_the_same_instants():
    late = member("late", 4.0, first_ns=2_030_000_000)  # its stamps lie between the other's
    assert fleet_section([member("a", 0.0), late]).metrics["separation_min_m"] == pytest.approx(4.0)


@pytest.mark.parametrize("n", [2, 3, 10])
def test_the_closest_approach_is_the_least_over_all_pairs(n):
    rng = np.random.default_rng(n)
    tracks = {f"uav{k}": wandering(rng) for k in range(n)}
    least = {}
    for pair in combinations(tracks, 2):
        one, other = (tracks[name] for name in pair)
        stamps = np.union1d(one.stamps_ns, other.stamps_ns)
        first = max(one.stamps_ns[0], other.stamps_ns[0])
        last = min(one.stamps_ns[-1], other.stamps_ns[-1])
        stamps = stamps[(stamps >= first) & (stamps <= last)]
        apart = one.interpolate(stamps).p_ref_body - other.interpolate(stamps).p_ref_body
        least[pair] = np.linalg.norm(apart, axis=1).min()
    found = closest_approach(tracks)
    assert found.vehicles == min(least, key=least.get)
    assert found.distance_m == pytest.approx(min(least.values()), abs=1e-12)


def wandering(rng: np.random.Generator) -> Trajectory:
    """Return a random walk whose first stamp is its own, on a clock that all share."""
    stamps = (rng.integers(0, 30) + np.arange(100, dtype=np.int64)) * 50_000_000
    p = rng.uniform(-10.0, 10.0, 3) + rng.normal(0.0, 0.5, (100, 3)).cumsum(axis=0)
    return Trajectory(stamps, p, np.tile(LEVEL, (100, 1)))


def test_vehicles_in_one_place_are_no_distance_apart():
    track = member("a", 0.0).truth
    found = closest_approach({"a": track, "b": track, "c": track})
    assert found.distance_m == 0.0
    assert len(set(found.vehicles)) == 2


def test_vehicles_that_never_flew_at_once_have_no_distance():
    section = fleet_section([member("a", 0.0), member("b", 1.0, first_ns=60_000_000_000)])
    assert "separation_min_m" not in section.metrics
    assert section.headline == ()


def test_a_fleet_of_ten_has_a_name_and_a_colour_for_each():
    figures = fleet_section([member(f"uav{k}", 3.0 * k) for k in range(10)]).figures
    for figure in figures:
        assert all(f">uav{k}<" in figure.svg for k in range(10))
    assert len(set(plots.colours(10))) == 10


@pytest.mark.filterwarnings("error")
def test_a_large_fleet_is_readable():
    fleet = [member(f"uav{k}", 3.0 * k) for k in range(100)]
    fleet[70] = replace(fleet[70], outcome="it was lost")
    fleet[80] = replace(fleet[80], n_missed=3)
    section = fleet_section(fleet)
    (table,) = section.tables
    assert len(table.rows) == MOST_NAMED
    assert [row[0] for row in table.rows[:3]] == ["uav70", "uav80", "uav0"]
    assert f"These {MOST_NAMED} of 100 vehicles" in table.caption
    assert len(section.metrics["vehicles"]) == 100
    for figure in section.figures:
        assert ">uav0<" in figure.svg
        assert ">the other 99<" in figure.svg
        assert ">uav1<" not in figure.svg
        assert len(figure.svg) < 200_000


def test_vehicles_without_recorded_truth_are_listed_but_not_drawn(tmp_path):
    with BagWriter(tmp_path / "bag") as bag:
        bag.add_topic("/uav0/truth/odom", "nav_msgs/msg/Odometry")
    tracks = read_tracks(BagReader(tmp_path / "bag"), ["uav0"])
    lost = read_member(tracks, "uav0", kind=KIND, outcome="it was lost", n_missed=0)
    assert lost.truth is None
    section = fleet_section([lost])
    assert [row[:4] for row in section.tables[0].rows] == [("uav0", KIND, "–", "it was lost")]
    assert section.figures == ()
    beside = fleet_section([lost, member("a", 0.0), member("b", 1.0)])
    assert ">uav0<" not in beside.figures[0].svg
    assert beside.metrics["separation_min_m"] == pytest.approx(1.0)
