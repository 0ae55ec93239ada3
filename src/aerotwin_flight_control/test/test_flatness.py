# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The map from motion to attitude against Newton's law and numerical derivatives."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_flight_control.flatness import (
    attitude_of_motion,
    cross,
    cross_jet,
    normalise_jet,
    vee,
)
from aerotwin_multirotor_dynamics import GRAVITY

ROUNDING = 1e-12
STEP_S = 1e-4
DIFFERENCE_ERROR = 2e-6  # central differences: h^2 times third derivatives of order 100
MASS = 1.5
DRAG = np.array([0.5, 0.3, 0.1])
UP = np.array([0.0, 0.0, GRAVITY])


def _motion(t):
    """Return v, a, jerk, snap and yaw with two rates of a motion that turns in every axis."""
    w = np.array([1.3, 0.9, 1.7])
    size = np.array([1.2, 0.8, 0.6])
    phase = w * t + (0.3, 1.1, 2.0)
    v, a = size * w * np.cos(phase), -size * w**2 * np.sin(phase)
    jerk, snap = -size * w**3 * np.cos(phase), size * w**4 * np.sin(phase)
    yaw = np.array([0.8 * np.sin(0.7 * t), 0.56 * np.cos(0.7 * t), -0.392 * np.sin(0.7 * t)])
    return v, a, jerk, snap, yaw


def _attitude(t, drag=DRAG):
    v, a, jerk, snap, yaw = _motion(t)
    force = MASS * np.array([a + UP, jerk, snap])
    return attitude_of_motion(force, np.array([v, a, jerk]), yaw, drag)


@pytest.mark.parametrize("t", [0.0, 0.7, 1.9, 4.2])
def test_thrust_and_drag_of_the_attitude_give_the_motion(t):
    v, a, *_ = _motion(t)
    desired = _attitude(t)
    R = desired.R_map_body
    force = desired.thrust_n * R[:, 2] - R @ (DRAG * (R.T @ v)) - MASS * UP
    assert force / MASS == pytest.approx(a, abs=ROUNDING)
    assert pytest.approx(np.eye(3), abs=ROUNDING) == R.T @ R
    assert np.linalg.det(R) == pytest.approx(1.0, abs=ROUNDING)


@pytest.mark.parametrize("t", [0.0, 0.7, 1.9, 4.2])
def test_rates_are_the_derivatives_of_the_attitude(t):
    before, here, after = (_attitude(t + k * STEP_S) for k in (-1, 0, 1))
    R_dot = (after.R_map_body - before.R_map_body) / (2 * STEP_S)
    assert vee(here.R_map_body.T @ R_dot) == pytest.approx(here.omega_in_body, abs=DIFFERENCE_ERROR)
    omega_dot = (after.omega_in_body - before.omega_in_body) / (2 * STEP_S)
    assert omega_dot == pytest.approx(here.alpha_in_body, abs=DIFFERENCE_ERROR)


def test_heading_is_the_yaw_of_the_intrinsic_angles():
    t = 1.9
    yaw, _, _ = Rotation.from_matrix(_attitude(t).R_map_body).as_euler("ZYX")
    assert yaw == pytest.approx(_motion(t)[4][0], abs=ROUNDING)


def test_to_accelerate_east_while_facing_east_the_nose_goes_down_by_45_degrees():
    force = np.zeros((3, 3))
    force[0] = (MASS * GRAVITY, 0.0, MASS * GRAVITY)
    desired = attitude_of_motion(force, np.zeros((3, 3)), np.zeros(3), np.zeros(3))
    half = np.sqrt(0.5)
    expected = [[half, 0.0, half], [0.0, 1.0, 0.0], [-half, 0.0, half]]
    assert desired.R_map_body == pytest.approx(np.array(expected), abs=ROUNDING)
    assert desired.thrust_n == pytest.approx(MASS * GRAVITY * np.sqrt(2.0))


def test_jerk_to_the_north_rolls_to_the_right_when_facing_east():
    """Left is north: body z turns to the left, a negative rate about body x."""
    force = np.zeros((3, 3))
    force[0, 2] = MASS * GRAVITY
    force[1, 1] = MASS * 2.0
    desired = attitude_of_motion(force, np.zeros((3, 3)), np.zeros(3), np.zeros(3))
    assert desired.omega_in_body == pytest.approx([-2.0 / GRAVITY, 0.0, 0.0], abs=ROUNDING)


def test_a_turn_on_the_spot_is_a_rate_about_body_z():
    force = np.zeros((3, 3))
    force[0, 2] = MASS * GRAVITY
    desired = attitude_of_motion(force, np.zeros((3, 3)), np.array([0.4, 0.5, 0.6]), np.zeros(3))
    assert desired.omega_in_body == pytest.approx([0.0, 0.0, 0.5], abs=ROUNDING)
    assert desired.alpha_in_body == pytest.approx([0.0, 0.0, 0.6], abs=ROUNDING)


def test_jets_follow_the_product_rule():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 3, 3))

    def along(jet, t):
        return jet[0] + jet[1] * t + jet[2] * t * t / 2.0

    h = 1e-3
    values = [cross(along(a, t), along(b, t)) for t in (-h, 0.0, h)]
    product = cross_jet(a, b)
    assert product[0] == pytest.approx(np.cross(a[0], b[0]))
    assert product[1] == pytest.approx((values[2] - values[0]) / (2 * h), abs=1e-5)
    assert product[2] == pytest.approx((values[2] - 2 * values[1] + values[0]) / h**2, abs=1e-5)
    units = [along(a, t) / np.linalg.norm(along(a, t)) for t in (-h, 0.0, h)]
    unit = normalise_jet(a)
    assert unit[1] == pytest.approx((units[2] - units[0]) / (2 * h), abs=1e-4)
    assert unit[2] == pytest.approx((units[2] - 2 * units[1] + units[0]) / h**2, abs=1e-4)


def test_free_fall_has_no_attitude():
    with pytest.raises(ZeroDivisionError, match="free fall"):
        normalise_jet(np.zeros((3, 3)))
