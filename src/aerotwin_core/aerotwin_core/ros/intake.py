# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Topics received from whoever publishes them: a QoS that fits, and in words what came.

A subscription asks for reliable delivery, as nothing is to be lost between nodes of one machine.
Most drivers offer less (sensor data, best effort), and DDS connects them to no such subscription.
So an intake looks at what the publishers offer and asks for the most that all of them give. The
parameters `qos_overrides` of the node, where given, are obeyed and not adapted.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import serialize_message
from rclpy.subscription import Subscription
from rclpy.timer import Timer
from rclpy.topic_endpoint_info import TopicEndpointInfo

from aerotwin_core.foreign_text import printable
from aerotwin_core.ros.lockstep import OVERRIDABLE, create_wall_timer

LOOK_PERIOD_S, LOOK_SHARE = 0.5, 0.02
"""Between two looks at the publishers, in wall time, until the first message; and the most of it
that looking may take: a fleet of a hundred has 500 intakes."""
WARNING_S = 4.0
"""Without a message for so long after the start, the reason is logged."""
_N_SUGGESTIONS = 5
_LONGEST_REASON = 300


@dataclass(frozen=True, kw_only=True)
class TopicSource:
    """One topic and type from which an intake can be fed; `suffix` follows a remapped name, too.

    `convert` makes the message that the intake passes on, or None where there is none in it; it
    raises `ValueError` for what cannot be used.
    """

    topic: str
    suffix: str = ""
    kind: type
    convert: Callable[[Any], Any] | None = None

    @property
    def type_name(self) -> str:
        """Name of the message type, such as `sensor_msgs/msg/Image`."""
        package, name = self.kind.__module__.partition(".")[0], self.kind.__name__
        return f"{package}/msg/{name}"

    def resolved(self, node: Node) -> str:
        """Return the full name of the topic, after remapping."""
        return str(node.resolve_topic_name(self.topic)) + self.suffix


class Intake:
    """Subscribes to the first source that is published, with a QoS that its publishers meet.

    `callback` receives the (converted) messages. What `convert` or `callback` refuses with
    `ValueError` is logged and dropped: no message ends a node. `n_messages` counts what came.
    `is_latched` asks for what was published before, `prefers_best_effort` for no repetition of lost
    messages, `is_optional` for no warning when nothing is published. With `is_raw` messages are
    passed on as their CDR bytes. With `from_others` nothing is received until another node than
    this publishes. `on_lesser_offer` is called when a publisher offers less than is asked for,
    `on_lost` with the number of lost messages so far, `on_left` when the last publisher of one of
    several sources has left.
    """

    def __init__(
        self,
        node: Node,
        sources: Sequence[TopicSource],
        callback: Callable[[Any], None],
        *,
        on_lesser_offer: Callable[[], None],
        on_left: Callable[["Intake"], None],
        depth: int,
        is_latched: bool = False,
        prefers_best_effort: bool = False,
        is_optional: bool = False,
        is_raw: bool = False,
        from_others: bool = False,
        on_lost: Callable[[int], None] | None = None,
    ) -> None:
        self._node, self._sources, self._callback = node, tuple(sources), callback
        self._on_lesser_offer, self._on_left, self._on_lost = on_lesser_offer, on_left, on_lost
        self._is_latched, self._is_optional = is_latched, is_optional
        self._depth, self._is_raw, self._from_others = depth, is_raw, from_others
        self._reliability = (
            ReliabilityPolicy.BEST_EFFORT if prefers_best_effort else ReliabilityPolicy.RELIABLE
        )
        self.n_messages = 0
        self._is_fixed = self._has_overrides()
        self._source = self._sources[0]
        self._qos = self._asked((), prefers_best_effort)
        self._subscription: Subscription | None = None if from_others else self._subscribe()

    @property
    def subscription(self) -> Subscription | None:
        """The present subscription; another one after an adaptation, None during one."""
        return self._subscription

    @property
    def name(self) -> str:
        """Full name of the preferred topic."""
        return self._sources[0].resolved(self._node)

    def look(self) -> None:
        """Subscribe anew if another source or another QoS fits the present publishers."""
        for source in self._sources:
            offers = self._offers(source)
            if offers:
                break
        else:
            return
        qos = self._asked(offers, self._reliability is ReliabilityPolicy.BEST_EFFORT)
        is_right = source is self._source and (self._is_fixed or _is_same(qos, self._qos))
        if is_right and self._subscription is not None:
            return
        is_retyped = source is not self._source and source.resolved(
            self._node
        ) == self._source.resolved(self._node)
        self._source, self._qos = source, qos
        if self._subscription is not None:
            self._node.destroy_subscription(self._subscription)
            self._subscription = None
            if is_retyped:  # the executor holds the old one, and DDS one type to a topic
                return
        self._subscription = self._subscribe()

    def is_missed(self) -> bool:
        """Return whether a message was to be expected by now.

        Of an optional one it is not: whoever publishes it may be silent, unless none of its
        messages could come, as they are of another type.
        """
        if not self._is_optional:
            return True
        others = filter(self._is_other, self._node.get_publishers_info_by_topic(self.name))
        return any(others) and not any(map(self._offers, self._sources))

    def _is_other(self, info: TopicEndpointInfo) -> bool:
        own = self._node.get_name(), self._node.get_namespace()
        return (info.node_name, info.node_namespace) != own

    def summary(self) -> str:
        """Return in words who publishes and what came, or why nothing can come."""
        offers = self._offers(self._source)
        if offers:
            names = ", ".join(sorted(map(_words, offers)))
            topic = self._source.resolved(self._node)
            of = "" if topic == self.name else f" on {topic}"
            came = "receiving" if self.n_messages else "no message"
            return f"{self.name}: {came}{of} from {names}"
        expected = " or ".join(dict.fromkeys(source.type_name for source in self._sources))
        others = {i.topic_type for i in self._node.get_publishers_info_by_topic(self.name)}
        if others:
            return f"{self.name}: published as {', '.join(sorted(others))}, expected {expected}"
        return f"{self.name}: nothing publishes {expected} there{self._suggestion()}"

    def _suggestion(self) -> str:
        """Return the topics of an expected type that are published, and how to remap one."""
        kinds = {source.type_name for source in self._sources}
        found = [
            name
            for name, types in self._node.get_topic_names_and_types()
            if kinds & {*types} and self._node.get_publishers_info_by_topic(name)
        ]
        if not found:
            return ""
        names = ", ".join(sorted(found)[:_N_SUGGESTIONS])
        return f"; {names} would fit: remap by -r {self._sources[0].topic}:={sorted(found)[0]}"

    def _offers(self, source: TopicSource) -> list[TopicEndpointInfo]:
        name = source.resolved(self._node)
        if not self._node.count_publishers(name):  # ten times as fast as what follows
            return []
        offers = self._node.get_publishers_info_by_topic(name)
        offers = [info for info in offers if info.topic_type == source.type_name]
        return [*filter(self._is_other, offers)] if self._from_others else offers

    def _asked(self, offers: Sequence[TopicEndpointInfo], is_best_effort: bool) -> QoSProfile:
        """Return the most that all publishers offer, of what the intake asks for."""
        reliable, latched = ReliabilityPolicy.RELIABLE, DurabilityPolicy.TRANSIENT_LOCAL
        is_reliable = not is_best_effort and all(
            info.qos_profile.reliability is reliable for info in offers
        )
        is_latched = self._is_latched and all(
            info.qos_profile.durability is latched for info in offers
        )
        return QoSProfile(
            depth=self._depth,
            reliability=reliable if is_reliable else ReliabilityPolicy.BEST_EFFORT,
            durability=latched if is_latched else DurabilityPolicy.VOLATILE,
        )

    def _has_overrides(self) -> bool:
        name = f"qos_overrides.{self.name}.subscription"
        return bool(self._node.get_parameters_by_prefix(name))

    def _subscribe(self) -> Subscription:
        lost = self._on_lost
        # Another publisher may come that offers less.
        events = SubscriptionEventCallbacks(
            incompatible_qos=lambda _: self._on_lesser_offer(),
            message_lost=lost and (lambda info: lost(info.total_count)),
            matched=self._on_matched if len(self._sources) > 1 else None,
            use_default_callbacks=False,
        )
        return self._node.create_subscription(
            self._source.kind,
            self._source.resolved(self._node),
            self._receive,
            self._qos,
            event_callbacks=events,
            raw=self._is_raw and self._source.convert is None,
            **({"qos_overriding_options": OVERRIDABLE} if self._is_fixed else {}),
        )

    def _on_matched(self, info: Any) -> None:
        """Look for the other sources once the publishers of this one have left."""
        if info.current_count == 0:
            self._on_left(self)

    def _receive(self, message: Any) -> None:
        try:
            if self._source.convert is not None:
                message = self._source.convert(message)
                if message is None:
                    return
                if self._is_raw:
                    message = serialize_message(message)
            self.n_messages += 1
            self._callback(message)
        except ValueError as error:
            self._node.get_logger().warning(
                f"{self._source.topic} dropped: {printable(str(error), _LONGEST_REASON)}",
                throttle_duration_sec=5.0,
            )


class Intakes:
    """The intakes of a node: adapts them until they receive, and logs what they meet."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._all: list[Intake] = []
        self._unreported: dict[Intake, int] = {}  # and how many messages came before
        self._start_s = time.monotonic()
        self._next_look_s = 0.0
        self._has_warned = self._has_warned_of_clock = False
        self._since_clock_s = self._start_s
        self._timer: Timer | None = None

    def add(
        self,
        sources: TopicSource | Sequence[TopicSource],
        callback: Callable[[Any], None],
        *,
        depth: int,
        **options: Any,
    ) -> Intake:
        """Return a new intake; the options are those of `Intake`."""
        sources = (sources,) if isinstance(sources, TopicSource) else sources
        intake = Intake(
            self._node,
            sources,
            callback,
            on_lesser_offer=self.look_again,
            on_left=self._wait_for,
            depth=depth,
            **options,
        )
        self._all.append(intake)
        self._wait_for(intake)
        return intake

    def _wait_for(self, intake: Intake) -> None:
        """Look at the publishers until a message comes."""
        self._unreported[intake] = intake.n_messages
        self.look_again()

    def look_again(self) -> None:
        """Look at the publishers soon: there is a new one, or a new intake."""
        if self._timer is None:
            self._timer = create_wall_timer(self._node, LOOK_PERIOD_S, self._look)
        elif self._timer.is_canceled():
            self._timer.reset()

    def _look(self) -> None:
        begin_s = time.monotonic()
        if begin_s < self._next_look_s:
            return
        for intake in [*self._all]:  # others may be added meanwhile
            intake.look()
        self._next_look_s = begin_s + (time.monotonic() - begin_s) / LOOK_SHARE
        log = self._node.get_logger()
        for intake in [each for each, n in [*self._unreported.items()] if each.n_messages > n]:
            del self._unreported[intake]
            log.info(intake.summary())
        if _is_before_clock(self._node):  # nothing is sent before time begins
            if not self._has_warned_of_clock and time.monotonic() - self._start_s > WARNING_S:
                self._has_warned_of_clock = True
                if not self._node.count_publishers("/clock"):
                    log.warning(
                        f"after {WARNING_S:g} s, use_sim_time is true and nothing publishes /clock"
                    )
            self._since_clock_s = time.monotonic()
        if not self._has_warned and time.monotonic() - self._since_clock_s > WARNING_S:
            self._has_warned = True
            for intake in [*self._unreported]:
                if intake.is_missed():
                    log.warning(f"after {WARNING_S:g} s, {intake.summary()}")
        if not self._unreported and self._timer is not None:
            self._timer.cancel()


def _is_before_clock(node: Node) -> bool:
    """Return whether a node lives in simulated time, which has not begun."""
    clock = node.get_clock()
    return bool(clock.ros_time_is_active) and clock.now().nanoseconds == 0


def _is_same(qos: QoSProfile, other: QoSProfile) -> bool:
    return qos.reliability is other.reliability and qos.durability is other.durability


def _words(info: TopicEndpointInfo) -> str:
    qos = info.qos_profile
    words = "reliable" if qos.reliability is ReliabilityPolicy.RELIABLE else "best effort"
    namespace = info.node_namespace.rstrip("/")
    return f"{namespace}/{info.node_name} ({words})"
