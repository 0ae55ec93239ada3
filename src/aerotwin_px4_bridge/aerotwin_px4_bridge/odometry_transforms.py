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
MOST_REMEMBERED = 20_000
"""1000 s at 20 Hz."""


class OdometryTransforms:
    """Serialises the estimate of one autopilot as transforms.

    `odom` is the frame of the autopilot's own positions: it has the axes of map, and its origin
    moves when the client anchors the estimate. `prefix` precedes odom and base_link ("uav1/").
    The last `most_remembered` own messages are recognised when they are received.

    A frame has one parent: an edge whose child another node publishes is published here no more,
    and map -> odom belongs to this odom -> base_link only.
    """

    def __init__(self, prefix: str = "", most_remembered: int = MOST_REMEMBERED) -> None:
        self._most_remembered = most_remembered
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
        if estimate is None or estimate.q_map_body is None:
            return None
        p_odom_base = (estimate.p_map - estimate.p_map_odom).tolist()
        poses = estimate.p_map_odom.tolist(), p_odom_base, estimate.q_map_body.tolist()
        return self.pack_poses(estimate.stamp_ns, *poses)

    def pack_poses(
        self,
        stamp_ns: int,
        p_map_odom: Sequence[float],
        p_odom_base: Sequence[float],
        q_odom_base: Sequence[float],
    ) -> bytes | None:
        """Return tf2_msgs/TFMessage of positions (3,) [m] and attitude xyzw, None as `pack`."""
        if stamp_ns <= self._last_ns or self._is_reserved or not self._children:
            return None
        self._last_ns = stamp_ns
        positions = {self._odom: tuple(p_map_odom), self._base: tuple(p_odom_base)}
        self._sent[stamp_ns] = positions
        if len(self._sent) > self._most_remembered:
            del self._sent[next(iter(self._sent))]
        values = [value for child in self._children for value in positions[child]]
        return self._layout(self._children).pack(stamp_ns, [*values, *q_odom_base])

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
