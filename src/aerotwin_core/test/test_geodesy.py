# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest

from aerotwin_core.geodesy import (
    PX4_EARTH_RADIUS_M,
    AzimuthalEquidistant,
    GeodeticPoint,
    LocalTangentPlane,
    ecef_from_geodetic,
    geodetic_from_ecef,
    is_geodetic,
)

MILLIMETRE = 1.5e-3  # the published point is printed to the millimetre
ROUNDING_M = 1e-8  # double precision at the Earth's radius is 1e-9 m
PRINT_ROUNDING = 1.0e-7  # Snyder's example has seven places
LARGEST_SPHERE_ERROR = 0.0057  # (R - M) / M at the equator, stated in the docstring as 0.56 %
FLAT_DEGREES = 0.2  # directions of a sphere against the ellipsoid's: e^2 / 2 = 0.19 degrees


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


def gie_cases(path):
    """Operation, accepted and expected point of each case of a PROJ gie file."""
    operation, accepted = "", None
    for line in path.read_text("utf-8").splitlines():
        token, _, rest = line.strip().partition(" ")
        if token == "operation":
            operation = rest
        elif token == "accept":
            accepted = [float(value) for value in rest.split()]
        elif token == "expect":
            yield operation, accepted, [float(value) for value in rest.split()]


def test_the_points_that_proj_is_tested_with_are_met(shared_data):
    cases = list(gie_cases(shared_data("geo/proj_gie/topocentric_excerpt.gie")))
    assert len(cases) == 2
    (geocentric, p_ecef, p_enu), (geographic, lon_lat_h, p_enu_2) = cases
    assert "X_0=3652755.3058" in geocentric
    assert "lat_0=55" in geographic
    origin = geodetic_from_ecef([3652755.3058, 319574.6799, 5201547.3536])
    plane = LocalTangentPlane(GeodeticPoint(**dict(zip(_NAMES, origin))))
    np.testing.assert_allclose(
        plane.from_geodetic(*geodetic_from_ecef(p_ecef)), p_enu, atol=MILLIMETRE
    )
    plane = LocalTangentPlane(GeodeticPoint(latitude_deg=55.0, longitude_deg=5.0, altitude_m=200.0))
    longitude, latitude, height = lon_lat_h
    np.testing.assert_allclose(
        plane.from_geodetic(latitude, longitude, height), p_enu_2, atol=MILLIMETRE
    )
    back = plane.to_geodetic(p_enu_2)
    np.testing.assert_allclose(back[:2], (latitude, longitude), atol=1e-8)  # 1 mm


_NAMES = ("latitude_deg", "longitude_deg", "altitude_m")


def test_the_sphere_meets_the_example_of_snyder():
    """Map Projections: A Working Manual, p. 337: R = 3, from 40 N 100 W to 20 S 100 E."""
    projection = AzimuthalEquidistant(
        GeodeticPoint(latitude_deg=40.0, longitude_deg=-100.0), radius_m=3.0
    )
    p_map = projection.from_geodetic(-20.0, 100.0, 0.0)
    np.testing.assert_allclose(p_map, (-5.8311398, 5.5444634, 0.0), atol=PRINT_ROUNDING)
    np.testing.assert_allclose(projection.to_geodetic(p_map), (-20.0, 100.0, 0.0), atol=1e-12)


def test_the_sphere_meets_the_point_that_proj_is_tested_with():
    """PROJ, test/gie/builtins.gie: +proj=aeqd +R=6400000, accept 2 1."""
    projection = AzimuthalEquidistant(
        GeodeticPoint(latitude_deg=0.0, longitude_deg=0.0), radius_m=6400000.0
    )
    p_map = projection.from_geodetic(1.0, 2.0, 0.0)
    np.testing.assert_allclose(p_map, (223379.456047271, 111723.757570854, 0.0), atol=1e-8)


def test_the_sphere_is_off_the_geodesics_of_the_ellipsoid_by_what_it_says(shared_data):
    rows = np.loadtxt(shared_data("geo/geodesic/GeodTest-100.dat"))
    far_from_antipodal = rows[rows[:, 6] < 1.5e7]
    assert len(far_from_antipodal) == 48
    errors = []
    for latitude_1, longitude_1, azimuth, latitude_2, longitude_2, _, distance, *_ in rows:
        origin = GeodeticPoint(latitude_deg=latitude_1, longitude_deg=longitude_1)
        x, y, _ = AzimuthalEquidistant(origin).from_geodetic(latitude_2, longitude_2, 0.0)
        errors.append(math.hypot(x, y) / distance - 1.0)
        if distance < 1.5e7:  # near the antipode a small step turns the direction round
            turn = (math.degrees(math.atan2(x, y)) - azimuth + 180.0) % 360.0 - 180.0
            assert abs(turn) < FLAT_DEGREES
    assert 0.005 < np.abs(errors).max() < LARGEST_SPHERE_ERROR


@pytest.mark.parametrize(
    ("latitude", "north", "east"),
    [(0.0, 5.61e-3, -1.12e-3), (47.0, 0.22e-3, -2.91e-3), (89.9, -4.47e-3, -4.47e-3)],
)
def test_the_sphere_is_off_the_exact_plane_by_the_radii_of_curvature(latitude, north, east):
    origin = GeodeticPoint(latitude_deg=latitude, longitude_deg=8.5)
    plane, sphere = LocalTangentPlane(origin), AzimuthalEquidistant(origin)
    for p_map, expected in (([100.0, 0, 0], east), ([0, 100.0, 0], north)):
        p_sphere = sphere.from_geodetic(*plane.to_geodetic(p_map))
        axis = int(np.argmax(p_map))
        assert p_sphere[axis] / 100.0 - 1.0 == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("latitude", [-89.9, -47.0, 0.0, 47.4, 89.9, 90.0])
def test_there_and_back_on_the_sphere_is_the_same_point(latitude):
    origin = GeodeticPoint(latitude_deg=latitude, longitude_deg=179.9999, altitude_m=488.0)
    projection = AzimuthalEquidistant(origin)
    for p_map in ([812.3, -455.1, 97.0], [0.0, 0.0, 0.0], [-1e-3, 0.0, 0.0], [3e6, 2e6, 0.0]):
        latitude_deg, longitude_deg, altitude_m = projection.to_geodetic(p_map)
        assert -180.0 <= longitude_deg <= 180.0
        again = projection.from_geodetic(latitude_deg, longitude_deg, altitude_m)
        np.testing.assert_allclose(again, p_map, atol=2e-8)


def test_the_sphere_keeps_distance_and_direction_from_the_origin():
    """The inverse problem on the sphere by the haversine, which knows no projection."""
    origin = GeodeticPoint(latitude_deg=47.0, longitude_deg=8.0)
    latitude, longitude, _ = AzimuthalEquidistant(origin).to_geodetic([30e3, -40e3, 0.0])
    a, b, turn = np.radians([47.0, latitude, longitude - 8.0])
    h = math.sin((b - a) / 2) ** 2 + math.cos(a) * math.cos(b) * math.sin(turn / 2) ** 2
    assert 2.0 * PX4_EARTH_RADIUS_M * math.asin(math.sqrt(h)) == pytest.approx(50e3, abs=1e-6)
    assert longitude > 8.0
    assert latitude < 47.0


@pytest.mark.parametrize("altitude_m", [1e308, 1e30, -7e6, float("nan"), float("inf")])
def test_an_altitude_that_is_nowhere_near_earth_is_refused(altitude_m):
    with pytest.raises(ValueError, match="altitude_m"):
        GeodeticPoint(latitude_deg=47.0, longitude_deg=8.0, altitude_m=altitude_m)
    assert not is_geodetic(47.0, 8.0, altitude_m)


def test_numbers_of_a_place_are_geodetic():
    assert is_geodetic(47.0, 8.0, 3.6e7)
    assert not is_geodetic(91.0, 8.0, 0.0)
    assert not is_geodetic(47.0, 181.0, 0.0)
