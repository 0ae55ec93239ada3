# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A launch file run as a user runs it, and what was heard of its topics meanwhile."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LAUNCH = Path(__file__).resolve().parents[2] / "launch"
LIMIT_S = 120.0


@dataclass(frozen=True, kw_only=True)
class Heard:
    """What a launch left: serialized messages by topic, its output, and its exit code."""

    messages: Mapping[str, list[bytes]]
    output: str
    returncode: int


def listen_to_launch(
    file: str,
    words: Sequence[str],
    types: Mapping[str, Any],
    *,
    latched: Collection[str] = (),
    is_enough: Callable[[Mapping[str, list[bytes]]], bool] = lambda messages: False,
    command: tuple[str, Any, Any] | None = None,
) -> Heard:
    """Launch a file and listen until it ends, or until it is interrupted as by Ctrl-C.

    Parameters
    ----------
    file : str
        In launch/.
    words : sequence of str
        Its arguments, name:=value.
    types : mapping
        Types of the topics to listen to, by their names.
    latched : collection of str
        Those of them that are transient local.
    is_enough : callable
        Tells from what was heard whether to interrupt.
    command : (topic, type, message), optional
        Published all the while.
    """
    import rclpy
    from rclpy.executors import SingleThreadedExecutor

    from aerotwin_core.ros.qos import LATCHED, reliable

    rclpy.init()
    process = subprocess.Popen(
        [sys.executable, "-m", "aerotwin_core.cli", "launch", str(LAUNCH / file), *words],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        node = rclpy.create_node("launch_listener")
        messages: dict[str, list[bytes]] = {name: [] for name in types}
        for name, kind in types.items():
            qos = LATCHED if name in latched else reliable(200)
            node.create_subscription(kind, name, messages[name].append, qos, raw=True)
        publisher = node.create_publisher(command[1], command[0], reliable(10)) if command else None
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        deadline = time.monotonic() + LIMIT_S
        while process.poll() is None and time.monotonic() < deadline:
            executor.spin_once(timeout_sec=0.05)
            if publisher is not None and command is not None:
                publisher.publish(command[2])
            if is_enough(messages):
                os.killpg(process.pid, signal.SIGINT)
                break
        output = process.communicate(timeout=LIMIT_S)[0]
        executor.shutdown()
        node.destroy_node()
    finally:
        rclpy.try_shutdown()
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return Heard(messages=messages, output=output, returncode=process.returncode)
