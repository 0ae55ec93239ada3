# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Topics of a run's bags that are evaluated."""

from dataclasses import dataclass

from aerotwin_run_evaluation.bag.roles import SLAM_MAP, SLAM_ODOM, TRUTH

LEFT_IMAGE, LIDAR_POINTS = "/stereo/left/image_raw", "/lidar/points"


@dataclass(frozen=True, kw_only=True)
class RunTopics:
    """Topics of a run's bags that are evaluated."""

    # a source of `read_poses`: a topic of the truth's bag, /tf:PARENT.CHILD, or a file; empty if
    # unknown
    truth: str = TRUTH
    # sources in the SLAM's bag; map and cost are evaluated with the first
    estimates: tuple[str, ...] = (SLAM_ODOM,)
    map: str = SLAM_MAP  # PointCloud2 of the SLAM's bag
    map_poses: str = ""  # poses in whose frame the map is, if not the first estimate
    # remark on the origin of the map, or why none is evaluated; `map` is empty then
    map_note: str = ""
    # whether the SLAM is known to publish one: a missing one is then a warning, else a remark
    is_map_expected: bool = True
    # topics of the truth's bag whose messages may be the frames; stamps decide from which of them
    # an estimate was computed
    frames: tuple[str, ...] = (LEFT_IMAGE, LIDAR_POINTS)
