# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Steady wind, shear, and gusts whose statistics do not depend on the step."""

import math

import numpy as np
import pytest
from scipy.linalg import expm

from aerotwin_multirotor_dynamics.wind import (
    Wind,
    WindParameters,
    shear_factor,
    turbulence_scales,
)

HEIGHT, AIRSPEED = 20.0, 8.0
TURBULENT = WindParameters(turbulence_wind_m_s=10.0)


def samples(parameters, seed, n, dt, height=HEIGHT, airspeed=AIRSPEED):
    wind = Wind(parameters, np.random.default_rng(seed))
    return np.array([wind.sample(dt, height, airspeed) for _ in range(n)])


# -- mean wind ----------------------------------------------------------------------------------


def test_steady_wind_is_the_same_everywhere():
    parameters = WindParameters(east_m_s=3.0, north_m_s=-4.0, up_m_s=0.5)
    assert parameters.is_steady
    for row in samples(parameters, 1, 3, 0.004):
        np.testing.assert_array_equal(row, (3.0, -4.0, 0.5))
    np.testing.assert_array_equal(samples(parameters, 1, 1, 0.004, 100.0)[0], (3.0, -4.0, 0.5))


def test_shear_is_the_logarithmic_law_of_the_standard():
    parameters = WindParameters(east_m_s=5.0, north_m_s=5.0, up_m_s=1.0, roughness_length_m=0.046)
    assert not parameters.is_steady
    wind = Wind(parameters, np.random.default_rng(1))
    assert wind.sample(0.004, 6.096, 5.0) == pytest.approx((5.0, 5.0, 1.0))
    # ln(100 / 0.15) / ln(20 / 0.15) in feet
    assert shear_factor(0.15 * 0.3048, 100 * 0.3048) == pytest.approx(6.50229 / 4.89285, rel=1e-5)
    assert wind.sample(0.004, 0.01, 5.0) == pytest.approx((0.0, 0.0, 1.0))  # below the roughness
    highest = wind.sample(0.004, 304.8, 5.0)
    assert wind.sample(0.004, 5000.0, 5.0) == pytest.approx(highest)


# -- gusts ----------------------------------------------------------------------------------------


def test_lengths_and_intensities_are_those_of_the_standard():
    # MIL-F-8785C, 3.7.3, at 200 ft: 0.177 + 0.1646 = 0.3416
    length_u, length_w, sigma_u, sigma_w = turbulence_scales(200 * 0.3048, 15.0)
    assert length_w == pytest.approx(200 * 0.3048)
    assert length_u / 0.3048 == pytest.approx(200 / 0.3416**1.2)
    assert sigma_w == pytest.approx(1.5)
    assert sigma_u == pytest.approx(1.5 / 0.3416**0.4)
    # at 1000 ft they are isotropic but for the length: 0.177 + 0.823 = 1
    assert turbulence_scales(304.8, 15.0) == pytest.approx((304.8, 304.8, 1.5, 1.5))
    assert turbulence_scales(1.0, 15.0) == turbulence_scales(3.048, 15.0)
    assert turbulence_scales(900.0, 15.0) == turbulence_scales(304.8, 15.0)


def normalised(x, height=HEIGHT):
    _, _, sigma_u, sigma_w = turbulence_scales(height, 10.0)
    return x / (sigma_u, sigma_u, sigma_w)


@pytest.mark.parametrize("dt", [0.004, 0.02, 0.1, 2.0])
def test_the_variance_is_the_standards_whatever_the_step(dt):
    """Many starts and short runs: the samples' own correlation is short against the number."""
    n_runs, n = 400, 25
    x = np.array([samples(TURBULENT, 1000 + i, n, dt) for i in range(n_runs)])
    last = normalised(x[:, -1])
    sample_error = 5.0 * math.sqrt(2.0 / n_runs)  # five sigma of a variance
    np.testing.assert_allclose((last**2).mean(axis=0), 1.0, atol=sample_error)
    np.testing.assert_allclose(last.mean(axis=0), 0.0, atol=5.0 / math.sqrt(n_runs))
    mixed = last.T @ last / n_runs - np.diag((last**2).mean(axis=0))
    np.testing.assert_allclose(mixed, 0.0, atol=5.0 / math.sqrt(n_runs))


@pytest.mark.parametrize("dt", [0.05, 0.25])
def test_the_correlation_is_that_of_the_dryden_spectra_whatever_the_step(dt):
    """u: exp(-s); v and w: exp(-s) (1 - s / 2), with s = V t / L (MIL-F-8785C, 3.7.1)."""
    length_u, length_w, _, _ = turbulence_scales(HEIGHT, 10.0)
    x = normalised(samples(TURBULENT, 2000, 80_000, dt))
    # five sigma with twice the correlation length of independent samples
    error = 5.0 * math.sqrt(2.0 * length_u / (AIRSPEED * dt) / len(x))
    for lag_s in (0.5, 2.0, 5.0):
        lag = round(lag_s / dt)
        found = (x[lag:] * x[:-lag]).mean(axis=0)
        s_u, s_w = AIRSPEED * lag_s / length_u, AIRSPEED * lag_s / length_w
        expected = (
            math.exp(-s_u),
            math.exp(-s_u) * (1.0 - s_u / 2.0),
            math.exp(-s_w) * (1.0 - s_w / 2.0),
        )
        np.testing.assert_allclose(found, expected, atol=error)


class OwnNormals:
    """A generator that gives what it is told."""

    def __init__(self, *blocks):
        self.blocks = list(blocks)

    def standard_normal(self, size):
        provided = self.blocks.pop(0)
        return (
            provided
            if np.shape(provided) == np.empty(size).shape
            else np.tile(provided, (size[0], 1))
        )


@pytest.mark.parametrize("dt", [1e-4, 0.004, 0.5, 20.0])
def test_one_step_is_the_exact_solution_of_the_filters(dt):
    """Against the matrix exponential (Van Loan) of the canonical form of the same filter."""
    length_u, _, sigma_u, _ = turbulence_scales(HEIGHT, 10.0)
    tau = length_u / AIRSPEED
    # sigma sqrt(tau) (1 + sqrt(3) tau p) / (1 + tau p)^2 of white noise, as y'' + 2 y' / tau + ...
    A = np.array([[0.0, 1.0], [-1.0 / tau**2, -2.0 / tau]])
    B = np.array([[0.0], [1.0]])
    C = sigma_u * math.sqrt(tau) / tau**2 * np.array([[1.0, math.sqrt(3.0) * tau]])
    loan = expm(np.block([[-A, B @ B.T], [np.zeros((2, 2)), A.T]]) * dt)
    Phi = loan[2:, 2:].T
    Q = Phi @ loan[:2, 2:]
    # the gust's response to a start without noise, and the variance that a step adds to it
    start = np.array([0.0, 0.7, -0.3, 0.0, 0.0])
    quiet = Wind(TURBULENT, OwnNormals(start, np.zeros(5)))
    v0, v1 = quiet.sample(0.0, HEIGHT, AIRSPEED)[1], quiet.sample(dt, HEIGHT, AIRSPEED)[1]
    x = quiet_state(start, tau)
    assert v0 == pytest.approx((C @ x)[0], rel=1e-9)
    assert v1 == pytest.approx((C @ Phi @ x)[0], rel=1e-9)
    added = 0.0
    for unit in (np.eye(5)[1], np.eye(5)[2]):
        pushed = Wind(TURBULENT, OwnNormals(np.zeros(5), unit)).sample(dt, HEIGHT, AIRSPEED)[1]
        added += pushed**2
    assert added == pytest.approx((C @ Q @ C.T).item(), rel=1e-6)


def quiet_state(start, tau):
    """The canonical state (z, z') of two lags in series with outputs x_1, x_2: z = x_2 ..."""
    half = math.sqrt(0.5)
    x1, x2 = half * start[1], 0.5 * half * (start[1] + start[2])
    z = x2 * tau**2 / math.sqrt(tau)
    z_rate = (x1 - x2) / tau * tau**2 / math.sqrt(tau)
    return np.array([z, z_rate])


def test_the_variance_stays_right_while_the_vehicle_climbs():
    def climb(i):
        wind = Wind(TURBULENT, np.random.default_rng(3000 + i))
        for k in range(50):
            x = wind.sample(0.1, 5.0 + k, 2.0 + 0.2 * k)
        return normalised(x, height=54.0)

    last = np.array([climb(i) for i in range(400)])
    np.testing.assert_allclose((last**2).mean(axis=0), 1.0, atol=5.0 * math.sqrt(2.0 / 400))


def test_gusts_are_aligned_with_the_mean_wind():
    along_north = WindParameters(north_m_s=6.0, turbulence_wind_m_s=10.0)
    east = samples(TURBULENT, 7, 10, 0.1)
    north = samples(along_north, 7, 10, 0.1) - (0.0, 6.0, 0.0)
    # u to the north, v to its left: to the west
    np.testing.assert_allclose(north, np.c_[-east[:, 1], east[:, 0], east[:, 2]], atol=1e-12)


def test_the_same_seed_blows_the_same_and_another_one_another_way():
    first = samples(TURBULENT, 5, 600, 0.004)
    np.testing.assert_array_equal(first, samples(TURBULENT, 5, 600, 0.004))
    assert np.abs(first - samples(TURBULENT, 6, 600, 0.004)).max() > 0.1


def test_at_rest_the_gusts_still_drift_by():
    resting = samples(TURBULENT, 8, 400, 0.5, airspeed=0.0)
    np.testing.assert_array_equal(resting, samples(TURBULENT, 8, 400, 0.5, airspeed=1.0))
    assert resting[:, 0].std() > 0.1


def test_without_turbulence_no_random_number_is_drawn():
    rng = np.random.default_rng(9)
    Wind(WindParameters(east_m_s=1.0), rng).sample(0.004, 10.0, 1.0)
    assert rng.standard_normal() == np.random.default_rng(9).standard_normal()
