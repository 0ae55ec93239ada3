# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Run a node: start, spin, and end cleanly whatever signal comes, once or twice."""

from collections.abc import Callable
from typing import Any

import rclpy
from rclpy.clock import Clock, ClockType
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from aerotwin_core.check_only import is_check_only
from aerotwin_core.cli import say_fatal
from aerotwin_core.errors import EXIT_PARAMETER, ParameterError, UserError, exit_code_of
from aerotwin_core.network import choose_network
from aerotwin_core.stop_request import StopRequest

LOOK_S = 0.1
"""Between two looks at whether the node is to end, while nothing happens."""


def init_rclpy(**options: Any) -> None:
    """Initialise rclpy on the chosen network; the options are those of `rclpy.init`.

    If the environment names no valid network, the process ends with one fatal line and code 78.
    """
    try:
        choose_network()
    except ParameterError as error:
        say_fatal(error)
        raise SystemExit(EXIT_PARAMETER) from None
    rclpy.init(**options)


def run_node(
    make_node: Callable[[], Node],
    arguments: list[str] | None = None,
    *,
    check: Callable[[], None] | None = None,
) -> int:
    """Initialise rclpy, spin the node until shutdown and return the exit code.

    SIGINT and SIGTERM are handled between two callbacks: neither a callback nor the node's
    `destroy_node`, which may save the node's results, is cut short, and the context stays valid
    for both. Until the node is made a signal ends the process at once (exit code 130), and so does
    a second Ctrl-C later on. A `ParameterError` in `make_node` ends it with code 78 and one fatal
    line. Where `CHECK_ONLY` is in the environment, `check` is called instead, and nothing spins.
    """
    stop = StopRequest(ends_at_once=True)
    node: Node | None = None
    code = 0
    try:
        init_rclpy(args=arguments, signal_handler_options=SignalHandlerOptions.NO)
        if check is not None and is_check_only():
            check()
            return 0
        node = make_node()
        stop.wait_for_end()
        # It only wakes the executor, which would otherwise wait for messages forever.
        node.create_timer(LOOK_S, lambda: None, clock=Clock(clock_type=ClockType.STEADY_TIME))
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        while rclpy.ok() and not stop.is_requested:
            executor.spin_once()
    except ExternalShutdownException:
        pass
    except UserError as error:
        code = exit_code_of(error)
        say_fatal(error)
    finally:
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()
    return code
