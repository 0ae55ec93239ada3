# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What the services need of the simulator's node."""

from typing import Any, Protocol

from aerotwin_core.loop_calls import LoopCalls
from aerotwin_core.pacing import Pacer
from aerotwin_simulator.recording import BagSink
from aerotwin_simulator.ros.flight_parameters import FlightNodeParameters
from aerotwin_simulator.ros.sinks import RosSink
from aerotwin_simulator.run_control import RunControl
from aerotwin_simulator.simulation import Simulation


class SimulatorHost(Protocol):
    """The node whose run is steered.

    `simulation` is None without a world, `bag` where nothing is recorded; the report of the flight
    says the `warnings`.
    """

    control: RunControl
    calls: LoopCalls
    pacer: Pacer
    parameters: FlightNodeParameters
    simulation: Simulation | None
    sink: RosSink
    bag: BagSink | None
    warnings: list[str]

    def request_stop(self) -> None:
        """End the flight at the next step."""

    def create_publisher(self, kind: Any, topic: str, qos: Any) -> Any:
        """Return a publisher of the node."""

    def create_service(self, kind: Any, name: str, callback: Any) -> Any:
        """Return a service of the node."""

    def create_timer(self, period_s: float, callback: Any, clock: Any) -> Any:
        """Return a timer of the node."""

    def get_logger(self) -> Any:
        """Return the logger of the node."""

    def get_name(self) -> str:
        """Return the name without namespace."""

    def get_namespace(self) -> str:
        """Return the namespace."""

    def get_fully_qualified_name(self) -> str:
        """Return the name with namespace."""
