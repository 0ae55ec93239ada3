# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Controllers of a vehicle: one small module per back-end, all with the same interface.

`mavlink_autopilot` is PX4 or the embedded autopilot behind its HIL link, `python_class` a class in
this process, `topic_commands` a node on the topic `command/rotors`. Readings are sent after each
step, motor commands received for the next.
"""

from aerotwin_simulator.controllers.backend import Backend, BackendSetup, Commanded, Motors
from aerotwin_simulator.controllers.choice import check_controller, check_link_port, make_backend

__all__ = [
    "Backend",
    "BackendSetup",
    "Commanded",
    "Motors",
    "check_controller",
    "check_link_port",
    "make_backend",
]
