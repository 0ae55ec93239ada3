# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Node `map_evaluation`: measures `slam/map` against `/map/voxel_cloud`, on `/diagnostics`."""

import sys
from dataclasses import dataclass

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node
from sensor_msgs.msg import PointCloud2

from aerotwin_core.parameters import parameter
from aerotwin_core.ros.conversions import arrays_from_cloud
from aerotwin_core.ros.node import run_node
from aerotwin_core.ros.parameters import declare_parameters
from aerotwin_core.ros.qos import LATCHED
from aerotwin_map_evaluation.evaluation import evaluate_map
from aerotwin_map_evaluation.protocol import MapProtocol


@dataclass(frozen=True, kw_only=True)
class MapEvaluationParameters(MapProtocol):
    """The protocol, and how often."""

    period_s: float = parameter(
        5.0, text="shortest time between two evaluations", unit="s", minimum=0.1
    )


class MapEvaluationNode(Node):
    """Align the newest map to the voxel cloud and publish the scores."""

    def __init__(self) -> None:
        super().__init__("map_evaluation")
        self._parameters = declare_parameters(self, MapEvaluationParameters)
        self._voxels: np.ndarray | None = None
        self._map: PointCloud2 | None = None
        self._publisher = self.create_publisher(DiagnosticArray, "/diagnostics", 10)
        self.create_subscription(PointCloud2, "/map/voxel_cloud", self._on_voxels, LATCHED)
        self.create_subscription(PointCloud2, "slam/map", self._on_map, LATCHED)
        self.create_timer(self._parameters.period_s, self._evaluate)
        self.get_logger().info(f"started with {self._parameters}")

    def _on_voxels(self, message: PointCloud2) -> None:
        self._voxels = _points(message)

    def _on_map(self, message: PointCloud2) -> None:
        self._map = message

    def _evaluate(self) -> None:
        if self._voxels is None or self._map is None:
            return
        message, self._map = self._map, None
        self._publisher.publish(diagnostics(message, self._voxels, self._parameters))


def diagnostics(message: PointCloud2, voxels: np.ndarray, protocol: MapProtocol) -> DiagnosticArray:
    """Return the scores of a map message; a failed alignment is a warning with its reason."""
    points = _points(message)
    status = DiagnosticStatus(name="map_evaluation", hardware_id="")
    if len(points) == 0 or len(voxels) == 0:
        status.level, status.message = DiagnosticStatus.WARN, "the map or the reference is empty"
    else:
        evaluation = evaluate_map(None, points, protocol=protocol, reference_points=voxels)
        numbers = evaluation.metrics()
        converged = evaluation.registration.converged
        status.level = DiagnosticStatus.OK if converged else DiagnosticStatus.WARN
        status.message = evaluation.registration.reason
        values = {**numbers["correspondences"], **numbers["alignment"]["removed"]}
        status.values = [KeyValue(key=key, value=str(value)) for key, value in values.items()]
    array = DiagnosticArray(status=[status])
    array.header = message.header
    return array


def _points(message: PointCloud2) -> np.ndarray:
    columns = arrays_from_cloud(message)
    points = np.column_stack([columns[name] for name in "xyz"]).astype(np.float64)
    return points[np.isfinite(points).all(axis=1)]


def main() -> int:
    """Run the node."""
    return run_node(MapEvaluationNode)


if __name__ == "__main__":
    sys.exit(main())
