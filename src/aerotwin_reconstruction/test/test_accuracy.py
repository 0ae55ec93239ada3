# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Accuracy and completeness of clouds whose errors are known."""

import numpy as np
import pytest

from aerotwin_core.camera import PinholeCamera
from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_meshes import TexturedMesh
from aerotwin_reconstruction.accuracy import accuracy, sampling_floor, seen
from aerotwin_rendering import WorldQueries
from aerotwin_rendering.view import optical_pose
from aerotwin_worlds import World

HALF_M, TABLE_M, TABLE_Z = 10.0, 2.0, 1.5
CAMERA = PinholeCamera(width=401, height=401, fx=200.0, fy=200.0, cx=200.0, cy=200.0)
ABOVE = optical_pose(np.array([0.0, 0.0, 20.0]), yaw=0.0, pitch_down=np.pi / 2.0)
SINGLE = 1e-5  # the ray tracer counts in single precision
EDGE = 0.02  # of the places lie within 0.3 m of the edge of what is left out


def square(half, z):
    corners = np.array([[-half, -half, z], [half, -half, z], [half, half, z], [-half, half, z]])
    return TexturedMesh(
        vertices_map=corners,
        triangles=np.array([[0, 1, 2], [0, 2, 3]], np.int32),
        uv=np.zeros((4, 2), np.float32),
        texture=np.zeros((2, 2, 3), np.uint8),
    )


@pytest.fixture(scope="module")
def world():
    """A floor with a table top over its middle."""
    return World(
        name="table", meshes=(square(HALF_M, 0.0), square(TABLE_M, TABLE_Z)), attribution="",
        origin=GeodeticPoint(latitude_deg=47.0, longitude_deg=8.0, altitude_m=0.0), licence="",
        start_p_map=np.zeros(3), start_yaw=0.0,
    )  # fmt: skip


def cloud(z_off=0.0):
    """Floor and table top, a point every 0.1 m."""
    x, y = np.meshgrid(*[np.arange(-HALF_M, HALF_M, 0.1) + 0.05] * 2)
    z = np.where(np.maximum(np.abs(x), np.abs(y)) < TABLE_M, TABLE_Z, 0.0)
    return np.column_stack([x.ravel(), y.ravel(), z.ravel() + z_off])


def judged(points, world, **options):
    return accuracy(points, world, {"a": ABOVE}, CAMERA, voxel_m=0.1, **options)


def test_a_perfect_cloud_has_no_error_and_lacks_nothing_that_was_seen(world):
    found = judged(cloud(), world)
    assert found["to_surface_mean_m"] == pytest.approx(0.0, abs=SINGLE)
    assert found["completeness"] == 1.0  # what is below the table was not seen
    assert found["floor_mean_m"] == pytest.approx(0.0, abs=SINGLE)


def test_an_offset_is_the_error_and_hides_the_surface_once_it_is_too_far(world):
    found = judged(cloud(0.1), world)
    assert found["to_surface_mean_m"] == pytest.approx(0.1, abs=SINGLE)
    assert found["completeness"] == 1.0
    assert judged(cloud(0.31), world)["completeness"] == 0.0


def test_half_a_cloud_is_half_complete_and_the_strip_counts_for_itself(world):
    points = cloud()
    half = points[points[:, 0] < 0.0]
    assert judged(half, world)["completeness"] == pytest.approx(0.5, abs=EDGE)
    west = {"area_m": (-10.0, -10.0, -0.3, 10.0)}
    assert judged(half, world, **west)["completeness"] == 1.0
    line = np.column_stack([np.full(50, -20.5), np.linspace(-10.0, 10.0, 50)])
    strips = judged(half, world, route_m=line)["completeness_in_strips"]
    assert strips["15"] == 1.0
    assert strips["25"] < 0.75


def test_only_places_in_a_picture_with_nothing_before_them_are_seen(world):
    places = np.array([[5.0, 5.0, 0.0], [0.5, 0.5, 0.0], [0.5, 0.5, TABLE_Z], [25.0, 0.0, 0.0]])
    found = seen(places, WorldQueries(world), [ABOVE], CAMERA)
    np.testing.assert_array_equal(found, [True, False, True, False])
    aside = optical_pose(np.array([-12.0, 0.5, 2.0]), yaw=0.0, pitch_down=0.2)
    assert seen(places, WorldQueries(world), [ABOVE, aside], CAMERA)[1]


def test_the_floor_is_that_of_means_within_a_bend():
    """Two walls that meet: means of cells over the edge lie inside of it."""
    corner = World(
        name="corner", meshes=(square(1.0, 0.0),), attribution="", licence="",
        origin=GeodeticPoint(latitude_deg=47.0, longitude_deg=8.0, altitude_m=0.0),
        start_p_map=np.zeros(3), start_yaw=0.0,
    )  # fmt: skip
    wall = TexturedMesh(
        vertices_map=np.array([[0.0, -1, 0], [0, 1, 0], [0, 1, 1], [0, -1, 1]]),
        triangles=np.array([[0, 1, 2], [0, 2, 3]], np.int32),
        uv=np.zeros((4, 2), np.float32),
        texture=np.zeros((2, 2, 3), np.uint8),
    )
    corner = World(**{**vars(corner), "meshes": (*corner.meshes, wall)})
    along = np.linspace(-0.9, 0.9, 200)
    at_edge = np.column_stack([np.full(200, 0.02), along, np.full(200, 0.02)])
    floor = sampling_floor(at_edge, WorldQueries(corner), 0.1)
    assert 0.005 < floor < 0.05  # means of an L of 0.1 m are 2.5 cm from either side
