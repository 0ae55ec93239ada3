# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The back-end that the parameter `controller.kind` names."""

from aerotwin_ardupilot_bridge import json_port
from aerotwin_core.errors import ParameterError, UserError
from aerotwin_multirotor_dynamics import Airframe, hover_command
from aerotwin_px4_bridge import HilLink, hil_port
from aerotwin_px4_bridge.udp_port import bind_udp
from aerotwin_simulator.controller_settings import PYTHON
from aerotwin_simulator.controllers.ardupilot import ArduPilot
from aerotwin_simulator.controllers.autopilot_process import hil_endpoint, make_process
from aerotwin_simulator.controllers.backend import Backend, BackendSetup
from aerotwin_simulator.controllers.mavlink_autopilot import MavlinkAutopilot
from aerotwin_simulator.controllers.python_class import PythonController, load_class, load_options
from aerotwin_simulator.controllers.topic_commands import TopicCommands
from aerotwin_simulator.parameters import MAX_INSTANCE, SimulatorParameters
from aerotwin_simulator.pinned_cpu import pinned_cpu

MAX_ROTORS = 16
"""Length of `controls` in MAVLink's HIL_ACTUATOR_CONTROLS."""


def make_backend(setup: BackendSetup) -> Backend:
    """Return the back-end of this vehicle. Raises UserError if it cannot be made."""
    parameters = setup.parameters
    if parameters.controller.is_ardupilot:
        return ArduPilot(setup)
    if parameters.controller.is_autopilot:
        return MavlinkAutopilot(setup)
    if parameters.controller.kind.startswith(PYTHON):
        return PythonController(setup)
    return TopicCommands(setup)


def check_controller(setup: BackendSetup, n_vehicles: int = 1) -> None:
    """Reject, before anything slow begins, errors that would end the flight at its start.

    Raises UserError if PX4 or ArduPilot was not built, a port is in use, an autopilot cannot fly
    the airframe, or a class or its options cannot be loaded. `n_vehicles` is as in
    `check_link_port`.
    """
    parameters = setup.parameters
    if parameters.controller.is_autopilot:
        _check_airframe(setup.airframe, parameters.controller.kind)
        pinned_cpu(parameters)
    if parameters.controller.is_ardupilot:
        check_link_port(parameters, n_vehicles)
        ArduPilot(setup).close()
    elif parameters.controller.is_autopilot:
        make_process(setup)
        check_link_port(parameters, n_vehicles)
    elif parameters.controller.kind.startswith(PYTHON):
        load_class(parameters.controller.kind.removeprefix(PYTHON))
        load_options(parameters.controller)


def check_link_port(parameters: SimulatorParameters, n_vehicles: int = 1) -> None:
    """Raise UserError if the port where its autopilot is stepped is in use.

    It names the next instance from which on the ports of `n_vehicles` are free.
    """
    try:
        _open_port(parameters, parameters.fleet.link_number)
    except UserError as error:
        if parameters.controller.is_serial:
            raise
        free = _free_instance(parameters, n_vehicles)
        raise UserError(f"fleet.instance: {error}; {free}") from None


def _open_port(parameters: SimulatorParameters, number: int) -> None:
    """Open and close the port of an autopilot of this number."""
    controller = parameters.controller
    if controller.is_ardupilot:
        bind_udp("JSON link", "127.0.0.1", json_port(number), "simulator").close()
    else:
        HilLink(hil_endpoint(parameters) if controller.is_serial else hil_port(number)).close()


def _free_instance(parameters: SimulatorParameters, n_vehicles: int) -> str:
    """Return in words from which instance on the ports of as many vehicles are free."""
    shift, n_free = parameters.fleet.port_shift, 0
    for instance in range(parameters.fleet.instance + 1, MAX_INSTANCE - shift + 1):
        try:
            _open_port(parameters, instance + shift)
            n_free += 1
        except UserError:
            n_free = 0
        if n_free == n_vehicles:
            return f"{instance - n_free + 1} is free"
    return "all above it are in use, too"


def _check_airframe(airframe: Airframe, controller: str) -> None:
    n_rotors, hover = len(airframe.rotors), hover_command(airframe)
    if n_rotors > MAX_ROTORS:
        raise ParameterError(
            f"airframe: expected at most {MAX_ROTORS} rotors with controller {controller}, found "
            f"{n_rotors} in {airframe.name}; fly it with a python or ros2 controller"
        )
    if not 0.0 < hover < 1.0:
        raise ParameterError(
            f"airframe: expected one that hovers with a motor command between 0 and 1, found "
            f"{hover:.3g} in {airframe.name}; correct its mass, propeller or motor, or fly it with "
            "a python or ros2 controller"
        )
