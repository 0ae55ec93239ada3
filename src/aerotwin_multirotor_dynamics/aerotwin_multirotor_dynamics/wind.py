# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Wind: a steady velocity, its shear with height, and Dryden turbulence at low altitude.

The turbulence is the continuous random gust of MIL-F-8785C, 3.7.1 and 3.7.3 (MIL-HDBK-1797, with
its own meaning of the lengths, describes the same process). The filters are discretised exactly, so
that variance and correlation do not depend on the step, and are written in the dimensionless time
V t / L: lengths and intensities follow height and airspeed, the variance stays right.
"""

import math
from dataclasses import dataclass

import numpy as np
from numba import float64, void
from numba.types import UniTuple

from aerotwin_core.kernel_cache import njit
from aerotwin_core.parameters import parameter

FOOT = 0.3048
REFERENCE_HEIGHT_M = 20.0 * FOOT
"""Reference height of the wind in the standard: 20 ft."""
LOWEST_HEIGHT_M = 10.0 * FOOT
"""Below 10 ft the standard is silent; lengths and intensities are held."""
HIGHEST_HEIGHT_M = 1000.0 * FOOT
"""Above 1000 ft another law holds; lengths and intensities are held."""
LOWEST_AIRSPEED_M_S = 1.0
"""Gusts are frozen in the air; the vehicle crosses them at this speed at least."""
N_DRAWN_AHEAD = 256
N_NORMALS = 5  # one for u, two each for v and w
ROOT_3 = math.sqrt(3.0)


@dataclass(frozen=True, kw_only=True)
class WindParameters:
    """Wind in map axes; every part is off at 0."""

    east_m_s: float = parameter(
        0.0, unit="m/s", minimum=-60.0, maximum=60.0, text="steady velocity of the air to the east"
    )
    north_m_s: float = parameter(
        0.0, unit="m/s", minimum=-60.0, maximum=60.0, text="steady velocity of the air to the north"
    )
    up_m_s: float = parameter(
        0.0, unit="m/s", minimum=-60.0, maximum=60.0, text="steady velocity of the air upwards"
    )
    roughness_length_m: float = parameter(
        0.0,
        unit="m",
        minimum=0.0,
        maximum=2.0,
        text="shear: steady wind as ln(h / z_0), unchanged at 6.096 m; 0 is off, 0.046 open, 0.61 "
        "built-up",
    )
    turbulence_wind_m_s: float = parameter(
        0.0,
        unit="m/s",
        minimum=0.0,
        maximum=60.0,
        text="Dryden gusts: wind at 20 ft that sets their intensity (light 7.7, moderate 15.4, "
        "severe 23.2); 0 is off",
    )

    @property
    def is_steady(self) -> bool:
        """Whether the wind is the same everywhere and at all times."""
        return self.roughness_length_m == 0.0 and self.turbulence_wind_m_s == 0.0


@njit(float64(float64, float64), cache=True, error_model="numpy")
def shear_factor(roughness, height):
    """Return the mean wind at a height over that at 6.096 m; 1 if z_0 is 0.

    The logarithmic law of MIL-F-8785C, 3.7.3, from z_0 up to 1000 ft.
    """
    if roughness <= 0.0:
        return 1.0
    h = min(max(height, roughness), HIGHEST_HEIGHT_M)
    return math.log(h / roughness) / math.log(REFERENCE_HEIGHT_M / roughness)


@njit(UniTuple(float64, 4)(float64, float64), cache=True, error_model="numpy")
def turbulence_scales(height_m, wind_at_20_ft_m_s):
    """Return lengths and intensities of the gusts (L_u, L_w [m], sigma_u, sigma_w [m/s]).

    MIL-F-8785C, 3.7.3, with h in feet: L_w = h and L_u = L_v = h / (0.177 +
    0.000823 h)^1.2; sigma_w = 0.1 W_20 and sigma_u = sigma_v = sigma_w / (0.177 + 0.000823 h)^0.4.
    """
    feet = min(max(height_m, LOWEST_HEIGHT_M), HIGHEST_HEIGHT_M) / FOOT
    base = 0.177 + 0.000823 * feet
    vertical = 0.1 * wind_at_20_ft_m_s
    return FOOT * feet / base**1.2, FOOT * feet, vertical / base**0.4, vertical


@njit(cache=True, error_model="numpy")
def _advance_across(gusts, k, s, n1, n2):
    """Advance gust k (two states) by the dimensionless time s and return it, of unit variance.

    (1 + sqrt(3) p) / (1 + p)^2 as sqrt(3) x_1 + (1 - sqrt(3)) x_2 with x_1' = -x_1 + w and
    x_2' = -x_2 + x_1: the transition is exp(-s) (1 0; s 1), the stationary covariance P is
    (1/2 1/4; 1/4 1/4), and the noise of a step has P - exp(-2s) (1 0; s 1) P (1 s; 0 1).
    """
    decay = math.exp(-s)
    lost = -math.expm1(-2.0 * s)
    q11 = 0.5 * lost
    q12 = 0.25 * lost - 0.5 * s * decay * decay
    q22 = 0.25 * lost - 0.5 * (s * s + s) * decay * decay
    l11 = math.sqrt(q11)
    l21 = q12 / l11 if l11 > 0.0 else 0.0
    l22 = math.sqrt(max(0.0, q22 - l21 * l21))
    x1, x2 = gusts[k], gusts[k + 1]
    gusts[k] = decay * x1 + l11 * n1
    gusts[k + 1] = decay * (x2 + s * x1) + l21 * n1 + l22 * n2
    return ROOT_3 * gusts[k] + (1.0 - ROOT_3) * gusts[k + 1]


@njit(
    void(float64[::1], float64[::1], float64[::1], float64, float64, float64, float64[::1]),
    cache=True,
    error_model="numpy",
)
def _sample(gusts, n, c, dt, height, airspeed, out):
    """Write the wind after dt into out; c is packed by `Wind`, n are five standard normals."""
    factor = shear_factor(c[3], height)
    out[0], out[1], out[2] = factor * c[0], factor * c[1], c[2]
    if c[4] <= 0.0:
        return
    length_u, length_w, sigma_u, sigma_w = turbulence_scales(height, c[4])
    way = max(airspeed, LOWEST_AIRSPEED_M_S) * dt
    decay = math.exp(-way / length_u)
    gusts[0] = decay * gusts[0] + math.sqrt(-math.expm1(-2.0 * way / length_u)) * n[0]
    u = sigma_u * gusts[0]
    v = sigma_u * _advance_across(gusts, 1, way / length_u, n[1], n[2])
    w = sigma_w * _advance_across(gusts, 3, way / length_w, n[3], n[4])
    out[0] += c[5] * u - c[6] * v
    out[1] += c[6] * u + c[5] * v
    out[2] += w


class Wind:
    """The wind at a vehicle; it owns the state of the gusts, drawn from `rng`."""

    def __init__(self, parameters: WindParameters, rng: np.random.Generator) -> None:
        self.parameters = parameters
        self._rng = rng
        self._normals = np.zeros((1, N_NORMALS))
        self._next = 0
        p = parameters
        direction = math.atan2(p.north_m_s, p.east_m_s)
        steady = (p.east_m_s, p.north_m_s, p.up_m_s, p.roughness_length_m, p.turbulence_wind_m_s)
        self._constants = np.array([*steady, math.cos(direction), math.sin(direction)])
        self._gusts = np.zeros(N_NORMALS)
        if p.turbulence_wind_m_s > 0.0:
            self._start()

    def _start(self) -> None:
        """Draw the initial gusts from their stationary distribution (see the filters)."""
        n = self._rng.standard_normal(N_NORMALS)
        half = math.sqrt(0.5)
        across = [half * n[1], 0.5 * half * (n[1] + n[2])]
        upwards = [half * n[3], 0.5 * half * (n[3] + n[4])]
        self._gusts[:] = [n[0], *across, *upwards]
        self._next = len(self._normals)

    def sample(self, dt: float, height_m: float, airspeed_m_s: float) -> np.ndarray:
        """Return the velocity of the air (3,) in map axes [m/s], dt [s] after the last sample.

        Steady wind with shear, plus gusts: u along the mean wind (east if there is none), v to its
        left, w up. `height_m` is above ground. Gusts are frozen in the air (Taylor's hypothesis);
        the vehicle moves through them at `airspeed_m_s`, at least 1 m/s.
        """
        if self._next == len(self._normals):
            self._normals = self._rng.standard_normal((N_DRAWN_AHEAD, N_NORMALS))
            self._next = 0
        out = np.empty(3)
        normals = self._normals[self._next]
        if self.parameters.turbulence_wind_m_s > 0.0:
            self._next += 1
        _sample(self._gusts, normals, self._constants, dt, height_m, airspeed_m_s, out)
        return out
