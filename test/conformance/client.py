# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A node that asks any simulator through simulation_interfaces."""

import re
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from rclpy.action import ActionClient
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from simulation_interfaces import srv
from simulation_interfaces.action import SimulateSteps
from simulation_interfaces.msg import Result, SimulationState, SimulatorFeatures

from support.services import answer_of

OK = Result.RESULT_OK
UNSUPPORTED = Result.RESULT_FEATURE_UNSUPPORTED
FEATURES = {
    value: name
    for name, value in type(SimulatorFeatures)._Metaclass_SimulatorFeatures__constants.items()
}


KINDS = [kind for name, kind in sorted(vars(srv).items()) if hasattr(kind, "Request")]
LAST = srv.GetSimulatorFeatures
POLL_S = 0.005


class Unanswered(Exception):
    """A service is not there, or gave no answer in time."""


class SimulatorClient:
    """Services of the simulator in a namespace; `limit_s` is the longest wait for an answer.

    A server discovers the readers of answers in the order in which they were made: once the last
    client has an answer, no answer to the others is lost, and each request is sent once.
    """

    def __init__(self, namespace: str, limit_s: float) -> None:
        self.namespace, self.limit_s = namespace.rstrip("/"), limit_s
        self.node = Node("simulator_conformance")
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self.node)
        kinds = [*(kind for kind in KINDS if kind is not LAST), LAST]
        self._steps = ActionClient(self.node, SimulateSteps, f"{self.namespace}/simulate_steps")
        self._clients = {k: self.node.create_client(k, self.name_of(k)) for k in kinds}
        self._is_discovered = False
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()

    def _spin(self) -> None:
        with suppress(ExternalShutdownException):
            self._executor.spin()

    def close(self) -> None:
        self._executor.shutdown()
        self._thread.join(10.0)
        self.node.destroy_node()

    def name_of(self, kind: Any) -> str:
        snake = re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()
        return f"{self.namespace}/{snake}"

    def is_offered(self, kind: Any, within_s: float = 0.0) -> bool:
        """Return whether a service is there, at the latest after some wall time."""
        return self._clients[kind].wait_for_service(timeout_sec=within_s)

    def call(self, kind: Any, **fields: Any) -> Any:
        """Return the response to a request with these fields."""
        return self.wait_for(self.start(kind, **fields), kind.__name__)

    def start(self, kind: Any, **fields: Any) -> Any:
        """Send a request and return its future."""
        self._discover()
        if not self.is_offered(kind, self.limit_s):
            raise Unanswered(f"no service {self.name_of(kind)}")
        return self._clients[kind].call_async(kind.Request(**fields))

    def _discover(self) -> None:
        """Wait until the simulator answers every client."""
        if not self._is_discovered:
            try:
                answer_of(
                    self._clients[LAST],
                    LAST.Request(),
                    lambda: time.sleep(POLL_S),  # the thread spins
                    patience_s=self.limit_s,
                )
            except TimeoutError as error:
                raise Unanswered(str(error)) from None
            self._is_discovered = True

    def wait_for(self, future: Any, what: str) -> Any:
        """Return the result of a future."""
        done = threading.Event()
        future.add_done_callback(lambda _: done.set())
        if not done.wait(self.limit_s):
            raise Unanswered(f"{what}: no answer within {self.limit_s:g} s")
        return future.result()

    def simulate_steps(
        self, steps: int, *, cancel_when: Callable[[Any], bool] | None = None
    ) -> tuple[int, Any, list[Any]]:
        """Return status, result and feedback of a goal; it is cancelled at a feedback."""
        self._discover()
        if not self._steps.wait_for_server(timeout_sec=self.limit_s):
            raise Unanswered(f"no action {self.namespace}/simulate_steps")
        feedback: list[Any] = []
        handles: list[Any] = []

        def receive(message: Any) -> None:
            feedback.append(message.feedback)
            if cancel_when is not None and handles and cancel_when(message.feedback):
                handles[0].cancel_goal_async()

        goal = SimulateSteps.Goal(steps=steps)
        handles.append(self.wait_for(self._steps.send_goal_async(goal, receive), "SimulateSteps"))
        if not handles[0].accepted:
            raise Unanswered("SimulateSteps: the goal was not accepted")
        answer = self.wait_for(handles[0].get_result_async(), "SimulateSteps")
        return answer.status, answer.result.result, feedback

    # -- state ------------------------------------------------------------------------------------

    def features(self) -> list[int]:
        return list(self.call(srv.GetSimulatorFeatures).features.features)

    def state(self) -> int:
        return int(self.call(srv.GetSimulationState).state.state)

    def set_state(self, state: int) -> Any:
        return self.call(srv.SetSimulationState, state=SimulationState(state=state)).result

    def bring_to(self, state: int) -> None:
        """Reach a state, through others if need be."""
        if self.state() == state:
            return
        result = self.set_state(state)
        if result.result != OK and state == SimulationState.STATE_PAUSED:
            self.set_state(SimulationState.STATE_PLAYING)
            result = self.set_state(state)
        assert result.result == OK, f"state {state} cannot be set: {result.error_message}"
        self.wait_for_state(state)

    def wait_for_state(self, state: int) -> None:
        end = time.monotonic() + self.limit_s
        while self.state() != state:
            assert time.monotonic() < end, f"state {state} was not reached"
            time.sleep(0.05)

    def entities(self) -> list[str]:
        return list(self.call(srv.GetEntities).entities)

    def entity_state(self, name: str) -> Any:
        answer = self.call(srv.GetEntityState, entity=name)
        assert answer.result.result == OK, answer.result.error_message
        return answer.state
