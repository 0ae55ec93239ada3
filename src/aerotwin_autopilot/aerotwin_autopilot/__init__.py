# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The embedded autopilot: estimator, controllers and MAVLink server of a multirotor.

It replaces PX4 behind the same hardware-in-the-loop link, in its own process
(`embedded_autopilot`), with only its sensors as input. Inside, local axes are east, north, up
and body axes forward, left, up; north-east-down exists only where MAVLink messages are read and
written.
"""

from aerotwin_autopilot.autopilot import Autopilot
from aerotwin_autopilot.parameters import (
    AirframeParameters,
    AutopilotParameters,
    load_autopilot_parameters,
    parameters_text,
)

__all__ = [
    "AirframeParameters",
    "Autopilot",
    "AutopilotParameters",
    "load_autopilot_parameters",
    "parameters_text",
]
