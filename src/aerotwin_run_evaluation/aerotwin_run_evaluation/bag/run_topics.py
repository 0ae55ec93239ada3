# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Where the bags of a run have what is judged."""

from dataclasses import dataclass

from aerotwin_run_evaluation.bag.roles import SLAM_MAP, SLAM_ODOM, TRUTH

LEFT_IMAGE, LIDAR_POINTS = "/stereo/left/image_raw", "/lidar/points"


@dataclass(frozen=True, kw_only=True)
class RunTopics:
    """Where the bags of a run have what is judged.

    Attributes
    ----------
    truth : str
        As `read_poses` takes it: a topic of the truth's bag, /tf:PARENT.CHILD, or a file; empty
        where none is known.
    estimates : tuple of str
        The same of the SLAM's bag; the first is the one whose map and cost are judged with it.
    map : str
        PointCloud2 of the SLAM's bag.
    map_poses : str
        Poses in whose frame the map is, where they are not the first estimate's.
    map_note : str
        What is to be known of where the map is from, or why none is judged; `map` is empty then.
    is_map_expected : bool
        Whether the SLAM is known to publish one: that none came is then a warning, else a remark.
    frames : tuple of str
        Topics of the truth's bag whose messages may be the frames; which of them an estimate was
        computed from is told by its stamps.
    """

    truth: str = TRUTH
    estimates: tuple[str, ...] = (SLAM_ODOM,)
    map: str = SLAM_MAP
    map_poses: str = ""
    map_note: str = ""
    is_map_expected: bool = True
    frames: tuple[str, ...] = (LEFT_IMAGE, LIDAR_POINTS)
