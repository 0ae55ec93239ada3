# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What a launch file shows of itself: endpoints of its nodes, and the headers of their messages."""

import os
import signal
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

from support.services import answer_of

LAUNCH = Path(__file__).resolve().parents[2] / "launch"
LIMIT_S = 180.0  # of a loaded machine; no test waits for it to pass
LOOK_PERIOD_S = 0.3
ENDING_S = 120.0
UNKNOWN = "_NODE_NAME_UNKNOWN_"
MIDDLEWARE = ("/rosout", "/parameter_events")


class GraphObserver:
    """A node that subscribes to everything the others publish.

    `published` has (type, QoS in the words of the documentation) by (topic, node), `subscribed` the
    type; `stamps_s` has the stamps of each source of a topic (a status name, an edge of tf), and
    `frames` what headers named.
    """

    def __init__(self, log: Path) -> None:
        import rclpy
        from rclpy.executors import SingleThreadedExecutor

        self.node = rclpy.create_node("graph_observer")
        self.log = log
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self.node)
        self.published: dict[tuple[str, str], tuple[str, str]] = {}
        self.subscribed: dict[tuple[str, str], str] = {}
        self.stamps_s: dict[str, dict[Any, list[float]]] = defaultdict(lambda: defaultdict(list))
        self.frames: dict[str, set[tuple[str, ...]]] = defaultdict(set)
        self._subscriptions: dict[str, Any] = {}

    def run(self, process: subprocess.Popen, is_enough: Callable[[], bool]) -> None:
        """Look and listen until it is enough; fail if the launch ends before, or never suffices."""
        end, due = time.monotonic() + LIMIT_S, 0.0
        while True:
            self._executor.spin_once(timeout_sec=0.05)
            if time.monotonic() < due:
                continue
            self._look()
            if is_enough():
                return
            assert process.poll() is None, self.log.read_text()
            if time.monotonic() > end:
                return  # the comparison says what is missing
            due = time.monotonic() + LOOK_PERIOD_S

    def _look(self) -> None:
        from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

        from aerotwin_core.ros.message_classes import message_class

        for name, types in self.node.get_topic_names_and_types():
            if name in MIDDLEWARE or "/_" in name:  # those of actions are hidden
                continue
            for info in self.node.get_subscriptions_info_by_topic(name):
                if info.node_name not in (UNKNOWN, self.node.get_name()):
                    self.subscribed[name, info.node_name] = info.topic_type
            is_latched = False
            for info in self.node.get_publishers_info_by_topic(name):
                if info.node_name == UNKNOWN:
                    continue  # its name comes later than the endpoint
                is_latched = info.qos_profile.durability is DurabilityPolicy.TRANSIENT_LOCAL
                is_reliable = info.qos_profile.reliability is ReliabilityPolicy.RELIABLE
                qos = "reliable" if is_reliable else "best effort"
                qos += ", latched" if is_latched else ""
                self.published[name, info.node_name] = info.topic_type, qos
            if name not in self._subscriptions and any(t == name for t, _ in self.published):
                durability = "TRANSIENT_LOCAL" if is_latched else "VOLATILE"
                self._subscriptions[name] = self.node.create_subscription(
                    message_class(types[0]),
                    name,
                    lambda message, name=name: self._on_message(name, message),
                    QoSProfile(depth=100, durability=DurabilityPolicy[durability]),
                )

    def _on_message(self, name: str, message: Any) -> None:
        source: Any = ""
        if hasattr(message, "transforms"):
            edges = [(e.header.frame_id, e.child_frame_id) for e in message.transforms]
            self.frames[name].update(edges)
            source, stamp = edges[0], message.transforms[0].header.stamp
        elif hasattr(message, "clock"):
            stamp = message.clock
        elif hasattr(message, "header"):
            stamp = message.header.stamp
            child = getattr(message, "child_frame_id", "")
            self.frames[name].add((message.header.frame_id, child)[: 2 if child else 1])
            if hasattr(message, "status") and isinstance(message.status, list):
                source = message.status[0].name
        else:
            return
        self.stamps_s[name][source].append(stamp.sec + stamp.nanosec * 1e-9)

    def rates_hz(self, name: str) -> list[float]:
        """Return the rate of each source of a topic, in the time of its stamps.

        It is the mean of the intervals but for those with a message that a loaded machine lost.
        """
        found = []
        for stamps in self.stamps_s[name].values():
            steps = [later - earlier for earlier, later in pairwise(stamps)]
            if steps:
                longest_s = 1.5 * statistics.median(steps)
                found.append(1.0 / statistics.fmean(s for s in steps if s < longest_s))
        return found

    def parameters_of(self, node: str) -> set[str]:
        """Return the parameters of a node, without those that every node has."""
        from rcl_interfaces.srv import ListParameters

        client = self.node.create_client(ListParameters, f"/{node}/list_parameters")
        answer = answer_of(
            client,
            ListParameters.Request(),
            lambda: self._executor.spin_once(timeout_sec=0.05),
            patience_s=LIMIT_S,
        )
        common = ("qos_overrides.", "use_sim_time", "start_type_description_service")
        return {n for n in answer.result.names if not n.startswith(common)}

    def close(self) -> None:
        """End the node."""
        self._executor.shutdown()
        self.node.destroy_node()


@contextmanager
def launched(
    file: str, words: Sequence[str], folder: Path
) -> Iterator[tuple[subprocess.Popen, Path]]:
    """Launch a file with arguments (name:=value) until the context ends; with its log."""
    import rclpy

    log = folder / "launch.log"
    rclpy.init()
    try:
        with log.open("w") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "aerotwin_core.cli", "launch", str(LAUNCH / file), *words],
                stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        try:
            yield process, log
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGINT)
            try:
                process.wait(ENDING_S)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    finally:
        rclpy.try_shutdown()


@contextmanager
def observed_launch(
    file: str, words: Sequence[str], folder: Path
) -> Iterator[tuple[GraphObserver, subprocess.Popen]]:
    """Launch a file as `launched` does, watched."""
    with launched(file, words, folder) as (process, log):
        observer = GraphObserver(log)
        try:
            yield observer, process
        finally:
            observer.close()
