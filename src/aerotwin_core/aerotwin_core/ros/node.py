# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Run a node: start, spin, and end cleanly whatever signal comes, once or twice."""

import signal
from collections.abc import Callable

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node

from aerotwin_core.cli import say_fatal
from aerotwin_core.errors import ParameterError, UserError

EXIT_PARAMETER = 78
"""EX_CONFIG of sysexits.h."""
EXIT_FAILURE = 1


def run_node(make_node: Callable[[], Node], arguments: list[str] | None = None) -> int:
    """Initialise rclpy, spin the node until shutdown and return the exit code.

    Under `ros2 launch` a Ctrl-C reaches a node twice (kernel and launcher): SIGINT is ignored
    from the moment the shutdown begins. SIGTERM ends the node like SIGINT.

    Parameters
    ----------
    make_node : callable
        Makes the node; a `ParameterError` in it ends with code 78 and one fatal line.
    """
    rclpy.init(args=arguments)
    node: Node | None = None
    code = 0
    try:
        node = make_node()
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        executor.spin()
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    except SystemError as error:
        # CPython's word for a compiled kernel that came back from an interrupt.
        if not isinstance(error.__cause__, KeyboardInterrupt):
            raise
    except RuntimeError:
        # pybind11's word for an interrupt while a message was taken; rclpy is down by then.
        if rclpy.ok():
            raise
    except UserError as error:
        code = EXIT_PARAMETER if isinstance(error, ParameterError) else EXIT_FAILURE
        say_fatal(error)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()
    return code
