# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The vehicles that are commanded: those that were named, or all that are heard."""

import re
import time
from collections.abc import Collection, Sequence

from rclpy.node import Node

from aerotwin_teleop.key_maps import Request
from aerotwin_teleop.motion import AT_REST, SteeredMotion
from aerotwin_teleop.ros.vehicle_link import Notify, VehicleLink
from aerotwin_teleop.status import status_lines

LAST_WAIT_S = 0.5
"""At the end for the last messages to be received, whatever the number of vehicles."""
SUFFIXES = "/cmd_vel", "/autopilot/status"
"""Topics that are a vehicle's: what it listens to, and what it publishes."""


class CommandedVehicles:
    """The leader, which is the first, or all of them. Without `names` those that are heard."""

    def __init__(self, node: Node, names: Sequence[str], is_all: bool, notify: Notify) -> None:
        self._node, self._notify = node, notify
        self._is_all, self._is_fixed = is_all, bool(names)
        self._links: dict[str, VehicleLink] = {}
        self._set([name.strip("/") for name in names])

    def send(self, motion: SteeredMotion) -> None:
        """Publish a motion to the commanded ones."""
        for link in self._commanded():
            link.send(motion)

    def stop(self) -> None:
        """Publish rest to the commanded ones."""
        self.send(AT_REST)

    def wait_until_received(self) -> None:
        """Wait a moment until readers have what was sent: what waits is lost with its publisher."""
        until_s = time.monotonic() + LAST_WAIT_S
        for link in self._links.values():
            link.wait_until_received(max(until_s - time.monotonic(), 0.0))

    def request(self, request: Request) -> None:
        """Request something of the commanded ones."""
        if not self._links:
            self._notify(f"{request.value}: no vehicle is heard")
        for link in self._commanded():
            link.request(request)

    def toggle(self) -> str:
        """Change between leader and all; return which it is."""
        self._is_all = not self._is_all
        return f"all {len(self._links)} vehicles" if self._is_all else "the leader alone"

    def refresh(self) -> None:
        """Look for vehicles, and for services that were not there yet."""
        if not self._is_fixed:
            self._set(in_order_of_coming(list(self._links), heard_vehicles(self._node)))
        for link in self._links.values():
            link.look()
            link.call_waiting()

    def lines(self, motion: SteeredMotion, notice: str) -> list[str]:
        """Return the lines of the status."""
        vehicles = [link.status for link in self._links.values()]
        names = {link.status.name for link in self._commanded()}
        return status_lines(vehicles, names, motion, notice)

    def _commanded(self) -> list[VehicleLink]:
        links = list(self._links.values())
        return links if self._is_all else links[:1]

    def _set(self, names: Sequence[str]) -> None:
        before = self._links
        leader = next(iter(before), None)
        if leader is not None and leader not in names:
            before[leader].send(AT_REST)
            self._notify(f"leader {leader} is gone, it is {next(iter(names), 'nobody')} now")
        self._links = {
            name: before.get(name) or VehicleLink(self._node, name, self._notify) for name in names
        }
        for name in before.keys() - self._links.keys():
            before[name].close()


def in_order_of_coming(before: Sequence[str], heard: Collection[str]) -> list[str]:
    """Return the names that are still heard in their order, then new ones: the leader stays it.

    >>> in_order_of_coming(["uav2"], {"uav10", "uav2", "uav1"})
    ['uav2', 'uav1', 'uav10']
    """
    known = [name for name in before if name in heard]
    return known + sorted(set(heard) - set(before), key=_natural)


def heard_vehicles(node: Node) -> set[str]:
    """Return the namespaces, relative to the node's, where a vehicle listens or publishes."""
    base = node.get_namespace().rstrip("/")
    names = set()
    for topic, _ in node.get_topic_names_and_types():
        for suffix, count in zip(
            SUFFIXES, (node.count_subscribers, node.count_publishers), strict=True
        ):
            if topic.endswith(suffix) and topic.startswith(f"{base}/") and count(topic):
                names.add(topic[len(base) : -len(suffix)].strip("/"))
    return names


def _natural(name: str) -> tuple[list[int | str], ...]:
    """Sort key in which numbers count as such: drone_2 before drone_10."""
    return tuple([int(p), ""] if p.isdigit() else [-1, p] for p in re.split(r"(\d+)", name))
