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
from aerotwin_faults import KINDS
from aerotwin_faults.fault import AIR
from aerotwin_view.fault_panel import FaultOrder, FaultPanel
from aerotwin_view.injected_faults import HeardFault, entry_text, free_name

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
        self._taken: set[str] = set()

    def step(self, vehicle: str) -> None:
        """Send what was asked for; a new fault is one of a vehicle, weather is for all."""
        while (order := self._panel.take_order()) is not None:
            if not self._client.service_is_ready():
                self._panel.notice.set(f"there is no service {self._client.srv_name}")
            elif order.ends:
                self._call(Parameter(name=order.ends))
            else:
                self._call(self._begin(order, vehicle))

    def close(self) -> None:
        """End the connection; no fault is known then."""
        self._node.destroy_client(self._client)
        self._node.destroy_subscription(self._subscription)
        self._panel.set_faults(())

    def _begin(self, order: FaultOrder, vehicle: str) -> Parameter:
        name = free_name(order.kind, self._taken)
        self._taken.add(name)
        on = "" if KINDS[order.kind].place == AIR else vehicle
        text = entry_text(order.kind, {**order.values, "vehicle": on})
        value = ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=text)
        return Parameter(name=name, value=value)

    def _call(self, parameter: Parameter) -> None:
        def answered(future: Any) -> None:
            (result,) = future.result().results
            outcome = "" if result.successful else "refused: "
            self._panel.notice.set(f"{outcome}{printable(result.reason, _MOST_SHOWN)}")

        request = SetParameters.Request(parameters=[parameter])
        self._client.call_async(request).add_done_callback(answered)

    def _on_faults(self, message: DiagnosticArray) -> None:
        faults = [_heard(status) for status in message.status if status.message in KINDS]
        self._taken |= {fault.name for fault in faults}
        self._panel.set_faults(faults)


def _heard(status: DiagnosticStatus) -> HeardFault:
    return HeardFault(
        name=printable(status.name, _MOST_SHOWN),
        kind=status.message,
        is_active=status.level != _ENDED,
        values={pair.key: pair.value for pair in status.values},
    )
