# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from aerotwin_multirotor_dynamics import airframe_names, load_airframe
from aerotwin_rendering.ray_scene import RayScene
from aerotwin_simulator.airframe_mesh import airframe_mesh

ROUNDING = 1e-6  # of rays, in single precision
ARM_M = 0.0101  # half an arm is thick around its axis


@pytest.mark.parametrize("name", airframe_names())
def test_a_mesh_reaches_as_far_as_rotors_feet_and_hull(name):
    airframe = load_airframe(name)
    low, high = airframe_mesh(airframe).bounds_m
    hubs = np.array([rotor.position_m for rotor in airframe.rotors])
    feet = np.array(airframe.contact.feet_m)
    radius = airframe.propeller.radius_m
    # A polygon of 16 corners, one of them ahead and one to the left, reaches as far as its circle.
    np.testing.assert_allclose(high[:2], (hubs[:, :2] + radius).max(axis=0), atol=ROUNDING)
    np.testing.assert_allclose(low[:2], (hubs[:, :2] - radius).min(axis=0), atol=ROUNDING)
    assert low[2] == pytest.approx(feet[:, 2].min())
    highest = max(p[2] for p in (*airframe.contact.hull_m, *hubs))
    assert highest <= high[2] < highest + 2.0 * ARM_M


@pytest.mark.parametrize("name", airframe_names())
def test_a_mesh_is_cheap_and_one_for_equal_airframes(name):
    first, second = (airframe_mesh(load_airframe(name)) for _ in range(2))
    assert len(first.triangles) < 200
    assert (first.vertices_map == second.vertices_map).all()
    assert first.name == name


def test_rays_from_above_meet_the_disc_of_each_rotor_and_nothing_beside_it():
    airframe = load_airframe("iris")
    scene = RayScene([airframe_mesh(airframe)])
    hubs = np.array([rotor.position_m for rotor in airframe.rotors])
    radius = airframe.propeller.radius_m
    ahead, left = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    sides = np.sign(hubs[:, 1:2]) * left  # away from the body
    for share, is_met in ((0.0, True), (0.97, True), (1.03, False)):
        places = hubs[:, :2] + share * radius * sides
        rays = np.column_stack([places, np.full(4, 1.0), np.tile([0.0, 0.0, -1.0], (4, 1))])
        distance = scene.cast(rays.astype(np.float32)).distance_m
        if is_met:
            tip = ARM_M if share == 0.0 else ROUNDING  # an arm ends in the hub
            assert (np.abs(1.0 - distance - hubs[:, 2]) < tip * 2.0).all()
        else:
            assert np.isinf(distance).all()
    between = np.array([[0.0, 0.3, 1.0, 0.0, 0.0, -1.0], [*(0.33 * ahead), 1.0, 0.0, 0.0, -1.0]])
    assert np.isinf(scene.cast(between.astype(np.float32)).distance_m).all()


def test_an_airframe_without_a_radius_has_rotors_of_a_tenth_of_a_metre(iris_with):
    airframe = load_airframe(iris_with(propeller={"radius_m": 0.0, "ground_effect": 0.0}))
    assert airframe_mesh(airframe).bounds_m[1, 1] == pytest.approx(0.22 + 0.1)
