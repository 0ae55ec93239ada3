# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The chapter on a formation, from a bag of vehicles at known places."""

import numpy as np
import pytest

from aerotwin_core.bag import BagReader, BagWriter
from aerotwin_core.messages import odometry_message, serialize, string_message
from aerotwin_formation import FormationPlan, SeparationParameters, plan_to_text
from aerotwin_report.schema_check import faults
from aerotwin_run_evaluation.report.flight_section import read_tracks
from aerotwin_run_evaluation.report.formation_record import PLAN, read_formation
from aerotwin_run_evaluation.report.formation_section import formation_section

NAMES = ["uav0", "uav1", "uav2"]
SECOND = 1_000_000_000
LAG_M, SIDE_M, GNSS_M = 0.3, 0.2, 0.5
ROUNDING = 1e-6
STARTS = np.array([[0.0, 0, 0], [0.0, 3, 0], [0.0, 6, 0]])
GOALS = np.array([[0.0, 0, 0], [-3.0, 0, 0], [-6.0, 0, 0]])
FIRST = FormationPlan(
    number=0, pattern="column", start_ns=2 * SECOND, duration_ns=SECOND, starts=STARTS, goals=GOALS
)
FLOWN = SeparationParameters(radius_m=0.7, downwash_ratio=3.0)
LAST = FormationPlan(
    number=1, pattern="land", start_ns=8 * SECOND, duration_ns=0, starts=GOALS, goals=GOALS
)


def written(path, *plans):
    """Write a column that flies east at 2 m/s; both followers lag, one is beside its place.

    The estimate of the last one is east of the truth by an error of its own.
    """
    with BagWriter(path) as bag:
        for name in NAMES:
            bag.add_topic(f"/{name}/truth/odom", "nav_msgs/msg/Odometry")
            bag.add_topic(f"/{name}/autopilot/odom", "nav_msgs/msg/Odometry")
        bag.add_topic(PLAN, "std_msgs/msg/String")
        for text in plans:
            bag.write(PLAN, 0, serialize(string_message(text)))
        for stamp_ns in range(0, 10 * SECOND + 1, SECOND // 10):
            for k, name in enumerate(NAMES):
                east = 2e-9 * stamp_ns + GOALS[k, 0] - (LAG_M if k else 0.0)
                p = np.array([east, SIDE_M if k == 1 else 0.0, 10.0])
                write(bag, f"/{name}/truth/odom", stamp_ns, p)
                write(
                    bag,
                    f"/{name}/autopilot/odom",
                    stamp_ns,
                    p + np.array([GNSS_M * (k == 2), 0, 0]),
                )
    return BagReader(path)


def read(bag):
    return read_formation(bag, read_tracks(bag, NAMES), NAMES)


def write(bag, topic, stamp_ns, p):
    message = odometry_message(stamp_ns, "map", "base_link", p, (0, 0, 0, 1), (2, 0, 0), (0, 0, 0))
    bag.write(topic, stamp_ns, serialize(message))


@pytest.fixture(scope="module")
def flown(tmp_path_factory):
    path = tmp_path_factory.mktemp("formation") / "bag"
    return read(written(path, *(plan_to_text(p, FLOWN) for p in (FIRST, LAST))))


def test_errors_are_those_of_the_places(flown):
    section = formation_section(flown)
    true, estimated = section.metrics["true"], section.metrics["estimated"]
    assert true["lag_m"] == pytest.approx(LAG_M, abs=ROUNDING)
    e = np.array([[0, 0], [-LAG_M, SIDE_M], [-LAG_M, 0]])
    shape = e - e.mean(axis=0)
    expected = np.sqrt(np.mean(np.sum(shape**2, axis=1)))
    assert true["formation_m"] == pytest.approx(expected, abs=ROUNDING)
    assert true["largest_place_m"] == pytest.approx(np.hypot(LAG_M, SIDE_M), abs=ROUNDING)
    lags = np.array([LAG_M, LAG_M - GNSS_M])
    assert estimated["lag_m"] == pytest.approx(np.sqrt(np.mean(lags**2)), abs=ROUNDING)
    apart = np.hypot(3.0, SIDE_M)  # two pairs of them; from the leader it is farther
    assert section.metrics["closest_m"] == pytest.approx(apart, abs=ROUNDING)
    assert section.metrics["twice_radius_m"] == pytest.approx(1.4)
    assert "heights divided by 3;" in section.text
    assert section.metrics["patterns"] == ["column", "land"]


def test_nothing_counts_before_the_first_plan_and_in_the_landing(flown):
    counted = flown.truth.times_s[np.isfinite(flown.truth.offsets[:, 0, 0])]
    assert counted[0] == pytest.approx(2.0)
    assert counted[-1] == pytest.approx(9.0, abs=0.051)


def test_the_chapter_has_a_picture_of_each_pattern_and_obeys_its_schema(flown):
    section = formation_section(flown)
    assert [figure.title.partition(",")[0] for figure in section.figures] == [
        "Formation error over time", "Closest two vehicles over time", "Column", "Land",
    ]  # fmt: skip
    assert "t = 5.5 s" in section.figures[2].title  # the middle of the time in it
    assert not faults(section.metrics, section.schema)


def test_a_fleet_that_flew_no_formation_has_no_chapter(tmp_path):
    assert read(written(tmp_path / "bag")) is None


def test_what_is_no_plan_is_said(tmp_path):
    bag = written(tmp_path / "bag", "{}")
    with pytest.raises(ValueError, match="pattern: expected a name"):
        read(bag)
