# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Circling a place, against the circle that was asked for."""

import math

import numpy as np
import pytest

from aerotwin_autopilot.orbit import TANGENT, TO_CENTRE, Orbit, OrbitFlight
from aerotwin_autopilot.parameters import TunableParameters
from aerotwin_autopilot.px4_modes import Mode
from aerotwin_autopilot.settings import Settings

RADIUS_M, SPEED_M_S = 6.0, 2.5
CONTROL_ERROR_M = 0.5
YAW_ERROR = 0.25
"""Of the heading: 3 sigma of the estimate (0.1) and the lag of a turn at 0.42 rad/s."""


def go_round(flight, radius_m: float, behaviour: int) -> np.ndarray:
    """Fly an orbit for 20 s; return (east, north, up, yaw) relative to its centre."""
    flight.take_off()
    centre = flight.modes.home + np.array([4.0, -3.0, 5.0])
    orbit = Orbit(
        radius_m=radius_m, speed_m_s=SPEED_M_S, yaw_behaviour=behaviour, centre=tuple(centre)
    )
    assert flight.modes.circle(orbit) == ""
    flight.run(lambda: flight.modes.course.orbit.is_circling, 20.0)
    flight.wait(3.0)
    track = []
    for _ in range(2500):
        flight.step()
        track.append([*(flight.modes.position - centre), flight.modes.yaw])
    assert flight.modes.mode is Mode.ORBIT
    return np.array(track)


@pytest.mark.parametrize(("radius_m", "direction"), [(RADIUS_M, -1.0), (-RADIUS_M, 1.0)])
def test_the_circle_is_flown_clockwise_or_not_with_the_nose_to_its_centre(
    flight, radius_m, direction
):
    track = go_round(flight, radius_m, TO_CENTRE)
    assert np.hypot(track[:, 0], track[:, 1]) == pytest.approx(RADIUS_M, abs=CONTROL_ERROR_M)
    assert track[:, 2] == pytest.approx(0.0, abs=CONTROL_ERROR_M)
    angle = np.unwrap(np.arctan2(track[:, 1], track[:, 0]))
    assert (angle[-1] - angle[0]) / 10.0 == pytest.approx(
        direction * SPEED_M_S / RADIUS_M, rel=0.05
    )
    inward = np.arctan2(-track[:, 1], -track[:, 0])
    assert np.abs(np.angle(np.exp(1j * (track[:, 3] - inward)))).max() < YAW_ERROR


def test_the_nose_can_point_along_the_way(flight):
    track = go_round(flight, RADIUS_M, TANGENT)
    way = np.diff(track[::50, :2], axis=0)
    along = np.arctan2(way[:, 1], way[:, 0])
    middle = 0.5 * (np.unwrap(track[::50, 3])[1:] + np.unwrap(track[::50, 3])[:-1])
    assert np.abs(np.angle(np.exp(1j * (middle - along)))).max() < YAW_ERROR


@pytest.mark.parametrize(
    ("radius_m", "asked", "flown"),
    [(8.0, 3.0, 3.0), (8.0, 20.0, 4.0), (math.nan, math.nan, 1.0), (200.0, 20.0, 10.0)],
)
def test_speeds_are_limited_by_the_turn_as_in_px4(radius_m, asked, flown):
    """At most 2 m/s^2 inwards and 10 m/s; without numbers 1 m at 1 m/s."""
    flight = OrbitFlight(Settings(TunableParameters()))
    flight.request = Orbit(radius_m=radius_m, speed_m_s=asked)
    flight.begin(np.zeros(3), 0.0)
    assert flight._speed == pytest.approx(flown)


def test_what_cannot_be_flown_is_refused(flight):
    assert flight.modes.circle(Orbit(radius_m=5.0)) == "Orbit denied: not flying"
    flight.take_off()
    assert flight.modes.circle(Orbit(radius_m=0.5)) == "Orbit denied: radius out of range"
    assert flight.modes.circle(Orbit(radius_m=2000.0)) == "Orbit denied: radius out of range"
    assert flight.modes.mode is Mode.HOLD
