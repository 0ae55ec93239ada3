# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Custom sensors: their interface, their name in YAML, and their messages.

A class and a line of YAML (`sensors: {extra: ["my_package.sonar:Sonar"]}`) add a sensor to a
vehicle. `Airspeed` is an example.
"""

import importlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from rosbags.interfaces import Nodetype

from aerotwin_core.errors import ParameterError, UserError
from aerotwin_core.messages import TYPESTORE, header
from aerotwin_core.parameters import read_yaml
from aerotwin_core.seeds import seed_sequence

_NEEDED = ("topic", "msgtype", "rate_hz", "sample")


@dataclass(frozen=True, slots=True, kw_only=True)
class SensorTruth:
    """The truth at the instant of a sample; body is FLU at the centre of mass, map is ENU.

    Attributes
    ----------
    p_map_body, v_map_body, wind_map : (3,) array
        Position [m], velocity [m/s] and velocity of the air [m/s] in map axes.
    q_map_body, R_map_body : (4,), (3, 3) array
        Attitude as quaternion xyzw and as matrix.
    omega_map_body_in_body, specific_force_in_body : (3,) array
        Angular velocity [rad/s] and reading of a perfect accelerometer [m/s^2], body axes.
    altitude_amsl_m : float
        Altitude above mean sea level [m].
    cast : callable
        `cast(p_map, direction_map)` returns the distance [m] from a point to the first surface of
        the world in a direction, infinity if there is none.
    """

    p_map_body: np.ndarray
    v_map_body: np.ndarray
    q_map_body: np.ndarray
    R_map_body: np.ndarray
    omega_map_body_in_body: np.ndarray
    specific_force_in_body: np.ndarray
    wind_map: np.ndarray
    altitude_amsl_m: float
    cast: Callable[[np.ndarray, np.ndarray], float] = lambda p_map, direction_map: math.inf


class ExtraSensor(Protocol):
    """A custom sensor; made as `Class(parameters, rng)`.

    `parameters` is the mapping of the YAML file in the line ({} if none), `rng` a generator that
    nothing else draws from. A class may also have `frame_id` (default "base_link") and its pose
    `T_body_sensor` (4, 4), which /tf_static then has.
    """

    topic: ClassVar[str]
    """Relative name of the topic."""
    msgtype: ClassVar[str]
    """Type of its messages, such as "sensor_msgs/msg/Range"."""
    rate_hz: float
    """Samples per second."""

    def sample(self, stamp_ns: int, truth: SensorTruth) -> Mapping[str, Any] | None:
        """Return the fields of the message at a simulated time [ns]; None for no message.

        Fields that hold a message are mappings too. Missing fields are 0, empty or false; a missing
        header is added.
        """
        ...


def make_extra_sensor(line: str, *, seed: int, vehicle: int | str) -> ExtraSensor:
    """Return the sensor of a line `module:Class` or `module:Class@parameters.yaml`.

    Its noise follows from seed, vehicle and class, not from the path of its parameters: two of one
    class on one vehicle draw the same numbers.

    Raises
    ------
    UserError
        If the class cannot be found or made, or lacks a member of `ExtraSensor`.
    """
    name, _, path = line.partition("@")
    parameters = read_yaml(path) if path else {}
    if not isinstance(parameters, Mapping):
        raise ParameterError(f"{path}: expected names with values, found {parameters!r}")
    make = _find(name)
    try:
        sensor = make(parameters, seed_sequence(seed, vehicle, name))
    except UserError:
        raise
    except Exception as error:
        raise UserError(
            f"extra sensor {line}: cannot be made: {type(error).__name__}: {error}; the class is "
            "called with (parameters, rng)"
        ) from error
    lacking = [attribute for attribute in _NEEDED if not hasattr(sensor, attribute)]
    if lacking:
        raise UserError(f"extra sensor {line}: expected {', '.join(_NEEDED)}, lacks {lacking}")
    if sensor.msgtype not in TYPESTORE.types:
        raise UserError(f"extra sensor {line}: no message type '{sensor.msgtype}' is known")
    T = np.asarray(getattr(sensor, "T_body_sensor", np.eye(4)))
    if T.shape != (4, 4) or not np.allclose(T[:3, :3] @ T[:3, :3].T, np.eye(3), atol=1e-6):
        raise UserError(
            f"extra sensor {line}: T_body_sensor must be a (4, 4) pose in body axes, got "
            f"{T.tolist()}"
        )
    if not (isinstance(sensor.rate_hz, int | float) and 0.0 < sensor.rate_hz <= 1e6):
        raise UserError(f"extra sensor {line}: rate_hz must be positive, got {sensor.rate_hz}")
    return sensor


def extra_message(sensor: ExtraSensor, stamp_ns: int, fields: Mapping[str, Any]) -> Any:
    """Return the message of a sample, its header stamped, ready for `serialize`.

    Raises
    ------
    UserError
        If a field is unknown or of the wrong type.
    """
    fields = dict(fields)
    if "header" in dict(TYPESTORE.fielddefs[sensor.msgtype][1]):
        frame_id = getattr(sensor, "frame_id", "base_link")
        fields.setdefault("header", header(stamp_ns, frame_id))
    return _filled(sensor.msgtype, fields, f"{type(sensor).__name__}: {sensor.msgtype}")


def _find(name: str) -> Any:
    module_name, _, class_name = name.partition(":")
    if not (module_name and class_name):
        raise UserError(f"extra sensor: expected module:Class, found '{name}'")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise UserError(
            f"extra sensor {name}: no module '{error.name}' found; install it, or put its folder "
            "on PYTHONPATH"
        ) from error
    except Exception as error:
        raise UserError(
            f"extra sensor {name}: {module_name} cannot be imported: {type(error).__name__}: "
            f"{error}"
        ) from error
    found = getattr(module, class_name, None)
    if not callable(found):
        raise UserError(f"extra sensor {name}: {module_name} has no class '{class_name}'")
    return found


def _filled(msgtype: str, fields: Mapping[str, Any], where: str) -> Any:
    """Return a message of a type with these fields, the others zero."""
    definitions = dict(TYPESTORE.fielddefs[msgtype][1])
    unknown = sorted(set(fields) - set(definitions))
    if unknown:
        raise UserError(f"{where} has no field {unknown}; it has {', '.join(definitions)}")
    values = {
        field: _value(kind, fields.get(field), f"{where}.{field}")
        for field, kind in definitions.items()
    }
    return TYPESTORE.types[msgtype](**values)


def _value(kind: Any, value: Any, where: str) -> Any:
    node, detail = kind
    if node == Nodetype.NAME:
        is_message = hasattr(value, "__msgtype__")
        return value if is_message else _filled(detail, value or {}, where)
    if node == Nodetype.BASE:
        return _scalar(detail[0], value, where)
    element, length = detail
    if element[0] == Nodetype.BASE and element[1][0] != "string":
        return _array(element[1][0], length if node == Nodetype.ARRAY else None, value, where)
    items = value if value is not None else [None] * (length if node == Nodetype.ARRAY else 0)
    return [_value(element, item, f"{where}[{i}]") for i, item in enumerate(items)]


def _scalar(kind: str, value: Any, where: str) -> Any:
    make = {"string": str, "bool": bool}.get(kind, float if kind.startswith("float") else int)
    try:
        return make() if value is None else make(value)
    except (TypeError, ValueError) as error:
        raise UserError(f"{where}: expected a {kind}, found {value!r}") from error


def _array(kind: str, length: int | None, value: Any, where: str) -> np.ndarray:
    dtype = {"bool": np.bool_, "byte": np.uint8, "octet": np.uint8}.get(kind, kind)
    try:
        array = np.zeros(length or 0, dtype) if value is None else np.asarray(value, dtype).ravel()
    except (TypeError, ValueError) as error:
        raise UserError(f"{where}: expected numbers ({kind}), found {value!r}") from error
    if length is not None and len(array) != length:
        raise UserError(f"{where}: expected {length} numbers, found {len(array)}")
    return array
