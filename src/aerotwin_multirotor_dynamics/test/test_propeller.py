# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Coefficients from the geometry of the blades."""

import math
from pathlib import Path

import numpy as np
import pytest

from aerotwin_core.errors import ParameterError
from aerotwin_multirotor_dynamics import (
    Blade,
    Propeller,
    coefficients_from_blade,
    load_airframe,
)

IRIS = Path(__file__).resolve().parents[1] / "aerotwin_multirotor_dynamics/airframes/iris.yaml"
TEN_INCH = Blade(
    n_blades=2,
    diameter_m=0.254,
    chord_m=0.02,
    root_pitch_deg=20.0,
    twist_deg=-12.6,
    lift_slope_per_rad=5.7,
    static_thrust_coefficient=0.11,
    static_torque_coefficient=0.008,
    drag_coefficient=0.02,
)
QUADRATURE = 1e-6  # relative error of 20000 midpoints for polynomials of degree three


def blade_element_integral(function):
    """Integrate over the radius and a turn, for all blades: (1/2 pi) sum over both."""
    n, m = 20000, 64
    r = (np.arange(n) + 0.5) / n * 0.5 * TEN_INCH.diameter_m
    psi = (np.arange(m) + 0.5) / m * 2.0 * math.pi
    values = function(r[:, None], psi[None, :])
    return TEN_INCH.n_blades * values.mean(axis=1).sum() * (r[1] - r[0])


def test_thrust_and_torque_are_those_of_the_static_coefficients():
    computed = coefficients_from_blade(TEN_INCH)
    omega = 700.0
    turns = omega / (2.0 * math.pi)
    thrust = 0.11 * 1.225 * turns**2 * 0.254**4
    torque = 0.008 * 1.225 * turns**2 * 0.254**5
    assert computed["thrust_coefficient_n_s2"] * omega**2 == pytest.approx(thrust)
    assert computed["torque_per_thrust_m"] * thrust == pytest.approx(torque)


def test_the_h_force_is_the_profile_drag_of_blade_elements():
    """Eq. 8: the part linear in v of the drag 1/2 rho c C_d0 U^2 along x, U = omega r + v sin."""
    omega, v = 700.0, 1e-3
    b = TEN_INCH

    def drag_along_x(r, psi):
        speed = omega * r + v * np.sin(psi)
        return 0.5 * b.air_density_kg_m3 * b.chord_m * b.drag_coefficient * speed**2 * np.sin(psi)

    force = blade_element_integral(drag_along_x)
    computed = coefficients_from_blade(b)["drag_coefficient_n_s2_per_m"]
    assert computed * omega * v == pytest.approx(force, rel=QUADRATURE)


def test_the_rolling_moment_is_the_lift_of_blade_elements():
    """Eq. 10: the moment about x of the lift 1/2 rho c k theta U^2 with linear twist."""
    omega, v = 700.0, 1e-3
    b = TEN_INCH
    root, twist = math.radians(b.root_pitch_deg), math.radians(b.twist_deg)

    def moment_about_x(r, psi):
        speed = omega * r + v * np.sin(psi)
        pitch = root + twist * r / (0.5 * b.diameter_m)
        lift = 0.5 * b.air_density_kg_m3 * b.chord_m * b.lift_slope_per_rad * pitch * speed**2
        return lift * r * np.sin(psi)

    moment = blade_element_integral(moment_about_x)
    computed = coefficients_from_blade(b)["rolling_coefficient_n_s2"]
    assert computed * omega * v == pytest.approx(moment, rel=1e-5)


def test_the_geometry_does_not_reproduce_tuned_coefficients_and_is_not_meant_to():
    computed = coefficients_from_blade(TEN_INCH)
    tuned = load_airframe("iris").propeller
    assert f"{computed['drag_coefficient_n_s2_per_m']:.0e}" == "4e-06"
    assert tuned.drag_coefficient_n_s2_per_m == 1.75e-4
    assert f"{computed['rolling_coefficient_n_s2']:.1e}" == "1.8e-05"
    assert tuned.rolling_coefficient_n_s2 == 1e-6


def test_an_airframe_file_may_hold_the_blades(tmp_path):
    text = IRIS.read_text()
    a, b = text.index("  thrust_coefficient"), text.index("motor:")
    blade = (
        "  blade: {n_blades: 2, diameter_m: 0.254, chord_m: 0.02, root_pitch_deg: 20.0,\n"
        "    twist_deg: -12.6, lift_slope_per_rad: 5.7, static_thrust_coefficient: 0.11,\n"
        "    static_torque_coefficient: 0.008, drag_coefficient: 0.02}\n"
    )
    own = tmp_path / "own.yaml"
    own.write_text(text[:a] + blade + "  torque_per_thrust_m: 0.03\n" + text[b:])
    expected = Propeller(**coefficients_from_blade(TEN_INCH) | {"torque_per_thrust_m": 0.03})
    assert load_airframe(own).propeller == expected
    own.write_text(own.read_text().replace("chord_m", "cord_m"))
    with pytest.raises(ParameterError, match=r"propeller: blade: unknown key 'cord_m'"):
        load_airframe(own)


def test_ground_effect_needs_a_radius():
    with pytest.raises(ValueError, match="radius_m must be given"):
        Propeller(thrust_coefficient_n_s2=1e-5, torque_per_thrust_m=0.01, ground_effect=1.0)
