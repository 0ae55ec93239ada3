# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""ArduPilot's SITL on a simulator: its JSON interface in lockstep, its frames and its process.

`state_text` converts to NED, FRD and ArduPilot's own flat earth; everything else is ENU, FLU and
SI. `link` is the lockstep, `frames` finds ArduPilot's frame of an airframe and the order of its
motors, `process` starts a built `arducopter`.
"""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from aerotwin_ardupilot_bridge.ardupilot_install import ArduPilotInstall, find_ardupilot
    from aerotwin_ardupilot_bridge.frames import ArduPilotFrame, find_frame
    from aerotwin_ardupilot_bridge.json_state import ArduPilotHome, JsonExtras, StateDatagram
    from aerotwin_ardupilot_bridge.link import JsonLink, JsonTimeouts
    from aerotwin_ardupilot_bridge.ports import json_port
    from aerotwin_ardupilot_bridge.process import ardupilot_process
    from aerotwin_ardupilot_bridge.servo_packet import ServoOutputs, parse_servo_packet
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
