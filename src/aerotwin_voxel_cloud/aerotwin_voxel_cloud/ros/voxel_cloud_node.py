# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Node `voxel_cloud`: publishes a world's surface as a cloud of voxel centres, latched."""

import sys
from dataclasses import dataclass

from rclpy.node import Node
from sensor_msgs.msg import PointCloud2

from aerotwin_core.parameters import parameter
from aerotwin_core.ros.conversions import cloud_from_points
from aerotwin_core.ros.node import run_node
from aerotwin_core.ros.parameters import declare_parameters
from aerotwin_core.ros.qos import LATCHED
from aerotwin_voxel_cloud.sources import voxelise_source


@dataclass(frozen=True, kw_only=True)
class VoxelCloudParameters:
    """What the node publishes."""

    world: str = parameter(text="world name, folder or YAML; mesh, cloud or binvox file")
    resolution_m: float = parameter(
        1.0, text="edge length of a voxel", unit="m", minimum=0.001, maximum=1000.0
    )
    frame_id: str = parameter("map", text="frame of the cloud")


class VoxelCloudNode(Node):
    """Publish `/map/voxel_cloud` once; late subscribers get it too (transient local)."""

    def __init__(self) -> None:
        super().__init__("voxel_cloud")
        parameters = declare_parameters(self, VoxelCloudParameters)
        grid = voxelise_source(parameters.world, parameters.resolution_m)
        self._publisher = self.create_publisher(PointCloud2, "/map/voxel_cloud", LATCHED)
        self._publisher.publish(cloud_from_points(grid.centres(), 0, parameters.frame_id))
        self.get_logger().info(f"{grid.n_occupied} voxels published with {parameters}")


def main() -> int:
    """Run the node."""
    return run_node(VoxelCloudNode)


if __name__ == "__main__":
    sys.exit(main())
