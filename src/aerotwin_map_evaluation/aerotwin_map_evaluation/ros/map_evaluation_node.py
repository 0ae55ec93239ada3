# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Node `map_evaluation`: measures `slam/map` against `/map/voxel_cloud`, on `/diagnostics`."""

import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions
from sensor_msgs.msg import PointCloud2

from aerotwin_core.errors import UserError
from aerotwin_core.parameters import parameter
from aerotwin_core.point_clouds import finite_points
from aerotwin_core.ros.lockstep import OVERRIDABLE
from aerotwin_core.ros.node import run_node
from aerotwin_core.ros.parameters import ConfiguredNode, declare_parameters
from aerotwin_core.ros.qos import LATCHED, reliable
from aerotwin_map_evaluation.evaluation import evaluate_map
from aerotwin_map_evaluation.inputs import reference_of
from aerotwin_map_evaluation.protocol import MapProtocol
from aerotwin_map_evaluation.reference import MapReference
from aerotwin_map_evaluation.tables import spacing_warnings
from aerotwin_voxel_cloud import load_map

# Matches every publisher, also best effort and volatile ones.
_ANY = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
_LATCHED_ID = "latched"
_DIAGNOSTICS_DEPTH = 10
_LOG_PERIOD_S = 10.0


@dataclass(frozen=True, kw_only=True)
class ReceivedCloud:
    """The finite points (n, 3) of a message, in `frame_id` [m].

    `n_invalid` points were NaN or infinite, and are left out.
    """

    points: np.ndarray
    n_invalid: int
    frame_id: str


def received_cloud(message: PointCloud2) -> ReceivedCloud:
    """Return the points of a message.

    Raises `ValueError` if it has no fields x, y, z, or is shorter than declared.
    """
    points, n_invalid = finite_points(message)
    return ReceivedCloud(points=points, n_invalid=n_invalid, frame_id=message.header.frame_id)


def subscribe_clouds(node: Node, topic: str, callback: Callable[[PointCloud2], None]) -> None:
    """Subscribe to every new cloud of a topic, once, whatever its publisher's QoS is.

    Two subscriptions: a best-effort, volatile one matches every publisher; a transient-local one
    receives what was published before. Duplicates are dropped.
    """
    last: list[PointCloud2] = []

    def once(message: PointCloud2) -> None:
        if last and last[0] == message:
            return
        last[:] = [message]
        callback(message)

    node.create_subscription(PointCloud2, topic, once, _ANY, qos_overriding_options=OVERRIDABLE)
    node.create_subscription(
        PointCloud2,
        topic,
        once,
        LATCHED,
        qos_overriding_options=QoSOverridingOptions.with_default_policies(entity_id=_LATCHED_ID),
        # It does not match a volatile publisher, which is expected: the other one does.
        event_callbacks=SubscriptionEventCallbacks(use_default_callbacks=False),
    )


@dataclass(frozen=True, kw_only=True)
class MapEvaluationParameters(MapProtocol):
    """The protocol, the reference, and the rate."""

    reference: str = parameter(
        "", text="world, mesh, cloud or binvox to measure against; empty = /map/voxel_cloud"
    )
    reference_unit: str = parameter("", text="of that file; empty = as it says, else metres")
    reference_frame: str = parameter("map", text="frame_id of that file's coordinates")

    period_s: float = parameter(
        5.0, text="shortest time between two evaluations", unit="s", minimum=0.1
    )


class MapEvaluationNode(ConfiguredNode):
    """Aligns the newest map to the reference and publishes the scores."""

    def __init__(self) -> None:
        super().__init__("map_evaluation")
        self._settings = p = declare_parameters(self, MapEvaluationParameters)
        self._voxels: ReceivedCloud | None = None
        self._map: PointCloud2 | None = None
        self._publisher = self.create_publisher(
            DiagnosticArray,
            "/diagnostics",
            reliable(_DIAGNOSTICS_DEPTH),
            qos_overriding_options=OVERRIDABLE,
        )
        if p.reference:
            self._voxels = reference_of_file(p)
        else:
            subscribe_clouds(self, "/map/voxel_cloud", self._on_voxels)
        subscribe_clouds(self, "slam/map", self._on_map)
        self.create_timer(p.period_s, self._evaluate)
        self.get_logger().info(f"started with {p}")

    def _on_voxels(self, message: PointCloud2) -> None:
        try:
            self._voxels = received_cloud(message)
        except ValueError as error:
            self._warn(f"/map/voxel_cloud is not taken: {error}")

    def _on_map(self, message: PointCloud2) -> None:
        self._map = message

    def _evaluate(self) -> None:
        if self._voxels is None or self._map is None:
            return
        message, self._map = self._map, None
        array = diagnostics(message, self._voxels, self._settings)
        (status,) = array.status
        if status.level != DiagnosticStatus.OK:
            self._warn(status.message)
        self._publisher.publish(array)

    def _warn(self, text: str) -> None:
        self.get_logger().warning(text, throttle_duration_sec=_LOG_PERIOD_S)


def reference_of_file(parameters: MapEvaluationParameters) -> ReceivedCloud:
    """Return the reference of a file as points: for a surface the centres of its voxels.

    Raises `UserError` if there is no such source, or it is damaged or empty.
    """
    p = parameters
    provided = load_map(p.reference, unit=p.reference_unit, unit_option="reference_unit")
    found = MapReference.of(*reference_of(provided, None), p, edge_m=provided.edge_m)
    return ReceivedCloud(points=found.points, n_invalid=0, frame_id=p.reference_frame)


def diagnostics(
    message: PointCloud2, reference: ReceivedCloud, protocol: MapProtocol
) -> DiagnosticArray:
    """Return the scores of a map message; reasons to doubt them are warnings."""
    status = DiagnosticStatus(name="map_evaluation", hardware_id="")
    try:
        _judge(status, received_cloud(message), reference, protocol)
    except (UserError, ValueError) as error:
        status.level, status.message = DiagnosticStatus.WARN, f"not judged: {error}"
    array = DiagnosticArray(status=[status])
    array.header = message.header
    return array


def _judge(
    status: DiagnosticStatus, heard: ReceivedCloud, reference: ReceivedCloud, protocol: MapProtocol
) -> None:
    """Fill a status with scores and warnings."""
    doubts = _doubts(heard, reference)
    values: dict[str, object] = {
        "n_invalid": heard.n_invalid,
        "n_invalid_reference": reference.n_invalid,
        "frame_map": heard.frame_id,
        "frame_reference": reference.frame_id,
    }
    if len(heard.points) == 0 or len(reference.points) == 0:
        doubts.append("the map or the reference is empty")
    elif protocol.align == "none" and heard.frame_id != reference.frame_id:
        doubts.append("not judged, as align is none: align it, or publish it in the other frame")
    else:
        evaluation = evaluate_map(
            None, heard.points, protocol=protocol, reference_points=reference.points
        )
        numbers = evaluation.metrics()
        if evaluation.planes is not None:
            values |= {
                "spacing_reference_m": numbers["planes"]["spacing_m"],
                "to_planes_rmse_m": numbers["planes"]["distance"]["rmse_m"],
            }
        doubts += spacing_warnings(evaluation)
        values |= {**numbers["correspondences"], **numbers["alignment"]["removed"]}
        status.message = evaluation.registration.reason
        if not evaluation.registration.converged:
            doubts.append(evaluation.registration.reason)
    status.level = DiagnosticStatus.WARN if doubts else DiagnosticStatus.OK
    status.message = "; ".join(doubts) or status.message
    status.values = [KeyValue(key=key, value=str(value)) for key, value in values.items()]


def _doubts(heard: ReceivedCloud, reference: ReceivedCloud) -> list[str]:
    """Return as text the reasons to doubt the scores that are known before any measurement."""
    found = []
    if heard.frame_id != reference.frame_id:
        found.append(
            f"the map is in frame '{heard.frame_id}', the reference in '{reference.frame_id}': the "
            "alignment starts as if they were the same"
        )
    for name, cloud in (("map", heard), ("reference", reference)):
        if cloud.n_invalid:
            n = cloud.n_invalid + len(cloud.points)
            found.append(
                f"{cloud.n_invalid} of {n} points of the {name} are NaN or infinite: left out"
            )
    return found


def main() -> int:
    """Run the node."""
    return run_node(MapEvaluationNode)


if __name__ == "__main__":
    sys.exit(main())
