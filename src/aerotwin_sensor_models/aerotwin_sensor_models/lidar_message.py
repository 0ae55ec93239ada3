# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A scan as sensor_msgs/PointCloud2, for the simulator and the lidar node.

| field | type | byte | meaning |
|---|---|---|---|
| x y z | float32 | 0 4 8 | position in the lidar's frame [m] |
| intensity | float32 | 12 | 100 x reflectivity x cosine of incidence, as measured; at most 255 |
| ring | uint16 | 16 | laser, 0 the lowest |
| time | float32 | 20 | since the stamp, the beginning of the turn [s] |

24 bytes a point, bytes 18 and 19 unused. One row of returns (height 1, is_dense true); organised,
a row for each ring with ring 0 first (is_dense false: NaN where nothing returned).
"""

from typing import Any

import numpy as np

from aerotwin_core.messages import TYPESTORE, header
from aerotwin_sensor_models.lidar import LidarScan

_DATATYPES = {"<f4": 7, "<u2": 4}
"""Of sensor_msgs/PointField."""


def scan_message(scan: LidarScan, frame_id: str) -> Any:
    """Return sensor_msgs/PointCloud2 of a scan; it shares the scan's memory."""
    return cloud_message(scan.stamp_ns, frame_id, scan.cloud, is_dense=not scan.is_organised)


def cloud_message(stamp_ns: int, frame_id: str, cloud: np.ndarray, *, is_dense: bool) -> Any:
    """Return sensor_msgs/PointCloud2 of a structured array (height, width), in its memory."""
    types = TYPESTORE.types
    height, width = cloud.shape
    return types["sensor_msgs/msg/PointCloud2"](
        header=header(stamp_ns, frame_id),
        height=height,
        width=width,
        fields=[
            types["sensor_msgs/msg/PointField"](
                name=name, offset=entry[1], datatype=_DATATYPES[entry[0].str], count=1
            )
            for name, entry in (cloud.dtype.fields or {}).items()
        ],
        is_bigendian=False,
        point_step=cloud.itemsize,
        row_step=cloud.itemsize * width,
        data=np.ascontiguousarray(cloud).reshape(-1).view(np.uint8),
        is_dense=is_dense,
    )
