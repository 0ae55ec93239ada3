# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Presets: parameters of known sensors, one YAML file each, with their source."""

from importlib import resources
from typing import Any

from aerotwin_core.errors import ParameterError
from aerotwin_core.parameters import load_parameters, read_yaml
from aerotwin_sensor_models.airspeed import AirspeedParameters
from aerotwin_sensor_models.barometer import BarometerParameters
from aerotwin_sensor_models.camera_errors import CameraNoiseParameters
from aerotwin_sensor_models.camera_preset import CameraParameters
from aerotwin_sensor_models.external_vision import ExternalVisionParameters
from aerotwin_sensor_models.gnss import GnssParameters
from aerotwin_sensor_models.imu import ImuParameters
from aerotwin_sensor_models.lidar import LidarParameters
from aerotwin_sensor_models.magnetometer import MagnetometerParameters
from aerotwin_sensor_models.optical_flow import OpticalFlowParameters
from aerotwin_sensor_models.radar import RadarParameters
from aerotwin_sensor_models.range_finder import RangeFinderParameters

PARAMETERS_OF: dict[str, type] = {
    "imu": ImuParameters,
    "barometer": BarometerParameters,
    "magnetometer": MagnetometerParameters,
    "gnss": GnssParameters,
    "external_vision": ExternalVisionParameters,
    "airspeed": AirspeedParameters,
    "range_finder": RangeFinderParameters,
    "optical_flow": OpticalFlowParameters,
    "camera": CameraParameters,
    "camera_noise": CameraNoiseParameters,
    "lidar": LidarParameters,
    "radar": RadarParameters,
}


def preset_names(sensor: str) -> list[str]:
    """Return the names of the presets of a sensor: "imu", "gnss" and so on.

    Raises
    ------
    ParameterError
        If the sensor is unknown; the message lists the known ones.
    """
    if sensor not in PARAMETERS_OF:
        raise ParameterError(
            f"sensor: there is none named '{sensor}'; choose one of {', '.join(PARAMETERS_OF)}"
        )
    folder = resources.files(__package__).joinpath("presets", sensor)
    return sorted(f.name.removesuffix(".yaml") for f in folder.iterdir() if f.name[-5:] == ".yaml")


def load_preset(sensor: str, name: str) -> Any:
    """Return the parameters of a preset, by its name or by the path of a YAML file like one.

    Raises
    ------
    ParameterError
        If sensor, preset or file is unknown or invalid; the message lists the known ones.

    Examples
    --------
    >>> load_preset("gnss", "gnss_default").white_horizontal_m
    0.2
    """
    is_file = name.endswith((".yaml", ".yml"))
    if not is_file and name not in (known := preset_names(sensor)):
        raise ParameterError(
            f"preset: {sensor} has none named '{name}'; choose one of {', '.join(known)}"
        )
    return load_parameters(
        PARAMETERS_OF[sensor],
        _content(sensor, name, is_file=is_file)["parameters"],
        where=name if is_file else f"preset {sensor}/{name}",
    )


def _content(sensor: str, name: str, *, is_file: bool) -> dict[str, Any]:
    path: Any = name
    if not is_file:
        path = resources.files(__package__).joinpath("presets", sensor, f"{name}.yaml")
    content = read_yaml(str(path))
    if not isinstance(content, dict) or set(content) != {"source", "parameters"}:
        raise ParameterError(f"{path}: expected the keys source and parameters")
    return content
