# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Further cameras of a vehicle, from a file."""

import re
import zlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from aerotwin_core.errors import ParameterError
from aerotwin_core.parameters import load_parameters_file, parameter
from aerotwin_sensor_models import CameraParameters, load_preset
from aerotwin_simulator import topics
from aerotwin_simulator.body_camera import (
    BGR,
    DEPTH,
    IDS,
    MONO,
    PICTURES,
    RGB,
    BodyCamera,
    CameraTopics,
    Eye,
)
from aerotwin_simulator.mounting import T_body_optical
from aerotwin_simulator.parameters import SimulatorParameters
from aerotwin_simulator.topics import Topic
from aerotwin_worlds.world_follower import Renderer

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")  # what a ROS namespace allows
_TAKEN = (
    *("map", "odom", "earth", "base_link", "base_link_truth", "imu_link", "lidar", "radar"),
    *("stereo_left", "stereo_right", "range_finder"),
)
_OF_OTHERS = re.compile(r".*_optical|rotor_\d+")
_KINDS = (RGB, BGR, MONO, DEPTH, IDS)
_FIRST_INDEX = 2**32
"""Noise streams of these cameras differ from those of stereo pairs, which count from 0."""


@dataclass(frozen=True, kw_only=True)
class MountedCamera:
    """One camera of the file."""

    name: str = parameter(text="topics stand below it, frames are <name> and <name>_optical")
    preset: str = parameter("ideal", text="camera preset, or path of a YAML file like one")
    outputs: tuple[str, ...] = parameter(
        (MONO,), text="what it publishes: mono, rgb or bgr; depth; ids"
    )
    rate_hz: float | None = parameter(
        None, unit="Hz", minimum=0.1, maximum=250.0, text="frames; null = the preset's"
    )
    x_m: float = parameter(0.1, unit="m", text="place ahead of base_link")
    y_m: float = parameter(0.0, unit="m", text="place to the left of base_link")
    z_m: float = parameter(0.0, unit="m", text="place above base_link")
    roll_deg: float = parameter(
        0.0, unit="deg", minimum=-180.0, maximum=180.0, text="turned about its axis of view"
    )
    pitch_deg: float = parameter(
        0.0, unit="deg", minimum=-90.0, maximum=90.0, text="then downwards"
    )
    yaw_deg: float = parameter(
        0.0, unit="deg", minimum=-180.0, maximum=180.0, text="then to the left"
    )

    def __post_init__(self) -> None:
        is_frame = _NAME.fullmatch(self.name) and not _OF_OTHERS.fullmatch(self.name)
        if not is_frame or self.name in _TAKEN:
            raise ParameterError(
                "name: expected a letter, then letters, digits and _, no frame of other sensors"
                f" ({', '.join(_TAKEN)}), found '{self.name}'"
            )
        unknown = [kind for kind in self.outputs if kind not in _KINDS]
        has_twins = len(set(self.outputs)) < len(self.outputs)
        has_many = len({*PICTURES} & {*self.outputs}) > 1
        if not self.outputs or unknown or has_twins or has_many:
            raise ParameterError(
                f"outputs: expected some of {', '.join(_KINDS)}, each once and of mono,"
                f" rgb and bgr one, found {list(self.outputs)}"
            )


@dataclass(frozen=True, kw_only=True)
class CameraFile:
    """A file of cameras."""

    cameras: tuple[MountedCamera, ...] = parameter(text="each with what differs")

    def __post_init__(self) -> None:
        twins = [name for name, n in Counter(c.name for c in self.cameras).items() if n > 1]
        if twins:
            raise ParameterError(
                f"name: expected different ones, found {', '.join(twins)} more than once"
            )


def load_cameras(path: str) -> list[tuple[MountedCamera, CameraParameters]]:
    """Return the cameras of a file with their presets, whose paths are relative to the file."""
    found = []
    for mounted in load_parameters_file(CameraFile, path).cameras:
        preset = mounted.preset
        if preset.endswith((".yaml", ".yml")):
            preset = str(Path(path).parent / preset)
        try:
            camera: CameraParameters = load_preset("camera", preset)
            camera.check_rate(mounted.rate_hz or camera.rate_hz)
        except ParameterError as error:
            raise ParameterError(f"{path}: {mounted.name}: {error}") from None
        found.append((mounted, camera))
    return found


def make_cameras(
    parameters: SimulatorParameters, renderer: Renderer, vehicle: str = ""
) -> list[BodyCamera]:
    """Return the further cameras of a vehicle."""
    return [
        BodyCamera(
            preset,
            [_eye(mounted, preset, vehicle, parameters.fleet.instance)],
            rate_hz=mounted.rate_hz or preset.rate_hz,
            renderer=renderer,
            seed=parameters.seed,
        )
        for mounted, preset in load_cameras(parameters.camera.file)
    ]


def eyes_of_file(parameters: SimulatorParameters, vehicle: str = "") -> list[Eye]:
    """Return the eyes of those cameras."""
    instance, cameras = parameters.fleet.instance, load_cameras(parameters.camera.file)
    return [_eye(mounted, preset, vehicle, instance) for mounted, preset in cameras]


def _eye(mounted: MountedCamera, preset: CameraParameters, vehicle: str, instance: int) -> Eye:
    p_body = (mounted.x_m, mounted.y_m, mounted.z_m)
    turns = {f"{name}_deg": getattr(mounted, f"{name}_deg") for name in ("roll", "pitch", "yaw")}
    return Eye(
        name=mounted.name,
        frame_id=topics.frame(vehicle, f"{mounted.name}_optical"),
        T_body_optical=T_body_optical(p_body, **turns),
        camera_index=_FIRST_INDEX * (1 + instance) + zlib.crc32(mounted.name.encode()),
        sinks={kind: _sinks(mounted, preset, vehicle, kind) for kind in mounted.outputs},
    )


def _sinks(
    mounted: MountedCamera, preset: CameraParameters, vehicle: str, kind: str
) -> CameraTopics:
    """Return the topics of one kind of image.

    The image, or the only kind there is, is below the camera's name, depth and ids beside an image
    one level deeper. Depth of a pinhole camera is rectified, and named so (REP 118).
    """
    first = next(k for k in _KINDS if k in mounted.outputs)
    folder = mounted.name if kind == first else f"{mounted.name}/{kind}"
    leaf = "image_rect" if kind == DEPTH and preset.model == "pinhole" else "image_raw"
    place, rate_hz = topics.below(vehicle), mounted.rate_hz or preset.rate_hz
    types = {leaf: "sensor_msgs/msg/Image", "camera_info": "sensor_msgs/msg/CameraInfo"}
    image, info = (
        place(Topic(f"{folder}/{name}", msgtype, rate_hz, is_image=True))
        for name, msgtype in types.items()
    )
    return CameraTopics(image=image, info=info)
