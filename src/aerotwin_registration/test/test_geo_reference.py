# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Maps laid over each other by where they are on Earth."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane
from aerotwin_registration import (
    GnssProtocol,
    T_reference_estimate_from_origins,
    align_to_gnss,
)

GEODESY_M = 1e-6  # geodetic_from_ecef is exact to 1e-8 m
ROUNDING = 1e-6
ZURICH = GeodeticPoint(latitude_deg=47.3977, longitude_deg=8.5456, altitude_m=488.0)
NEAR = GeodeticPoint(latitude_deg=47.4031, longitude_deg=8.5377, altitude_m=512.0)


def fixes_of(points, origin=ZURICH):
    plane = LocalTangentPlane(origin)
    return np.array([plane.to_geodetic(p) for p in points])


def path(n=60):
    t = np.linspace(0.0, 1.0, n)
    return np.column_stack([80 * t, 30 * np.sin(4 * t), 10 + 3 * np.cos(5 * t)])


def displaced(p, yaw, shift, scale=1.0):
    """Return the odometry whose alignment is yaw, shift and scale."""
    R = Rotation.from_euler("z", yaw).as_matrix()
    return (p - shift) @ R / scale


def test_a_point_of_one_map_is_the_same_place_on_earth_in_the_other():
    T = T_reference_estimate_from_origins(ZURICH, NEAR)
    own, plane = LocalTangentPlane(NEAR), LocalTangentPlane(ZURICH)
    for p in ([0.0, 0.0, 0.0], [300.0, -200.0, 40.0], [-50.0, 900.0, -10.0]):
        through_earth = plane.from_geodetic(*own.to_geodetic(p))
        np.testing.assert_allclose((T @ [*p, 1.0])[:3], through_earth, atol=GEODESY_M)


def test_a_map_one_degree_to_the_east_on_the_equator_leans_by_one_degree_about_north():
    here = GeodeticPoint(latitude_deg=0.0, longitude_deg=0.0)
    east = GeodeticPoint(latitude_deg=0.0, longitude_deg=1.0)
    T = T_reference_estimate_from_origins(here, east)
    leaning = Rotation.from_euler("y", 1.0, degrees=True).as_matrix()
    np.testing.assert_allclose(T[:3, :3], leaning, atol=1e-12)
    assert T[0, 3] == pytest.approx(6378137.0 * np.sin(np.radians(1.0)), abs=GEODESY_M)


def test_the_same_origin_is_the_identity():
    np.testing.assert_allclose(
        T_reference_estimate_from_origins(ZURICH, ZURICH), np.eye(4), atol=1e-9
    )


def test_heading_and_shift_of_an_odometry_are_those_of_its_fixes():
    p, shift = path(), np.array([12.0, -7.0, 3.0])
    result = align_to_gnss(displaced(p, 2.1, shift), fixes_of(p), ZURICH)
    assert result.converged, result.reason
    T = result.T_reference_estimate
    np.testing.assert_allclose(T[:3, :3], Rotation.from_euler("z", 2.1).as_matrix(), atol=ROUNDING)
    np.testing.assert_allclose(T[:3, 3], shift, atol=ROUNDING)
    assert result.rmse_m < ROUNDING


def test_the_scale_of_a_monocular_odometry_is_found_where_asked_for():
    p, shift = path(), np.array([1.0, 2.0, 3.0])
    source = displaced(p, -0.6, shift, scale=2.5)
    result = align_to_gnss(source, fixes_of(p), ZURICH, protocol=GnssProtocol(with_scale=True))
    assert result.scale == pytest.approx(2.5, rel=ROUNDING)
    np.testing.assert_allclose(result.T_reference_estimate[:3, 3], shift, atol=ROUNDING)


def test_hovering_does_not_show_the_heading():
    rng = np.random.default_rng(1000)
    p = rng.normal(0.0, 0.05, (50, 3))
    noisy = p + rng.normal(0.0, 1.0, p.shape)
    result = align_to_gnss(p, fixes_of(noisy), ZURICH)
    assert not result.converged
    assert "heading is not known" in result.reason


def test_a_climb_straight_up_does_not_show_the_heading_either():
    p = np.column_stack([np.zeros(20), np.zeros(20), np.linspace(0, 50, 20)])
    result = align_to_gnss(p, fixes_of(p), ZURICH, protocol=GnssProtocol(std_m=1.0))
    assert not result.converged
    assert "fly farther" in result.reason


def test_a_straight_line_shows_it():
    p = np.column_stack([np.linspace(0, 100, 40), np.zeros(40), np.full(40, 5.0)])
    result = align_to_gnss(displaced(p, 1.0, np.zeros(3)), fixes_of(p), ZURICH)
    assert result.converged, result.reason
    yaw = np.arctan2(*result.T_reference_estimate[[1, 0], 0])
    assert yaw == pytest.approx(1.0, abs=ROUNDING)


def test_too_few_fixes_are_a_failure():
    p = path(2)
    assert not align_to_gnss(p, fixes_of(p), ZURICH).converged


def test_one_gross_fix_is_held_down_where_asked_for():
    p = path()
    fixes = fixes_of(p)
    fixes[30] = fixes_of([p[30] + np.array([80.0, -60.0, 20.0])])[0]
    plain = align_to_gnss(p, fixes, ZURICH)
    robust = align_to_gnss(p, fixes, ZURICH, protocol=GnssProtocol(robust_m=0.5))
    assert np.linalg.norm(robust.T_reference_estimate[:3, 3]) < 0.1 * np.linalg.norm(
        plain.T_reference_estimate[:3, 3]
    )


@pytest.mark.parametrize("with_scale", [False, True])
def test_the_covariance_is_that_of_many_repetitions(with_scale):
    n_runs, std = 300, 0.8
    rng, p = np.random.default_rng(1001), path()
    protocol = GnssProtocol(with_scale=with_scale, std_m=std)
    plane = LocalTangentPlane(ZURICH)
    errors, claimed = [], None
    for _ in range(n_runs):
        noisy = p + rng.normal(0.0, std, p.shape)
        result = align_to_gnss(
            p, np.array([plane.to_geodetic(q) for q in noisy]), ZURICH, protocol=protocol
        )
        T, middle = result.T_reference_estimate, p.mean(axis=0)
        shift = result.scale * T[:3, :3] @ middle + T[:3, 3] - middle
        errors.append([*shift, np.arctan2(T[1, 0], T[0, 0]), np.log(result.scale)])
        claimed = np.sqrt(np.diag(result.covariance))
    measured = np.std(errors, axis=0)
    n = 5 if with_scale else 4
    sample_error = 5.0 / np.sqrt(2.0 * n_runs)  # 5 sigma of a standard deviation
    np.testing.assert_allclose(measured[:n], claimed[:n], rtol=sample_error)


def test_residuals_stand_in_for_an_unknown_deviation():
    rng, p = np.random.default_rng(1002), path(400)
    result = align_to_gnss(p, fixes_of(p + rng.normal(0.0, 0.8, p.shape)), ZURICH)
    reported = align_to_gnss(p, fixes_of(p), ZURICH, protocol=GnssProtocol(std_m=0.8))
    assert result.yaw_std_deg == pytest.approx(reported.yaw_std_deg, rel=0.15)


def test_bad_arrays_are_refused():
    with pytest.raises(ValueError, match="shape"):
        align_to_gnss(np.zeros((4, 3)), np.zeros((5, 3)), ZURICH)
    with pytest.raises(ValueError, match="finite"):
        align_to_gnss(np.full((4, 3), np.nan), np.zeros((4, 3)), ZURICH)
