# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What a study of repeats is made of: robot, start errors, seeds, localiser, tracker."""

import dataclasses
import math
from dataclasses import dataclass, field

import numpy as np

from aerotwin_core.parameters import parameter
from aerotwin_core.time import to_seconds
from aerotwin_ground_dynamics import BicycleParameters, UnicycleParameters
from aerotwin_ground_simulator import NO_FAULTS, GroundFaults, GroundRobotParameters, load_vehicle
from aerotwin_teach_repeat.localization import LocalizationProtocol
from aerotwin_teach_repeat.radar import RadarProtocol
from aerotwin_teach_repeat.repeat import RepeatParameters
from aerotwin_teach_repeat.tracking import (
    ModelPredictiveTracker,
    PathTracker,
    PurePursuitTracker,
    RoutePath,
    TrackerParameters,
)

TRACKERS: dict[str, type[ModelPredictiveTracker] | type[PurePursuitTracker]] = {
    "mpc": ModelPredictiveTracker,
    "pure_pursuit": PurePursuitTracker,
}


@dataclass(frozen=True, kw_only=True)
class RepeatStudy:
    """Every choice of a number of repeats; the route and the world come beside it."""

    n_repeats: int = parameter(3, text="how often the route is repeated", minimum=1, maximum=1000)
    seed: int = parameter(0, text="of starts, slip and noise; report on 1000 and above", minimum=0)
    start_error_m: float = parameter(
        0.5, text="the robot starts up to this far from its reported start", unit="m",
        minimum=0.0, maximum=20.0
    )  # fmt: skip
    start_error_deg: float = parameter(
        10.0, text="and turned by up to this", unit="deg", minimum=0.0, maximum=180.0
    )
    start_at_m: float = parameter(
        0.0, text="way along the route at which it starts", unit="m", minimum=0.0, maximum=1e6
    )
    is_start_unknown: bool = parameter(
        False, text="the robot does not know where on the route it starts"
    )
    tracker: str = parameter("mpc", text="who steers", choices=tuple(TRACKERS))
    time_limit: float = parameter(
        3.0, text="a repeat ends after this many times the route at its reference speed",
        minimum=1.0, maximum=100.0
    )  # fmt: skip
    robot: GroundRobotParameters = field(default_factory=GroundRobotParameters)
    radar: str = parameter(
        "", text="radar preset or file, in place of the lidar; empty: it has the lidar"
    )
    radar_protocol: RadarProtocol = field(default_factory=RadarProtocol)
    faults: GroundFaults = NO_FAULTS
    localization: LocalizationProtocol = field(default_factory=LocalizationProtocol)
    tracking: TrackerParameters = field(default_factory=TrackerParameters)
    repeat: RepeatParameters = field(default_factory=RepeatParameters)

    def __post_init__(self) -> None:
        if self.repeat.latency_s != self.robot.latency_s:
            repeat = dataclasses.replace(self.repeat, latency_s=self.robot.latency_s)
            object.__setattr__(self, "repeat", repeat)

    def robot_of(self, number: int) -> GroundRobotParameters:
        """Return the robot of a repeat, with slip and noise of its own."""
        seed = int(self._rng(number, "robot").integers(2**31))
        return dataclasses.replace(self.robot, seed=seed)

    def start_error(self, number: int) -> np.ndarray:
        """Return T_told_true: evenly spread over a disc, turned evenly to both sides; (4, 4)."""
        rng = self._rng(number, "start")
        away = self.start_error_m * math.sqrt(rng.random())
        towards = rng.uniform(-math.pi, math.pi)
        turn = math.radians(self.start_error_deg) * rng.uniform(-1.0, 1.0)
        T = np.eye(4)
        T[:2, :2] = [[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]]
        T[:2, 3] = away * math.cos(towards), away * math.sin(towards)
        return T

    def tracker_of(self, poses_map: np.ndarray, period_ns: int | None = None) -> PathTracker:
        """Return the tracker along poses (n, 4, 4), with lags, delay and kind of its vehicle.

        `period_ns` overrides the time between two of its commands.
        """
        known = known_to_the_tracker(load_vehicle(self.robot.vehicle))
        if period_ns is not None:
            known |= {"control_period_s": to_seconds(period_ns)}
        parameters = dataclasses.replace(self.tracking, **known)
        return TRACKERS[self.tracker](RoutePath(poses_map), parameters)

    def _rng(self, number: int, what: str) -> np.random.Generator:
        return np.random.default_rng([self.seed, number, *what.encode()])


def known_to_the_tracker(vehicle: UnicycleParameters | BicycleParameters) -> dict:
    """Return what is known of a vehicle from its data sheet, as a tracker calls it; not its slip.

    Reaction of the commanded limits is left to the tracker's own parameters.
    """
    known = {"speed_lag_s": vehicle.v_lag_s, "command_delay_s": vehicle.command_delay_s}
    if isinstance(vehicle, BicycleParameters):
        curvature = math.tan(vehicle.maximum_steering_rad) / vehicle.wheels.wheelbase_m
        return known | {
            "vehicle": "bicycle",
            "turn_lag_s": vehicle.steering_lag_s,
            "max_curvature_1_m": curvature,
        }
    return known | {"vehicle": "unicycle", "turn_lag_s": vehicle.omega_lag_s}
