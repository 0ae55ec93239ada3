# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""All cameras of a vehicle: the stereo pair and those of a file."""

from aerotwin_simulator.body_camera import BodyCamera
from aerotwin_simulator.camera_file import load_cameras, make_cameras
from aerotwin_simulator.parameters import NO_FILE, SimulatorParameters
from aerotwin_simulator.renderer import Renderer
from aerotwin_simulator.stereo_camera import make_stereo_camera, stereo_preset


def make_vehicle_cameras(
    parameters: SimulatorParameters, renderer: Renderer, vehicle: str = ""
) -> list[BodyCamera]:
    """Return the cameras of the parameters, the stereo pair first."""
    cameras = [make_stereo_camera(parameters, renderer, vehicle)] if parameters.camera else []
    if parameters.cameras != NO_FILE:
        cameras += make_cameras(parameters, renderer, vehicle)
    return cameras


def check_vehicle_cameras(parameters: SimulatorParameters) -> None:
    """Reject presets and files that do not exist or are wrong.

    Raises ParameterError naming the error.
    """
    if parameters.camera:
        stereo_preset(parameters)
    if parameters.cameras != NO_FILE:
        load_cameras(parameters.cameras)
