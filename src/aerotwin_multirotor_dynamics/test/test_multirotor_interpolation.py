# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Between two steps, and the records."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_multirotor_dynamics import (
    Multirotor,
    MultirotorState,
    interpolate,
    interpolate_vector,
    layout,
    load_airframe,
)

COMMAND = np.array([0.9, 0.6, 0.75, 0.7])


def two_states_and_the_truth_between():
    """A lively turn: the states at 0 and 4 ms, and those on the way every millisecond."""
    vehicle = Multirotor(
        load_airframe("iris"),
        p_map_body=(1, 2, 30),
        q_map_body=Rotation.from_euler("xyz", [0.5, -0.4, 3.1]).as_quat(),
        v_map_body=(4, -3, 2),
        omega_map_body_in_body=(3, -4, 5),
        rotor_speed_rad_s=800.0,
    )
    vectors = [vehicle.state_vector.copy()]
    for _ in range(4):
        vehicle.step(COMMAND, 0.001)
        vectors.append(vehicle.state_vector.copy())
    return vectors


def test_a_state_between_two_steps_is_the_one_that_smaller_steps_reach():
    truth = two_states_and_the_truth_between()
    for i in range(5):
        between = interpolate_vector(truth[0], truth[4], i / 4, dt=0.004)
        # cubic over 4 ms: a few 1e-10 m, 1e-8 rad, and the motors' lag in the velocities
        np.testing.assert_allclose(between[layout.POSITION], truth[i][layout.POSITION], atol=1e-8)
        for part, tolerance in (
            (layout.QUATERNION, 1e-6),
            (layout.ROTATION, 2e-6),
            (layout.VELOCITY, 2e-5),
            (layout.ANGULAR_VELOCITY, 1e-3),
            (layout.ACCELERATION, 0.1),
        ):
            np.testing.assert_allclose(between[part], truth[i][part], atol=tolerance)


def test_the_ends_are_met_exactly():
    truth = two_states_and_the_truth_between()
    for i, fraction in ((0, 0.0), (4, 1.0)):
        between = interpolate_vector(truth[0], truth[4], fraction, dt=0.004)
        np.testing.assert_allclose(between[: layout.IS_CRASHED], truth[i][: layout.IS_CRASHED])


def test_the_sign_of_a_quaternion_does_not_matter():
    truth = two_states_and_the_truth_between()
    flipped = truth[4].copy()
    flipped[layout.QUATERNION] *= -1
    a = interpolate_vector(truth[0], truth[4], 0.3, dt=0.004)
    b = interpolate_vector(truth[0], flipped, 0.3, dt=0.004)
    np.testing.assert_allclose(a[layout.QUATERNION], b[layout.QUATERNION], atol=1e-15)


def test_records_and_arrays_say_the_same():
    truth = two_states_and_the_truth_between()
    states = [MultirotorState.from_vector(v, 4) for v in (truth[0], truth[4])]
    between = interpolate(*states, 0.6, dt=0.004)
    expected = interpolate_vector(truth[0], truth[4], 0.6, dt=0.004)
    np.testing.assert_array_equal(between.to_vector(), expected[: layout.N_HEAD + 4])
    R = Rotation.from_quat(between.q_map_body).as_matrix()
    np.testing.assert_allclose(between.R_map_body, R, atol=1e-15)
    np.testing.assert_allclose(expected[layout.ROTATION].reshape(3, 3), R, atol=1e-15)


@pytest.mark.parametrize(("fraction", "dt"), [(-0.1, 0.004), (1.1, 0.004), (0.5, 0.0)])
def test_nothing_is_extrapolated(fraction, dt):
    truth = two_states_and_the_truth_between()
    with pytest.raises(ValueError):
        interpolate_vector(truth[0], truth[4], fraction, dt=dt)
