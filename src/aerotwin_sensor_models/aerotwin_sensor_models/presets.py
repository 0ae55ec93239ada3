# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Presets: parameters of known sensors, one YAML file each, with their source.

One that differs from another in a few values names it as its `base` and lists only those.
"""

from importlib import resources
from pathlib import Path
from typing import Any

from aerotwin_core.errors import ParameterError
from aerotwin_core.foreign_text import shown
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


def load_preset(sensor: str, name: str, *, parameter: str = "preset") -> Any:
    """Return the parameters of a preset, by its name or by the path of a YAML file like one.

    `parameter` is what gave the name, for the message.

    Raises
    ------
    ParameterError
        If sensor, preset or file is unknown or invalid; the message lists the known ones.

    Examples
    --------
    >>> load_preset("gnss", "gnss_default").white_horizontal_m
    0.2
    """
    return _load(sensor, name, (), parameter)


def _load(sensor: str, name: str, derived: tuple[str, ...], parameter: str = "") -> Any:
    """Return the parameters of a preset; `derived` are those that it is a base of."""
    if name in derived:
        circle = " -> ".join([*derived[derived.index(name) :], name])
        raise ParameterError(f"{name}: base: it is its own, {circle}; leave one base out")
    is_file = _is_file(name)
    if not is_file and name not in (known := preset_names(sensor)):
        origin = f"{derived[-1]}: base" if derived else parameter
        raise ParameterError(
            f"{origin}: {sensor} has none named '{name}'; choose one of {', '.join(known)}"
        )
    path: Any = name
    if not is_file:
        path = resources.files(__package__).joinpath("presets", sensor, f"{name}.yaml")
    content = _content(str(path))
    base = content.get("base")
    if base is not None and is_file and _is_file(base):
        base = str((Path(name).parent / base).resolve())
    return load_parameters(
        PARAMETERS_OF[sensor],
        content["parameters"],
        where=name if is_file else f"preset {sensor}/{name}",
        base=None if base is None else _load(sensor, base, (*derived, name)),
    )


def _is_file(name: str) -> bool:
    return name.endswith((".yaml", ".yml"))


def _content(path: str) -> dict[str, Any]:
    content = read_yaml(path)
    keys = set(content) if isinstance(content, dict) else set()
    if keys - {"base"} != {"source", "parameters"}:
        raise ParameterError(f"{path}: expected the keys source and parameters, and base if any")
    if "base" in keys and not isinstance(content["base"], str):
        raise ParameterError(
            f"{path}: base: expected the name of a preset or the path of a file like one, relative"
            f" to this one, found {shown(content['base'])}"
        )
    return content
