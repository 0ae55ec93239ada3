# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Node `voxel_cloud`: publishes a world's surface as a cloud of its voxels, latched."""

import sys
from dataclasses import dataclass

from sensor_msgs.msg import PointCloud2

from aerotwin_core.parameters import parameter
from aerotwin_core.ros.conversions import cloud_from_points
from aerotwin_core.ros.node import run_node
from aerotwin_core.ros.parameters import ConfiguredNode, declare_parameters
from aerotwin_core.ros.qos import LATCHED
from aerotwin_voxel_cloud.sources import POINT_KINDS, voxel_points


@dataclass(frozen=True, kw_only=True)
class VoxelCloudParameters:
    """Parameters of the node."""

    world: str = parameter(text="world name, folder or YAML; mesh, cloud or binvox file")
    resolution_m: float = parameter(
        1.0, text="edge length of a voxel", unit="m", minimum=0.001, maximum=1000.0
    )
    points: str = parameter(
        "centres",
        text="a point for each voxel: its centre, or the mean of the surface inside it",
        choices=POINT_KINDS,
    )
    frame_id: str = parameter("map", text="frame of the cloud")


class VoxelCloudNode(ConfiguredNode):
    """Publish `/map/voxel_cloud` once; late subscribers receive it as well (transient local)."""

    def __init__(self) -> None:
        super().__init__("voxel_cloud")
        parameters = declare_parameters(self, VoxelCloudParameters)
        points = voxel_points(parameters.world, parameters.resolution_m, parameters.points)
        self._publisher = self.create_publisher(PointCloud2, "/map/voxel_cloud", LATCHED)
        self._publisher.publish(cloud_from_points(points, 0, parameters.frame_id))
        self.get_logger().info(f"{len(points)} voxels published with {parameters}")


def main() -> int:
    """Run the node."""
    return run_node(VoxelCloudNode)


if __name__ == "__main__":
    sys.exit(main())
