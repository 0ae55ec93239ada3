# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What the features of entities promise."""

import math

from geometry_msgs.msg import PoseStamped, Vector3
from simulation_interfaces import srv
from simulation_interfaces.msg import (
    Bounds,
    EntityCategory,
    EntityFilters,
    EntityInfo,
    EntityState,
    Resource,
    TagsFilter,
)

from conformance.client import OK, SimulatorClient
from conformance.expectations import (
    FAILED,
    HOSTILE_NAMES,
    HOSTILE_PATTERNS,
    NOT_FOUND,
    S,
    expect,
    listed,
    position,
    refused,
)

Response = srv.SpawnEntity.Response

# -- entities -----------------------------------------------------------------------------------


def entities_are_listed_by_regex(sim: SimulatorClient) -> None:
    names = sim.entities()
    assert len(set(names)) == len(names) > 0, f"entities {names}"
    assert listed(sim, filter=f"^{names[0]}$") == [names[0]]
    assert listed(sim, filter=".*") == names
    assert listed(sim, filter="^no_such_[[:digit:]]+$") == []
    for pattern in HOSTILE_PATTERNS:
        response = sim.call(srv.GetEntities, filters=EntityFilters(filter=pattern))
        expect(response, OK, FAILED)


def states_are_ground_truth(sim: SimulatorClient) -> None:
    sim.bring_to(S.STATE_PAUSED)
    response = sim.call(srv.GetEntitiesStates)
    expect(response, OK)
    assert list(response.entities) == sim.entities()
    assert len(response.states) == len(response.entities)
    for name, state in zip(response.entities, response.states, strict=True):
        q = state.pose.orientation
        norm = math.hypot(q.x, q.y, q.z, q.w)
        assert abs(norm - 1.0) < 1e-6, f"quaternion of length {norm}"
        assert sim.entity_state(name).pose == state.pose, "two readings at standstill differ"
    for name in HOSTILE_NAMES:
        expect(sim.call(srv.GetEntityState, entity=name), NOT_FOUND)


def states_are_set(sim: SimulatorClient) -> None:
    sim.bring_to(S.STATE_PAUSED)
    name = sim.entities()[0]
    before = sim.entity_state(name)
    state = sim.entity_state(name)
    state.pose.position.z += 3.0
    fields = {"entity": name, "state": state, "set_pose": True}
    expect(sim.call(srv.SetEntityState, **fields), OK)
    z = position(sim, name)[2]
    assert abs(z - state.pose.position.z) < 1e-3, f"height {z}, set {state.pose.position.z}"
    invalid = srv.SetEntityState.Response.INVALID_POSE
    for change in ({"x": math.nan}, {"y": math.inf}, {"z": -1e9}):
        wrong = sim.entity_state(name)
        for axis, value in change.items():
            setattr(wrong.pose.position, axis, value)
        expect(sim.call(srv.SetEntityState, entity=name, state=wrong, set_pose=True), invalid)
    wrong = EntityState()
    wrong.pose.position = state.pose.position
    wrong.pose.orientation.w = 0.0
    expect(sim.call(srv.SetEntityState, entity=name, state=wrong, set_pose=True), invalid)
    for hostile in HOSTILE_NAMES:
        expect(sim.call(srv.SetEntityState, entity=hostile, state=state), NOT_FOUND)
    assert abs(position(sim, name)[2] - z) < 1e-3, "a refused pose moved the entity"
    expect(
        sim.call(srv.SetEntityState, entity=name, state=before, set_pose=True, set_twist=True), OK
    )


def bounds_are_boxes(sim: SimulatorClient) -> None:
    name = sim.entities()[0]
    response = sim.call(srv.GetEntityBounds, entity=name)
    expect(response, OK)
    assert response.bounds.type == Bounds.TYPE_BOX
    upper, lower = response.bounds.points
    assert upper.x > lower.x and upper.y > lower.y and upper.z > lower.z
    for hostile in HOSTILE_NAMES:
        expect(sim.call(srv.GetEntityBounds, entity=hostile), NOT_FOUND)


def area(kind: int, *points: tuple[float, float, float]) -> Bounds:
    return Bounds(type=kind, points=[Vector3(x=x, y=y, z=z) for x, y, z in points])


def spheres_filter(sim: SimulatorClient) -> None:
    sim.bring_to(S.STATE_PAUSED)
    name = sim.entities()[0]
    p = position(sim, name)
    assert name in listed(sim, bounds=area(Bounds.TYPE_SPHERE, p, (0.5, 0.0, 0.0)))
    far = (p[0] + 1e5, p[1], p[2])
    assert listed(sim, bounds=area(Bounds.TYPE_SPHERE, far, (1.0, 0.0, 0.0))) == []
    refused(sim, bounds=area(Bounds.TYPE_SPHERE, p))
    refused(sim, bounds=area(Bounds.TYPE_SPHERE, p, (math.nan, 0.0, 0.0)))
    refused(sim, bounds=area(99, p, p))


def boxes_filter(sim: SimulatorClient) -> None:
    sim.bring_to(S.STATE_PAUSED)
    name = sim.entities()[0]
    x, y, z = position(sim, name)
    near = area(Bounds.TYPE_BOX, (x + 1.0, y + 1.0, z + 1.0), (x - 1.0, y - 1.0, z - 1.0))
    assert name in listed(sim, bounds=near)
    far = area(Bounds.TYPE_BOX, (x + 1e5 + 1.0, y, z), (x + 1e5, y, z))
    assert listed(sim, bounds=far) == []
    refused(sim, bounds=area(Bounds.TYPE_BOX, (0.0, 0.0, 0.0)))


def hulls_filter(sim: SimulatorClient) -> None:
    sim.bring_to(S.STATE_PAUSED)
    name = sim.entities()[0]
    x, y, z = position(sim, name)
    corners = [(2.0, 0.0, -1.0), (-2.0, 2.0, -1.0), (-2.0, -2.0, -1.0), (0.0, 0.0, 3.0)]
    near = [(x + dx, y + dy, z + dz) for dx, dy, dz in corners]
    assert name in listed(sim, bounds=area(Bounds.TYPE_CONVEX_HULL, *near))
    far = [(px + 1e4, py, pz) for px, py, pz in near]
    assert listed(sim, bounds=area(Bounds.TYPE_CONVEX_HULL, *far)) == []
    refused(sim, bounds=area(Bounds.TYPE_CONVEX_HULL, *near[:2]))


def categories_filter(sim: SimulatorClient) -> None:
    for name in sim.entities():
        info = sim.call(srv.GetEntityInfo, entity=name).info
        assert name in listed(sim, categories=[info.category])
    assert listed(sim, categories=[EntityCategory(category=EntityCategory.CATEGORY_HUMAN)]) == []
    refused(sim, categories=[EntityCategory(category=200)])


def tags_filter(sim: SimulatorClient) -> None:
    name = sim.entities()[0]
    own = list(sim.call(srv.GetEntityInfo, entity=name).info.tags)
    assert own, "the first entity has no tags to filter by"
    both = TagsFilter(tags=[own[0], "no such tag"])
    assert name in listed(sim, tags=both)
    both.filter_mode = TagsFilter.FILTER_MODE_ALL
    assert listed(sim, tags=both) == []
    assert name in listed(sim, tags=TagsFilter(tags=own, filter_mode=TagsFilter.FILTER_MODE_ALL))


def info_is_reported(sim: SimulatorClient) -> None:
    for name in sim.entities():
        expect(sim.call(srv.GetEntityInfo, entity=name), OK)
    for name in HOSTILE_NAMES:
        expect(sim.call(srv.GetEntityInfo, entity=name), NOT_FOUND)


def info_is_set(sim: SimulatorClient) -> None:
    name = sim.entities()[0]
    before = sim.call(srv.GetEntityInfo, entity=name).info
    category = EntityCategory(category=EntityCategory.CATEGORY_DYNAMIC_OBJECT)
    info = EntityInfo(category=category, description="conformance", tags=["a", "b"])
    expect(sim.call(srv.SetEntityInfo, entity=name, info=info), OK)
    assert sim.call(srv.GetEntityInfo, entity=name).info == info
    expect(sim.call(srv.SetEntityInfo, entity=name, info=before), OK)
    expect(sim.call(srv.SetEntityInfo, entity="no such entity", info=info), NOT_FOUND)


def poses_are_named(sim: SimulatorClient) -> None:
    response = sim.call(srv.GetNamedPoses)
    expect(response, OK)
    names = [pose.name for pose in response.poses]
    assert len(set(names)) == len(names)
    none = sim.call(srv.GetNamedPoses, tags=TagsFilter(tags=["no such tag"]))
    expect(none, OK)
    assert not none.poses


# -- those that come and go ----------------------------------------------------------------------


def spawnables_are_listed(sim: SimulatorClient) -> None:
    response = sim.call(srv.GetSpawnables)
    expect(response, OK)
    assert len(response.spawnables) > 0
    assert all(each.description for each in response.spawnables)


def one_is_spawned(sim: SimulatorClient) -> None:
    """It is there at its pose; a name that is taken is refused or changed."""
    sim.bring_to(S.STATE_PAUSED)
    before = sim.entities()
    response = _spawn(sim, "guest", 4.0)
    expect(response, OK)
    assert response.entity_name == "guest"
    assert sim.entities() == [*before, "guest"]
    assert math.dist(position(sim, "guest")[:2], (4.0, 6.0)) < 0.01
    expect(_spawn(sim, "guest", 8.0), Response.NAME_NOT_UNIQUE)
    renamed = _spawn(sim, "guest", 8.0, allow_renaming=True)
    expect(renamed, OK)
    assert renamed.entity_name in sim.entities() and renamed.entity_name != "guest"
    expect(_spawn(sim, "inside", 4.1), FAILED)
    for name in ("a/b", "1a", "line\nbreak"):
        expect(_spawn(sim, name, 12.0), Response.NAME_INVALID)
    expect(_spawn(sim, "far", math.nan), Response.INVALID_POSE)
    for name in ("guest", renamed.entity_name):
        expect(sim.call(srv.DeleteEntity, entity=name), OK)


def one_is_spawned_as_described(sim: SimulatorClient) -> None:
    sim.bring_to(S.STATE_PAUSED)
    expect(_spawn(sim, "guest", 4.0, text="{airframe: hummingbird, controller: ros2}"), OK)
    info = sim.call(srv.GetEntityInfo, entity="guest").info
    assert "hummingbird" in info.description
    expect(sim.call(srv.DeleteEntity, entity="guest"), OK)
    for text in (
        "{controller: 'python:os:system'}",
        "{controller_options: /etc/passwd}",
        "{mission: /etc/passwd}",
        "{imu: ../../etc/passwd}",
        "{airframe: 3}",
        "[",
        "{no_such_key: 1}",
        "a" * 100_000,
    ):
        expect(_spawn(sim, "guest", 4.0, text=text), Response.RESOURCE_PARSE_ERROR)


def one_is_deleted(sim: SimulatorClient) -> None:
    sim.bring_to(S.STATE_PAUSED)
    before = sim.entities()
    expect(_spawn(sim, "guest", 4.0), OK)
    expect(sim.call(srv.DeleteEntity, entity="guest"), OK)
    assert sim.entities() == before
    for name in HOSTILE_NAMES:
        expect(sim.call(srv.DeleteEntity, entity=name), NOT_FOUND)
    expect(sim.call(srv.DeleteEntity, entity=before[0]), FAILED)  # the last one stays


def _spawn(
    sim: SimulatorClient, name: str, x: float, *, text: str = "", allow_renaming: bool = False
) -> Response:
    request = {
        "name": name,
        "allow_renaming": allow_renaming,
        "entity_resource": Resource(resource_string=text),
        "initial_pose": PoseStamped(),
    }
    request["initial_pose"].pose.position.x = x
    request["initial_pose"].pose.position.y = 6.0
    return sim.call(srv.SpawnEntity, **request)
