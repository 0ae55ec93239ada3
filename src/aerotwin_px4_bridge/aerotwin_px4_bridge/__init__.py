# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""MAVLink between the simulator and a flight controller, PX4 or the embedded autopilot.

`link` steps an autopilot in lockstep over the HIL TCP port or a serial line, `process` starts and
stops it, `mission_client` flies it over the onboard UDP link. `messages`, `hil_extras`,
`external_vision`, `onboard` convert to NED, FRD, gauss, hPa and 1e7 degrees; everything else is
ENU, FLU and SI.
"""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from aerotwin_px4_bridge.autopilot_state import AutopilotEstimate
    from aerotwin_px4_bridge.commanders import Commander
    from aerotwin_px4_bridge.external_vision import VisionPose
    from aerotwin_px4_bridge.hil_socket import AutopilotLost
    from aerotwin_px4_bridge.link import HilLink, HilTimeouts, hil_port
    from aerotwin_px4_bridge.messages import pack_hil_gps, pack_hil_sensor
    from aerotwin_px4_bridge.mission import MissionPlan, Waypoint
    from aerotwin_px4_bridge.mission_client import MissionClient
    from aerotwin_px4_bridge.onboard import OnboardLink
    from aerotwin_px4_bridge.process import (
        AutopilotProcess,
        embedded_process,
        external_vision_parameters,
        px4_process,
        rotor_parameters,
    )
    from aerotwin_px4_bridge.px4_files import collect_ulogs, offboard_port
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
