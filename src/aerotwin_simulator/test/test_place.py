# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A vehicle is placed between two steps, or stays where it is."""

import numpy as np
import pytest

from aerotwin_core.parameters import replaced
from aerotwin_multirotor_dynamics import layout
from aerotwin_simulator import Simulation, SimulatorParameters

HEIGHT_M, STEP_S = 50.0, 0.004
LEVEL, AT_REST = np.array([0.0, 0.0, 0.0, 1.0]), np.zeros(3)
YAWED = np.array([0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)])  # 90 degrees


@pytest.fixture
def simulation(tmp_path, flat_world):
    parameters = replaced(
        SimulatorParameters(),
        {"camera.is_rendered": False, "controller.kind": "ros2", "record": "none"},
    )
    simulation = Simulation(parameters, flat_world, tmp_path, [])
    yield simulation
    simulation.close()


def test_a_placed_vehicle_falls_from_where_it_is(simulation):
    vehicle = simulation.vehicles[0]
    x, y, z = vehicle.p_map_body
    above = np.array([x, y, z + HEIGHT_M])
    assert vehicle.place(above, YAWED, np.array([1.0, 0.0, 0.0]), AT_REST) == ""
    assert vehicle.p_map_body == pytest.approx(above, abs=1e-12)
    assert vehicle.truth[layout.ROTATION][3] == pytest.approx(1.0)  # body x is north
    simulation.advance()
    assert vehicle.truth[layout.VELOCITY][2] == pytest.approx(-9.8 * STEP_S, rel=0.01)
    assert vehicle.p_map_body[0] == pytest.approx(x + STEP_S, abs=1e-4)
    for _ in range(50):
        simulation.advance()
    assert vehicle.outcome is None


def test_the_box_holds_the_rotors_and_moves_along(simulation):
    vehicle = simulation.vehicles[0]
    before = vehicle.box_map
    low, high = before
    assert (low < vehicle.p_map_body).all()
    assert (vehicle.p_map_body < high).all()
    assert 0.4 < high[0] - low[0] < 1.0  # an iris
    vehicle.place(vehicle.p_map_body + np.array([0.0, 0.0, HEIGHT_M]), LEVEL, AT_REST, AT_REST)
    assert vehicle.box_map.mean(axis=0)[2] == pytest.approx(
        before.mean(axis=0)[2] + HEIGHT_M, abs=0.05
    )


@pytest.mark.parametrize(
    ("offset", "text"),
    [
        ((0.0, 0.0, -5.0), "beside or below the ground"),
        ((1e7, 0.0, 5.0), "beside or below the ground"),
        ((0.0, 0.0, 1e5), "altitude must be in -5 to 11 km"),
        ((0.0, 0.0, 1e300), "altitude must be in -5 to 11 km"),
    ],
)
def test_a_place_below_the_ground_beside_the_world_or_in_space_is_refused(simulation, offset, text):
    vehicle = simulation.vehicles[0]
    before = vehicle.truth.copy()
    reason = vehicle.place(vehicle.p_map_body + offset, LEVEL, AT_REST, AT_REST)
    assert text in reason
    assert (vehicle.truth == before).all()
