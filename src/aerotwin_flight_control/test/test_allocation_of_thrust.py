# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Rotor thrusts against the wrench they give, their limits and the order of priorities."""

import dataclasses

import numpy as np
import pytest

from aerotwin_flight_control import Allocation
from aerotwin_multirotor_dynamics import Rotor, load_airframe

ROUNDING = 1e-9
IRIS = load_airframe("iris")
ALLOCATION = Allocation(IRIS)
LIMIT = ALLOCATION.maximum_thrust_n
LIFT = 4.0 * LIMIT


def _hexacopter():
    angles = np.radians(30.0 + 60.0 * np.arange(6))
    rotors = tuple(
        Rotor(position_m=(0.3 * np.cos(a), 0.3 * np.sin(a), 0.0), spin=(-1) ** i)
        for i, a in enumerate(angles)
    )
    return dataclasses.replace(IRIS, rotors=rotors)


@pytest.mark.parametrize("airframe", [IRIS, _hexacopter()], ids=["iris", "hexacopter"])
def test_thrusts_give_the_wrench_they_were_made_for(airframe):
    allocation = Allocation(airframe)
    rng = np.random.default_rng(1)
    for _ in range(50):
        wrench = np.array([15.0, 0.0, 0.0, 0.0]) + rng.normal(size=4) * (1.0, 0.3, 0.3, 0.05)
        thrusts, is_met = allocation.thrusts(wrench)
        assert is_met
        assert allocation.wrench_per_thrust @ thrusts == pytest.approx(wrench, abs=ROUNDING)


def test_of_all_thrusts_of_a_hexacopter_the_smallest_are_taken():
    allocation = Allocation(_hexacopter())
    wrench = np.array([15.0, 0.2, -0.1, 0.02])
    thrusts, _ = allocation.thrusts(wrench)
    _, _, null = np.linalg.svd(allocation.wrench_per_thrust)
    assert null[4:] @ thrusts == pytest.approx([0.0, 0.0], abs=ROUNDING)


def test_rolling_to_the_right_lifts_the_left_rotors_and_turning_left_the_clockwise_ones():
    """Rotors of the iris: 0 front right ccw, 1 back left ccw, 2 front left cw, 3 back right cw."""
    level, _ = ALLOCATION.thrusts([15.0, 0.0, 0.0, 0.0])
    roll = ALLOCATION.thrusts([15.0, 0.2, 0.0, 0.0])[0] - level
    assert (roll[[1, 2]] > 0.0).all() and (roll[[0, 3]] < 0.0).all()
    nose_down = ALLOCATION.thrusts([15.0, 0.0, 0.2, 0.0])[0] - level
    assert (nose_down[[1, 3]] > 0.0).all() and (nose_down[[0, 2]] < 0.0).all()
    left = ALLOCATION.thrusts([15.0, 0.0, 0.0, 0.05])[0] - level
    assert (left[[2, 3]] > 0.0).all() and (left[[0, 1]] < 0.0).all()


def test_beyond_the_rotors_yaw_gives_way_before_roll_and_pitch():
    wrench = np.array([15.0, 0.3, 0.2, 5.0])
    thrusts, is_met = ALLOCATION.thrusts(wrench)
    provided = ALLOCATION.wrench_per_thrust @ thrusts
    assert not is_met
    assert provided[:3] == pytest.approx(wrench[:3], abs=ROUNDING)
    assert 0.1 < provided[3] < 5.0
    assert min(thrusts.min(), LIMIT - thrusts.max()) == pytest.approx(0.0, abs=ROUNDING)


@pytest.mark.parametrize("thrust", [-3.0, 0.0, 1.2 * LIFT])
def test_too_much_or_too_little_thrust_gives_way_to_roll_and_pitch(thrust):
    wrench = np.array([thrust, 0.5, -0.4, 0.0])
    thrusts, is_met = ALLOCATION.thrusts(wrench)
    provided = ALLOCATION.wrench_per_thrust @ thrusts
    assert not is_met
    assert provided[1:3] == pytest.approx(wrench[1:3], abs=ROUNDING)
    assert 0.0 < provided[0] < LIFT


def test_any_wrench_gives_thrusts_within_their_limits():
    rng = np.random.default_rng(2)
    for wrench in rng.normal(size=(500, 4)) * (60.0, 20.0, 20.0, 5.0):
        thrusts, _ = ALLOCATION.thrusts(wrench)
        assert thrusts.min() >= 0.0 and thrusts.max() <= LIMIT
        provided = ALLOCATION.wrench_per_thrust @ thrusts
        assert provided[1] * wrench[1] >= -ROUNDING  # never turns the wrong way


def test_speeds_give_thrusts_also_in_axial_inflow():
    thrusts = np.array([3.0, 3.5, 4.0, 2.5])
    climb, spin = np.array([0.3, -0.2, 2.0]), np.array([0.5, -0.4, 0.3])
    speeds = ALLOCATION.speeds(thrusts, v_air_in_body=climb, omega_in_body=spin)
    for rotor, speed, thrust in zip(IRIS.rotors, speeds, thrusts):
        axial = (climb + np.cross(spin, rotor.position_m))[2]
        loss = 1.0 - axial / IRIS.propeller.zero_thrust_axial_speed_m_s
        assert IRIS.propeller.thrust_coefficient_n_s2 * speed**2 * loss == pytest.approx(thrust)
    still = ALLOCATION.speeds(thrusts)
    assert IRIS.propeller.thrust_coefficient_n_s2 * still**2 == pytest.approx(thrusts)


@pytest.mark.parametrize(
    ("rotors", "message"),
    [
        (IRIS.rotors[:3], "control 3 of the four"),
        (tuple(dataclasses.replace(r, spin=1) for r in IRIS.rotors), "check places and spins"),
    ],
)
def test_an_airframe_that_cannot_be_controlled_is_refused(rotors, message):
    with pytest.raises(ValueError, match=message):
        Allocation(dataclasses.replace(IRIS, rotors=rotors))
