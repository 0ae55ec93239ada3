# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What the simulator is set to, by its parameter service: wind, vehicle number, airframe."""

import math
from typing import Any

from rcl_interfaces.msg import ParameterType
from rcl_interfaces.srv import GetParameters
from rclpy.client import Client
from rclpy.node import Node

from aerotwin_view.scene.wind_arrow import SetWind

_WIND = "wind.east_m_s", "wind.north_m_s", "wind.up_m_s"
_SHEAR, _GUSTS = "wind.roughness_length_m", "wind.turbulence_m_s"
_INSTANCE, _SHIFT, _AIRFRAME = "fleet.instance", "fleet.port_shift", "airframe"
_NAMES = (*_WIND, _SHEAR, _GUSTS, _INSTANCE, _SHIFT, _AIRFRAME)
_FIELDS = {
    ParameterType.PARAMETER_DOUBLE: "double_value",
    ParameterType.PARAMETER_INTEGER: "integer_value",
    ParameterType.PARAMETER_STRING: "string_value",
}


class SimulatorSettings:
    """Asks a simulator once when it is there: what it was set to at its start.

    A node that lacks one of the parameters answers none of them.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._client: Client | None = None
        self._values: dict[str, Any] = {}
        self._is_asked = False

    def set_simulator(self, name: str) -> None:
        """Ask the node of this name from now on; none if it is empty."""
        if self._client is not None:
            self._node.destroy_client(self._client)
        self._client = (
            self._node.create_client(GetParameters, f"{name}/get_parameters") if name else None
        )
        self._values, self._is_asked = {}, False

    def look(self) -> None:
        """Ask a simulator that has come; forget one that has left."""
        client = self._client
        if client is None or not client.service_is_ready():
            self._values, self._is_asked = {}, False
        elif not self._is_asked:
            self._is_asked = True
            future = client.call_async(GetParameters.Request(names=list(_NAMES)))
            future.add_done_callback(lambda done: self._on_answer(client, done.result()))

    @property
    def wind(self) -> SetWind | None:
        """The steady wind, None if it is not known."""
        v_map = tuple(self._number(name) for name in _WIND)
        if not all(map(math.isfinite, v_map)):
            return None
        return SetWind(
            v_map=(v_map[0], v_map[1], v_map[2]),
            has_shear=self._number(_SHEAR) > 0.0,
            turbulence_m_s=self._number(_GUSTS),
        )

    @property
    def instance(self) -> int:
        """Number of the first vehicle, from which its ports follow; 0 if it is not known."""
        found = (self._values.get(name) for name in (_INSTANCE, _SHIFT))
        return sum(number for number in found if isinstance(number, int))

    @property
    def airframe(self) -> str | None:
        """Name or path of the airframe, None if it is not known."""
        found = self._values.get(_AIRFRAME)
        return found if isinstance(found, str) and found else None

    def _on_answer(self, client: Client, answer: GetParameters.Response) -> None:
        if client is not self._client:  # another simulator is asked by now
            return
        self._values = {
            name: getattr(value, _FIELDS[value.type])
            for name, value in zip(_NAMES, answer.values, strict=False)
            if value.type in _FIELDS
        }

    def _number(self, name: str) -> float:
        value = self._values.get(name)
        return float(value) if isinstance(value, float | int) else math.nan
