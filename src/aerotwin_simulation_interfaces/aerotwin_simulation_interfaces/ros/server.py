# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Services and action on threads of their own, so that none waits for a long one.

They belong to a second node, `NAME_interfaces`, with the names of the simulator's: its callbacks
may wait (for the last of many steps, for a world) while topics and other services are served.
"""

import re
import threading
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any

from rclpy.action import ActionServer
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.node import Node
from simulation_interfaces import srv
from simulation_interfaces.action import SimulateSteps

from aerotwin_simulation_interfaces.ros.answers import Handler, answering
from aerotwin_simulation_interfaces.ros.entity_services import EntityServices
from aerotwin_simulation_interfaces.ros.fleet_services import FleetServices
from aerotwin_simulation_interfaces.ros.host import SimulatorHost
from aerotwin_simulation_interfaces.ros.run_services import RunServices
from aerotwin_simulation_interfaces.ros.world_services import WorldServices

N_THREADS = 6
"""More than requests that can wait for long: steps, a change, a world, and their refusals."""
_JOIN_S = 5.0


class SimulationInterfaces:
    """The services of a simulator's node, until it is closed."""

    def __init__(self, simulator: SimulatorHost) -> None:
        prefix = simulator.get_fully_qualified_name()
        self._node = Node(
            f"{simulator.get_name()}_interfaces",
            namespace=simulator.get_namespace(),
            use_global_arguments=False,
            start_parameter_services=False,
            enable_rosout=False,
        )
        group = ReentrantCallbackGroup()
        run = RunServices(simulator)
        self._node.create_service(
            srv.GetSimulatorFeatures,
            f"{prefix}/get_simulator_features",
            run.get_simulator_features,
            callback_group=group,
        )
        for kind, handler in _handlers(simulator, run).items():
            self._node.create_service(
                kind,
                f"{prefix}/{_snake(kind.__name__)}",
                answering(simulator, handler),
                callback_group=group,
            )
        self._action = ActionServer(
            self._node,
            SimulateSteps,
            f"{prefix}/simulate_steps",
            run.simulate_steps,
            goal_callback=run.accept_goal,
            cancel_callback=run.accept_cancel,
            callback_group=group,
        )
        self._executor = MultiThreadedExecutor(N_THREADS)
        self._executor.add_node(self._node)
        self._thread = threading.Thread(
            target=self._spin, name="simulation interfaces", daemon=True
        )
        self._thread.start()

    def _spin(self) -> None:
        with suppress(CancelledError, ExternalShutdownException):
            self._executor.spin()

    def close(self) -> None:
        """End the threads; requests that wait have been answered by the end of their orders."""
        self._executor.shutdown(_JOIN_S)
        self._thread.join(_JOIN_S)
        self._action.destroy()
        self._node.destroy_node()


def _handlers(simulator: SimulatorHost, run: RunServices) -> dict[Any, Handler]:
    entities, worlds = EntityServices(simulator), WorldServices(simulator)
    fleet = FleetServices(simulator, entities)
    return {
        srv.GetSimulationState: run.get_simulation_state,
        srv.SetSimulationState: run.set_simulation_state,
        srv.StepSimulation: run.step_simulation,
        srv.ResetSimulation: run.reset_simulation,
        srv.GetEntities: entities.get_entities,
        srv.GetEntityState: entities.get_entity_state,
        srv.GetEntitiesStates: entities.get_entities_states,
        srv.SetEntityState: entities.set_entity_state,
        srv.GetEntityInfo: entities.get_entity_info,
        srv.SetEntityInfo: entities.set_entity_info,
        srv.GetEntityBounds: entities.get_entity_bounds,
        srv.GetNamedPoses: entities.get_named_poses,
        srv.GetNamedPoseBounds: entities.refuse_pose_bounds,
        srv.GetSpawnables: fleet.get_spawnables,
        srv.SpawnEntity: fleet.spawn_entity,
        srv.SpawnEntities: fleet.refuse_many,
        srv.DeleteEntity: fleet.delete_entity,
        srv.GetAvailableWorlds: worlds.get_available_worlds,
        srv.GetCurrentWorld: worlds.get_current_world,
        srv.LoadWorld: worlds.load_world,
        srv.UnloadWorld: worlds.unload_world,
    }


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
