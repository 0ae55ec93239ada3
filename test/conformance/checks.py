# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The check of each feature, and the refusal where it is not announced."""

from typing import Any

from simulation_interfaces import srv

from conformance import entity_checks as entities
from conformance import run_checks as runs
from conformance.expectations import Check, F

CHECKS: dict[int, Check] = {
    F.SPAWNABLES: entities.spawnables_are_listed,
    F.SPAWNING: entities.one_is_spawned,
    F.SPAWNING_RESOURCE_STRING: entities.one_is_spawned_as_described,
    F.DELETING: entities.one_is_deleted,
    F.NAMED_POSES: entities.poses_are_named,
    F.ENTITY_TAGS: entities.tags_filter,
    F.ENTITY_BOUNDS: entities.bounds_are_boxes,
    F.ENTITY_BOUNDS_BOX: entities.boxes_filter,
    F.ENTITY_BOUNDS_CONVEX: entities.hulls_filter,
    F.ENTITY_CATEGORIES: entities.categories_filter,
    F.ENTITY_STATE_GETTING: entities.states_are_ground_truth,
    F.ENTITY_STATE_SETTING: entities.states_are_set,
    F.ENTITY_INFO_GETTING: entities.info_is_reported,
    F.ENTITY_INFO_SETTING: entities.info_is_set,
    F.SIMULATION_STATE_GETTING: runs.state_is_reported,
    F.SIMULATION_STATE_SETTING: runs.state_is_set,
    F.SIMULATION_STATE_PAUSE: runs.run_is_paused,
    F.STEP_SIMULATION_SINGLE: runs.one_step_is_made,
    F.STEP_SIMULATION_MULTIPLE: runs.steps_are_made,
    F.STEP_SIMULATION_ACTION: runs.steps_are_an_action,
    F.SIMULATION_RESET: runs.everything_is_reset,
    F.SIMULATION_RESET_STATE: runs.state_is_reset,
    F.SIMULATION_RESET_TIME: runs.time_is_reset,
    F.WORLD_INFO_GETTING: runs.the_world_is_reported,
    F.AVAILABLE_WORLDS: runs.worlds_are_listed,
    F.WORLD_TAGS: runs.worlds_have_tags,
    F.WORLD_LOADING: runs.a_world_is_loaded,
    F.WORLD_UNLOADING: runs.the_world_is_unloaded,
}
"""Check of a feature, in the order in which they run."""
GENERAL: dict[str, Check] = {
    "filters: regular expressions": entities.entities_are_listed_by_regex,
    "filters: spheres": entities.spheres_filter,
}
"""What every simulator with entities has."""
REFUSALS: dict[int, tuple[Any, dict[str, Any]]] = {
    F.SPAWNING: (srv.SpawnEntity, {"name": "a/b", "entity_namespace": "//"}),
    F.SPAWNING_ENTITIES: (srv.SpawnEntities, {}),
    F.DELETING: (srv.DeleteEntity, {"entity": "a/b"}),
    F.SPAWNABLES: (srv.GetSpawnables, {}),
    F.NAMED_POSES: (srv.GetNamedPoses, {}),
    F.POSE_BOUNDS: (srv.GetNamedPoseBounds, {"name": "a/b"}),
    F.ENTITY_BOUNDS: (srv.GetEntityBounds, {}),
    F.ENTITY_STATE_GETTING: (srv.GetEntityState, {}),
    F.ENTITY_STATE_SETTING: (srv.SetEntityState, {}),
    F.ENTITY_INFO_GETTING: (srv.GetEntityInfo, {}),
    F.ENTITY_INFO_SETTING: (srv.SetEntityInfo, {}),
    F.SIMULATION_RESET: (srv.ResetSimulation, {}),
    F.SIMULATION_RESET_TIME: (srv.ResetSimulation, {"scope": 1}),
    F.SIMULATION_RESET_SPAWNED: (srv.ResetSimulation, {"scope": 4}),
    F.WORLD_LOADING: (srv.LoadWorld, {}),
    F.WORLD_UNLOADING: (srv.UnloadWorld, {}),
    F.WORLD_INFO_GETTING: (srv.GetCurrentWorld, {}),
    F.AVAILABLE_WORLDS: (srv.GetAvailableWorlds, {}),
    F.STEP_SIMULATION_SINGLE: (srv.StepSimulation, {"steps": 1}),
}
"""A feature that is not announced: its service is absent, or refuses this."""
