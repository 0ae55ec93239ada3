# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane, ecef_from_geodetic

MILLIMETRE = 1.5e-3  # the published point is printed to the millimetre
ROUNDING_M = 1e-8  # double precision at the Earth's radius is 1e-9 m


def test_the_published_topocentric_point_is_met():
    """IOGP 373-7-2, 4.1.2: geocentric/topocentric conversion, example of EPSG method 9837."""
    plane = LocalTangentPlane(GeodeticPoint(latitude_deg=55.0, longitude_deg=5.0, altitude_m=200.0))
    p_map = plane.from_geodetic(53.80939444444444, 2.12955, 73.0)
    np.testing.assert_allclose(p_map, [-189013.869, -128642.040, -4220.171], atol=MILLIMETRE)


def test_ecef_of_the_equator_and_the_pole():
    np.testing.assert_allclose(ecef_from_geodetic(0, 0, 0), [6378137.0, 0, 0], atol=ROUNDING_M)
    np.testing.assert_allclose(ecef_from_geodetic(90, 0, 0), [0, 0, 6356752.314245], atol=1e-6)


@pytest.mark.parametrize("latitude", [-89.9, -47.0, 0.0, 12.0, 47.4, 89.9])
def test_there_and_back_is_the_same_point(latitude):
    plane = LocalTangentPlane(GeodeticPoint(latitude_deg=latitude, longitude_deg=8.5))
    p_map = np.array([812.3, -455.1, 97.0])
    np.testing.assert_allclose(
        plane.from_geodetic(*plane.to_geodetic(p_map)), p_map, atol=ROUNDING_M
    )


def test_east_is_larger_longitude_and_north_larger_latitude():
    plane = LocalTangentPlane(GeodeticPoint(latitude_deg=47.0, longitude_deg=8.0))
    latitude, longitude, _ = plane.to_geodetic([10.0, 20.0, 0.0])
    assert longitude > 8.0
    assert latitude > 47.0


def test_a_latitude_beyond_the_pole_is_refused():
    with pytest.raises(ValueError, match="latitude_deg must be in"):
        GeodeticPoint(latitude_deg=91.0, longitude_deg=0.0)
