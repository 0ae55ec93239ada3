# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest

from aerotwin_multirotor_dynamics import GRAVITY, hover_speed_rad_s, load_airframe
from aerotwin_multirotor_dynamics.propeller import AIR_DENSITY
from aerotwin_multirotor_dynamics.wake import (
    HALF_RADIUS_PER_M,
    induced_speed_per_rad,
    wake_on_axis,
    wake_ways,
    wake_winds,
)

IRIS = load_airframe("iris")
RADIUS_M = IRIS.propeller.radius_m
INDUCED_M_S = hover_speed_rad_s(IRIS) * induced_speed_per_rad(IRIS)
ROUNDING = 1e-9
QUADRATURE = 1e-6
SEAM = 0.005  # where the jet takes over, the disc's wake has 99.7 % of its final speed
DOWN = np.array([0.0, 0.0, -1.0])


def wind_of(hubs, owners=None, *, ways=None, induced=INDUCED_M_S):
    """Return the winds of vehicles of a rotor each, unless owners says which has which."""
    hubs = np.array(hubs, float)
    m = len(hubs)
    owners = np.arange(m) if owners is None else np.array(owners)
    axes = np.tile(-DOWN, (m, 1))
    winds = np.zeros((owners.max() + 1, 3))
    ways = -axes if ways is None else np.tile(ways, (m, 1))
    wake_winds(owners, hubs, axes, ways, np.full(m, induced), np.full(m, RADIUS_M), winds)
    return winds


def test_in_hover_the_momentum_of_the_air_carries_the_weight():
    thrust = 4.0 * 2.0 * AIR_DENSITY * math.pi * RADIUS_M**2 * INDUCED_M_S**2
    assert thrust == pytest.approx(IRIS.mass_kg * GRAVITY, rel=ROUNDING)


def test_the_air_passes_the_disc_at_half_its_speed_below():
    at_disc, _ = wake_on_axis(0.0, INDUCED_M_S, RADIUS_M)
    below, _ = wake_on_axis(8.0 * RADIUS_M, INDUCED_M_S, RADIUS_M)
    assert at_disc == pytest.approx(INDUCED_M_S, rel=ROUNDING)
    assert below == pytest.approx(2.0 * INDUCED_M_S, rel=0.01)


@pytest.mark.parametrize(("z", "share"), [(0.0, 0.5), (1.0, 1.0), (3.0, 1.0), (30.0, 1.0)])
def test_a_wake_carries_the_thrust_and_at_the_disc_half_of_it_is_pressure(z, share):
    speed, width = wake_on_axis(z, INDUCED_M_S, RADIUS_M)
    r = np.linspace(0.0, 6.0 * width, 4001)
    profile = (speed * np.exp(-((r / width) ** 2))) ** 2 * 2.0 * math.pi * r
    flux = AIR_DENSITY * np.trapezoid(profile, r)
    thrust = 2.0 * AIR_DENSITY * math.pi * RADIUS_M**2 * INDUCED_M_S**2
    assert flux == pytest.approx(share * thrust, rel=SEAM)


def test_a_jet_slows_with_the_distance_and_as_measured():
    (first, _), (second, _) = (wake_on_axis(z, INDUCED_M_S, RADIUS_M) for z in (2.0, 4.0))
    assert first == pytest.approx(2.0 * second, rel=ROUNDING)
    # U_0 / U_J = B d / z, the nozzle of the same thrust has 2 v_i and half the disc's area;
    # B was measured as 5.8 to 6.1 (Pope, table 5.1), 6.3 conserves the momentum of a Gaussian.
    nozzle = 2.0 * RADIUS_M / math.sqrt(2.0)
    assert 5.8 < first / (2.0 * INDUCED_M_S) * 2.0 / nozzle < 6.3


def test_the_wind_is_half_at_the_half_radius_and_none_above_or_far_beside():
    z = 3.0
    half = HALF_RADIUS_PER_M * z
    axis, beside, above, far = (
        wind_of([[0.0, 0.0, 0.0], p])[1]
        for p in ([0.0, 0.0, -z], [half, 0.0, -z], [0.0, 0.0, z], [3.0, 0.0, -z])
    )
    speed, _ = wake_on_axis(z, INDUCED_M_S, RADIUS_M)
    np.testing.assert_allclose(axis, speed * DOWN, rtol=ROUNDING)
    np.testing.assert_allclose(beside, 0.5 * axis, rtol=ROUNDING)
    assert (above == 0.0).all() and (far == 0.0).all()


def test_two_wakes_add_up_their_momentum_and_own_rotors_do_not_count():
    hubs = [[-0.2, 0.0, 0.0], [0.2, 0.0, 0.0], [0.0, 0.0, -3.0]]
    both = wind_of(hubs, [0, 0, 1])
    one = wind_of([hubs[0], hubs[2]])[1]
    np.testing.assert_allclose(both[1], math.sqrt(2.0) * one, rtol=ROUNDING)
    assert (both[0] == 0.0).all()


def test_the_wind_is_the_mean_at_the_rotors_of_the_lower():
    hubs = [[0.0, 0.0, 0.0], [0.0, 0.0, -3.0], [0.4, 0.0, -3.0]]
    winds = wind_of(hubs, [0, 1, 1])
    ends = [wind_of([hubs[0], hub])[1] for hub in hubs[1:]]
    np.testing.assert_allclose(winds[1], np.mean(ends, axis=0), rtol=ROUNDING)


def test_a_wake_is_left_behind_by_a_vehicle_that_flies():
    axes, induced = np.array([[0.0, 0.0, 1.0]]), np.array([INDUCED_M_S])
    ahead = np.array([[-2.0 * INDUCED_M_S, 0.0, 0.0]])  # flies along x at 2 v_i
    (way,) = wake_ways(axes, induced, ahead)
    np.testing.assert_allclose(way, [-math.sqrt(0.5), 0.0, -math.sqrt(0.5)], atol=ROUNDING)
    below, behind = (
        wind_of([[0.0, 0.0, 0.0], p], ways=way)[1] for p in ([0.0, 0.0, -3.0], [-3.0, 0.0, -3.0])
    )
    speed, _ = wake_on_axis(math.sqrt(18.0), INDUCED_M_S, RADIUS_M)
    np.testing.assert_allclose(behind, speed * DOWN, rtol=ROUNDING)
    assert (below == 0.0).all()


def test_rotors_that_stand_still_blow_nothing():
    assert (wind_of([[0.0, 0.0, 0.0], [0.0, 0.0, -1.0]], induced=0.0) == 0.0).all()
