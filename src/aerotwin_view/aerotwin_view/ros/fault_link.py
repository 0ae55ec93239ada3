# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Connects the panel of faults to the service and topic of a simulator."""

from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.node import Node

from aerotwin_core.foreign_text import printable
from aerotwin_core.ros.qos import LATCHED
from aerotwin_view.panels.fault_panel import BeginFault, EndFault, FaultPanel
from aerotwin_view.panels.injected_faults import SaidFault, entry_text, free_name, heard_faults

_MOST_SHOWN = 300
_ENDED = b"\x00"


class FaultLink:
    """Sends what the panel asks for to `~/set_faults`, and shows what `~/faults` says."""

    def __init__(self, node: Node, panel: FaultPanel, simulator: str) -> None:
        self._node, self._panel = node, panel
        self._client = node.create_client(SetParameters, f"{simulator}/set_faults")
        self._subscription = node.create_subscription(
            DiagnosticArray, f"{simulator}/faults", self._on_faults, LATCHED
        )
        self._asked: set[str] = set()  # names of faults
        self._heard: set[str] = set()

    def step(self, vehicle: str) -> None:
        """Send what was asked for; a new fault is one of a vehicle, weather is for all."""
        while (order := self._panel.take_order()) is not None:
            if not self._client.service_is_ready():
                self._panel.notice.set(f"there is no service {self._client.srv_name}")
            elif isinstance(order, EndFault):
                self._call(Parameter(name=order.name))
            else:
                self._call(self._begin(order, vehicle))

    def close(self) -> None:
        """End the connection; no fault is known then."""
        self._node.destroy_client(self._client)
        self._node.destroy_subscription(self._subscription)
        self._panel.set_faults(())

    def _begin(self, order: BeginFault, vehicle: str) -> Parameter:
        name = free_name(order.kind, self._asked | self._heard)
        self._asked.add(name)
        text = entry_text(order.kind, {**order.values, "vehicle": vehicle})
        value = ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=text)
        return Parameter(name=name, value=value)

    def _call(self, parameter: Parameter) -> None:
        def answered(future: Any) -> None:
            self._panel.notice.set(_outcome(future.result()))

        request = SetParameters.Request(parameters=[parameter])
        self._client.call_async(request).add_done_callback(answered)

    def _on_faults(self, message: DiagnosticArray) -> None:
        faults = heard_faults(_said(status) for status in message.status)
        self._heard = {fault.name for fault in faults}
        self._panel.set_faults(faults)


def _outcome(reply: SetParameters.Response | None) -> str:
    """Return what an answer says; anyone may serve the name, and an answer may not come."""
    if reply is None or len(reply.results) != 1:
        return "the service gave no answer to what was asked"
    result = reply.results[0]
    outcome = "" if result.successful else "refused: "
    return f"{outcome}{printable(result.reason, _MOST_SHOWN)}"


def _said(status: DiagnosticStatus) -> SaidFault:
    return SaidFault(
        name=status.name,
        kind=status.message,
        is_active=status.level != _ENDED,
        values=[(pair.key, pair.value) for pair in status.values],
    )
