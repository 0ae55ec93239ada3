# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""MAVLink as PX4 speaks it: links, streams, commands, parameters.

Here, and nowhere else in this package, axes are north, east, down and forward, right, down.
"""

from aerotwin_autopilot.mavlink.server import LINK_NAMES, MavlinkServer

__all__ = ["LINK_NAMES", "MavlinkServer"]
