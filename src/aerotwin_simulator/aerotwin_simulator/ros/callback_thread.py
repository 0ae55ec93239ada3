# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The callbacks of a node on a thread of their own, beside a loop that must not wait for them.

rclpy's executor builds a wait set from every entity of the node at each call: some hundred
microseconds for one vehicle, milliseconds for ten, where a step of the loop takes forty. A loop
that polls it does little else. On its own thread the executor sleeps in the middleware, without
Python's lock, until a request or a message arrives; its callbacks touch no state of the loop, but
pass on the input as `LoopCalls`.
"""

import threading
from concurrent.futures import CancelledError
from contextlib import suppress

from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node

from aerotwin_simulator.loop_calls import LoopCalls

_JOIN_S = 5.0


class CallbackThread:
    """Spins a node until it is closed; `calls` is closed together with the thread."""

    def __init__(self, node: Node, calls: LoopCalls) -> None:
        self._calls = calls
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(node)
        self._thread = threading.Thread(target=self._spin, name="ros callbacks", daemon=True)
        self._thread.start()

    def _spin(self) -> None:
        with suppress(CancelledError, ExternalShutdownException):
            self._executor.spin()

    def close(self) -> None:
        """End the thread; pending calls are cancelled."""
        self._calls.close()
        self._executor.shutdown()
        self._thread.join(_JOIN_S)
