# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""All cameras of a vehicle: the forward-looking stereo pair and those of a file."""

import dataclasses

from aerotwin_core.errors import ParameterError
from aerotwin_sensor_models import CameraParameters, load_preset
from aerotwin_simulator import topics
from aerotwin_simulator.body_camera import MONO, BodyCamera, CameraTopics, Eye
from aerotwin_simulator.camera_file import load_cameras, make_cameras
from aerotwin_simulator.mounting import T_body_optical
from aerotwin_simulator.parameters import NO_FILE, NO_PRESET, SimulatorParameters
from aerotwin_simulator.world_follower import Renderer


def make_vehicle_cameras(
    parameters: SimulatorParameters, renderer: Renderer, vehicle: str = ""
) -> list[BodyCamera]:
    """Return the cameras of the parameters, the stereo pair first."""
    cameras = [make_stereo_camera(parameters, renderer, vehicle)] if parameters.camera else []
    if parameters.cameras != NO_FILE:
        cameras += make_cameras(parameters, renderer, vehicle)
    return cameras


def check_vehicle_cameras(parameters: SimulatorParameters) -> None:
    """Raise a ParameterError for presets and files that do not exist or are wrong."""
    if parameters.camera:
        stereo_preset(parameters)
    if parameters.cameras != NO_FILE:
        load_cameras(parameters.cameras)


_OF_THE_LENS = ("camera_width", "camera_height", "camera_focal_px", "camera_baseline_m")
_NAMES = ("stereo_left", "stereo_right")
_IMAGES = (topics.LEFT_IMAGE, topics.RIGHT_IMAGE)
_INFOS = (topics.LEFT_INFO, topics.RIGHT_INFO)


def make_stereo_camera(
    parameters: SimulatorParameters, renderer: Renderer, vehicle: str = ""
) -> BodyCamera:
    """Return the pair of a vehicle."""
    preset = stereo_preset(parameters)
    return BodyCamera(
        preset,
        stereo_eyes(parameters, preset, vehicle),
        rate_hz=parameters.camera_rate_hz,
        renderer=renderer,
        seed=parameters.seed,
    )


def stereo_preset(parameters: SimulatorParameters) -> CameraParameters:
    """Return the parameters of each camera of the pair: a preset, or a rectified camera.

    Raises ParameterError if the preset does not exist, is no pair or slower than camera_rate_hz,
    or a parameter that it replaces is set, too.
    """
    if parameters.camera_preset != NO_PRESET:
        return _named_preset(parameters)
    camera = parameters.rig.camera
    return CameraParameters(
        width=camera.width,
        height=camera.height,
        fx=camera.fx,
        fy=camera.fy,
        cx=camera.cx,
        cy=camera.cy,
        baseline_m=parameters.camera_baseline_m,
        noise=load_preset("camera_noise", parameters.camera_noise),
    )


def _named_preset(parameters: SimulatorParameters) -> CameraParameters:
    name = parameters.camera_preset
    preset: CameraParameters = load_preset("camera", name)
    defaults = {field.name: field.default for field in dataclasses.fields(parameters)}
    for provided in (*_OF_THE_LENS, "camera_noise"):
        if getattr(parameters, provided) != defaults[provided]:
            raise ParameterError(
                f"{provided}: expected its default ({defaults[provided]}) beside "
                f"camera_preset {name},"
                f" found {getattr(parameters, provided)}; the preset has its own: leave one of them"
            )
    if preset.baseline_m == 0.0:
        raise ParameterError(
            f"camera_preset: expected a pair, found {name} with baseline_m 0; put a camera alone"
            " into the file of the parameter cameras"
        )
    try:
        preset.check_rate(parameters.camera_rate_hz)
    except ParameterError as error:
        raise ParameterError(f"camera_{error} (camera_preset {name})") from None
    return preset


def stereo_eyes(
    parameters: SimulatorParameters, preset: CameraParameters, vehicle: str
) -> list[Eye]:
    """Return the left and the right camera, with `base_link` in the middle between them."""
    place = topics.below(vehicle)
    eyes = []
    for k, (name, image, info) in enumerate(zip(_NAMES, _IMAGES, _INFOS, strict=True)):
        y = (0.5 - k) * preset.baseline_m
        eyes.append(
            Eye(
                name=name,
                frame_id=topics.frame(vehicle, f"{name}_optical"),
                T_body_optical=T_body_optical(
                    (parameters.camera_forward_m, y, 0.0), pitch_deg=parameters.camera_pitch_deg
                ),
                camera_index=2 * parameters.instance + k,
                sinks={MONO: CameraTopics(image=place(image), info=place(info))},
                baseline_m=k * preset.baseline_m,
            )
        )
    return eyes
