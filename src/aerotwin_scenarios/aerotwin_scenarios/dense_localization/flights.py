# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Camera missions flown in the simulator without ROS, faster than real time, and their images."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml

from aerotwin_core.camera import PinholeCamera
from aerotwin_core.cli import write_text_atomically
from aerotwin_core.errors import UserError
from aerotwin_core.frames import (
    R_CAM_OPTICAL,
    FloatArray,
    invert_transform,
    make_transform,
    transform_from_pose,
    yaw_from_rotation,
)
from aerotwin_rendering import CameraView, Rasteriser
from aerotwin_sensor_models import load_preset
from aerotwin_sensor_models.camera_errors import ExposureParameters
from aerotwin_sensor_models.image_sensor import ImageSensor
from aerotwin_simulator.mission_flight import (
    EMBEDDED,
    AutopilotChoice,
    Positioning,
    flown,
    mission_flight,
)
from aerotwin_worlds import World

T_BODY_OPTICAL = make_transform(R_CAM_OPTICAL, [0.1, 0.0, 0.0])
"""A camera that looks ahead, 10 cm before the middle of the body."""
_ACCELERATION_M_S2, _CORNER_M = 0.5, 0.3
_PASSED_M = 0.15
"""Passings of one way-point differ by as much: the autopilot's own error."""
LEFT, RIGHT, SCAN = range(3)
"""Numbers of cameras, which set their noise apart."""
CHANGING = ExposureParameters(flicker_amplitude=0.3, flicker_hz=0.13)
"""Exposure that changes by 30 % up and down in eight seconds."""
BLUR_PX = 1.0
"""Blur that goes with it, the standard deviation of a point's picture."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CameraTrack:
    """Poses of a camera at its images.

    `T_map_optical` (n, 4, 4) are the true poses, `T_map_optical_reported` those of the autopilot's
    estimator, from inertial sensors and GNSS.
    """

    stamps_ns: np.ndarray
    T_map_optical: FloatArray
    T_map_optical_reported: FloatArray


def camera_mission(path: FloatArray, world: World, speed_m_s: float) -> str:
    """Return the mission file that moves a camera along poses T_map_optical (n, 4, 4).

    The vehicle takes off to the height of the first pose, and lands where it took off.
    """
    bodies = path @ invert_transform(T_BODY_OPTICAL)
    x, y, z = (float(value) for value in world.start_p_map)
    waypoints = [
        {
            "position_m": [round(float(v), 3) for v in T[:3, 3]],
            "yaw_deg": round(math.degrees(yaw_from_rotation(T[:3, :3])), 3),
        }
        for T in bodies
    ]
    height = max(float(bodies[0, 2, 3]) - z, 2.0)
    content = {
        "takeoff_altitude_m": round(height, 3),
        "speed_m_s": speed_m_s,
        "climb_rate_m_s": min(1.0, speed_m_s),
        "acceleration_m_s2": _ACCELERATION_M_S2,
        "corner_radius_m": _CORNER_M,
        "waypoints": [
            *waypoints,
            {"position_m": [round(x, 3), round(y, 3), round(z + height, 3)]},
        ],
    }
    return yaml.safe_dump(content, sort_keys=False, default_flow_style=None)


def fly_camera(
    world: World,
    path: FloatArray,
    folder: Path,
    *,
    speed_m_s: float,
    rate_hz: float,
    seed: int,
    instance: int = 0,
    positioning: Positioning = "gnss",
    autopilot: AutopilotChoice = EMBEDDED,
    on_progress: Callable[[float], object] = lambda share: None,
) -> CameraTrack:
    """Fly along poses T_map_optical (n, 4, 4); return the camera's track at its rate.

    The track begins at the first pose and ends at the last. Mission file and autopilot log are
    written to `folder`; `seed` is of all noise in flight, `instance` sets the ports of the vehicle,
    `positioning` is the position source of the autopilot, and `on_progress` is called with the
    completed share of the mission.

    Raises `UserError` if it was not flown to its end.
    """
    folder.mkdir(parents=True, exist_ok=True)
    mission = folder / "mission.yaml"
    write_text_atomically(mission, camera_mission(path, world, speed_m_s))
    stamps, true, reported = [], [], []
    with mission_flight(
        world, mission, folder, seed=seed, instance=instance, positioning=positioning,
        autopilot=autopilot,
    ) as simulation:  # fmt: skip
        for moment in flown(simulation, rate_hz, on_progress):
            vehicle = moment.multirotor
            state, estimate = vehicle.body.state, vehicle.backend.estimate
            if estimate is None or estimate.q_map_body is None:
                continue
            stamps.append(moment.stamp_ns)
            true.append(transform_from_pose(state.p_map_body, state.q_map_body))
            reported.append(transform_from_pose(estimate.p_map, estimate.q_map_body))
    if not simulation.is_success:
        raise UserError(f"{mission}: not flown to its end: {simulation.outcome}")
    track = CameraTrack(
        stamps_ns=np.array(stamps, dtype=np.int64),
        T_map_optical=np.array(true) @ T_BODY_OPTICAL,
        T_map_optical_reported=np.array(reported) @ T_BODY_OPTICAL,
    )
    return _between(track, path)


def _between(track: CameraTrack, path: FloatArray) -> CameraTrack:
    """Return the part from the first waypoint to the last, passing all in order."""
    passed = [0]
    for T in path:
        away_m = np.linalg.norm(track.T_map_optical[passed[-1] :, :3, 3] - T[:3, 3], axis=1)
        passed.append(passed[-1] + _first_passing(away_m))
    part = slice(passed[1], passed[-1] + 1)
    return CameraTrack(
        stamps_ns=track.stamps_ns[part],
        T_map_optical=track.T_map_optical[part],
        T_map_optical_reported=track.T_map_optical_reported[part],
    )


def _first_passing(away_m: np.ndarray) -> int:
    """Return where a waypoint is passed first: the path may come near it again later."""
    is_near = away_m <= away_m.min() + _PASSED_M
    first = int(np.argmax(is_near))
    left = np.flatnonzero(~is_near[first:])
    last = first + int(left[0]) if len(left) else len(away_m)
    return first + int(np.argmin(away_m[first:last]))


class Pictures:
    """Takes images of a world.

    `seed` is of the noise; `blur_px` is the standard deviation of the image of a point.
    """

    def __init__(
        self,
        rasteriser: Rasteriser,
        camera: PinholeCamera,
        *,
        seed: int,
        exposure: ExposureParameters | None = None,
        blur_px: float = 0.0,
    ) -> None:
        self._rasteriser, self._camera = rasteriser, camera
        self._sensor = ImageSensor(
            camera,
            load_preset("camera_noise", "default"),
            exposure=exposure,
            blur_px=blur_px,
            seed=seed,
        )

    def mono(self, T_map_optical: FloatArray, stamp_ns: int, camera_index: int) -> np.ndarray:
        """Return the picture (h, w) uint8 from a true pose."""
        (seen,) = self.rendered(T_map_optical)
        return self.taken(seen, stamp_ns, camera_index)

    def stereo(
        self, T_map_left: FloatArray, baseline_m: float, stamp_ns: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the pictures (h, w) uint8 of a rectified pair, from the left one's true pose."""
        T_map_right = T_map_left.copy()
        T_map_right[:3, 3] += baseline_m * T_map_left[:3, 0]
        left, right = self.rendered(T_map_left, T_map_right)
        return self.taken(left, stamp_ns, LEFT), self.taken(right, stamp_ns, RIGHT)

    def rendered(self, *poses: FloatArray) -> list[np.ndarray]:
        """Return the ideal images at true poses, (h, w) uint8 each, before the sensor model."""
        frames = self._rasteriser.render(
            [CameraView(camera=self._camera, T_map_optical=T, encoding="mono8") for T in poses]
        )
        return [frame.image for frame in frames if frame.image is not None]

    def taken(self, seen: np.ndarray, stamp_ns: int, camera_index: int) -> np.ndarray:
        """Apply the sensor model to an ideal image; return it (h, w) uint8."""
        return self._sensor.expose(seen, stamp_ns, camera_index=camera_index)
