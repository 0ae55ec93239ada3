# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The control law at single instants: hover, signs, limits, lag."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_core.frames import rotation_from_quaternion
from aerotwin_flight_control import (
    Allocation,
    BodyState,
    FlatState,
    GeometricController,
    GeometricParameters,
    at_rest,
)
from aerotwin_multirotor_dynamics import GRAVITY, hover_speed_rad_s, load_airframe

IRIS = load_airframe("iris")
HOVER = hover_speed_rad_s(IRIS)
PLACE = np.array([3.0, -2.0, 5.0])
ALLOCATION = Allocation(IRIS)
DT = 0.004


def _state(*, p=PLACE, v=(0.0, 0.0, 0.0), q=(0.0, 0.0, 0.0, 1.0), omega=(0.0, 0.0, 0.0)):
    return BodyState(
        p_map=np.asarray(p, float),
        v_map=np.asarray(v, float),
        R_map_body=rotation_from_quaternion(q),
        omega_in_body=np.asarray(omega, float),
        rotor_speed_rad_s=np.full(4, HOVER),
    )


def _wrench(state, yaw=0.0, **parameters):
    """Return the wrench that the commanded speeds give in still air."""
    controller = GeometricController(IRIS, GeometricParameters(**parameters))
    speeds = controller.rotor_speeds(state, at_rest(PLACE, yaw), DT)
    thrusts = IRIS.propeller.thrust_coefficient_n_s2 * speeds**2
    return ALLOCATION.wrench_per_thrust @ thrusts


def test_at_its_place_it_hovers():
    assert _wrench(_state()) == pytest.approx([IRIS.mass_kg * GRAVITY, 0.0, 0.0, 0.0], abs=1e-9)


def test_too_low_it_pushes_up_by_the_gains():
    wrench = _wrench(_state(p=PLACE - (0.0, 0.0, 0.1)))
    expected = IRIS.mass_kg * (GRAVITY + 0.1 * GeometricParameters().position_gain_1_s2)
    assert wrench[0] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("offset", "sign"),
    [((-0.1, 0.0, 0.0), (0, 1)), ((0.1, 0.0, 0.0), (0, -1)), ((0.0, -0.1, 0.0), (-1, 0))],
)
def test_beside_its_place_it_tilts_towards_it(offset, sign):
    """To go east the nose goes down (+ about y); to go north, left, it rolls left (- about x)."""
    _, roll, pitch, _ = _wrench(_state(p=PLACE + offset))
    assert np.sign(np.round([roll, pitch], 9)).tolist() == list(sign)


def test_tilted_it_rights_itself_and_turned_it_turns_back():
    roll_right = (np.sin(0.05), 0.0, 0.0, np.cos(0.05))
    assert _wrench(_state(q=roll_right))[1] < 0.0
    assert _wrench(_state(), yaw=0.2)[3] > 0.0
    assert _wrench(_state(omega=(0.0, 0.3, 0.0)))[2] < 0.0


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_small_turn_asks_for_its_angle_times_gain_and_inertia(axis):
    angle = 0.002
    q = [0.0, 0.0, 0.0, np.cos(angle / 2.0)]
    q[axis] = np.sin(angle / 2.0)
    moment = _wrench(_state(q=q), feed_forward="none")[1 + axis]
    gain = GeometricParameters().attitude_gain_1_s2[axis]
    assert moment == pytest.approx(-IRIS.inertia_kg_m2[axis] * gain * angle, rel=1e-3)


def test_half_a_turn_of_yaw_does_not_disturb_the_lift():
    back = _wrench(_state(q=(0.0, 0.0, 1.0, 0.0)))
    assert back[0] == pytest.approx(IRIS.mass_kg * GRAVITY)


def test_far_away_the_feedback_is_limited():
    parameters = {"feedback_limit_m_s2": 2.0}
    wrench = _wrench(_state(p=PLACE - (0.0, 0.0, 50.0)), **parameters)
    assert wrench[0] == pytest.approx(IRIS.mass_kg * (GRAVITY + 2.0))
    fall = _wrench(_state(p=PLACE - (0.0, 0.0, -500.0)), feedback_limit_m_s2=100.0)
    assert fall[0] == pytest.approx(0.2 * IRIS.mass_kg * GRAVITY)


def test_the_integral_grows_by_its_gain_and_stops_at_its_limit():
    parameters = GeometricParameters(
        position_gain_1_s2=0.0,
        velocity_gain_1_s=0.0,
        integral_gain_1_s3=2.0,
        integral_limit_m_s2=0.5,
    )
    controller = GeometricController(IRIS, parameters)
    low = _state(p=PLACE - (0.0, 0.0, 0.5))
    for n in range(1, 1001):
        speeds = controller.rotor_speeds(low, at_rest(PLACE, 0.0), DT)
        lift = IRIS.propeller.thrust_coefficient_n_s2 * float(np.sum(speeds**2))
        if n in (50, 1000):
            expected = min(2.0 * 0.5 * DT * n, 0.5)
            assert lift / IRIS.mass_kg - GRAVITY == pytest.approx(expected)
    controller.reset()
    speeds = controller.rotor_speeds(_state(), at_rest(PLACE, 0.0), DT)
    assert speeds == pytest.approx(np.full(4, HOVER), rel=0.01)


def test_a_lagging_motor_led_in_full_is_there_after_one_step():
    controller = GeometricController(IRIS, GeometricParameters(motor_lead=1.0))
    plain = GeometricController(IRIS, GeometricParameters())
    state = _state(p=PLACE - (0.02, 0.01, 0.0))
    desired = plain.rotor_speeds(state, at_rest(PLACE, 0.0), DT)
    command = controller.rotor_speeds(state, at_rest(PLACE, 0.0), DT)
    motor = IRIS.motor
    tau = np.where(desired > HOVER, motor.time_constant_up_s, motor.time_constant_down_s)
    reached = command + (HOVER - command) * np.exp(-DT / tau)
    assert reached == pytest.approx(desired)


def test_without_feedback_the_moment_is_that_of_the_desired_rate_as_the_body_sees_it():
    """Euler's law for the rate of R^T R_d omega_d, by differences while both turn."""
    R0 = Rotation.from_euler("XYZ", [0.3, -0.2, 0.4])
    omega, yaw = np.array([0.9, -0.7, 0.5]), np.array([0.6, 1.1, 0.8])
    reference = FlatState(
        p_derivatives_map=at_rest(PLACE, 0.0).p_derivatives_map, yaw_derivatives=yaw
    )

    def wanted_rate(t):
        R = (R0 * Rotation.from_rotvec(omega * t)).as_matrix()
        turn = yaw[0] + yaw[1] * t + 0.5 * yaw[2] * t * t
        R_wanted = Rotation.from_euler("Z", turn).as_matrix()
        return R.T @ R_wanted @ np.array([0.0, 0.0, yaw[1] + yaw[2] * t])

    h = 1e-5
    alpha = (wanted_rate(h) - wanted_rate(-h)) / (2 * h)
    inertia = np.array(IRIS.inertia_kg_m2)
    expected = inertia * alpha + np.cross(omega, inertia * omega)
    nothing = (0.0, 0.0, 0.0)
    controller = GeometricController(
        IRIS,
        GeometricParameters(
            position_gain_1_s2=0.0,
            velocity_gain_1_s=0.0,
            attitude_gain_1_s2=nothing,
            rate_gain_1_s=nothing,
            compensate_rotor_drag=False,
        ),
    )
    state = _state(q=R0.as_quat(), omega=omega)
    speeds = controller.rotor_speeds(state, reference, DT)
    gain = controller.allocation.thrust_gain(np.zeros(3), omega)
    thrusts = IRIS.propeller.thrust_coefficient_n_s2 * speeds**2 * gain
    assert (ALLOCATION.wrench_per_thrust @ thrusts)[1:] == pytest.approx(expected, abs=1e-7)
