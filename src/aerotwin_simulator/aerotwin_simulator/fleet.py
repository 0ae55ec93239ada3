# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The vehicles of a flight: one, several identical ones, or those of a fleet file."""

import dataclasses
import itertools
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from aerotwin_core.errors import ParameterError, UserError
from aerotwin_core.foreign_text import listed
from aerotwin_core.parameters import load_parameters_file, parameter, replaced
from aerotwin_px4_bridge import MissionPlan
from aerotwin_simulator.controller_settings import CHOSEN_CPU, NO_CPU, ControllerSettings
from aerotwin_simulator.parameters import (
    GROUND_ROBOT,
    MOST_VEHICLES,
    MULTIROTOR,
    FleetSettings,
    SimulatorParameters,
)
from aerotwin_simulator.same_parameter import same_parameter
from aerotwin_worlds.loading import WORLD_FILE

SPACING_M = 3.0
_ON_GROUND = {"lidar.z_m": 1.0, "radar.z_m": 1.0}
"""A ground robot carries them so high above its wheels."""
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")  # what a ROS namespace allows


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
        if self.leaves_at_s is not None and self.leaves_at_s <= self.joins_at_s:
            raise ParameterError(
                f"leaves_at_s: expected more than joins_at_s {self.joins_at_s:g}, found "
                f"{self.leaves_at_s:g}"
            )


@dataclass(frozen=True, kw_only=True)
class Fleet:
    """A fleet file."""

    vehicles: tuple[FleetVehicle, ...] = parameter(text="each with its name and differences")


@dataclass(frozen=True, kw_only=True)
class VehiclePlan:
    """One vehicle before it is made."""

    name: str  # namespace of its topics, prefix of its frames; "" for a single one
    parameters: SimulatorParameters
    start_east_m: float = 0.0  # from the world's start, along map x
    start_north_m: float = 0.0  # and y
    start_yaw_deg: float | None = None  # None: the world's
    is_alike: bool = False  # one of several that fly one mission side by side
    joins_at_s: float = 0.0  # simulated time
    leaves_at_s: float | None = None


def fleet_name(k: int) -> str:
    """Return the name of the k-th of several identical vehicles."""
    return f"uav{k}"


def plan_vehicles(parameters: SimulatorParameters) -> list[VehiclePlan]:
    """Return the vehicles of the parameters.

    Identical vehicles all start at the world's start: `place_side_by_side` separates them. Raises
    ParameterError if the fleet file is wrong, two vehicles share a name or an instance, or both
    `fleet.file` and `fleet.instances` are set.
    """
    file, n = parameters.fleet.file, parameters.fleet.instances
    if file == "none" and n == 1:
        return [VehiclePlan(name="", parameters=parameters)]
    parameters = _of_member(parameters)
    if file == "none":
        return [_like(parameters, k) for k in range(n)]
    if n != 1:
        raise ParameterError(
            "fleet.instances: expected 1 beside a fleet file; name vehicles in the file"
        )
    fleet = load_parameters_file(Fleet, file)
    if not fleet.vehicles:
        raise ParameterError(f"{file}: expected at least one vehicle, found none")
    first = parameters.fleet.instance
    plans = [plan_of(parameters, entry, first + k) for k, entry in enumerate(fleet.vehicles)]
    if all(plan.joins_at_s > 0.0 for plan in plans):
        raise ParameterError(f"{file}: joins_at_s: expected one vehicle from the start, found none")
    _refuse_twins(file, "name", [plan.name for plan in plans])
    _refuse_twins(file, "instance", [plan.parameters.fleet.instance for plan in plans])
    return plans


def plan_joining(
    parameters: SimulatorParameters, entry: FleetVehicle, taken: Collection[int]
) -> VehiclePlan:
    """Return a vehicle that joins a running fleet, with the first number that is not taken.

    It has no SLAM: those are started at the launch. Raises ParameterError as `plan_of`.
    """
    first = parameters.fleet.instance
    free = next(number for number in itertools.count(first) if number not in taken)
    instance = free if entry.instance is None else entry.instance
    slam = "none" if hasattr(parameters, "slam") else None
    entry = dataclasses.replace(entry, slam=slam)
    return plan_of(_of_member(parameters), entry, instance)


def _of_member(parameters: SimulatorParameters) -> SimulatorParameters:
    """Return the parameters of a fleet's vehicle: the choice of a processor is the loop's alone."""
    if parameters.autopilot.pin_cpu != CHOSEN_CPU:
        return parameters
    return replaced(parameters, {"autopilot.pin_cpu": NO_CPU})


def mission_of(plan: VehiclePlan) -> MissionPlan | None:
    """Return the mission of a vehicle's autopilot, None for none.

    Errors as those of `mission_file` and `side_by_side`.
    """
    own = plan.parameters
    if own.dynamics == GROUND_ROBOT or not own.controller.is_autopilot:
        return None
    file = mission_file(plan.parameters)
    if file is None:
        return None
    return side_by_side(load_parameters_file(MissionPlan, file), plan)


def mission_file(parameters: SimulatorParameters) -> Path | None:
    """Return the file that `mission.file` names: itself, or the one of the world in a folder.

    Raises UserError if the folder has none for the world.
    """
    if parameters.mission.file == "none":
        return None
    file = Path(parameters.mission.file)
    if not file.is_dir():
        return file
    world = Path(parameters.world.partition("@")[0])
    found = file / f"{world.parent.name if world.name == WORLD_FILE else world.stem}.yaml"
    if not found.is_file():
        known = listed(path.name for path in sorted(file.glob("*.yaml"))) or "none"
        raise UserError(
            f"mission.file: no mission {found.name} for the world {parameters.world} in {file}, "
            f"found {known}; name a file (mission:=FILE), or none to fly by a ground station"
        )
    return found


def side_by_side(mission: MissionPlan, plan: VehiclePlan) -> MissionPlan:
    """Return the mission of a vehicle: identical vehicles fly it from their own starts.

    Raises ParameterError if the mission of several has a track, which belongs to one vehicle.
    """
    if not plan.is_alike:
        return mission
    if mission.track:
        raise ParameterError(
            f"fleet.instances: expected 1 with a track ({mission.track}), found more; give each "
            "vehicle of a fleet file a mission of its own"
        )
    east, north = plan.start_east_m, plan.start_north_m
    moved = []
    for waypoint in mission.waypoints:
        x, y, z = waypoint.position_m
        moved.append(dataclasses.replace(waypoint, position_m=(x + east, y + north, z)))
    return dataclasses.replace(mission, waypoints=tuple(moved))


def _fleet_of_one(parameters: SimulatorParameters, instance: int) -> FleetSettings:
    return FleetSettings(instance=instance, port_shift=parameters.fleet.port_shift)


def _like(parameters: SimulatorParameters, k: int) -> VehiclePlan:
    fleet = _fleet_of_one(parameters, parameters.fleet.instance + k)
    changed = dataclasses.replace(parameters, fleet=fleet)
    return VehiclePlan(name=fleet_name(k), parameters=changed, is_alike=True)


def plan_of(parameters: SimulatorParameters, entry: FleetVehicle, instance: int) -> VehiclePlan:
    """Return one vehicle as the parameters of the flight and its entry in a fleet file say.

    `instance` is its number if the entry names none. Raises ParameterError if they contradict, or
    there is no port for it.
    """
    instance = instance if entry.instance is None else entry.instance
    changes = {
        field.metadata["same_as"]: getattr(entry, field.name)
        for field in dataclasses.fields(entry)
        if "same_as" in field.metadata and getattr(entry, field.name) is not None
    }
    if entry.dynamics not in (None, MULTIROTOR) and entry.controller is None:
        changes["controller.kind"] = ControllerSettings().kind  # not that of multirotors
    if entry.dynamics == GROUND_ROBOT:
        changes |= _ON_GROUND | {"camera.is_rendered": bool(entry.camera)}
    if entry.slam is not None:
        changes["slam"] = entry.slam
    try:
        if entry.slam is not None and not hasattr(parameters, "slam"):
            raise ParameterError(
                f"slam: expected null in a flight without SLAM, found {entry.slam}; fly it by "
                "launch/sitl_flight.launch.yaml, or leave it out"
            )
        changed = replaced(parameters, changes | {"fleet": _fleet_of_one(parameters, instance)})
    except ParameterError as error:
        raise ParameterError(f"{parameters.fleet.file}: {entry.name}: {error}") from None
    return VehiclePlan(
        name=entry.name,
        parameters=changed,
        start_east_m=entry.start_east_m,
        start_north_m=entry.start_north_m,
        start_yaw_deg=entry.start_yaw_deg,
        joins_at_s=entry.joins_at_s,
        leaves_at_s=entry.leaves_at_s,
    )


def _refuse_twins(where: str, key: str, values: Sequence[object]) -> None:
    twins = [str(value) for value, n in Counter(values).items() if n > 1]
    if twins:
        raise ParameterError(
            f"{where}: {key}: expected different ones, found {', '.join(twins)} more than once"
        )
