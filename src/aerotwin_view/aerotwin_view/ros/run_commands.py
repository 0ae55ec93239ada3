# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Pauses, steps, resets and paces a simulator, by its services."""

from collections.abc import Callable
from typing import Any

from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import GetParameters, SetParameters
from rclpy.node import Node
from rclpy.task import Future
from std_srvs.srv import SetBool, Trigger

from aerotwin_core.foreign_text import printable
from aerotwin_view.panels.steering_panel import RunOrder, SpeedOrder

_SPEED = "speed"
_MOST_SHOWN = 300


class RunCommands:
    """Calls the services of one simulator, whose answers are given to `notify`."""

    def __init__(self, node: Node, simulator: str, notify: Callable[[str], None]) -> None:
        self._node, self._notify = node, notify
        self._pause = node.create_client(SetBool, f"{simulator}/pause")
        self._triggers = {
            order: node.create_client(Trigger, f"{simulator}/{order.value}")
            for order in (RunOrder.STEP, RunOrder.RESET)
        }
        self._set = node.create_client(SetParameters, f"{simulator}/set_parameters")
        self._get = node.create_client(GetParameters, f"{simulator}/get_parameters")
        self._asked: Future | None = None
        self.speed: float | None = None
        """Which is asked of it, times real time, 0 for as fast as possible; None if not known."""

    def order(self, order: RunOrder) -> None:
        """Ask for a pause, a step, a reset."""
        is_pausing = order in (RunOrder.PAUSE, RunOrder.RUN)
        if is_pausing:
            request = SetBool.Request(data=order is RunOrder.PAUSE)
            self._call(self._pause, order.value, request, _of_trigger)
        else:
            self._call(self._triggers[order], order.value, Trigger.Request(), _of_trigger)

    def pace(self, order: SpeedOrder) -> None:
        """Ask for a speed."""
        value = ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=order.value)
        request = SetParameters.Request(parameters=[Parameter(name=_SPEED, value=value)])
        self._call(self._set, f"speed {order.text}", request, _of_parameter)
        self.look()

    def look(self) -> None:
        """Ask which speed is set, unless an answer is awaited."""
        is_awaited = self._asked is not None and not self._asked.done()
        if self._get.service_is_ready() and not is_awaited:
            self._asked = self._get.call_async(GetParameters.Request(names=[_SPEED]))
            self._asked.add_done_callback(self._on_speed)

    def close(self) -> None:
        """End the connection."""
        for client in (self._pause, *self._triggers.values(), self._set, self._get):
            self._node.destroy_client(client)

    def _on_speed(self, future: Any) -> None:
        values = future.result().values
        is_number = len(values) == 1 and values[0].type == ParameterType.PARAMETER_DOUBLE
        self.speed = values[0].double_value if is_number else None

    def _call(
        self, client: Any, what: str, request: Any, outcome: Callable[[Any], tuple[bool, str]]
    ) -> None:
        if not client.service_is_ready():
            self._notify(f"{what}: there is no service {client.srv_name}")
            return

        def answered(future: Any) -> None:
            is_done, text = outcome(future.result())
            refused = "" if is_done else "refused: "
            self._notify(f"{what}: {refused}{printable(text, _MOST_SHOWN)}")

        client.call_async(request).add_done_callback(answered)


def _of_trigger(reply: Any) -> tuple[bool, str]:
    return reply.success, reply.message


def _of_parameter(reply: Any) -> tuple[bool, str]:
    if len(reply.results) != 1:
        return False, f"it answered {len(reply.results)} results"
    (result,) = reply.results
    return result.successful, "set" if result.successful else result.reason
