# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The stereo pair of the vehicle: renders at its exact due times and adds sensor noise."""

from collections.abc import Iterator
from math import radians

import numpy as np

from aerotwin_core.camera_messages import camera_info_message, image_message
from aerotwin_core.frames import R_CAM_OPTICAL, make_transform, quaternion_from_rotation
from aerotwin_core.messages import serialize, transform_stamped
from aerotwin_core.time import Schedule
from aerotwin_sensor_models import CameraNoise, load_preset
from aerotwin_simulator import topics
from aerotwin_simulator.parameters import SimulatorParameters
from aerotwin_simulator.truth import TruthStep, transform
from aerotwin_worlds import Rasteriser, World

LEFT_FRAME = "stereo_left_optical"
RIGHT_FRAME = "stereo_right_optical"


class StereoCamera:
    """Left and right rectified cameras on the body, looking forward (pitched down if asked)."""

    def __init__(self, parameters: SimulatorParameters, world: World, vehicle: str = "") -> None:
        place = topics.below(vehicle)
        self._info_topics = (place(topics.LEFT_INFO), place(topics.RIGHT_INFO))
        self._image_topics = (place(topics.LEFT_IMAGE), place(topics.RIGHT_IMAGE))
        self.rig = parameters.rig
        self._schedule = Schedule(parameters.camera_rate_hz)
        self._rasteriser = Rasteriser(world.meshes)
        noise = load_preset("camera_noise", parameters.camera_noise)
        self._noise = CameraNoise(noise, parameters.seed)
        self.T_body_left, self.T_body_right = mounting(parameters)
        self._n_frames = 0
        self._first_camera = 2 * parameters.instance
        left = camera_info_message(0, topics.frame(vehicle, LEFT_FRAME), self.rig.camera)
        right_frame = topics.frame(vehicle, RIGHT_FRAME)
        right = camera_info_message(0, right_frame, self.rig.camera, self.rig.baseline_m)
        self._info_messages = (left, right)

    def warm_up(self, T_map_body: np.ndarray) -> None:
        """Render once so that no later frame pays for compilation or caches."""
        self.render(T_map_body)

    def render(self, T_map_body: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the noise-free images (h, w) uint8 of both cameras at a pose."""
        camera = self.rig.camera
        left = self._rasteriser.render_mono(camera, T_map_body @ self.T_body_left)
        right = self._rasteriser.render_mono(camera, T_map_body @ self.T_body_right)
        return left.image, right.image

    def frames(self, step: TruthStep) -> Iterator[tuple[int, list[tuple[topics.Topic, bytes]]]]:
        """Yield (stamp_ns, messages) for each frame due in the step."""
        for stamp_ns in self._schedule.until(step.end_ns):
            images = self.render(transform(step.at(stamp_ns)))
            noisy = [
                self._noise.apply(image, self._n_frames, self._first_camera + k)
                for k, image in enumerate(images)
            ]
            self._n_frames += 1
            yield stamp_ns, self._messages(stamp_ns, noisy)

    def _messages(
        self, stamp_ns: int, images: list[np.ndarray]
    ) -> list[tuple[topics.Topic, bytes]]:
        pairs = zip(
            self._info_topics,
            self._image_topics,
            self._info_messages,
            images,
            strict=True,
        )
        messages = []
        for info_topic, image_topic, info, image in pairs:
            picture = image_message(stamp_ns, info.header.frame_id, image)
            info.header.stamp = picture.header.stamp
            messages += [(info_topic, serialize(info)), (image_topic, serialize(picture))]
        return messages


def mounting(parameters: SimulatorParameters) -> tuple[np.ndarray, np.ndarray]:
    """Return T_body_optical (4, 4) of the left and the right camera."""
    pitch = radians(parameters.camera_pitch_deg)
    R_body_cam = np.array(
        [
            [np.cos(pitch), 0.0, np.sin(pitch)],
            [0.0, 1.0, 0.0],
            [-np.sin(pitch), 0.0, np.cos(pitch)],
        ]
    )
    R_body_optical = R_body_cam @ R_CAM_OPTICAL
    half = parameters.camera_baseline_m / 2.0
    left = make_transform(R_body_optical, [parameters.camera_forward_m, half, 0.0])
    right = make_transform(R_body_optical, [parameters.camera_forward_m, -half, 0.0])
    return left, right


def static_transforms(parameters: SimulatorParameters, vehicle: str = "") -> list[object]:
    """Return the mounting of IMU and cameras as TransformStamped messages.

    `imu_link` stands where the IMU preset puts it: its lever arm from `base_link`, which is the
    centre of mass, turned by its mounting.
    """

    def fixed(parent: str, child: str, p: np.ndarray, R: np.ndarray) -> object:
        names = topics.frame(vehicle, parent), topics.frame(vehicle, child)
        return transform_stamped(0, *names, p, quaternion_from_rotation(R))

    nowhere = np.zeros(3)
    imu = load_preset("imu", parameters.imu)
    edges = [fixed("base_link", "imu_link", np.array(imu.lever_arm_m), imu.R_body_imu)]
    for name, T_body_optical in zip(
        ("stereo_left", "stereo_right"), mounting(parameters), strict=True
    ):
        R_body_cam = T_body_optical[:3, :3] @ R_CAM_OPTICAL.T
        edges.append(fixed("base_link", name, T_body_optical[:3, 3], R_body_cam))
        edges.append(fixed(name, f"{name}_optical", nowhere, R_CAM_OPTICAL))
    return edges
