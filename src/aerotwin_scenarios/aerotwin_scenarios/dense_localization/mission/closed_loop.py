# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A scan whose vehicle is localised by the map alone: no GNSS, from take-off to landing.

In lockstep, so that the result does not depend on the machine: at each due time an image is taken
from the true pose and localised; the body's pose is sent to the autopilot after a latency of
simulated time. For a lost image nothing is sent, and the next one is predicted by the autopilot's
estimate, from its inertial sensors.
"""

import dataclasses
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from aerotwin_core.cli import write_text_atomically
from aerotwin_core.frames import (
    FloatArray,
    invert_transform,
    make_transform,
    pose_from_transform,
    quaternion_from_yaw,
    transform_from_pose,
)
from aerotwin_core.parameters import parameter
from aerotwin_core.time import Schedule, from_seconds
from aerotwin_dense_localization.localization import ImageLocalization, body_covariance
from aerotwin_multirotor_dynamics import load_airframe, standing_pose
from aerotwin_px4_bridge import VisionPose
from aerotwin_rendering import WorldQueries
from aerotwin_scenarios.dense_localization.flights import (
    SCAN,
    T_BODY_OPTICAL,
    CameraTrack,
    Pictures,
    camera_mission,
)
from aerotwin_simulator import Simulation, SimulatorParameters
from aerotwin_simulator.mission_flight import EMBEDDED, AutopilotChoice, flown, mission_flight
from aerotwin_worlds import World

LIFT_M = 0.5
STEPS_HZ = 250.0
"""Of the simulation with an autopilot: poses are handed over between two steps."""


@dataclass(frozen=True, kw_only=True)
class LoopParameters:
    """How the loop through camera, localisation and autopilot is closed."""

    latency_s: float = parameter(
        0.1,
        text="from the picture until the autopilot has the pose; simulated time",
        unit="s",
        minimum=0.0,
        maximum=0.5,
    )
    map_sigma_m: float = parameter(
        0.02,
        text="what the map itself may be off by; added to each pose's covariance",
        unit="m",
        minimum=0.0,
        maximum=1.0,
    )
    map_sigma_deg: float = parameter(
        0.2, text="the same of its turn", unit="deg", minimum=0.0, maximum=10.0
    )


class LoopLocalizer(Protocol):
    """Localises images."""

    def localize(
        self, grey: np.ndarray, T_map_expected: FloatArray | None = None
    ) -> ImageLocalization:
        """Localise an image (h, w), optionally with an expected T_map_optical (4, 4)."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LocalizedFlight:
    """A flight and the localisation of its images."""

    track: CameraTrack  # true poses of the camera and the autopilot's estimates, in the map's frame
    found: tuple[ImageLocalization, ...]  # one for each image
    # (n, 4, 4): the mission's set-points; NaN where there is none
    T_map_optical_desired: FloatArray
    outcome: str
    is_success: bool  # it was flown to its end and landed

    def part(self, span: slice) -> "LocalizedFlight":
        """Return some of its images."""
        names = [field.name for field in dataclasses.fields(CameraTrack)]
        return dataclasses.replace(
            self,
            track=CameraTrack(**{name: getattr(self.track, name)[span] for name in names}),
            found=self.found[span],
            T_map_optical_desired=self.T_map_optical_desired[span],
        )

    def scanning(self, path: FloatArray) -> "LocalizedFlight":
        """Return the part with set-points between the first and the last pose of a path."""
        requested = self.T_map_optical_desired[:, :3, 3]
        ends = [np.linalg.norm(requested - T[:3, 3], axis=1) for T in (path[0], path[-1])]
        if not all(np.isfinite(away).any() for away in ends):
            return self.part(slice(0, 0))
        first, last = (int(np.nanargmin(away)) for away in ends)
        return self.part(slice(first, last + 1))


def world_with_start(world: World, x_m: float, y_m: float, yaw_rad: float) -> World:
    """Return the world with another start position, on the ground [m]."""
    height = float(WorldQueries(world).height(x_m, y_m))
    return dataclasses.replace(world, start_p_map=np.array([x_m, y_m, height]), start_yaw=yaw_rad)


def standing_camera(world: World) -> FloatArray:
    """Return T_map_optical (4, 4) of the camera while the vehicle is on the ground at the start."""
    x, y, z = world.start_p_map
    point, normal = WorldQueries(world).ground_plane([x, y, z + 1.0])
    standing = standing_pose(
        load_airframe(SimulatorParameters().airframe),
        ground_point=point,
        ground_normal=normal,
        yaw_rad=world.start_yaw,
    )
    return transform_from_pose(*standing) @ T_BODY_OPTICAL


def whole_way(world: World, path: FloatArray) -> FloatArray:
    """Return poses T_map_optical (n, 4, 4) from take-off along a path and back, as flown.

    The vehicle climbs from the world's start to the height of the first pose, and lands where it
    took off, as in `camera_mission`. The lowest pose is `LIFT_M` above the camera of a vehicle on
    the ground: virtual key-frames would else look along the ground, or from below it where the map
    is slightly displaced.
    """
    low = standing_camera(world)
    low[2, 3] += LIFT_M
    above = make_transform(path[0, :3, :3], [*low[:2, 3], path[0, 2, 3]])
    return np.concatenate([[low, above], path, [above]])


def fly_localized(
    world: World,
    localizer: LoopLocalizer,
    path: FloatArray,
    pictures: Pictures,
    folder: Path,
    *,
    speed_m_s: float,
    rate_hz: float,
    seed: int,
    instance: int = 0,
    autopilot: AutopilotChoice = EMBEDDED,
    parameters: LoopParameters | None = None,
    on_progress: Callable[[float], object] = lambda share: None,
) -> LocalizedFlight:
    """Fly along poses, localised by the camera alone; return the flight.

    The vehicle takes off and lands at the world's start. `localizer` is in the frame of the path;
    mission file and autopilot log are written to `folder`.

    `path` (n, 4, 4): T_map_optical. `speed_m_s`, `rate_hz`: of the vehicle along the path, and of
    its camera. `seed`: of all noise in flight. `instance`: number of the vehicle, which sets its
    ports. `on_progress`: called with the completed share of the mission.
    """
    p = LoopParameters() if parameters is None else parameters
    folder.mkdir(parents=True, exist_ok=True)
    mission = folder / "mission.yaml"
    write_text_atomically(mission, camera_mission(path, world, speed_m_s))
    with mission_flight(
        world, mission, folder, seed=seed, instance=instance, positioning="given",
        vision_delay_s=p.latency_s, autopilot=autopilot,
    ) as simulation:  # fmt: skip
        loop = _Loop(simulation, localizer, pictures, rate_hz, p)
        for _ in flown(simulation, STEPS_HZ, on_progress):
            loop.step()
    return loop.flight()


class _Loop:
    """Takes images of a flight, and sends their poses after the latency."""

    def __init__(
        self,
        simulation: Simulation,
        localizer: LoopLocalizer,
        pictures: Pictures,
        rate_hz: float,
        parameters: LoopParameters,
    ) -> None:
        self._simulation, self._vehicle = simulation, simulation.multirotor
        self._localizer, self._pictures, self._parameters = localizer, pictures, parameters
        self._due = Schedule(rate_hz)
        self._latency_ns = from_seconds(parameters.latency_s)
        self._under_way: deque[tuple[int, VisionPose]] = deque()
        self._stamps: list[int] = []
        self._true: list[FloatArray] = []
        self._reported: list[FloatArray] = []
        self._requested: list[FloatArray] = []
        self._found: list[ImageLocalization] = []

    def step(self) -> None:
        """Take an image if one is due, and send the poses that are due."""
        now_ns = self._simulation.stamp_ns
        if self._due.until(now_ns):
            self._localize_frame(now_ns)
        while self._under_way and self._under_way[0][0] <= now_ns:
            self._vehicle.on_external_odometry(self._under_way.popleft()[1])

    def _localize_frame(self, now_ns: int) -> None:
        state = self._vehicle.body.state
        T_true = transform_from_pose(state.p_map_body, state.q_map_body) @ T_BODY_OPTICAL
        grey, reported = self._pictures.mono(T_true, now_ns, SCAN), self._believed()
        is_lost = bool(self._found) and not self._found[-1].is_localized
        is_observable = is_lost and bool(np.isfinite(reported).all())
        found = self._localizer.localize(grey, reported if is_observable else None)
        if found.is_localized:
            pose = vision_pose(found, now_ns, self._parameters)
            self._under_way.append((now_ns + self._latency_ns, pose))
        self._stamps.append(now_ns)
        self._true.append(T_true)
        self._reported.append(reported)
        self._requested.append(self._meant())
        self._found.append(found)

    def _believed(self) -> FloatArray:
        estimate = self._vehicle.backend.estimate
        if estimate is None or estimate.q_map_body is None:
            return np.full((4, 4), np.nan)
        return transform_from_pose(estimate.p_map, estimate.q_map_body) @ T_BODY_OPTICAL

    def _meant(self) -> FloatArray:
        setpoint = self._vehicle.backend.setpoint
        if setpoint is None:
            return np.full((4, 4), np.nan)
        q_map_body = quaternion_from_yaw(setpoint.yaw)
        return transform_from_pose(setpoint.p_map, q_map_body) @ T_BODY_OPTICAL

    def flight(self) -> LocalizedFlight:
        """Return the flight so far."""
        return LocalizedFlight(
            track=CameraTrack(
                stamps_ns=np.array(self._stamps, dtype=np.int64),
                T_map_optical=np.array(self._true),
                T_map_optical_reported=np.array(self._reported),
            ),
            found=tuple(self._found),
            T_map_optical_desired=np.array(self._requested),
            outcome=self._simulation.outcome or "",
            is_success=self._simulation.is_success,
        )


def vision_pose(found: ImageLocalization, stamp_ns: int, parameters: LoopParameters) -> VisionPose:
    """Return the pose of the body from a localised image, with its covariance.

    The uncertainty of the map itself is added to that of the image.
    """
    assert found.T_map_cam is not None and found.covariance is not None
    T_map_body = found.T_map_cam @ invert_transform(T_BODY_OPTICAL)
    of_image = body_covariance(found.covariance, found.T_map_cam, T_map_body)
    sigmas = np.repeat([parameters.map_sigma_m, np.radians(parameters.map_sigma_deg)], 3)
    p_map, q_map_body = pose_from_transform(T_map_body)
    return VisionPose(
        time_us=stamp_ns // 1000,
        p_map=p_map,
        q_map_body=q_map_body,
        pose_covariance_map=of_image + np.diag(sigmas**2),
    )
