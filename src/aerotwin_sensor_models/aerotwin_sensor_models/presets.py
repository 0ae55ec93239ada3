# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Presets: parameters of known sensors, one YAML file each, with their source.

A preset may name another as its `base`: it is that one but for the parameters that it states.
"""

from collections.abc import Mapping
from importlib import resources
from pathlib import Path
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
    found = _parameters(sensor, name, ())
    where = name if _is_file(name) else f"preset {sensor}/{name}"
    return load_parameters(PARAMETERS_OF[sensor], found, where=where)


def _is_file(name: str) -> bool:
    return name.endswith((".yaml", ".yml"))


def _parameters(sensor: str, name: str, heirs: tuple[str, ...]) -> Any:
    """Return the parameters of a preset over those of its base; `heirs` are based on it."""
    if not _is_file(name) and name not in (known := preset_names(sensor)):
        raise ParameterError(
            f"preset: {sensor} has none named '{name}'; choose one of {', '.join(known)}"
        )
    path: Any = name
    if not _is_file(name):
        path = resources.files(__package__).joinpath("presets", sensor, f"{name}.yaml")
    if str(path) in heirs:
        raise ParameterError(f"{path}: base: it is based on itself, by way of {name}")
    content = read_yaml(str(path))
    found = set(content) if isinstance(content, dict) else set()
    if found - {"base"} != {"source", "parameters"}:
        raise ParameterError(f"{path}: expected the keys source and parameters, and base at most")
    own, base = content["parameters"], content.get("base")
    if base is None:
        return own
    if not (isinstance(base, str) and isinstance(own, dict)):
        raise ParameterError(
            f"{path}: expected base as a name, found {base!r}, and parameters as names with values"
        )
    if _is_file(base):
        base = str(Path(str(path)).parent / base)
    return _over(_parameters(sensor, base, (*heirs, str(path))), own)


def _over(base: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return a base with a preset's own values in its place, group by group."""
    merged = dict(base)
    for name, value in own.items():
        before = merged.get(name)
        if isinstance(value, Mapping) and isinstance(before, Mapping):
            value = _over(before, value)
        merged[name] = value
    return merged
