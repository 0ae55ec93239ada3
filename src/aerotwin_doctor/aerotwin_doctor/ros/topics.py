# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Listen to /diagnostics of a running simulator, in a separate context."""

from typing import Any

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.executors import SingleThreadedExecutor

from aerotwin_core.network import choose_network
from aerotwin_core.ros.qos import reliable

TOPIC = "/diagnostics"
_DEPTH = 50
_SPINS_PER_CALL = 5


class DiagnosticsWatch:
    """Collects all published statuses: name -> list, in order of arrival."""

    def __init__(self) -> None:
        self.statuses: dict[str, list[Any]] = {}
        choose_network()
        self._context = rclpy.Context()
        self._context.init()
        self._node = rclpy.create_node(  # under its own name, also within another node's process
            "aerotwin_doctor", context=self._context, use_global_arguments=False
        )
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._node.create_subscription(
            DiagnosticArray, TOPIC, self._on_diagnostics, reliable(_DEPTH)
        )

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            self.statuses.setdefault(status.name, []).append(status)

    def spin(self) -> None:
        """Process received messages, without waiting."""
        for _ in range(_SPINS_PER_CALL):
            self._executor.spin_once(timeout_sec=0.0)

    def close(self) -> None:
        """Leave the graph."""
        self._executor.shutdown()
        self._node.destroy_node()
        self._context.try_shutdown()

    def __enter__(self) -> "DiagnosticsWatch":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
