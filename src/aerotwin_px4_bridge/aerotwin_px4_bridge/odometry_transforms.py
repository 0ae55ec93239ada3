# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""map -> odom -> base_link of an autopilot's estimate, unless another node publishes them."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from aerotwin_core import messages
from aerotwin_core.fixed_layout import FixedLayout
from aerotwin_px4_bridge.autopilot_state import AutopilotEstimate

ANSWERS_WITHOUT_TRANSFORM = 20
"""Poses of a SLAM after which it is known to publish no transforms."""
_SENT_KEPT = 20_000
"""Own messages that are recognised when they are received: 1000 s at 20 Hz."""


class OdometryTransforms:
    """Serialises the estimate of one autopilot as transforms.

    `odom` is the frame of the autopilot's own positions: it has the axes of map, and its origin
    moves when the client anchors the estimate. `prefix` precedes odom and base_link ("uav1/").

    A frame has one parent: an edge whose child another node publishes is published here no more,
    and map -> odom belongs to this odom -> base_link only.
    """

    def __init__(self, prefix: str = "") -> None:
        self._is_reserved = False
        self._odom, self._base = f"{prefix}odom", f"{prefix}base_link"
        self._children: tuple[str, ...] = (self._odom, self._base)
        self._n_answers = 0
        self._last_ns = -1
        self._sent: dict[int, dict[str, tuple[float, ...]]] = {}
        self._layout = cache(self._make_layout)

    def pack(self, estimate: AutopilotEstimate | None) -> bytes | None:
        """Return tf2_msgs/TFMessage of an estimate; None if it is not new or not to be published.

        Its stamp is that of the estimate.
        """
        if estimate is None or estimate.q_map_body is None or estimate.stamp_ns <= self._last_ns:
            return None
        if self._is_reserved or not self._children:
            return None
        self._last_ns = estimate.stamp_ns
        positions = {
            self._odom: tuple(estimate.p_map_odom.tolist()),
            self._base: tuple((estimate.p_map - estimate.p_map_odom).tolist()),
        }
        self._sent[estimate.stamp_ns] = positions
        if len(self._sent) > _SENT_KEPT:
            del self._sent[next(iter(self._sent))]
        values = [value for child in self._children for value in positions[child]]
        values += estimate.q_map_body.tolist()
        return self._layout(self._children).pack(estimate.stamp_ns, values)

    def reserve(self) -> None:
        """Publish nothing while a SLAM is expected to."""
        self._is_reserved = True

    def on_pose_of_slam(self) -> None:
        """Count a pose of the SLAM; after some without a transform it publishes none."""
        self._n_answers += 1
        if self._n_answers >= ANSWERS_WITHOUT_TRANSFORM:
            self._is_reserved = False

    def on_transforms(self, message: Any) -> tuple[bool, str]:
        """Leave the edges of a received TFMessage to its publisher.

        Returns whether the message is another node's, and a warning, "" for none.
        """
        others = [edge for edge in message.transforms if not self._is_own(edge)]
        taken = {edge.child_frame_id: edge.header.frame_id for edge in others}
        left = [child for child in self._children if child in taken]
        if not left:
            return bool(others), ""
        was_published = bool(self._sent)
        self._children = () if self._base in left else (self._base,)
        edges = " and ".join(f"{taken[child]} -> {child}" for child in left)
        text = f"another node publishes {edges}: the autopilot's estimate is no longer on /tf there"
        return True, text if was_published else ""

    def _is_own(self, edge: Any) -> bool:
        p, sent = edge.transform.translation, self._sent.get(messages.stamp_ns(edge), {})
        return sent.get(edge.child_frame_id) == (p.x, p.y, p.z)

    def _make_layout(self, children: tuple[str, ...]) -> FixedLayout:
        def build(stamp_ns: int, v: Sequence[float]) -> object:
            *p_map_odom, x, y, z, qx, qy, qz, qw = v
            edge = messages.transform_stamped
            base = edge(stamp_ns, self._odom, self._base, (x, y, z), (qx, qy, qz, qw))
            if not p_map_odom:
                return messages.transform_message([base])
            odom = edge(stamp_ns, "map", self._odom, p_map_odom, (0.0, 0.0, 0.0, 1.0))
            return messages.transform_message([odom, base])

        return FixedLayout(build, 3 * (self._odom in children) + 7)
