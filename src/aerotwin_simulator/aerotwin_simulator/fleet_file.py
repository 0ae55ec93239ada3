# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A fleet file: the vehicles of a flight by name, and what differs between them."""

import dataclasses
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aerotwin_core.errors import ParameterError
from aerotwin_core.foreign_text import shown
from aerotwin_core.home_path import expanded
from aerotwin_core.origin import Origin
from aerotwin_core.parameters import load_parameters, parameter, read_yaml_with_lines
from aerotwin_simulator.parameters import GROUND_ROBOT, MOST_VEHICLES, MULTIROTOR, POINT_MASS
from aerotwin_simulator.same_parameter import same_parameter

TAKEN_NAMES = frozenset(
    ["simulator", "map", "obstacles", "formation", "clock", "diagnostics", "rosout", "tf"]
)
"""Names that stand beside those of vehicles: of nodes, topics and frames of the simulation."""
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")  # what a ROS namespace allows
_FILES = (
    *("controller_options", "px4_dir", "px4_parameters", "ardupilot", "ardupilot_parameters"),
    *("mission", "cameras"),
)
"""Keys whose value is a path; that of others is one if it ends as a YAML file."""
_AUTOPILOT = ("controller", "px4", "ardupilot", "sensors", "vision", "rc", "mission.is_anchored")
_STEREO_PAIR = tuple(f"camera.{name}" for name in ("preset", "encoding", "pitch_deg", "baseline_m"))
_WITHOUT = {
    MULTIROTOR: ("ground_robot",),
    POINT_MASS: ("ground_robot", *_AUTOPILOT),
    GROUND_ROBOT: ("airframe", "mission", *_AUTOPILOT, *_STEREO_PAIR),
}
"""Parameters and groups of them that a vehicle has no use for, by its dynamics."""


@dataclass(frozen=True, kw_only=True)
class FleetVehicle:
    """One vehicle of a fleet file: its start, and the parameters that differ from the flight's."""

    name: str = parameter(text="namespace and frame prefix")
    instance: int | None = parameter(
        None,
        text="vehicle number; null counts up from that of the flight",
        minimum=0,
        maximum=MOST_VEHICLES - 1,
    )
    start_east_m: float = parameter(0.0, text="start, east of the world's", unit="m")
    start_north_m: float = parameter(0.0, text="start, north of the world's", unit="m")
    start_yaw_deg: float | None = parameter(
        None, text="yaw at the start, from east; null takes the world's", unit="deg"
    )
    dynamics: str | None = same_parameter("dynamics", default=None)
    joins_at_s: float = parameter(
        0.0, text="when it comes into the world, at rest on the ground", unit="s", minimum=0.0
    )
    leaves_at_s: float | None = parameter(
        None, text="when it is taken out of the world; null: never", unit="s", minimum=0.0
    )
    airframe: str | None = same_parameter("airframe", default=None)
    ground_vehicle: str | None = same_parameter("ground_robot.vehicle", default=None)
    controller: str | None = same_parameter("controller.kind", default=None)
    controller_options: str | None = same_parameter("controller.options", default=None)
    px4_dir: str | None = same_parameter("px4.dir", default=None)
    px4_model: str | None = same_parameter("px4.model", default=None)
    px4_parameters: str | None = same_parameter("px4.parameters", default=None)
    ardupilot: str | None = same_parameter("ardupilot.dir", default=None)
    ardupilot_parameters: str | None = same_parameter("ardupilot.parameters", default=None)
    mission: str | None = same_parameter("mission.file", default=None)
    anchor_mission: bool | None = same_parameter("mission.is_anchored", default=None)
    imu: str | None = same_parameter("sensors.imu", default=None)
    barometer: str | None = same_parameter("sensors.barometer", default=None)
    magnetometer: str | None = same_parameter("sensors.magnetometer", default=None)
    gnss: str | None = same_parameter("sensors.gnss", default=None)
    external_vision: str | None = same_parameter("vision.source", default=None)
    range_finder: str | None = same_parameter("sensors.range_finder", default=None)
    optical_flow: str | None = same_parameter("sensors.optical_flow", default=None)
    airspeed: str | None = same_parameter("sensors.airspeed", default=None)
    rc: str | None = same_parameter("rc", default=None)
    extra_sensors: tuple[str, ...] | None = same_parameter("sensors.extra", default=None)
    camera: bool | None = same_parameter("camera.is_rendered", default=None)
    camera_rate_hz: float | None = same_parameter("camera.rate_hz", default=None)
    camera_preset: str | None = same_parameter("camera.preset", default=None)
    camera_encoding: str | None = same_parameter("camera.encoding", default=None)
    camera_pitch_deg: float | None = same_parameter("camera.pitch_deg", default=None)
    camera_baseline_m: float | None = same_parameter("camera.baseline_m", default=None)
    cameras: str | None = same_parameter("camera.file", default=None)
    lidar: str | None = same_parameter("lidar.preset", default=None)
    radar: str | None = same_parameter("radar.preset", default=None)
    slam: str | None = parameter(
        None,
        text="its SLAM under test; null takes the flight's",
        choices=(None, "stereo_odometry", "kiss_icp", "external", "none"),
    )

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ParameterError(
                f"name: expected a letter, then letters, digits and _, found '{self.name}'"
            )
        if self.name in TAKEN_NAMES:
            raise ParameterError(
                f"name: '{self.name}' is the name of a node, a topic or a frame of the simulation; "
                "give the vehicle another"
            )
        if self.leaves_at_s is not None and self.leaves_at_s <= self.joins_at_s:
            raise ParameterError(
                f"leaves_at_s: expected more than joins_at_s {self.joins_at_s:g}, found "
                f"{self.leaves_at_s:g}"
            )

    def check_use(self, dynamics: str) -> None:
        """Raise ParameterError if a value is given that a vehicle of these dynamics cannot use."""
        for field in dataclasses.fields(self):
            same, value = field.metadata.get("same_as", ""), getattr(self, field.name)
            is_unused = {same, same.partition(".")[0]} & {*_WITHOUT[dynamics]}
            is_given = value is not None and value is not False and value not in ("none", ())
            if is_unused and is_given:
                raise ParameterError(
                    f"{field.name}: expected none with dynamics {dynamics}, which has no use for "
                    f"it, found {shown(value)}; remove it"
                )


@dataclass(frozen=True, kw_only=True)
class _Fleet:
    """A fleet file as it is written."""

    vehicles: tuple[FleetVehicle, ...] = parameter(text="each with its name and differences")


@dataclass(frozen=True)
class FleetEntry:
    """A vehicle of a fleet file, and where it stands there."""

    vehicle: FleetVehicle
    origin: Origin

    def placed(self, error: Exception) -> ParameterError:
        """Return an error that begins with a parameter's name with file, line, vehicle and key."""
        text = str(error).removeprefix(f"{self.vehicle.name}: ")
        name, colon, rest = text.partition(": ")
        fields = dataclasses.fields(FleetVehicle)
        keys = {field.metadata.get("same_as", field.name): field.name for field in fields}
        if colon and (key := keys.get(name, name if name in keys.values() else "")):
            return ParameterError(f"{self.origin.at(key)}: {rest}")
        return ParameterError(f"{self.origin}: {text}")


def load_fleet(path: str | Path) -> list[FleetEntry]:
    """Return the vehicles of a fleet file; its relative paths are those beside it.

    Raises ParameterError with file, line, vehicle and key if a value is wrong, a file that it names
    does not exist, or two vehicles share a name.
    """
    content, origin = read_yaml_with_lines(path)
    if isinstance(content, list):
        raise ParameterError(
            f"{path}: expected the key vehicles with a list below it, found a list alone; write "
            "vehicles: above it"
        )
    entries = []
    for k, vehicle in enumerate(load_parameters(_Fleet, content, where=origin).vehicles):
        own = dataclasses.replace(origin, keys=("vehicles", k), label=vehicle.name)
        entries.append(FleetEntry(_with_paths(vehicle, Path(path).parent, own), own))
    if not entries:
        raise ParameterError(f"{path}: expected at least one vehicle, found none")
    _refuse_twins(entries, "name", [entry.vehicle.name for entry in entries])
    return entries


def _with_paths(vehicle: FleetVehicle, folder: Path, origin: Origin) -> FleetVehicle:
    """Return the vehicle with paths that are right from the working folder."""
    changes: dict[str, Any] = {}
    for key, text in _texts(vehicle):
        if key in _FILES or text.endswith((".yaml", ".yml")):
            changes[key] = _found(text, folder, origin.at(key))
    extra = []
    for text in vehicle.extra_sensors or ():
        spec, at, file = text.partition("@")
        where = origin.at("extra_sensors")
        extra.append(f"{spec}@{_found(file, folder, where)}" if at else text)
    if extra:
        changes["extra_sensors"] = tuple(extra)
    return dataclasses.replace(vehicle, **changes)


def _texts(vehicle: FleetVehicle) -> Iterator[tuple[str, str]]:
    for field in dataclasses.fields(vehicle):
        value = getattr(vehicle, field.name)
        if "same_as" in field.metadata and isinstance(value, str) and value not in ("", "none"):
            yield field.name, value


def _found(text: str, folder: Path, where: str) -> str:
    """Return the path of what a fleet file in a folder names."""
    path = expanded(text)
    beside = folder / path  # itself, if it is absolute
    if beside.exists():
        return str(beside)
    if path.exists():
        warnings.warn(
            f"{where}: {text} was found in the working folder, not beside the fleet file; the next "
            "version looks only beside it: write the path from there",
            FutureWarning,
            stacklevel=2,
        )
        return text
    raise ParameterError(
        f"{where}: expected a file or folder as seen from the fleet file, found none of the name "
        f"{text} in {folder.absolute()}; correct the path"
    )


def refuse_same_numbers(entries: Sequence[FleetEntry], numbers: Sequence[int]) -> None:
    """Raise ParameterError if two vehicles of a fleet file have one number."""
    _refuse_twins(entries, "instance", numbers)


def _refuse_twins(
    entries: Sequence[FleetEntry], key: str, values: Sequence[int] | Sequence[str]
) -> None:
    counted = Counter(values)
    for entry, value in zip(reversed(entries), reversed(values), strict=True):
        if counted[value] > 1:
            raise ParameterError(
                f"{entry.origin.at(key)}: expected different ones, found {value} more than once; "
                "give the vehicle another"
            )


def refuse_emptiness(entries: Sequence[FleetEntry], duration_s: float) -> None:
    """Raise ParameterError if no vehicle is there at the start, or once before the end [s]."""
    vehicles = [entry.vehicle for entry in entries]
    if all(vehicle.joins_at_s > 0.0 for vehicle in vehicles):
        origin = entries[0].origin
        raise ParameterError(
            f"{origin.at('joins_at_s')}: expected one vehicle from the start, found none; leave "
            "joins_at_s out for one of them"
        )
    for entry in entries:
        end_s = entry.vehicle.leaves_at_s
        if end_s is None or 0.0 < duration_s <= end_s:
            continue
        if not any(
            other.joins_at_s <= end_s and (other.leaves_at_s is None or other.leaves_at_s > end_s)
            for other in vehicles
        ):
            raise ParameterError(
                f"{entry.origin.at('leaves_at_s')}: expected a vehicle that stays in the world, "
                f"found none after {end_s:g} s; leave leaves_at_s of one out, or end the flight by "
                "duration_s"
            )
