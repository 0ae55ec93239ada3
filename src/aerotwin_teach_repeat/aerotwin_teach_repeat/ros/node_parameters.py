# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the nodes: those of tracker and repeat, and locations of graphs and results."""

import dataclasses
from dataclasses import dataclass
from typing import Any, TypeVar

from aerotwin_core.parameters import parameter
from aerotwin_teach_repeat.repeat import RepeatParameters
from aerotwin_teach_repeat.tracking import (
    ModelPredictiveTracker,
    PurePursuitTracker,
    TrackerParameters,
)

T = TypeVar("T")
TRACKERS = {"model_predictive": ModelPredictiveTracker, "pure_pursuit": PurePursuitTracker}


@dataclass(frozen=True, kw_only=True)
class RepeatNodeParameters(TrackerParameters, RepeatParameters):
    """Parameters of a repeat, its route, and its frames."""

    route_graph: str = parameter(text="folder of the route graph")
    start_id: int = parameter(
        -1, text="vertex at which the route begins; -1 = the first of the graph's first run"
    )
    goal_id: int = parameter(-1, text="vertex at which it ends; -1 = the last of that run")
    tracker: str = parameter(
        "model_predictive", text="control law of the path tracker", choices=tuple(TRACKERS)
    )
    sensor: str = parameter(
        "lidar", text="what it localises by; a turn of the radar is the time between two commands",
        choices=("lidar", "radar"),
    )  # fmt: skip
    radar: str = parameter(
        "navtech_cir304", text="data sheet of the radar: preset, or path of a file like one"
    )
    localization: str = parameter(
        "", text="YAML file of the localisation's protocol (of the radar's); empty = its defaults"
    )
    is_started_at_once: bool = parameter(
        False, text="start with the first scan instead of waiting for ~/start"
    )
    is_start_anywhere: bool = parameter(
        False, text="search the whole route at the start instead of near its first vertex"
    )
    map_frame: str = parameter("map", text="frame of the route graph")
    odom_frame: str = parameter("odom", text="frame of the wheel odometry")
    base_frame: str = parameter("base_link", text="frame of the vehicle, below the sensor")
    publish_tf: bool = parameter(True, text="publish map -> odom on /tf")


@dataclass(frozen=True, kw_only=True)
class TeachNodeParameters:
    """Output of a recorded drive."""

    route_graph: str = parameter(text="folder to write the route graph to; must not exist")
    base_frame: str = parameter("base_link", text="frame of the vehicle, below the lidar")


def part(cls: type[T], whole: Any) -> T:
    """Return the parameters of a class from those of a class that inherits them."""
    names = [field.name for field in dataclasses.fields(cls)]  # type: ignore[arg-type]
    return cls(**{name: getattr(whole, name) for name in names})
