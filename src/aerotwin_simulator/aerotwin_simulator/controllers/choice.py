# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Which back-end the parameter `controller` names."""

from aerotwin_px4_bridge import HilLink
from aerotwin_simulator.controllers.autopilot_process import (
    hil_endpoint,
    loop_cpu,
    make_process,
)
from aerotwin_simulator.controllers.backend import Backend, BackendSetup
from aerotwin_simulator.controllers.mavlink_autopilot import MavlinkAutopilot
from aerotwin_simulator.controllers.python_class import PythonController, load_class, load_options
from aerotwin_simulator.controllers.topic_commands import TopicCommands
from aerotwin_simulator.parameters import PYTHON


def make_backend(setup: BackendSetup) -> Backend:
    """Return who flies this vehicle.

    Raises
    ------
    UserError
        If it cannot be made; the message says why.
    """
    parameters = setup.parameters
    if parameters.is_mavlink:
        return MavlinkAutopilot(setup)
    if parameters.controller.startswith(PYTHON):
        return PythonController(setup)
    return TopicCommands(setup)


def check_controller(setup: BackendSetup) -> None:
    """Refuse, before anything slow begins, what would end the flight at its start.

    Raises
    ------
    UserError
        If PX4 was not built, a port is taken, or a class or its options cannot be loaded.
    """
    parameters = setup.parameters
    if parameters.is_mavlink:
        loop_cpu(parameters)
        make_process(setup)
        HilLink(hil_endpoint(parameters)).close()
    elif parameters.controller.startswith(PYTHON):
        load_class(parameters.controller.removeprefix(PYTHON))
        load_options(parameters)
