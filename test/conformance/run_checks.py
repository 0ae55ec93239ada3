# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What the features of the run and of worlds promise."""

import math
import time
from collections.abc import Callable

from action_msgs.msg import GoalStatus
from simulation_interfaces import srv
from simulation_interfaces.msg import (
    Result,
    TagsFilter,
)

from conformance.client import OK, SimulatorClient
from conformance.expectations import (
    FAILED,
    MANY,
    N_STEPS,
    NOT_FOUND,
    F,
    S,
    expect,
    position,
    stamp_ns,
)

# -- the run ------------------------------------------------------------------------------------


def state_is_reported(sim: SimulatorClient) -> None:
    response = sim.call(srv.GetSimulationState)
    expect(response, OK)
    assert response.state.state in range(6)


def state_is_set(sim: SimulatorClient) -> None:
    codes = srv.SetSimulationState.Response
    sim.bring_to(S.STATE_PLAYING)
    expect(sim.set_state(S.STATE_PLAYING), codes.ALREADY_IN_TARGET_STATE)
    for target in (S.STATE_NO_WORLD, S.STATE_LOADING_WORLD, 99):
        expect(sim.set_state(target), codes.INCORRECT_TRANSITION)
    expect(sim.set_state(S.STATE_STOPPED), OK)
    assert sim.state() == S.STATE_STOPPED
    expect(sim.set_state(S.STATE_STOPPED), codes.ALREADY_IN_TARGET_STATE)
    expect(sim.set_state(S.STATE_PLAYING), OK)
    assert sim.state() == S.STATE_PLAYING


def run_is_paused(sim: SimulatorClient) -> None:
    sim.bring_to(S.STATE_PLAYING)
    expect(sim.set_state(S.STATE_PAUSED), OK)
    assert sim.state() == S.STATE_PAUSED
    expect(sim.set_state(S.STATE_PAUSED), srv.SetSimulationState.Response.ALREADY_IN_TARGET_STATE)
    before = stamp_ns(sim)
    time.sleep(0.5)
    assert stamp_ns(sim) == before, "time went on while paused"
    expect(sim.set_state(S.STATE_PLAYING), OK)
    wait_until(sim, lambda: stamp_ns(sim) > before, "time to go on")


def wait_until(sim: SimulatorClient, condition: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + sim.limit_s
    while not condition():
        assert time.monotonic() < end, f"waited {sim.limit_s:g} s for {what}"


def one_step_is_made(sim: SimulatorClient) -> None:
    sim.bring_to(S.STATE_PAUSED)
    before = stamp_ns(sim)
    expect(sim.call(srv.StepSimulation, steps=1), OK)
    assert stamp_ns(sim) > before
    assert sim.state() == S.STATE_PAUSED
    sim.bring_to(S.STATE_PLAYING)
    expect(sim.call(srv.StepSimulation, steps=1), FAILED)


def steps_are_made(sim: SimulatorClient) -> None:
    sim.bring_to(S.STATE_PAUSED)
    stamps = [stamp_ns(sim)]
    for steps in (1, N_STEPS):
        expect(sim.call(srv.StepSimulation, steps=steps), OK)
        stamps.append(stamp_ns(sim))
    assert stamps[2] - stamps[1] == N_STEPS * (stamps[1] - stamps[0]), f"stamps {stamps}"
    expect(sim.call(srv.StepSimulation, steps=2**64 - 1), FAILED)


def steps_are_an_action(sim: SimulatorClient) -> None:
    sim.bring_to(S.STATE_PAUSED)
    before = stamp_ns(sim)
    status, result, feedback = sim.simulate_steps(N_STEPS)
    expect(result, OK)
    assert status == GoalStatus.STATUS_SUCCEEDED
    assert stamp_ns(sim) > before
    assert all(f.completed_steps + f.remaining_steps == N_STEPS for f in feedback)
    status, result, _ = sim.simulate_steps(MANY, cancel_when=lambda _: True)
    assert status == GoalStatus.STATUS_CANCELED, f"status {status} after a cancellation"
    stopped = stamp_ns(sim)
    time.sleep(0.3)
    assert stamp_ns(sim) == stopped, "steps were made after the cancellation"
    sim.bring_to(S.STATE_PLAYING)
    status, result, _ = sim.simulate_steps(N_STEPS)
    expect(result, FAILED)


def everything_is_reset(sim: SimulatorClient) -> None:
    sim.bring_to(S.STATE_PAUSED)
    expect(sim.call(srv.StepSimulation, steps=N_STEPS), OK)
    expect(sim.call(srv.ResetSimulation, scope=srv.ResetSimulation.Request.SCOPE_ALL), OK)
    sim.bring_to(S.STATE_PAUSED)
    assert stamp_ns(sim) == 0, "time does not begin at zero"
    first = position(sim, sim.entities()[0])
    expect(sim.call(srv.StepSimulation, steps=N_STEPS), OK)
    expect(sim.call(srv.ResetSimulation, scope=srv.ResetSimulation.Request.SCOPE_DEFAULT), OK)
    assert position(sim, sim.entities()[0]) == first, "two resets differ"


def state_is_reset(sim: SimulatorClient) -> None:
    sim.bring_to(S.STATE_PAUSED)
    name = sim.entities()[0]
    expect(sim.call(srv.ResetSimulation, scope=srv.ResetSimulation.Request.SCOPE_STATE), OK)
    sim.bring_to(S.STATE_PAUSED)
    start = position(sim, name)
    if F.ENTITY_STATE_SETTING in sim.features():
        state = sim.entity_state(name)
        state.pose.position.z += 3.0
        expect(sim.call(srv.SetEntityState, entity=name, state=state, set_pose=True), OK)
    expect(sim.call(srv.ResetSimulation, scope=srv.ResetSimulation.Request.SCOPE_STATE), OK)
    assert math.dist(position(sim, name), start) < 1e-6


def time_is_reset(sim: SimulatorClient) -> None:
    sim.bring_to(S.STATE_PAUSED)
    expect(sim.call(srv.StepSimulation, steps=N_STEPS), OK)
    expect(sim.call(srv.ResetSimulation, scope=srv.ResetSimulation.Request.SCOPE_TIME), OK)
    assert stamp_ns(sim) == 0


# -- worlds -------------------------------------------------------------------------------------


def worlds_are_listed(sim: SimulatorClient) -> None:
    response = sim.call(srv.GetAvailableWorlds)
    expect(response, OK)
    assert response.worlds
    assert all(w.world_resource.uri or w.world_resource.resource_string for w in response.worlds)
    nowhere = {"additional_sources": ["/no/such/folder"]}
    expect(sim.call(srv.GetAvailableWorlds, continue_on_error=True, **nowhere), OK)


def worlds_have_tags(sim: SimulatorClient) -> None:
    every = sim.call(srv.GetAvailableWorlds).worlds
    tag = next(tag for world in every for tag in world.tags)
    some = sim.call(srv.GetAvailableWorlds, filter=TagsFilter(tags=[tag])).worlds
    assert some
    assert all(tag in world.tags for world in some)


def the_world_is_reported(sim: SimulatorClient) -> None:
    response = sim.call(srv.GetCurrentWorld)
    expect(response, OK)
    assert response.world.name


def a_world_is_loaded(sim: SimulatorClient) -> None:
    codes = srv.LoadWorld.Response
    expect(sim.call(srv.LoadWorld), codes.NO_RESOURCE)
    request = srv.LoadWorld.Request()
    for uri in (
        "no_such_world",
        "/no/such/file.world",
        "../" * 1000,
        "ftp://h/x",
        "file:///dev/zero",
    ):
        request.world_resource.uri = uri
        answer = sim.call(srv.LoadWorld, world_resource=request.world_resource)
        expect(answer, NOT_FOUND, FAILED, codes.UNSUPPORTED_FORMAT, codes.RESOURCE_PARSE_ERROR)
    assert sim.state() not in (S.STATE_LOADING_WORLD, S.STATE_NO_WORLD), "a refusal unloads"
    current = sim.call(srv.GetCurrentWorld).world
    answer = sim.call(srv.LoadWorld, world_resource=current.world_resource)
    expect(answer, OK)
    assert answer.world.name == current.name
    assert sim.state() == S.STATE_STOPPED


def the_world_is_unloaded(sim: SimulatorClient) -> None:
    codes = srv.UnloadWorld.Response
    current = sim.call(srv.GetCurrentWorld).world
    expect(sim.call(srv.UnloadWorld), OK)
    assert sim.state() == S.STATE_NO_WORLD
    expect(sim.call(srv.UnloadWorld), codes.NO_WORLD_LOADED)
    expect(sim.call(srv.GetCurrentWorld), srv.GetCurrentWorld.Response.NO_WORLD_LOADED)
    incorrect = srv.SetSimulationState.Response.INCORRECT_TRANSITION
    expect(sim.set_state(S.STATE_PLAYING), incorrect)
    expect(sim.call(srv.StepSimulation, steps=1), FAILED, Result.RESULT_INCORRECT_STATE)
    expect(sim.call(srv.LoadWorld, world_resource=current.world_resource), OK)
    assert sim.state() == S.STATE_STOPPED


def quitting_ends_it(sim: SimulatorClient) -> None:
    expect(sim.set_state(S.STATE_QUITTING), OK)
    end = time.monotonic() + sim.limit_s
    while sim.is_offered(srv.GetSimulatorFeatures):
        assert time.monotonic() < end, "the services are there still"
        time.sleep(0.1)
