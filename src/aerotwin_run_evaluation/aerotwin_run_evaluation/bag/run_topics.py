# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Topics of a run's bags that are evaluated."""

from dataclasses import dataclass

from aerotwin_run_evaluation.bag.roles import SLAM_MAP, SLAM_ODOM, TRUTH

LEFT_IMAGE, LIDAR_POINTS = "/stereo/left/image_raw", "/lidar/points"


@dataclass(frozen=True, kw_only=True)
class RunTopics:
    """Topics of a run's bags that are evaluated.

    Attributes
    ----------
    truth : str
        A source of `read_poses`: a topic of the truth's bag, /tf:PARENT.CHILD, or a file; empty
        if unknown.
    estimates : tuple of str
        Sources in the SLAM's bag; map and cost are evaluated with the first.
    map : str
        PointCloud2 of the SLAM's bag.
    map_poses : str
        Poses in whose frame the map is, if not the first estimate.
    map_note : str
        Remark on the origin of the map, or why none is evaluated; `map` is empty then.
    is_map_expected : bool
        Whether the SLAM is known to publish one: a missing one is then a warning, else a remark.
    frames : tuple of str
        Topics of the truth's bag whose messages may be the frames; stamps decide from which of them
        an estimate was computed.
    """

    truth: str = TRUTH
    estimates: tuple[str, ...] = (SLAM_ODOM,)
    map: str = SLAM_MAP
    map_poses: str = ""
    map_note: str = ""
    is_map_expected: bool = True
    frames: tuple[str, ...] = (LEFT_IMAGE, LIDAR_POINTS)
