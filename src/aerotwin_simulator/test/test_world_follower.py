# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A streamed world follows its vehicles, for cameras and collisions alike."""

import dataclasses

import numpy as np
import pytest

from aerotwin_simulator import (
    CameraSettings,
    ControllerSettings,
    FleetSettings,
    Simulation,
    SimulatorParameters,
)
from aerotwin_worlds.world_follower import WorldFollower


class Stream:
    """Two tiles: the second from x = 1 m on."""

    def __init__(self, near, far):
        self.near, self.far, self.meshes, self.asked = near, far, (), []

    def update(self, p_map):
        self.asked.append(np.atleast_2d(p_map).tolist())
        before = self.meshes
        self.meshes = self.far if np.atleast_2d(p_map)[:, 0].max() >= 1.0 else self.near
        return before is not self.meshes


class Consumer:
    def __init__(self):
        self.told = []

    def replace(self, meshes):
        self.told.append(meshes)


def test_consumers_are_notified_of_other_meshes_and_only_then(flat_world):
    stream, consumers = Stream(("near",), ("far",)), (Consumer(), Consumer())
    world = dataclasses.replace(flat_world, stream=stream)
    follower = WorldFollower(world, consumers)
    for x in (0.0, 0.5, 1.5, 2.0):
        follower.follow(np.array([x, 0.0, 0.0]))
    for consumer in consumers:
        assert consumer.told == [("near",), ("far",)]
    assert stream.asked[0] == [list(world.start_p_map)]


def test_after_a_jump_in_time_it_looks_at_once_and_is_due_again(flat_world):
    stream = Stream((), ())
    follower = WorldFollower(dataclasses.replace(flat_world, stream=stream), [])
    assert follower.is_due(20_000_000_000)
    follower.restart(1_000_000_000, np.ones(3))
    assert stream.asked[-1] == [[1.0, 1.0, 1.0]]
    assert [follower.is_due(t) for t in (1_000_000_000, 1_100_000_000, 1_200_000_000)] == [
        False,
        False,
        True,
    ]


def test_a_world_that_is_not_streamed_is_left_alone(flat_world):
    consumer = Consumer()
    follower = WorldFollower(flat_world, [consumer])
    follower.follow(np.zeros(3))
    assert consumer.told == [] and not follower.is_due(10**12)


@pytest.mark.parametrize("instances", [1, 2])
def test_a_flight_asks_for_the_places_of_all_vehicles(flat_world, tmp_path, controllers, instances):
    stream = Stream(flat_world.meshes, ())
    world = dataclasses.replace(flat_world, stream=stream)
    parameters = SimulatorParameters(
        camera=CameraSettings(is_rendered=False),
        controller=ControllerSettings(kind=f"python:{controllers}:Climber"),
        fleet=FleetSettings(instances=instances),
    )
    simulation = Simulation(parameters, world, tmp_path, [])
    simulation.start()
    while simulation.stamp_ns < 1_000_000_000:
        simulation.advance()
    simulation.close()
    first, *others = stream.asked
    assert np.shape(first) == (1, 3)
    assert np.shape(others) == (4, instances, 3)  # 5 Hz, before the steps that follow
    assert np.all(np.diff(np.array(others)[:, 0, 2]) > 0.0)  # it climbs


def test_a_reset_asks_for_the_tiles_of_the_start_before_vehicles_stand_there(
    flat_world, tmp_path, controllers
):
    (mesh,) = flat_world.meshes
    far = dataclasses.replace(mesh, vertices_map=mesh.vertices_map + np.array([200.0, 0.0, 0.0]))
    stream = Stream(flat_world.meshes, (far,))  # once a vehicle was far away
    world = dataclasses.replace(flat_world, stream=stream)
    parameters = SimulatorParameters(
        camera=CameraSettings(is_rendered=False),
        controller=ControllerSettings(kind=f"python:{controllers}:Climber"),
    )
    simulation = Simulation(parameters, world, tmp_path, [])
    simulation.start()
    simulation._follower.follow(np.array([2.0, 0.0, 0.0]))
    simulation.reset()
    simulation.close()
    assert stream.asked[-1] == [[0.0, 0.0, 0.0]]
    assert simulation.vehicles[0].p_map_body[2] < 1.0
