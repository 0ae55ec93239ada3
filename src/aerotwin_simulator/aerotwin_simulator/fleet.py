# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The vehicles of a flight: one, several identical ones, or those of a fleet file."""

import dataclasses
import itertools
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from aerotwin_core.errors import ParameterError
from aerotwin_core.foreign_text import listed
from aerotwin_core.parameters import load_parameters_file, replaced
from aerotwin_px4_bridge import MissionPlan
from aerotwin_simulator.controller_settings import CHOSEN_CPU, NO_CPU, ControllerSettings
from aerotwin_simulator.fleet_file import (
    FleetEntry,
    FleetVehicle,
    load_fleet,
    refuse_emptiness,
    refuse_same_numbers,
)
from aerotwin_simulator.parameters import (
    GROUND_ROBOT,
    MULTIROTOR,
    FleetSettings,
    SimulatorParameters,
)
from aerotwin_worlds.loading import WORLD_FILE, split_seed

SPACING_M = 3.0
_ON_GROUND = {"lidar.z_m": 1.0, "radar.z_m": 1.0}
"""A ground robot carries them so high above its wheels."""


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
    entry: FleetEntry | None = None  # in the fleet file, if it is from one


@contextmanager
def placing_errors(entry: FleetEntry | None) -> Iterator[None]:
    """Give a ParameterError about a vehicle of a fleet file its line, name and key there."""
    try:
        yield
    except ParameterError as error:
        if entry is None:
            raise
        raise entry.placed(error) from None


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
    first = parameters.fleet.instance
    plans = []
    for k, entry in enumerate(entries := load_fleet(file)):
        with placing_errors(entry):
            plan = plan_of(parameters, entry.vehicle, first + k)
        plans.append(dataclasses.replace(plan, entry=entry))
    refuse_emptiness(entries, parameters.duration_s)
    refuse_same_numbers(entries, [plan.parameters.fleet.instance for plan in plans])
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

    Raises ParameterError if the folder has none for the world.
    """
    if parameters.mission.file == "none":
        return None
    file = Path(parameters.mission.file)
    if not file.is_dir():
        return file
    world = Path(split_seed(parameters.world)[0])
    found = file / f"{world.parent.name if world.name == WORLD_FILE else world.stem}.yaml"
    if not found.is_file():
        known = listed(path.name for path in sorted(file.glob("*.yaml"))) or "none"
        raise ParameterError(
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
    entry.check_use(parameters.dynamics if entry.dynamics is None else entry.dynamics)
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
    if entry.slam is not None and not hasattr(parameters, "slam"):
        raise ParameterError(
            f"slam: expected null in a flight without SLAM, found {entry.slam}; fly it by "
            "launch/sitl_flight.launch.yaml, or leave it out"
        )
    changed = replaced(parameters, changes | {"fleet": _fleet_of_one(parameters, instance)})
    return VehiclePlan(
        name=entry.name,
        parameters=changed,
        start_east_m=entry.start_east_m,
        start_north_m=entry.start_north_m,
        start_yaw_deg=entry.start_yaw_deg,
        joins_at_s=entry.joins_at_s,
        leaves_at_s=entry.leaves_at_s,
    )
