# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Checks before a world is loaded or a process started."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from aerotwin_core.errors import ParameterError
from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane
from aerotwin_multirotor_dynamics import load_airframe
from aerotwin_sensor_models import load_preset
from aerotwin_simulator.controllers import BackendSetup, check_controller, check_link_port
from aerotwin_simulator.events.plan import load_events
from aerotwin_simulator.extra_sensors import make_extra_sensors
from aerotwin_simulator.fleet import VehiclePlan, mission_of, placing_errors, plan_vehicles
from aerotwin_simulator.parameters import MULTIROTOR, NO_FILE, SimulatorParameters
from aerotwin_simulator.vehicle_cameras import check_vehicle_cameras
from aerotwin_worlds.loading import find_world

_ON_HIL_PORTS = ("embedded", "px4")


def check_before_flight(parameters: SimulatorParameters) -> None:
    """Reject, before anything slow begins, errors that would end the flight at its start.

    Raises UserError if the world, a mission, the file of events, an airframe, a camera, a lidar, a
    radar or a controller does not exist or is wrong, PX4 was not built, or a port is in use.
    """
    find_world(parameters.world)
    if parameters.events != NO_FILE:
        load_events(parameters.events)
    with TemporaryDirectory(prefix="aerotwin-") as folder:
        plans = plan_vehicles(parameters)
        for k, plan in enumerate(plans):
            with placing_errors(plan.entry):
                if k > 0 and plan.is_alike and plan.parameters.controller.kind in _ON_HIL_PORTS:
                    if plan.parameters.dynamics == MULTIROTOR:  # all else is as with the first
                        check_link_port(plan.parameters, len(plans))
                else:
                    _check_vehicle(plan, len(plans), Path(folder))


def _check_vehicle(plan: VehiclePlan, n_vehicles: int, folder: Path) -> None:
    own, nowhere = plan.parameters, GeodeticPoint(latitude_deg=0.0, longitude_deg=0.0)
    make_extra_sensors(own)
    check_vehicle_cameras(own.camera)
    if own.lidar.is_mounted:
        load_preset("lidar", own.lidar.preset, parameter="lidar.preset")
    if own.radar.is_mounted:
        load_preset("radar", own.radar.preset, parameter="radar.preset")
    airframe = load_airframe(own.airframe)
    mission = mission_of(plan)
    _check_unused_mission(own)
    if own.dynamics != MULTIROTOR:
        return  # it has no autopilot
    setup = BackendSetup(
        vehicle=plan.name,
        parameters=own,
        airframe=airframe,
        plane=LocalTangentPlane(nowhere),
        home=nowhere,
        p_map_start=np.zeros(3),
        heading_deg=0.0,
        mission=mission,
        folder=folder,
    )
    check_controller(setup, n_vehicles)


def _check_unused_mission(parameters: SimulatorParameters) -> None:
    """Reject an unused mission that does not exist; an existing one is in the result."""
    controller, file = parameters.controller, parameters.mission.file
    if file != "none" and not controller.is_autopilot and not Path(file).exists():
        raise ParameterError(
            f"mission.file: expected none with controller {controller.kind}, which takes none, "
            f"found {file}, which does not exist; set mission.file to none"
        )
