# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Poses fused with an IMU, against closed forms, numerical derivatives and simulated motion."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from scipy.stats import chi2

from aerotwin_core.frames import invert_transform
from aerotwin_dense_localization.localization import InertialFilter, InertialParameters
from aerotwin_dense_localization.localization.inertial import (
    ACCEL,
    GYRO,
    TURN,
    InertialState,
    P,
    V,
    body_twist,
    stepped,
    transition,
)
from support.painted_wall import pose

S = 1_000_000_000
DT_NS, DT = 4_000_000, 0.004
G = 9.80665
ROUNDING = 1e-9
STEP_ERROR = 1e-6
"""Of a numerical derivative with steps of 1e-6."""
SECOND_ORDER = 5e-7
"""(0.1 ms)^2 times the largest force, 40 m/s^2: what the Jacobian of a step leaves out."""
INTEGRATION = 2e-5
"""Position [m] and attitude [rad] after 2 s at 250 Hz, where both turn by 1 rad/s: 2 dt^2."""
SAMPLING = 0.01
"""What readings that are linear between samples lose of the motion below, m/s and rad/s."""
SURE = 1e-4
"""A sound filter fails a test of consistency so rarely."""
POSE_SIGMAS = np.repeat([0.005, np.radians(0.1)], 3)
POSE_COVARIANCE = np.diag(POSE_SIGMAS**2)
EXACT = InertialParameters(pose_sigma_m=0.0, pose_sigma_deg=0.0)
UNGATED = replace(EXACT, gate_probability=1.0)
T_BASE_IMU = pose([0.3, -0.2, 1.1], [0.1, -0.05, 0.2])


class Motion:
    """A body that changes speed and heading all the time, and what its IMU would read."""

    T_base_imu = T_BASE_IMU
    amplitudes, rates = np.array([1.5, 0.8, 0.4]), np.array([1.3, 1.7, 2.1])

    def base(self, t):
        turn = Rotation.from_euler("ZYX", [0.8 * np.sin(0.9 * t), 0.2 * np.sin(1.1 * t), 0.1 * t])
        p = self.amplitudes * np.sin(self.rates * t) + [0.5 * t, 0.0, 2.0]
        return pose(turn.as_rotvec(), p)

    def imu(self, t):
        return self.base(t) @ self.T_base_imu

    def state(self, t, h=1e-4):
        """Return position, velocity and attitude of the IMU, differences for derivatives."""
        before, here, after = (self.imu(t + d) for d in (-h, 0.0, h))
        v = (after[:3, 3] - before[:3, 3]) / (2 * h)
        return here[:3, 3], v, here[:3, :3]

    def twist(self, t, h=1e-4):
        before, here, after = (self.base(t + d) for d in (-h, 0.0, h))
        R = here[:3, :3]
        turn = Rotation.from_matrix(before[:3, :3].T @ after[:3, :3]).as_rotvec()
        return np.r_[R.T @ (after[:3, 3] - before[:3, 3]), turn] / (2 * h)

    def reading(self, t, h=1e-4):
        before, here, after = (self.imu(t + d) for d in (-h, 0.0, h))
        a = (after[:3, 3] - 2 * here[:3, 3] + before[:3, 3]) / h**2
        omega = Rotation.from_matrix(before[:3, :3].T @ after[:3, :3]).as_rotvec() / (2 * h)
        return omega, here[:3, :3].T @ (a + np.array([0.0, 0.0, G]))


class Readings:
    """Readings of a motion at 250 Hz with the noise that a filter is told of."""

    def __init__(self, motion, seconds, parameters=None, seed=0):
        times = np.arange(0.0, seconds + DT, DT)
        self.values = np.array([np.concatenate(motion.reading(t)) for t in times])
        self.biases = np.zeros_like(self.values)
        if parameters is not None:
            self._spoil(parameters, np.random.default_rng(seed))

    def _spoil(self, p, rng):
        n, ones = len(self.values), np.ones(3)
        first = np.r_[p.gyro_bias_std_rad_s * ones, p.accel_bias_std_m_s2 * ones]
        walk = np.r_[p.gyro_bias_walk_rad_s2_sqrt_hz * ones, p.accel_bias_walk_m_s3_sqrt_hz * ones]
        white = np.r_[p.gyro_noise_rad_s_sqrt_hz * ones, p.accel_noise_m_s2_sqrt_hz * ones]
        steps = walk * np.sqrt(DT) * rng.standard_normal((n, 6))
        self.biases = first * rng.standard_normal(6) + np.cumsum(steps, axis=0)
        self.values += self.biases + white / np.sqrt(DT) * rng.standard_normal((n, 6))

    def feed(self, inertial, begin_s, end_s):
        """Add the samples after one time up to another."""
        for k in range(round(begin_s / DT) + 1, round(end_s / DT) + 1):
            inertial.add(k * DT_NS, self.values[k, :3], self.values[k, 3:])


def noisy(T, rng):
    """Return a pose as it may be seen: shifted, and turned about the map's axes."""
    d = POSE_SIGMAS * rng.standard_normal(6)
    seen = T.copy()
    seen[:3, 3] += d[:3]
    seen[:3, :3] = Rotation.from_rotvec(d[3:]).as_matrix() @ T[:3, :3]
    return seen


def tracked(motion, readings, seconds, every_s, rng=None, parameters=EXACT):
    """Return a filter that was given poses every so often."""
    inertial = InertialFilter(parameters, motion.T_base_imu)
    inertial.add(0, *np.split(readings.values[0], 2))
    for k in range(round(seconds / every_s) + 1):
        readings.feed(inertial, (k - 1) * every_s if k else 0.0, k * every_s)
        T = motion.base(k * every_s)
        seen = T if rng is None else noisy(T, rng)
        assert inertial.correct(round(k * every_s * S), seen, POSE_COVARIANCE) == ""
    return inertial


@pytest.fixture(scope="module")
def exact():
    return Readings(Motion(), 6.0)


def random_state(seed):
    rng = np.random.default_rng(seed)
    R = Rotation.from_rotvec(rng.normal(0.0, 1.0, 3)).as_matrix()
    p, v, gyro_bias, accel_bias = rng.normal(0.0, 2.0, (4, 3))
    state = InertialState(p=p, v=v, R=R, gyro_bias=0.1 * gyro_bias, accel_bias=accel_bias)
    return state, rng.normal(0.0, 10.0, 6)


def difference(a, b):
    """Return the errors (15,) that take b to a."""
    turn = Rotation.from_matrix(a.R @ b.R.T).as_rotvec()
    return np.concatenate(
        [a.p - b.p, a.v - b.v, turn, a.gyro_bias - b.gyro_bias, a.accel_bias - b.accel_bias]
    )


def still_at(p, v):
    return InertialState(
        p=np.array(p), v=np.array(v), R=np.eye(3), gyro_bias=np.zeros(3), accel_bias=np.zeros(3)
    )


def test_a_hovering_imu_stays_and_one_that_reads_nothing_falls():
    state = still_at([1.0, 2.0, 3.0], [0.0, 0.0, 0.0])
    hovering = falling = state
    for _ in range(250):
        hovering = stepped(hovering, np.array([0.0, 0.0, 0.0, 0.0, 0.0, G]), DT)
        falling = stepped(falling, np.zeros(6), DT)
    np.testing.assert_allclose(hovering.p, [1.0, 2.0, 3.0], atol=ROUNDING)
    np.testing.assert_allclose(falling.p, [1.0, 2.0, 3.0 - 0.5 * G], atol=ROUNDING)
    np.testing.assert_allclose(falling.v, [0.0, 0.0, -G], atol=ROUNDING)


def test_a_constant_turn_with_a_constant_force_follows_its_closed_form():
    w, a, t = 1.0, 2.0, 2.0
    state = InertialState(
        p=np.zeros(3), v=np.array([0.0, 0.0, 0.5]), R=np.eye(3),
        gyro_bias=np.array([0.1, -0.2, 0.05]), accel_bias=np.array([0.3, 0.2, -0.1]),
    )  # fmt: skip
    reading = np.r_[[0.1, -0.2, w + 0.05], [a + 0.3, 0.2, G - 0.1]]
    for _ in range(round(t / DT)):
        state = stepped(state, reading, DT)
    # The force turns with the body: v = a/w (sin wt, 1 - cos wt), p its integral.
    v = [a / w * np.sin(w * t), a / w * (1.0 - np.cos(w * t)), 0.5]
    p = [a / w**2 * (1.0 - np.cos(w * t)), a / w**2 * (w * t - np.sin(w * t)), 0.5 * t]
    np.testing.assert_allclose(state.v, v, atol=INTEGRATION)
    np.testing.assert_allclose(state.p, p, atol=INTEGRATION)
    ahead = [np.cos(w * t), np.sin(w * t), 0.0]
    np.testing.assert_allclose(state.R[:, 0], ahead, atol=ROUNDING)


@pytest.mark.parametrize("seed", range(3))
def test_the_jacobian_of_a_step_is_that_of_small_errors(seed):
    state, reading = random_state(seed)
    dt, h = 1e-4, 1e-3
    there = stepped(state, reading, dt)
    J = np.empty((15, 15))
    for k, e in enumerate(h * np.eye(15)):
        ahead, back = (stepped(state.corrected(s * e), reading, dt) for s in (1.0, -1.0))
        J[:, k] = (difference(ahead, there) - difference(back, there)) / (2 * h)
    np.testing.assert_allclose(transition(state, reading, dt), J, atol=SECOND_ORDER)


def test_the_twist_of_a_body_and_its_jacobian_are_those_of_its_motion():
    motion, t = Motion(), 0.7
    p, v, R = motion.state(t)
    state = replace(random_state(0)[0], p=p, v=v, R=R)
    omega = motion.reading(t)[0] + state.gyro_bias
    twist, J = body_twist(state, omega, T_BASE_IMU)
    np.testing.assert_allclose(twist, motion.twist(t), atol=STEP_ERROR)
    for k, e in enumerate(1e-6 * np.eye(15)):
        there = body_twist(state.corrected(e), omega, T_BASE_IMU)[0]
        np.testing.assert_allclose((there - twist) / 1e-6, J[:, k], atol=STEP_ERROR)
    for k, e in enumerate(1e-6 * np.eye(3)):  # what is read too much is missing in the bias
        there = body_twist(state, omega + e, T_BASE_IMU)[0]
        np.testing.assert_allclose((there - twist) / 1e-6, -J[:, GYRO][:, k], atol=STEP_ERROR)


def test_between_poses_a_body_is_where_its_imu_leads(exact):
    motion = Motion()
    inertial = tracked(motion, exact, 4.0, 0.1)
    exact.feed(inertial, 4.0, 4.5)
    np.testing.assert_allclose(
        inertial.advance(round(4.5 * S)), motion.base(4.5), atol=0.5 * SAMPLING
    )
    found = inertial.estimate(round(4.5 * S))
    np.testing.assert_allclose(found.twist, motion.twist(4.5), atol=SAMPLING)
    assert np.linalg.eigvalsh(found.twist_covariance).min() > 0.0
    before = found.covariance
    inertial.correct(round(4.5 * S), motion.base(4.5), POSE_COVARIANCE)
    gained = before - inertial.estimate(round(4.5 * S)).covariance
    assert np.linalg.eigvalsh(gained).min() > 0.0


def test_the_covariance_of_a_pose_is_that_of_the_body_not_of_its_imu(exact):
    rng = np.random.default_rng(5)
    A = rng.normal(0.0, 0.01, (6, 6))
    inertial = InertialFilter(EXACT, pose([0.3, -0.2, 1.1], [3.0, -2.0, 1.0]))
    inertial.add(0, *np.split(exact.values[0], 2))
    assert inertial.correct(0, Motion().base(0.3), A @ A.T) == ""
    np.testing.assert_allclose(inertial.estimate(0).covariance, A @ A.T, atol=ROUNDING)


def test_errors_are_as_large_as_the_filter_says_and_biases_are_found():
    motion, seconds, n = Motion(), 4.0, 10
    nees, biases = [], []
    for seed in range(n):
        readings = Readings(motion, seconds, EXACT, seed)
        rng = np.random.default_rng([1, seed])
        inertial = tracked(motion, readings, seconds, 0.1, rng, UNGATED)
        p, v, R = motion.state(seconds)
        gyro_bias, accel_bias = np.split(readings.biases[round(seconds / DT)], 2)
        true = InertialState(p=p, v=v, R=R, gyro_bias=gyro_bias, accel_bias=accel_bias)
        e, covariance = difference(true, inertial._state), inertial._covariance
        nees.append([e @ np.linalg.solve(covariance, e)])
        for part in (P, V, TURN, GYRO, ACCEL):
            nees[-1].append(e[part] @ np.linalg.solve(covariance[part, part], e[part]))
        biases.append([e[GYRO], e[ACCEL]])
        found = inertial.estimate(round(seconds * S))
        off = motion.twist(seconds) - found.twist
        nees[-1].append(off @ np.linalg.solve(found.twist_covariance, off))
    for total, dof in zip(np.sum(nees, axis=0), (15, 3, 3, 3, 3, 3, 6), strict=True):
        low, high = chi2.ppf([SURE / 2, 1.0 - SURE / 2], dof * n)
        assert low < total < high
    gyro_rms, accel_rms = np.sqrt(np.mean(np.square(biases), axis=(0, 2)))
    assert gyro_rms < EXACT.gyro_bias_std_rad_s / 5
    assert accel_rms < EXACT.accel_bias_std_m_s2 / 5


def test_with_two_poses_a_second_it_leads_nearer_than_constant_motion():
    motion, seconds = Motion(), 12.0
    readings, rng = Readings(motion, seconds, EXACT, seed=3), np.random.default_rng(3)
    inertial = InertialFilter(EXACT, T_BASE_IMU)
    readings.feed(inertial, -DT, 0.0)
    poses, led, went_on = [], [], []
    for k in range(round(seconds / 0.5)):
        readings.feed(inertial, max(0.5 * (k - 1), 0.0), 0.5 * k)
        true, expected = motion.base(0.5 * k), inertial.advance(k * S // 2)
        if k >= 4:
            same = poses[-1] @ invert_transform(poses[-2]) @ poses[-1]
            led.append(np.linalg.norm(expected[:3, 3] - true[:3, 3]))
            went_on.append(np.linalg.norm(same[:3, 3] - true[:3, 3]))
        poses.append(noisy(true, rng))
        assert inertial.correct(k * S // 2, poses[-1], POSE_COVARIANCE) == ""
    assert np.mean(led) < np.mean(went_on) / 10
    assert max(led) < min(0.2, max(went_on) / 5)


def test_a_pose_far_off_is_refused_and_many_of_them_are_believed(exact):
    motion = Motion()
    inertial = tracked(motion, exact, 2.0, 0.1)
    wrong = pose([0.0, 0.0, 0.0], [0.5, 0.0, 0.0])
    for k in range(EXACT.max_refused):
        t = 2.1 + 0.1 * k
        exact.feed(inertial, t - 0.1, t)
        reason = inertial.correct(round(t * S), motion.base(t) @ wrong, POSE_COVARIANCE)
        assert "0.50 m and 0.0 degrees from where the IMU led" in reason
        np.testing.assert_allclose(
            inertial.estimate(round(t * S)).T_map_base, motion.base(t), atol=0.5 * SAMPLING
        )
    exact.feed(inertial, t, t + 0.1)
    moved = motion.base(t + 0.1) @ wrong
    assert inertial.correct(round((t + 0.1) * S), moved, POSE_COVARIANCE) == ""
    found = inertial.estimate(round((t + 0.1) * S))
    np.testing.assert_allclose(found.T_map_base, moved, atol=ROUNDING)
    assert np.sqrt(found.twist_covariance[0, 0]) > EXACT.speed_std_m_s / 2  # it begins anew


def test_a_pose_that_is_not_sure_of_a_turn_is_not_held_to_it(exact):
    motion = Motion()
    inertial = tracked(motion, exact, 2.0, 0.1)
    exact.feed(inertial, 2.0, 2.1)
    turned = motion.base(2.1)
    turned[:3, :3] = Rotation.from_rotvec([0.0, 0.0, 0.2]).as_matrix() @ turned[:3, :3]
    unsure = POSE_COVARIANCE + np.diag([0, 0, 0, 0, 0, 0.2**2])  # about the map's z, of the base
    assert inertial.correct(round(2.1 * S), turned, POSE_COVARIANCE) != ""
    assert inertial.correct(round(2.1 * S), turned, unsure) == ""
    np.testing.assert_allclose(
        inertial.estimate(round(2.1 * S)).T_map_base, motion.base(2.1), atol=SAMPLING
    )


def test_after_a_long_way_without_a_pose_it_begins_anew(exact):
    motion = Motion()
    inertial = tracked(motion, exact, 1.0, 0.1)
    exact.feed(inertial, 1.0, 4.0)
    assert inertial.advance(3 * S) is not None
    assert inertial.advance(3 * S + 1) is None and inertial.estimate(3 * S) is None
    assert inertial.reason == "no pose was taken for more than 2 s"
    assert inertial.correct(4 * S, motion.base(4.0), POSE_COVARIANCE) == ""
    assert inertial.reason == ""
    np.testing.assert_allclose(inertial.estimate(4 * S).T_map_base, motion.base(4.0), atol=ROUNDING)


def test_missing_samples_are_reported(exact):
    motion = Motion()
    inertial = InertialFilter(EXACT, T_BASE_IMU)
    assert inertial.correct(0, motion.base(0.0), POSE_COVARIANCE) == ""
    assert inertial.estimate(0) is None and inertial.reason == "no sample of the IMU has come"
    inertial.add(round(0.2 * S), *np.split(exact.values[50], 2))  # begins after the image
    assert inertial.correct(0, motion.base(0.0), POSE_COVARIANCE) == ""
    assert inertial.estimate(0) is None and inertial.reason == "no sample of the IMU for 0.20 s"
    inertial = tracked(motion, exact, 1.0, 0.1)
    exact.feed(inertial, 1.104, 1.2)  # 26 samples lack
    assert inertial.advance(round(1.2 * S)) is None and inertial.estimate(S) is None
    assert inertial.reason == "no sample of the IMU for 0.11 s"


def test_the_last_sample_is_held_for_a_short_time_and_then_they_are_waited_for(exact):
    motion = Motion()
    inertial = tracked(motion, exact, 1.0, 0.1)
    np.testing.assert_allclose(inertial.advance(round(1.03 * S)), motion.base(1.03), atol=SAMPLING)
    inertial = tracked(motion, exact, 1.0, 0.1)
    assert inertial.advance(round(1.05 * S)) is None
    assert inertial.reason == "the last sample of the IMU is 0.05 s older than the image"
    anywhere = pose([0.0, 0.0, 0.0], [9.0, 9.0, 9.0])
    assert inertial.correct(round(1.05 * S), anywhere, POSE_COVARIANCE) == ""
    assert inertial.estimate(round(1.05 * S)) is None
    exact.feed(inertial, 1.0, 1.5)  # nothing is lost
    np.testing.assert_allclose(inertial.advance(round(1.5 * S)), motion.base(1.5), atol=SAMPLING)
    assert inertial.reason == ""


def test_samples_that_are_late_are_left_out_and_clocks_that_go_back_are_reported(exact):
    motion = Motion()
    inertial = tracked(motion, exact, 1.0, 0.1)
    inertial.add(round(0.95 * S), [9.0, 0.0, 0.0], [0.0, 0.0, 90.0])  # late: known better
    exact.feed(inertial, 1.0, 1.2)
    np.testing.assert_allclose(inertial.advance(round(1.2 * S)), motion.base(1.2), atol=SAMPLING)
    assert inertial.advance(round(1.1 * S)) is None
    assert inertial.reason == "the time of the images went back"
    inertial = tracked(motion, exact, 1.0, 0.1)
    inertial.add(round(0.5 * S), [0.0, 0.0, 0.0], [0.0, 0.0, G])
    assert inertial.advance(S) is None and inertial.reason == "the time of the IMU went back"


@pytest.mark.parametrize("wrong", [np.nan, np.inf, 1e9])
def test_a_reading_that_cannot_be_is_refused(exact, wrong):
    inertial = tracked(Motion(), exact, 0.2, 0.1)
    with pytest.raises(ValueError, match="must be finite, at most 200 rad/s and 2000 m/s"):
        inertial.add(S, [0.0, wrong, 0.0], [0.0, 0.0, G])
    assert inertial.advance(round(0.2 * S)) is not None
