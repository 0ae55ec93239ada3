# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The services and the action of simulation_interfaces 2.1, below the simulator's node."""

import importlib.util
from typing import Protocol

from aerotwin_simulation_interfaces.ros.host import SimulatorHost


class InterfaceServer(Protocol):
    """The services on their own threads."""

    def close(self) -> None:
        """End the services; pending requests are answered or dropped."""


def offer_simulation_interfaces(node: SimulatorHost) -> InterfaceServer | None:
    """Offer the services, or say that their types are not installed and return None."""
    if importlib.util.find_spec("simulation_interfaces") is None:
        _say_missing(node)
        return None
    from aerotwin_simulation_interfaces.ros.server import SimulationInterfaces

    return SimulationInterfaces(node)


def _say_missing(node: SimulatorHost) -> None:
    node.get_logger().info(
        "the package simulation_interfaces is not installed: its services are not offered; "
        "install ros-$ROS_DISTRO-simulation-interfaces, or run make setup"
    )
