# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""All cameras of a vehicle: the forward-looking stereo pair and those of a file."""

from dataclasses import asdict

from aerotwin_core.errors import ParameterError
from aerotwin_sensor_models import CameraParameters, load_preset
from aerotwin_simulator import topics
from aerotwin_simulator.body_camera import PICTURES, BodyCamera, CameraTopics, Eye
from aerotwin_simulator.camera_file import eyes_of_file, load_cameras, make_cameras
from aerotwin_simulator.mounting import T_body_optical
from aerotwin_simulator.parameters import NO_FILE, NO_PRESET, CameraSettings, SimulatorParameters
from aerotwin_worlds.world_follower import Renderer


def make_vehicle_cameras(
    parameters: SimulatorParameters, renderer: Renderer, vehicle: str = ""
) -> list[BodyCamera]:
    """Return the cameras of the parameters, the stereo pair first."""
    pair = parameters.camera.is_rendered
    cameras = [make_stereo_camera(parameters, renderer, vehicle)] if pair else []
    if parameters.camera.file != NO_FILE:
        cameras += make_cameras(parameters, renderer, vehicle)
    return cameras


def vehicle_eyes(parameters: SimulatorParameters, vehicle: str = "") -> list[Eye]:
    """Return the eyes of these cameras, in the same order."""
    eyes: list[Eye] = []
    if parameters.camera.is_rendered:
        eyes += stereo_eyes(parameters, stereo_preset(parameters.camera), vehicle)
    if parameters.camera.file != NO_FILE:
        eyes += eyes_of_file(parameters, vehicle)
    return eyes


def check_vehicle_cameras(camera: CameraSettings) -> None:
    """Raise a ParameterError for presets and files that do not exist or are wrong."""
    if camera.is_rendered:
        stereo_preset(camera)
    if camera.file != NO_FILE:
        load_cameras(camera.file)


_OF_THE_PRESET = ("width", "height", "focal_px", "baseline_m", "noise")
_NAMES = ("stereo_left", "stereo_right")
_IMAGES = (topics.LEFT_IMAGE, topics.RIGHT_IMAGE)
_INFOS = (topics.LEFT_INFO, topics.RIGHT_INFO)


def make_stereo_camera(
    parameters: SimulatorParameters, renderer: Renderer, vehicle: str = ""
) -> BodyCamera:
    """Return the pair of a vehicle."""
    preset = stereo_preset(parameters.camera)
    return BodyCamera(
        preset,
        stereo_eyes(parameters, preset, vehicle),
        rate_hz=parameters.camera.rate_hz,
        renderer=renderer,
        seed=parameters.seed,
    )


def stereo_preset(camera: CameraSettings) -> CameraParameters:
    """Return the parameters of each camera of the pair: a preset, or a rectified camera.

    Raises ParameterError if the preset does not exist, is no pair or slower than rate_hz,
    or a parameter that it replaces is set, too.
    """
    if camera.preset != NO_PRESET:
        return _named_preset(camera)
    pinhole, noise = asdict(camera.rig.camera), load_preset("camera_noise", camera.noise)
    return CameraParameters(**pinhole, baseline_m=camera.baseline_m, noise=noise)


def _named_preset(camera: CameraSettings) -> CameraParameters:
    name = camera.preset
    preset: CameraParameters = load_preset("camera", name)
    for provided in _OF_THE_PRESET:
        value, default = getattr(camera, provided), getattr(CameraSettings(), provided)
        if value != default:
            raise ParameterError(
                f"camera.{provided}: expected its default ({default}) beside camera.preset {name},"
                f" found {value}; the preset has its own: leave one of them"
            )
    if preset.baseline_m == 0.0:
        raise ParameterError(
            f"camera.preset: expected a pair, found {name} with baseline_m 0; put a camera alone"
            " into the file of the parameter camera.file"
        )
    try:
        preset.check_rate(camera.rate_hz)
    except ParameterError as error:
        raise ParameterError(f"camera.{error} (camera.preset {name})") from None
    return preset


def stereo_eyes(
    parameters: SimulatorParameters, preset: CameraParameters, vehicle: str
) -> list[Eye]:
    """Return the left and the right camera, with `base_link` in the middle between them."""
    place, camera = topics.below(vehicle), parameters.camera
    kind = next(kind for kind, encoding in PICTURES.items() if encoding == camera.encoding)
    eyes = []
    for k, (name, image, info) in enumerate(zip(_NAMES, _IMAGES, _INFOS, strict=True)):
        y = (0.5 - k) * preset.baseline_m
        eyes.append(
            Eye(
                name=name,
                frame_id=topics.frame(vehicle, f"{name}_optical"),
                T_body_optical=T_body_optical(
                    (camera.forward_m, y, 0.0), pitch_deg=camera.pitch_deg
                ),
                camera_index=2 * parameters.fleet.instance + k,
                sinks={kind: CameraTopics(image=place(image), info=place(info))},
                baseline_m=k * preset.baseline_m,
            )
        )
    return eyes
