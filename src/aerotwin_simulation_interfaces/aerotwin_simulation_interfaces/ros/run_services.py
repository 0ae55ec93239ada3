# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Features, state, reset and steps of the simulation."""

from concurrent.futures import TimeoutError as StillRunning
from typing import Any

from rclpy.action import CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from simulation_interfaces.action import SimulateSteps
from simulation_interfaces.msg import SimulatorFeatures
from simulation_interfaces.srv import ResetSimulation, SetSimulationState

from aerotwin_simulation_interfaces.ros.answers import (
    FAILED,
    OK,
    UNSUPPORTED,
    RequestRefused,
    on_loop,
    outcome,
    require_world,
)
from aerotwin_simulation_interfaces.ros.host import SimulatorHost
from aerotwin_simulator.run_control import ChangeOrder, RunState, StepOrder

MAX_STEPS = 10_000_000
"""Steps of one request: eleven hours of simulated time."""
FEEDBACK_S = 0.2
_F = SimulatorFeatures
FEATURES = (
    _F.SPAWNING,
    _F.SPAWNING_RESOURCE_STRING,
    _F.SPAWNABLES,
    _F.DELETING,
    _F.NAMED_POSES,
    _F.ENTITY_TAGS,
    _F.ENTITY_BOUNDS,
    _F.ENTITY_BOUNDS_BOX,
    _F.ENTITY_BOUNDS_CONVEX,
    _F.ENTITY_CATEGORIES,
    _F.ENTITY_STATE_GETTING,
    _F.ENTITY_STATE_SETTING,
    _F.ENTITY_INFO_GETTING,
    _F.ENTITY_INFO_SETTING,
    _F.SIMULATION_RESET,
    _F.SIMULATION_RESET_STATE,
    _F.SIMULATION_STATE_GETTING,
    _F.SIMULATION_STATE_SETTING,
    _F.SIMULATION_STATE_PAUSE,
    _F.STEP_SIMULATION_SINGLE,
    _F.STEP_SIMULATION_MULTIPLE,
    _F.STEP_SIMULATION_ACTION,
    _F.WORLD_LOADING,
    _F.WORLD_TAGS,
    _F.WORLD_UNLOADING,
    _F.WORLD_INFO_GETTING,
    _F.AVAILABLE_WORLDS,
)
CUSTOM_INFO = (
    "aerotwin. Entities are the vehicles of the launch and those spawned. Reset scopes: "
    "SCOPE_STATE (time goes on) and SCOPE_ALL (time begins at zero, a new bag). A loaded world "
    "keeps the vehicles and their missions."
)
_TIME_AND_STATE = ResetSimulation.Request.SCOPE_TIME | ResetSimulation.Request.SCOPE_STATE
_KNOWN_SCOPES = _TIME_AND_STATE | ResetSimulation.Request.SCOPE_SPAWNED


class RunServices:
    """Handlers of the services that change or report the run."""

    def __init__(self, node: SimulatorHost) -> None:
        self._node, self._control = node, node.control

    def get_simulator_features(self, _: Any, response: Any) -> Any:
        """Report what is supported; this service has no result."""
        response.features.features = list(FEATURES)
        response.features.custom_info = CUSTOM_INFO
        return response

    def get_simulation_state(self, _: Any, response: Any) -> None:
        """Report the state; read from any thread, so that it is answered while a world loads."""
        response.state.state = int(self._control.state)

    def set_simulation_state(self, request: Any, response: Any) -> None:
        """Play, pause, stop or quit."""
        target = request.state.state
        if target == RunState.STOPPED:
            on_loop(self._node, self._check_transition, target)
            self._carry_out(ChangeOrder(kind="all", state=RunState.STOPPED))
        else:
            on_loop(self._node, self._set_state, target)

    def _check_transition(self, target: int) -> None:
        state, codes = self._control.state, SetSimulationState.Response
        if target not in (s.value for s in RunState):
            raise RequestRefused(
                codes.INCORRECT_TRANSITION, f"state must be one of 0 to 5, got {target}"
            )
        name = RunState(target).name
        if target == state:
            raise RequestRefused(codes.ALREADY_IN_TARGET_STATE, f"the state is {name} already")
        if target in (RunState.NO_WORLD, RunState.LOADING_WORLD):
            text = f"{name} cannot be set; use the services load_world and unload_world"
            raise RequestRefused(codes.INCORRECT_TRANSITION, text)
        without_world = state in (RunState.NO_WORLD, RunState.LOADING_WORLD, RunState.QUITTING)
        if without_world and target != RunState.QUITTING:
            text = f"{name} cannot follow {state.name}; load a world first"
            raise RequestRefused(codes.INCORRECT_TRANSITION, text)

    def _set_state(self, target: int) -> None:
        """Play, pause or quit; runs on the loop."""
        self._check_transition(target)
        if target == RunState.QUITTING:
            self._control.state = RunState.QUITTING
            self._node.request_stop()
            return
        if target == RunState.PLAYING:
            self._control.play()
        else:
            self._control.pause()
        self._node.pacer.restart()

    def reset_simulation(self, request: Any, _: Any) -> None:
        """Reset the vehicles, or everything."""
        scope, codes = request.scope, ResetSimulation.Request
        is_all = scope in (codes.SCOPE_DEFAULT, codes.SCOPE_ALL)
        is_all = is_all or (
            scope & ~_KNOWN_SCOPES == 0 and scope & _TIME_AND_STATE == _TIME_AND_STATE
        )
        if not is_all and scope != codes.SCOPE_STATE:
            raise RequestRefused(
                UNSUPPORTED,
                f"scope must be SCOPE_STATE (2) or SCOPE_ALL (255 or 0), got {scope}: time is "
                "reset together with the state only, and spawned vehicles stay",
            )
        state = on_loop(self._node, self._state_with_world)
        self._carry_out(ChangeOrder(kind="all" if is_all else "vehicles", state=state))

    def _state_with_world(self) -> RunState:
        require_world(self._control.state)
        return self._control.state

    def _carry_out(self, change: ChangeOrder) -> None:
        """Order a change on the loop, and wait for its end."""
        order = on_loop(self._node, self._control.order_change, change)
        if reason := order.ended.result():
            raise RequestRefused(FAILED, reason)

    # -- steps --------------------------------------------------------------------------------

    def step_simulation(self, request: Any, _: Any) -> None:
        """Make steps, and answer after the last."""
        if reason := self._order_steps(request.steps).ended.result():
            raise RequestRefused(FAILED, reason)

    def _order_steps(self, n: int) -> StepOrder:
        if not 1 <= n <= MAX_STEPS:
            raise RequestRefused(FAILED, f"steps must be 1 to {MAX_STEPS}, got {n}")

        def order() -> StepOrder:
            steps = self._control.order_steps(n)
            self._node.pacer.restart()
            return steps

        return on_loop(self._node, order)

    def accept_goal(self, _: Any) -> GoalResponse:
        """Accept every goal: a wrong one ends with a result that says why."""
        return GoalResponse.ACCEPT

    def accept_cancel(self, _: Any) -> CancelResponse:
        """Accept every cancellation."""
        return CancelResponse.ACCEPT

    def simulate_steps(self, goal: ServerGoalHandle) -> Any:
        """Make the steps of a goal, with feedback."""
        result = SimulateSteps.Result()
        code, text = outcome(self._node, lambda: self._follow(goal))
        result.result.result, result.result.error_message = code, text
        if goal.is_cancel_requested:
            goal.canceled()
        elif code == OK:
            goal.succeed()
        else:
            goal.abort()
        return result

    def _follow(self, goal: ServerGoalHandle) -> None:
        order = self._order_steps(goal.request.steps)
        is_cancelled = False
        while True:
            try:
                reason = order.ended.result(timeout=FEEDBACK_S)
            except StillRunning:
                reason = None
            done = order.n_done
            goal.publish_feedback(
                SimulateSteps.Feedback(
                    completed_steps=done, remaining_steps=order.n_requested - done
                )
            )
            if reason is not None:
                break
            if goal.is_cancel_requested and not is_cancelled:
                is_cancelled = True
                on_loop(self._node, self._control.cancel_steps, order)
        if reason:
            raise RequestRefused(FAILED, reason)
