# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Rotors from a URDF, and their blades."""

import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_view.scene.nearest_robots import nearest_rows
from aerotwin_view.scene.rotor_hubs import MOST_ROTORS, rotor_hubs
from aerotwin_view.scene.spinning_rotors import SLOWER, SpinningRotors

ROUNDING = 1e-6
"""Of float32."""
LEVEL = np.array([[0.0, 0.0, 0.0, 1.0]])


def _urdf(n: int, radius: str = "0.12") -> str:
    joints = "".join(
        f'<link name="rotor_{k}"><visual><geometry><cylinder radius="{radius}" length="0.01"/>'
        f'</geometry></visual></link><joint name="j{k}" type="fixed"><parent link="base_link"/>'
        f'<child link="rotor_{k}"/><origin xyz="{0.2 * k} 0.1 0.05" rpy="0 0 0"/></joint>'
        for k in range(n)
    )
    return f'<robot name="r"><link name="base_link"/><link name="imu"/>{joints}</robot>'


def test_rotors_are_found_by_the_names_of_their_links():
    hubs = rotor_hubs(_urdf(3))
    assert [hub.name for hub in hubs] == ["rotor_0", "rotor_1", "rotor_2"]
    np.testing.assert_allclose(hubs[2].T_base_hub[:3, 3], (0.4, 0.1, 0.05))
    assert hubs[0].radius_m == 0.12


@pytest.mark.parametrize(
    "urdf", ["<", _urdf(MOST_ROTORS + 1), _urdf(1, "nan"), _urdf(1, "1e9"), _urdf(1, "-1")]
)
def test_a_description_without_usable_rotors_is_refused(urdf):
    with pytest.raises(UserError):
        rotor_hubs(urdf)


def test_blades_turn_by_their_speed_and_stand_without(page):
    rotors = SpinningRotors(page)
    rotors.set_rotors([rotor_hubs(_urdf(2))])
    place = np.array([[1.0, 2.0, 3.0]])
    rotors.show(place, LEVEL, np.array([SLOWER, 0.0]), 0.5)
    np.testing.assert_allclose(rotors.angles, (0.5, 0.0))
    (blades,) = [h for h in page.scene._handle_from_node_name.values() if h.name == "/blades"]
    half = 0.25
    np.testing.assert_allclose(
        blades.batched_wxyzs, [(np.cos(half), 0, 0, np.sin(half)), (1, 0, 0, 0)], atol=ROUNDING
    )
    np.testing.assert_allclose(blades.batched_positions[:, :2], [(1.0, 2.1), (1.2, 2.1)])
    np.testing.assert_allclose(blades.batched_scales, 0.12)


def test_blades_lie_in_the_plane_of_a_robot_that_is_tilted(page):
    rotors = SpinningRotors(page)
    rotors.set_rotors([rotor_hubs(_urdf(1))])
    on_its_side = np.array([[np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)]])  # up is now -y
    rotors.show(np.zeros((1, 3)), on_its_side, np.zeros(1), 0.1)
    (blades,) = [h for h in page.scene._handle_from_node_name.values() if h.name == "/blades"]
    x, y, z = blades.batched_positions[0]
    assert (x, z) == pytest.approx((0.0, 0.1), abs=ROUNDING) and y < -0.05


def test_another_set_of_robots_takes_the_place_of_the_one_before(page):
    rotors = SpinningRotors(page)
    rotors.set_rotors([rotor_hubs(_urdf(4)), rotor_hubs(_urdf(6))])
    assert len(rotors.angles) == 10
    rotors.set_rotors([])
    rotors.show(np.zeros((0, 3)), np.zeros((0, 4)), np.zeros(0), 0.1)
    assert len(rotors.angles) == 0 and "/blades" not in page.scene._handle_from_node_name


def test_the_nearest_of_many_are_chosen():
    places = np.column_stack([np.arange(100.0), np.zeros(100), np.zeros(100)])
    eyes = np.array([[50.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
    assert nearest_rows(places, eyes, 4) == [0, 1, 49, 50]
    assert nearest_rows(places, np.zeros((0, 3)), 2) == [0, 1]
