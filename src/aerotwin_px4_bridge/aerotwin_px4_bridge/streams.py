# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The messages that a client asks an autopilot for, and how often."""

from aerotwin_px4_bridge import mavlink2
from aerotwin_px4_bridge.dialects import ARDUPILOT, Dialect

_STREAMS_US: dict[int, int] = {
    mavlink2.SYS_STATUS: 500_000,
    mavlink2.EXTENDED_SYS_STATE: 200_000,
    mavlink2.GLOBAL_POSITION_INT: 50_000,
    mavlink2.ATTITUDE_QUATERNION: 50_000,
}
_PX4_STREAMS_US = {mavlink2.ESTIMATOR_STATUS: 200_000, mavlink2.ODOMETRY: 200_000}
_ARDUPILOT_STREAMS_US = {mavlink2.EKF_STATUS_REPORT: 200_000}
NO_STREAM = {
    111,  # TIMESYNC
    148,  # AUTOPILOT_VERSION
    410,  # EVENT
    411,  # CURRENT_EVENT_SEQUENCE
    412,  # REQUEST_EVENT
    413,  # RESPONSE_EVENT_ERROR
}
"""Messages that are answers or events: they cannot be stopped."""


def streams_us(dialect: Dialect) -> dict[int, int]:
    """Return the requested streams: message id -> interval [us].

    All others are stopped, because PX4 gives this link few bytes per second.
    """
    return _STREAMS_US | (_ARDUPILOT_STREAMS_US if dialect is ARDUPILOT else _PX4_STREAMS_US)
