# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Scenarios with a SLAM: what it sees in the loop, and its scores."""

import pytest
import yaml

from aerotwin_core.errors import UserError
from aerotwin_core.messages import deserialize, serialize
from aerotwin_core.messages import stamp as stamp_of
from aerotwin_scenarios.flights import fly
from aerotwin_scenarios.flights.scenario import read_scenario
from aerotwin_scenarios.flights.slam import OdometryInTheLoop

SQUARE = """
world: meadow
slam: stereo_odometry
camera: {pitch_deg: 45.0, rate_hz: 10.0, width: 320, height: 240, focal_px: 200.0}
mission:
  takeoff_altitude_m: 5.0
  speed_m_s: 3.0
  waypoints: [{position_m: [9.0, 0.0, 5.0]}, {position_m: [9.0, 9.0, 5.0]}]
expect: [slam_coverage > 0.3, slam_ape_m < 1]
"""
SHIFT = 85
OFFSET_S = 0.02


class Keeper(OdometryInTheLoop):
    """Keeps what it hears."""

    last: "Keeper"

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.arguments, self.heard = arguments, []
        Keeper.last = self

    def publish_cdr(self, topic, stamp_ns, cdr):
        super().publish_cdr(topic, stamp_ns, cdr)
        self.heard.append((topic, stamp_ns, cdr))


@pytest.fixture(scope="module")
def flown(tmp_path_factory):
    scenario = read_scenario(yaml.safe_load(SQUARE), name="square", where="square.yaml")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("aerotwin_scenarios.flights.slam.OdometryInTheLoop", Keeper)
        return fly.fly_scenario(scenario, tmp_path_factory.mktemp("run"), port_shift=SHIFT)


def test_the_scores_of_the_odometry_are_metrics_that_can_be_expected(flown):
    assert flown.is_success and len(flown.verdicts) == 2
    assert 0.0 < flown.metrics["slam_ape_m"] < 0.5
    assert 0.0 < flown.metrics["slam_rpe_m"] < 0.1
    assert flown.metrics["slam_time_offset_s"] < 2e-3
    assert 0.3 < flown.metrics["slam_coverage"] <= 1.0


def test_images_with_late_stamps_are_known_by_their_offset(flown):
    late = OdometryInTheLoop(*Keeper.last.arguments)
    for topic, stamp_ns, cdr in Keeper.last.heard:
        if topic.is_image:
            message = deserialize(cdr, topic.msgtype)
            message.header.stamp = stamp_of(stamp_ns + round(OFFSET_S * 1e9))
            late.publish_cdr(topic, stamp_ns, serialize(message))
        else:
            late.publish_cdr(topic, stamp_ns, cdr)
    found = late.metrics()
    assert found["slam_time_offset_s"] == pytest.approx(OFFSET_S, abs=3e-3)
    assert found["slam_rpe_m"] >= flown.metrics["slam_rpe_m"]


def test_without_images_nothing_is_covered():
    nothing = OdometryInTheLoop(*Keeper.last.arguments)
    assert nothing.metrics() == {
        "slam_ape_m": None, "slam_rpe_m": None, "slam_time_offset_s": None, "slam_coverage": 0.0
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("slam: orb_slam9", "slam: expected one of none, stereo_odometry"),
        ("slam: stereo_odometry\ncamera: {is_rendered: false}", "is_rendered: expected true"),
        ("expect: [slam_ape_m < 1]", "no signal or event 'slam_ape_m'"),
    ],
)
def test_a_slam_that_sees_nothing_is_refused(text, words):
    with pytest.raises(UserError) as caught:
        read_scenario(yaml.safe_load(text), name="x", where="x.yaml")
    assert words in str(caught.value)
