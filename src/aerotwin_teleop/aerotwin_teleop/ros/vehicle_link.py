# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""One vehicle's topics and services, below its namespace."""

import math
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import TwistStamped
from nav_msgs.msg import Odometry
from rclpy.duration import Duration
from rclpy.node import Node
from sensor_msgs.msg import BatteryState
from std_srvs.srv import SetBool, Trigger

from aerotwin_core.ros.conversions import stamp_from_ns
from aerotwin_core.ros.lockstep import OVERRIDABLE
from aerotwin_core.ros.qos import reliable
from aerotwin_teleop.key_maps import Request
from aerotwin_teleop.motion import AT_REST, SteeredMotion
from aerotwin_teleop.status import VehicleStatus

DEPTH = 10
FRAME = "base_link"
SERVICE_WAIT_S = 2.0
"""For a service to be found."""
ANSWER_WAIT_S = 2.0
"""For the answer of one, before the next is called without it."""
MOVED_WITHIN_S = 1.5
"""Before its status, of which one comes each second: a motion of that time is meant."""
_RATIO = "_ratio"
Notify = Callable[[str], None]


class VehicleLink:
    """Sends motions and requests to a vehicle, and keeps its status; `notify` tells results."""

    def __init__(self, node: Node, name: str, notify: Notify) -> None:
        self.status = VehicleStatus(name)
        self._node, self._notify = node, notify
        self._prefix = f"{name}/" if name else ""
        self._clients: dict[str, Any] = {}
        self._begin_s = time.monotonic()
        self._waiting: list[tuple[Request, float]] = []
        self._free_s = -math.inf  # from when the next can be called
        self._moved_s = -math.inf  # when it was last sent another motion than rest
        self._n_ignored: int | None = None
        self._unheard = True
        self._publisher = node.create_publisher(
            TwistStamped,
            f"{self._prefix}cmd_vel",
            reliable(DEPTH),
            qos_overriding_options=OVERRIDABLE,
        )
        self._subscriptions: list[Any] = []
        self._listen(DiagnosticArray, "autopilot/status", self._on_status)
        self._listen(Odometry, "autopilot/odom", self._on_odometry)
        self._listen(BatteryState, "battery", self._on_battery)

    def send(self, motion: SteeredMotion) -> None:
        """Publish a motion."""
        if motion != AT_REST:
            self._moved_s = time.monotonic()
        message = TwistStamped()
        message.header.stamp = stamp_from_ns(self._node.get_clock().now().nanoseconds)
        message.header.frame_id = FRAME
        linear = message.twist.linear
        linear.x, linear.y, linear.z, message.twist.angular.z = map(float, motion)
        self._publisher.publish(message)

    def wait_until_received(self, most_s: float) -> None:
        """Wait until readers have what was sent, for a time at most."""
        self._publisher.wait_for_all_acked(Duration(seconds=most_s))

    def close(self) -> None:
        """End its topics and services."""
        self._node.destroy_publisher(self._publisher)
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        for client in self._clients.values():
            self._node.destroy_client(client)

    def request(self, request: Request) -> None:
        """Call the service of a request as soon as it is found, after those before."""
        self._client(request)  # begins to look for it
        self._waiting.append((request, time.monotonic() + SERVICE_WAIT_S))
        self.call_waiting()

    def may_take(self, request: Request) -> bool:
        """Return whether there is the service of a request, or it may yet be found."""
        is_early = time.monotonic() - self._begin_s < SERVICE_WAIT_S
        return is_early or bool(self._client(request).service_is_ready())

    def call_waiting(self) -> None:
        """Call services that were found by now; give up those that were not in time.

        Each is called when the one before has been answered: to disarm must not overtake to take
        off, and a server takes what waits for several of its services in any order.
        """
        while self._waiting and time.monotonic() >= self._free_s:
            request, until_s = self._waiting[0]
            client = self._client(request)
            if client.service_is_ready():
                self._call(client, request)
            elif time.monotonic() < until_s:
                return
            else:
                name = self._node.resolve_service_name(client.srv_name)
                self._notify(f"{self._named(request)}: there is no service {name}")
            self._waiting.pop(0)

    def _call(self, client: Any, request: Request) -> None:
        message = client.srv_type.Request()
        if isinstance(message, SetBool.Request):
            message.data = request is Request.ARM
        self._free_s = time.monotonic() + ANSWER_WAIT_S
        future = client.call_async(message)
        future.add_done_callback(lambda done: self._on_reply(request, done.result()))

    def _on_reply(self, request: Request, reply: Any) -> None:
        outcome = "" if reply.success else "refused: "
        self._notify(f"{self._named(request)}: {outcome}{reply.message}")
        self._free_s = -math.inf
        self.call_waiting()

    def _client(self, request: Request) -> Any:
        is_arming = request in (Request.ARM, Request.DISARM)
        name = Request.ARM.value if is_arming else request.value
        if name not in self._clients:
            kind = SetBool if is_arming else Trigger
            self._clients[name] = self._node.create_client(kind, f"{self._prefix}{name}")
        return self._clients[name]

    def _named(self, request: Request) -> str:
        return f"{self.status.name} {request.value}".lstrip()

    def _listen(self, kind: Any, topic: str, on_message: Callable[[Any], None]) -> None:
        self._subscriptions.append(
            self._node.create_subscription(
                kind,
                f"{self._prefix}{topic}",
                on_message,
                reliable(DEPTH),
                qos_overriding_options=OVERRIDABLE,
            )
        )

    def look(self) -> None:
        """Say of a vehicle from which nothing came yet whether it listens."""
        if self._unheard:
            listens = self._publisher.get_subscription_count() > 0
            self.status.phase = "listens, reports nothing yet" if listens else "not heard"

    def _on_status(self, message: DiagnosticArray) -> None:
        self._unheard, self.status.is_heard = False, True
        for status in message.status:
            values = {pair.key: pair.value for pair in status.values}
            self._note_ignored(values.get("setpoints_ignored", ""))
            self.status.phase = status.message
            self.status.mode = values.get("mode", "")
            self.status.is_armed = {"true": True, "false": False}.get(values.get("armed", ""))
            self.status.warning = values.get("last_warning", "")
            self.status.innovation_ratios = _ratios(values)

    def _note_ignored(self, count: str) -> None:
        """Tell why it does not move, if velocities were ignored since the last status."""
        n_ignored = int(count) if count.isdecimal() else 0
        is_moved = time.monotonic() - self._moved_s < MOVED_WITHIN_S
        before, self._n_ignored = self._n_ignored, n_ignored
        if before is not None and n_ignored > before and is_moved:
            name = self.status.name or "the vehicle"
            why = "it lands, or follows another order" if self.status.is_armed else "it is disarmed"
            self._notify(f"{name} ignores velocities: {why}")

    def _on_odometry(self, message: Odometry) -> None:
        self.status.is_heard = True
        linear = message.twist.twist.linear
        self.status.height_m = message.pose.pose.position.z
        self.status.speed_m_s = math.hypot(linear.x, linear.y, linear.z)

    def _on_battery(self, message: BatteryState) -> None:
        self.status.is_heard = True
        self.status.battery_share = message.percentage


def _ratios(values: Mapping[str, str]) -> dict[str, float]:
    """Return the numbers of a status that are innovations over their gates, without the ending."""
    found = {}
    for key, value in values.items():
        if key.endswith(_RATIO):
            with suppress(ValueError):
                found[key.removesuffix(_RATIO)] = float(value)
    return found
