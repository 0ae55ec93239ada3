# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The filter's equations against numerical derivatives and a dense Kalman filter."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_autopilot.estimator import layout as at
from aerotwin_autopilot.estimator.alignment import (
    FIRST_BARO_STD_M,
    GnssErrors,
    StandStill,
    declination_deg,
    filter_noise,
    first_covariance,
    level,
)
from aerotwin_autopilot.estimator.correction import (
    correct_fix,
    correct_heading,
    correct_height,
    correct_stillness,
)
from aerotwin_autopilot.estimator.filter import Estimator
from aerotwin_autopilot.estimator.prediction import predict
from aerotwin_autopilot.kernel import FIELDS_BARO, FIELDS_IMU, read
from aerotwin_autopilot.parameters import EstimatorParameters
from aerotwin_core.geodesy import GeodeticPoint

DT = 0.004
DIFFERENCE = 1e-6
STEP_ERROR = 2e-5
"""First order in the step: F uses the attitude at its beginning, the state that in its middle."""
ROUNDING = 1e-9
GYRO_BIAS_ERROR = 1.5e-3
"""rad/s: white noise of 5.4e-3 averaged over a second (3.4e-4), four sigma; the bias is 8.7e-3."""
FIELD = np.array([0.013, 0.215, -0.43])  # east, north, up [gauss], as in Zurich
FIELD_ANGLE = math.atan2(FIELD[1], FIELD[0])
FIELD_SLOPE = FIELD[2] / math.hypot(FIELD[0], FIELD[1])


ERRORS = GnssErrors(white_m=(0.2, 0.4), bias_m=(0.3, 0.5))


@pytest.fixture
def noise():
    parameters = EstimatorParameters(gate_sigma=100.0)
    numbers = filter_noise(parameters, ERRORS, FIELD_ANGLE, FIELD_SLOPE)
    return np.array([numbers], at.NOISE).view(np.recarray)[0]


@pytest.fixture
def state() -> np.ndarray:
    rng = np.random.default_rng(2)
    x = rng.normal(size=at.N_STATE) * 0.1
    x[at.X_ATTITUDE : at.X_ATTITUDE + 4] = Rotation.random(rng=rng).as_quat()
    return x


@pytest.fixture
def covariance() -> np.ndarray:
    root = np.random.default_rng(3).normal(size=(at.N_ERROR, at.N_ERROR)) * 0.1
    return root @ root.T


@pytest.fixture
def sample() -> np.ndarray:
    row = np.zeros(at.N_SAMPLE)
    row[at.S_DT] = DT
    row[at.S_ACCEL : at.S_ACCEL + 3] = (1.0, -2.0, 9.0)
    row[at.S_GYRO : at.S_GYRO + 3] = (0.3, -0.2, 0.5)
    return row


def plus(x: np.ndarray, error: np.ndarray) -> np.ndarray:
    """Nominal state plus error, attitude from the left: the definition of the error state."""
    y = x.copy()
    y[:6] += error[:6]
    q = slice(at.X_ATTITUDE, at.X_ATTITUDE + 4)
    y[q] = (Rotation.from_rotvec(error[6:9]) * Rotation.from_quat(x[q])).as_quat()
    y[10:] += error[9:]
    return y


def minus(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    q = slice(at.X_ATTITUDE, at.X_ATTITUDE + 4)
    turn = (Rotation.from_quat(x[q]) * Rotation.from_quat(y[q]).inv()).as_rotvec()
    return np.concatenate([x[:6] - y[:6], turn, x[10:] - y[10:]])


def derivative(function, x: np.ndarray) -> np.ndarray:
    columns = []
    for error in np.eye(at.N_ERROR) * DIFFERENCE:
        columns.append((function(plus(x, error)) - function(plus(x, -error))) / (2 * DIFFERENCE))
    return np.array(columns).T


def test_the_covariance_grows_as_the_numerical_transition_says(state, covariance, sample, noise):
    def moved(x):
        y = x.copy()
        predict(y, np.zeros((at.N_ERROR, at.N_ERROR)), sample, noise)
        return y

    base = moved(state)
    transition = derivative(lambda x: minus(moved(x), base), state)
    predicted = covariance.copy()
    predict(state.copy(), predicted, sample, noise)
    growth = predicted - transition @ covariance @ transition.T
    assert growth - np.diag(np.diag(growth)) == pytest.approx(0.0, abs=STEP_ERROR)
    assert growth[4, 4] == pytest.approx(noise.accel_density2 * DT, abs=STEP_ERROR)
    assert (predicted == predicted.T).all()


def test_a_vehicle_at_rest_stays_at_rest(noise):
    state = np.zeros(at.N_STATE)
    state[at.X_ATTITUDE + 3] = 1.0
    row = np.zeros(at.N_SAMPLE)
    row[at.S_DT], row[at.S_ACCEL + 2] = DT, at.GRAVITY
    for _ in range(100):
        predict(state, np.eye(at.N_ERROR), row, noise)
    assert state[:6] == pytest.approx(0.0, abs=ROUNDING)


def test_a_constant_turn_is_integrated_exactly(noise):
    state = np.zeros(at.N_STATE)
    state[at.X_ATTITUDE + 3] = 1.0
    row = np.zeros(at.N_SAMPLE)
    row[at.S_DT] = DT
    row[at.S_GYRO : at.S_GYRO + 3] = (0.4, -0.3, 1.2)
    for _ in range(250):
        predict(state, np.eye(at.N_ERROR), row, noise)
    expected = Rotation.from_rotvec([0.4, -0.3, 1.2]).as_quat()
    assert state[at.X_ATTITUDE : at.X_ATTITUDE + 4] == pytest.approx(expected, abs=ROUNDING)


def dense_update(x, covariance, h, innovation, variance):
    gain = covariance @ h / (h @ covariance @ h + variance)
    reduced = (np.eye(at.N_ERROR) - np.outer(gain, h)) @ covariance
    return plus(x, gain * innovation), reduced


def test_a_height_changes_state_and_covariance_as_a_dense_filter(state, covariance, noise):
    h = np.zeros(at.N_ERROR)
    h[at.E_POSITION + 2] = h[at.E_BARO] = 1.0
    height = 0.7
    innovation = height - state[2] - state[at.X_BARO]
    expected = dense_update(state, covariance, h, innovation, noise.baro_variance)
    correct_height(
        state, covariance, np.zeros((3, at.N_ERROR)), np.zeros(at.N_MONITOR), height, noise
    )
    assert minus(state, expected[0]) == pytest.approx(0.0, abs=ROUNDING)
    assert covariance == pytest.approx(expected[1], abs=ROUNDING)


def test_the_heading_uses_the_numerical_derivative_of_its_angle(covariance, noise):
    attitude = Rotation.from_euler("zyx", [1.1, 0.2, -0.1])
    state = np.zeros(at.N_STATE)
    state[at.X_ATTITUDE : at.X_ATTITUDE + 4] = attitude.as_quat()
    field_body = attitude.inv().apply(FIELD)

    def angle(x):
        east, north, _ = Rotation.from_quat(x[at.X_ATTITUDE : at.X_ATTITUDE + 4]).apply(field_body)
        return np.array([math.atan2(north, east)])

    h = derivative(angle, state)[0]
    nose_error = Rotation.from_rotvec([0.0, 0.0, 0.02])
    measured = tuple((attitude.inv() * nose_error).apply(FIELD).tolist())
    expected = dense_update(state, covariance, h, -0.02, noise.heading_variance)
    correct_heading(
        state, covariance, np.zeros((3, at.N_ERROR)), np.zeros(at.N_MONITOR), *measured, noise
    )
    assert minus(state, expected[0]) == pytest.approx(0.0, abs=1e-8)
    assert covariance == pytest.approx(expected[1], abs=1e-8)


def test_noise_of_the_field_alone_does_not_pull_the_tilt_away(noise):
    """Once H was taken from the noisy sample itself: the roll left by ten sigma in a second."""
    rng = np.random.default_rng(5)
    parameters = EstimatorParameters()
    state = np.zeros(at.N_STATE)
    state[at.X_ATTITUDE + 3] = 1.0
    covariance = first_covariance(np.eye(3), FIELD, parameters, ERRORS)
    sigma = math.sqrt(covariance[at.E_ATTITUDE, at.E_ATTITUDE])
    scratch, monitor = np.zeros((3, at.N_ERROR)), np.zeros(at.N_MONITOR)
    for _ in range(2000):
        field = FIELD + rng.normal(size=3) * 0.0063
        correct_heading(state, covariance, scratch, monitor, *field.tolist(), noise)
    roll = 2.0 * state[at.X_ATTITUDE]
    assert abs(roll) < sigma


def test_a_wild_fix_is_refused_and_ten_in_a_row_are_believed(noise):
    noise["gate2"] = 25.0
    state = np.zeros(at.N_STATE)
    state[at.X_ATTITUDE + 3] = 1.0
    covariance = np.eye(at.N_ERROR) * 0.01
    scratch, monitor = np.zeros((3, at.N_ERROR)), np.zeros(at.N_MONITOR)
    fix = np.zeros(at.N_FIX)
    fix[at.F_POSITION], fix[at.F_SCALE :] = 500.0, 1.0
    for _ in range(10):
        correct_fix(state, covariance, scratch, monitor, fix, 0.0, noise)
    assert state[0] == 0.0
    assert monitor[at.M_REFUSED] == 10.0
    correct_fix(state, covariance, scratch, monitor, fix, 0.0, noise)
    assert state[0] > 1.0


def test_a_fix_is_compared_with_where_the_vehicle_was_then(noise):
    state = np.zeros(at.N_STATE)
    state[at.X_ATTITUDE + 3], state[at.X_VELOCITY] = 1.0, 10.0
    covariance = np.eye(at.N_ERROR)
    fix = np.zeros(at.N_FIX)
    late = 0.002
    fix[at.F_POSITION], fix[at.F_VELOCITY], fix[at.F_SCALE :] = -10.0 * late, 10.0, 1.0
    before = state.copy()
    correct_fix(
        state, covariance, np.zeros((3, at.N_ERROR)), np.zeros(at.N_MONITOR), fix, late, noise
    )
    assert state == pytest.approx(before, abs=ROUNDING)
    assert covariance[0, 0] < 1.0


def test_the_present_is_the_delayed_state_carried_through_the_samples(simulated_vehicle):
    """A vehicle that falls for 0.04 s: the present shows it at once, 28 samples ahead."""
    estimator = Estimator(EstimatorParameters())
    vehicle = simulated_vehicle(seed=6)
    while not estimator.is_initialised:
        vehicle.step((0.0,) * 4, is_armed=False)
        if vehicle.fix is not None:
            f = vehicle.fix
            position = (f.latitude_deg, f.longitude_deg, f.altitude_m)
            estimator.add_fix(vehicle.time_us * 1e-6, position, f.v_map, (f.eph_m, f.epv_m))
        feed(estimator, vehicle.sensor, vehicle.sensor.specific_force_body)
    vehicle.step((0.0,) * 4, is_armed=False)
    steady = np.array(vehicle.imu.gyroscope_bias)
    estimator.context["is_still"] = 0.0
    for k in range(10):
        time_s = vehicle.time_us * 1e-6 + k * DT
        estimator.reading[:6] = 0.0
        estimator.step(time_s, DT, 0)
        estimated_bias = -estimator.output[at.O_RATE : at.O_RATE + 3]  # the gyroscope says zero
        assert estimated_bias == pytest.approx(steady, abs=GYRO_BIAS_ERROR)
    falling = estimator.output[at.O_VELOCITY + 2]
    first_half = 0.5  # the first interval's force is the mean of standing and falling
    bias = 0.7  # m/s^2: three sigma of the accelerometer's bias
    assert falling == pytest.approx(-at.GRAVITY * (10 - first_half) * DT, abs=bias * 10 * DT)
    assert estimator.state[at.X_VELOCITY + 2] == pytest.approx(0.0, abs=0.02)


def feed(estimator: Estimator, sensor, force) -> None:
    provided = 0
    estimator.reading[:6] = (*force, *sensor.angular_velocity_body)
    if sensor.magnetic_field_body_tesla is not None:
        estimator.reading[6:9], provided = sensor.magnetic_field_body_tesla, 1
    if sensor.pressure_pa is not None:
        height = 44330.77 * (1.0 - (sensor.pressure_pa / 101325.0) ** 0.190263)  # ISO 2533
        estimator.reading[9], provided = height, provided | 2
    estimator.context["is_still"] = 1.0
    estimator.step(sensor.time_us * 1e-6, DT, provided)


def test_standing_still_brings_the_velocity_to_zero(state, covariance):
    state[at.X_VELOCITY : at.X_VELOCITY + 3] = (0.5, -0.4, 0.3)
    for _ in range(300):
        correct_stillness(state, covariance, np.zeros((3, at.N_ERROR)))
    assert np.abs(state[at.X_VELOCITY : at.X_VELOCITY + 3]).max() < 0.01


def test_levelling_recovers_an_attitude_from_gravity_and_field():
    attitude = Rotation.from_euler("zyx", [2.0, 0.1, -0.2])
    found = level(attitude.inv().apply([0, 0, 9.8]), attitude.inv().apply(FIELD), FIELD_ANGLE)
    assert found.as_matrix() == pytest.approx(attitude.as_matrix(), abs=ROUNDING)


def test_the_first_covariance_says_how_an_accelerometer_bias_tilts_and_turns():
    """Perturb the accelerometer, level again: the change is what the cross terms predict."""
    parameters = EstimatorParameters()
    attitude = Rotation.from_euler("zyx", [0.7, 0.05, 0.1])
    force, field = attitude.inv().apply([0, 0, at.GRAVITY]), attitude.inv().apply(FIELD)
    covariance = first_covariance(attitude.as_matrix(), field, parameters, ERRORS)
    slope = covariance[6:9, 12:15] / parameters.accel_bias_std_m_s2**2
    for bias in np.eye(3) * 1e-4:
        wrong = level(force + bias, field, FIELD_ANGLE)
        error = (attitude * wrong.inv()).as_rotvec()
        assert error == pytest.approx(slope @ bias, abs=1e-8)


def test_at_the_start_the_place_and_the_gnss_bias_are_one_error():
    """What the fixes say, place plus bias, is known to their mean white noise; each alone is not.

    The barometer measures the way from the same place: height plus its bias is known as well.
    """
    parameters = EstimatorParameters()
    covariance = first_covariance(np.eye(3), FIELD, parameters, ERRORS)
    fixes = np.hstack([np.eye(3), np.zeros((3, 12)), np.eye(3), np.zeros((3, 1))])
    reported = fixes @ covariance @ fixes.T
    white = np.array([0.2, 0.2, 0.4]) ** 2 / parameters.origin_fixes
    assert reported == pytest.approx(np.diag(white), abs=ROUNDING)
    assert np.diag(covariance)[:3] == pytest.approx(np.array([0.3, 0.3, 0.5]) ** 2 + white)
    assert np.diag(covariance)[15:18] == pytest.approx(np.array([0.3, 0.3, 0.5]) ** 2)
    height = np.zeros(at.N_CORE)
    height[at.E_POSITION + 2] = height[at.E_BARO] = 1.0
    assert height @ covariance @ height == pytest.approx(FIRST_BARO_STD_M**2, abs=ROUNDING)
    assert np.linalg.eigvalsh(covariance).min() > -ROUNDING


def test_moving_while_aligning_starts_the_average_again():
    still = StandStill()
    for _ in range(10):
        still.add(DT, np.array([0.0, 0.0, 9.8, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 488.0]), 3)
    assert still.duration == pytest.approx(0.04)
    still.add(DT, np.array([0.0, 0.0, 9.8, 0.0, 0.9, 0.0, 0.0, 0.0, 0.0, 0.0]), 0)
    assert still.duration == 0.0
    assert still.missing == "no magnetometer"


def test_pressure_altitude_inverts_the_standard_atmosphere():
    """ISO 2533, table 1: 89874.6 Pa at 1000 m geopotential."""
    reading, values = np.zeros(10), np.zeros(13, np.float32)
    values[9] = 898.746
    assert read(reading, values, FIELDS_IMU | FIELDS_BARO) == 2
    assert reading[9] == pytest.approx(1000.0, abs=0.01)


def test_the_declination_is_that_of_the_world_magnetic_model():
    zurich = GeodeticPoint(latitude_deg=47.4, longitude_deg=8.55, altitude_m=488.0)
    model = declination_deg(EstimatorParameters(), zurich)
    assert model == pytest.approx(3.5, abs=0.3)  # NOAA calculator, WMM-2025, January 2026
    provided = EstimatorParameters(magnetic_declination_deg=-7.0)
    assert declination_deg(provided, zurich) == -7.0
