# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the node `replay`."""

from dataclasses import dataclass

from aerotwin_core.parameters import parameter
from aerotwin_run_evaluation.bag.pace import AUTOMATIC
from aerotwin_run_evaluation.bag.playing import SLAMS, STEREO_ODOMETRY


@dataclass(frozen=True, kw_only=True)
class ReplayParameters:
    """What is replayed, how fast, and where the result goes."""

    bag: str = parameter(text="bag folder; a file of a bag also does")
    slam: str = parameter(
        STEREO_ODOMETRY,
        text="who answers; external gets all topics of the bag under their own names",
        choices=SLAMS,
    )
    world: str = parameter("", text="world whose surface is the true map; empty = none")
    output: str = parameter("", text="folder to make; empty = runs_dir/<time>-<name>")
    runs_dir: str = parameter("runs", text="folder in which the run's own folder is made")
    name: str = parameter("evaluation", text="second part of the run folder's name")
    slam_process: str = parameter(
        "",
        text="part of the SLAM's command line, to measure its cost; empty = the name of a SLAM "
        "that ships, an external one is not measured",
    )
    rate: float = parameter(
        AUTOMATIC,
        text="0 = lockstep: a frame waits for the answers before it; above = times real time; "
        "-1 = lockstep, and real time for an external SLAM that does not answer each frame",
        minimum=AUTOMATIC,
        maximum=1000.0,
    )
    start_s: float = parameter(0.0, text="leave out what was before", unit="s", minimum=0.0)
    duration_s: float = parameter(
        0.0, text="leave out what came after; 0 = nothing", unit="s", minimum=0.0
    )
    topics: str = parameter(
        "", text="NAME:=TOPIC_OF_THE_BAG words: these topics go out under these names"
    )
    only: str = parameter("", text="topics of the bag: nothing else goes out; empty = no limit")
    frames: str = parameter("", text="topic of the bag that makes the frames; empty = found")
    estimate: str = parameter(
        "slam/odom", text="poses that the SLAM publishes: a topic, or /tf:PARENT.CHILD"
    )
    map: str = parameter("slam/map", text="PointCloud2 that the SLAM publishes")
    truth: str = parameter(
        "", text="topic of the bag, /tf:PARENT.CHILD or a trajectory file; empty = found"
    )
    protocol: str = parameter("", text="protocol file or preset; empty = the defaults")
    wait_start_s: float = parameter(
        120.0,
        text="longest wait for the SLAM to appear, and for its first answer",
        unit="s wall",
        minimum=0.1,
    )
    wait_frame_s: float = parameter(
        20.0, text="longest wait for one frame's answer", unit="s wall", minimum=0.01
    )
