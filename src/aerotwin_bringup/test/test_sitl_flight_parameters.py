# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Whom the flight scenario waits for, and whom it judges."""

import pytest

from aerotwin_core.errors import ParameterError
from aerotwin_core.parameters import replaced

pytestmark = pytest.mark.ros
DARK = {"camera.is_rendered": False}


@pytest.mark.parametrize(
    ("values", "is_judged", "is_followed"),
    [
        ({}, True, True),
        ({"wait_for": ""}, True, False),
        ({**DARK}, False, False),
        # the shipped one sees no other
        ({**DARK, "camera.file": "two.yaml"}, False, False),
        ({"slam": "external", **DARK, "camera.file": "two.yaml"}, True, True),
        ({"slam": "external", "wait_for": "step/ack"}, True, True),
        (
            {"slam": "external", **DARK, "lidar.preset": "spinning_16"},
            True,
            True,
        ),
        ({"slam": "external", **DARK}, False, False),
        ({"slam": "none"}, False, False),
        ({"slam": "none", "wait_for": "step/ack"}, False, True),
        ({"slam": "none", "wait_for": "step/ack", **DARK}, False, False),
        ({"slam": "none", "wait_for": "step/ack", "wait_at": "camera", **DARK}, False, True),
        ({"slam": "none", "wait_for": "step/ack", "radar.preset": "ideal", **DARK}, False, True),
        ({"slam": "external", "radar.preset": "ideal", **DARK}, True, True),
        ({"slam": "none", "camera.file": "two.yaml"}, False, False),
    ],
)
def test_a_slam_is_judged_and_waited_for_if_it_sees_something(values, is_judged, is_followed):
    from aerotwin_bringup.ros.sitl_flight import SitlFlightParameters

    parameters = replaced(SitlFlightParameters(), values)
    assert parameters.is_judged is is_judged
    assert parameters.is_followed is is_followed


@pytest.mark.parametrize(
    ("values", "sensor"),
    [
        ({}, "camera"),
        ({"slam": "kiss_icp", "lidar.preset": "spinning_16"}, "lidar"),  # whatever is on board
        ({"slam": "external", "lidar.preset": "spinning_16"}, "camera"),
        ({"slam": "external", "lidar.preset": "spinning_16", **DARK}, "lidar"),
        ({"slam": "external", "lidar.preset": "spinning_16", "wait_at": "lidar"}, "lidar"),
        ({"slam": "external", "radar.preset": "ideal", **DARK}, "radar"),
        ({"slam": "external", "radar.preset": "ideal", "wait_at": "radar"}, "radar"),
    ],
)
def test_a_slam_is_waited_for_at_what_it_answers(values, sensor):
    from aerotwin_bringup.ros.sitl_flight import SitlFlightParameters

    assert replaced(SitlFlightParameters(), values).awaited_sensor == sensor


def test_a_slam_of_the_lidar_needs_one():
    from aerotwin_bringup.ros.sitl_flight import SitlFlightParameters

    with pytest.raises(ParameterError, match=r"lidar\.preset: expected one with slam kiss"):
        SitlFlightParameters(slam="kiss_icp")


def test_the_shipped_slam_is_not_waited_for_where_it_never_answers():
    from aerotwin_bringup.ros.sitl_flight import SitlFlightParameters

    with pytest.raises(ParameterError, match="wait_for: expected slam/odom or nothing"):
        SitlFlightParameters(wait_for="step/ack")


@pytest.mark.parametrize("values", [{}, {**DARK, "slam": "none"}, {**DARK, "fleet.file": "a.yaml"}])
def test_the_shipped_slam_is_refused_without_the_stereo_pair_that_it_needs(values):
    from aerotwin_bringup.ros.sitl_flight import SitlFlightParameters, check_slam

    check_slam(replaced(SitlFlightParameters(), values))
    with pytest.raises(ParameterError, match=r"camera\.is_rendered: expected true with slam"):
        check_slam(replaced(SitlFlightParameters(), DARK))
