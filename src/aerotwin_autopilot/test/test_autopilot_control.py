# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Allocation and cascade: signs, limits and priorities."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_autopilot.arena import Arena
from aerotwin_autopilot.control.allocation import allocate, allocation_matrix
from aerotwin_autopilot.control.cascade import (
    cascade,
    wished_force,
    wished_rate,
    wished_torque,
)
from aerotwin_autopilot.control.guidance import move
from aerotwin_autopilot.control.kernel import CascadeController, control, gains
from aerotwin_autopilot.control.setpoint import N_INTEGRAL, SetpointVector
from aerotwin_autopilot.estimator.layout import GRAVITY, N_OUTPUT, O_ATTITUDE, O_RATE, O_VELOCITY
from aerotwin_autopilot.parameters import load_autopilot_parameters
from aerotwin_multirotor_dynamics import hover_command, load_airframe

ROUNDING = 1e-9
PARAMETERS = load_autopilot_parameters()
GAINS = gains(PARAMETERS.airframe, PARAMETERS.control)
LOWEST, HIGHEST = 0.0584, 7.0664  # 5.84e-6 * 100^2 and * 1100^2 [N]


def level(attitude: Rotation | None = None) -> np.ndarray:
    estimate = np.zeros(N_OUTPUT)
    estimate[O_ATTITUDE : O_ATTITUDE + 4] = (attitude or Rotation.identity()).as_quat()
    return estimate


def shared(total, roll, pitch, yaw) -> np.ndarray:
    thrusts = np.empty(4)
    inverse = np.ascontiguousarray(np.linalg.pinv(allocation_matrix(PARAMETERS.airframe)))
    allocate(thrusts, inverse, total, roll, pitch, yaw, LOWEST, HIGHEST)
    return thrusts


def test_torques_are_cross_products_of_arm_and_thrust():
    a = PARAMETERS.airframe
    matrix = allocation_matrix(a)
    for i in range(4):
        torque = np.cross([a.rotor_x_m[i], a.rotor_y_m[i], 0.0], [0.0, 0.0, 1.0])
        assert matrix[1:3, i] == pytest.approx(torque[:2], abs=ROUNDING)


def test_turning_left_speeds_up_the_clockwise_rotors():
    thrusts = shared(15.0, 0.0, 0.0, 0.1)
    assert min(thrusts[2:]) > max(thrusts[:2])


def test_what_can_be_done_is_done_exactly():
    wrench = np.array([15.0, 0.3, -0.2, 0.05])
    assert allocation_matrix(PARAMETERS.airframe) @ shared(*wrench) == pytest.approx(
        wrench, abs=ROUNDING
    )


def test_yaw_gives_way_before_roll_and_thrust():
    achieved = allocation_matrix(PARAMETERS.airframe) @ shared(15.0, 1.0, 0.0, 5.0)
    assert achieved[1] == pytest.approx(1.0, abs=ROUNDING)
    assert 0.0 <= achieved[3] < 5.0


def test_roll_is_held_at_full_thrust_by_giving_thrust_away():
    achieved = allocation_matrix(PARAMETERS.airframe) @ shared(40.0, 1.0, 0.5, 0.0)
    assert achieved[1:3] == pytest.approx([1.0, 0.5], abs=ROUNDING)
    assert achieved[0] < 4 * HIGHEST


@pytest.mark.parametrize("seed", range(5))
def test_thrusts_stay_within_bounds_whatever_is_asked(seed):
    rng = np.random.default_rng(seed)
    for _ in range(100):
        thrusts = shared(*rng.uniform([-10, -8, -8, -3], [60, 8, 8, 3]))
        assert thrusts.min() >= LOWEST - ROUNDING
        assert thrusts.max() <= HIGHEST + ROUNDING


def test_hovering_asks_for_the_hover_command_of_the_airframe():
    """806.8 rad/s, u 0.707: known of the iris, and computed by the dynamics package."""
    arena = Arena()
    controller = CascadeController(PARAMETERS.airframe, PARAMETERS.control, arena)
    arena.record["output"] = level()
    control(arena.record, 0.004)
    assert controller.thrust_share == pytest.approx(1.0)
    assert controller.commands == pytest.approx(
        [hover_command(load_airframe("iris"))] * 4, abs=1e-3
    )


def test_a_goal_to_the_east_tilts_the_thrust_east():
    setpoint = SetpointVector()
    setpoint.position[:] = (1.0, 0.0, 0.0)
    force = wished_force(level(), setpoint.values, np.zeros(N_INTEGRAL), GAINS, 0.004, False)
    assert force[0] > 0.0
    assert force[1:] == pytest.approx((0.0, GRAVITY), abs=ROUNDING)


def test_velocity_and_acceleration_are_fed_forward():
    setpoint, estimate = SetpointVector(), level()
    setpoint.values[3:6] = estimate[O_VELOCITY : O_VELOCITY + 3] = (2.0, 1.0, 0.5)
    setpoint.values[6:9] = (0.3, -0.2, 0.1)
    force = wished_force(estimate, setpoint.values, np.zeros(N_INTEGRAL), GAINS, 0.004, False)
    assert force == pytest.approx((0.3, -0.2, 0.1 + GRAVITY), abs=ROUNDING)


def test_tilt_and_acceleration_stay_within_limits():
    setpoint = SetpointVector()
    setpoint.position[:] = (1e3, -1e3, 1e3)
    x, y, z = wished_force(level(), setpoint.values, np.zeros(N_INTEGRAL), GAINS, 0.004, False)
    assert math.hypot(x, y) <= GAINS.acceleration_limit + ROUNDING
    assert math.atan2(math.hypot(x, y), z) <= GAINS.tilt_limit + ROUNDING
    assert z <= GRAVITY + GAINS.climb_acceleration_limit + ROUNDING


def test_the_integral_does_not_wind_up_in_saturation():
    setpoint, integral = SetpointVector(), np.zeros(N_INTEGRAL)
    setpoint.position[:] = (100.0, 0.0, 0.0)
    for _ in range(1000):
        wished_force(level(), setpoint.values, integral, GAINS, 0.004, True)
    assert integral[0] == 0.0


def test_an_axis_that_is_not_asked_for_is_left_to_its_velocity():
    setpoint = SetpointVector()
    setpoint.position[:] = math.nan
    force = wished_force(level(), setpoint.values, np.zeros(N_INTEGRAL), GAINS, 0.004, False)
    assert force == pytest.approx((0.0, 0.0, GRAVITY), abs=ROUNDING)


@pytest.mark.parametrize("seed", range(5))
def test_the_wished_rate_turns_thrust_axis_and_nose_to_the_wish(seed):
    """Follow the wished rate as a perfect vehicle would: force direction and yaw are reached."""
    rng = np.random.default_rng(seed)
    attitude = Rotation.from_rotvec(rng.normal(size=3) * 0.5)
    force = (rng.normal(), rng.normal(), 9.0)
    for _ in range(3000):
        rate = wished_rate(level(attitude), force, 0.8, 0.0, GAINS)
        attitude = attitude * Rotation.from_rotvec(np.array(rate) * 0.004)
    up = attitude.apply([0.0, 0.0, 1.0])
    nose = attitude.apply([1.0, 0.0, 0.0])
    assert up == pytest.approx(np.array(force) / np.linalg.norm(force), abs=1e-4)
    assert math.atan2(nose[1], nose[0]) == pytest.approx(0.8, abs=1e-4)


def test_turning_while_tilted_turns_about_the_vertical():
    attitude = Rotation.from_euler("zyx", [0.4, 0.3, -0.2])
    nose = attitude.apply([1.0, 0.0, 0.0])
    rate = wished_rate(
        level(attitude), tuple(attitude.apply([0.0, 0.0, 9.0])),
        math.atan2(nose[1], nose[0]), 0.5, GAINS,
    )  # fmt: skip
    assert attitude.apply(rate) == pytest.approx([0.0, 0.0, 0.5], abs=ROUNDING)


def test_torque_opposes_a_rate_that_is_not_wished():
    estimate = level()
    estimate[O_RATE] = 1.0
    torque = wished_torque(estimate, (0.0, 0.0, 0.0), np.zeros(N_INTEGRAL), GAINS, 0.004, False)
    assert torque[0] == pytest.approx(-GAINS.rate * GAINS.inertia_x)
    assert torque[1:] == pytest.approx((0.0, 0.0), abs=ROUNDING)


def test_gyroscopic_torque_is_compensated():
    """Wished rate equals the rate: what remains is Euler's omega x (I omega)."""
    estimate, omega = level(), np.array([1.0, 2.0, 3.0])
    estimate[O_RATE : O_RATE + 3] = omega
    torque = wished_torque(estimate, tuple(omega), np.zeros(N_INTEGRAL), GAINS, 0.004, False)
    inertia = np.array(PARAMETERS.airframe.inertia_kg_m2)
    assert torque == pytest.approx(np.cross(omega, inertia * omega), abs=ROUNDING)


def test_an_upside_down_vehicle_gets_no_thrust():
    wrench = np.empty(4)
    estimate = level(Rotation.from_rotvec([math.pi, 0.0, 0.0]))
    cascade(wrench, estimate, SetpointVector().values, np.zeros(N_INTEGRAL), GAINS, 0.004, False)
    assert wrench[0] == 0.0


def test_a_mover_arrives_within_its_limits_and_stays():
    reference, target = np.zeros(9), np.array([20.0, -10.0, 5.0])
    speed, climb, descent, acceleration, jerk = 4.0, 2.0, 1.0, 3.0, 10.0
    path = []
    for _ in range(5000):
        move(reference, target, speed, climb, descent, acceleration, jerk, 0.004)
        path.append(reference.copy())
    path = np.array(path)
    speed = np.hypot(path[:, 3], path[:, 4])
    jerk = np.linalg.norm(np.diff(path[:, 6:], axis=0), axis=1) / 0.004
    overshoot = 0.05
    assert speed.max() <= 4.0 + overshoot
    assert path[:, 5].max() <= 2.0 + overshoot
    assert np.hypot(path[:, 6], path[:, 7]).max() <= 3.0 + 0.1
    assert jerk.max() <= 10.0 + ROUNDING
    assert np.linalg.norm(target - reference[:3]) < 0.01
    assert path[:, 0].max() < 20.0 + overshoot
