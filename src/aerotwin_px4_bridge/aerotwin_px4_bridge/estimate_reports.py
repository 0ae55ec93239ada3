# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The estimate of an autopilot, from the messages in which it reports its parts."""

from collections.abc import Sequence
from contextlib import suppress
from math import hypot, isfinite

import numpy as np

from aerotwin_core.frames import FloatArray, map_body_from_quat_wxyz_ned_frd
from aerotwin_core.geodesy import MapProjection
from aerotwin_px4_bridge.autopilot_state import AutopilotEstimate
from aerotwin_px4_bridge.external_vision import parse_covariances
from aerotwin_px4_bridge.mavlink2 import BadMessage
from aerotwin_px4_bridge.messages import enu_from_ned
from aerotwin_px4_bridge.report_kernels import (
    HAS_ATTITUDE,
    HAS_POSITION,
    N_ATTITUDE,
    N_POSITION,
    PAYLOAD_BYTES,
    read_reports,
)

_UNIT_TOLERANCE = 0.01


class EstimateReports:
    """Keeps the attitude, the rates and the covariances that were reported last."""

    def __init__(self, plane: MapProjection) -> None:
        self._plane = plane
        self._buffers = (
            np.zeros(PAYLOAD_BYTES, np.uint8),
            np.zeros(N_ATTITUDE),
            np.zeros(N_POSITION),
        )
        self.forget()

    def forget(self) -> None:
        """Forget what was reported, because the autopilot was started again."""
        self._attitude: tuple[FloatArray, FloatArray] | tuple[None, None] = (None, None)
        self._covariances: tuple[FloatArray | None, FloatArray | None] = (None, None)

    def read(self, datagram: bytes, system_id: int) -> tuple[int, Sequence[float] | None]:
        """Read the attitude and position with which a datagram of an autopilot begins.

        Returns where its other messages begin, and the values of GLOBAL_POSITION_INT that
        `estimate` takes, None if it does not begin with them.
        """
        found, end = read_reports(datagram, system_id, *self._buffers)
        _, attitude, position = self._buffers
        if found & HAS_ATTITUDE:
            self.on_attitude(attitude.tolist())
        return end, position.tolist() if found & HAS_POSITION else None

    def on_attitude(self, values: Sequence[float]) -> None:
        """Take attitude wxyz and rates [rad/s] of ATTITUDE_QUATERNION, if they are sound."""
        *quat_wxyz, p, q, r = values
        is_unit = abs(hypot(*quat_wxyz) - 1.0) < _UNIT_TOLERANCE  # False for NaN
        if is_unit and isfinite(p + q + r):
            self._attitude = map_body_from_quat_wxyz_ned_frd(quat_wxyz), np.array([p, -q, -r])

    def on_odometry(self, payload: bytes) -> None:
        """Take the covariances of ODOMETRY."""
        with suppress(BadMessage):
            self._covariances = parse_covariances(payload)

    def estimate(self, values: Sequence[float], shift_map: FloatArray) -> AutopilotEstimate | None:
        """Return the estimate at a GLOBAL_POSITION_INT; None if it is no place on Earth.

        Its values are time [ms], latitude and longitude [1e-7 deg], altitude [mm] and velocity
        north, east and down [cm/s]. `shift_map` (3,) is subtracted from the position [m].
        """
        time_ms, latitude_e7, longitude_e7, altitude_mm, *v_ned = values
        latitude, longitude = latitude_e7 * 1e-7, longitude_e7 * 1e-7
        if abs(latitude) > 90.0 or abs(longitude) > 180.0:
            return None
        return AutopilotEstimate(
            stamp_ns=int(time_ms) * 1_000_000,
            p_map=self._plane.from_geodetic(latitude, longitude, altitude_mm * 1e-3) - shift_map,
            v_map=0.01 * np.array(enu_from_ned(v_ned)),
            q_map_body=self._attitude[0],
            omega_map_body_in_body=self._attitude[1],
            pose_covariance_map=self._covariances[0],
            twist_covariance_body=self._covariances[1],
            p_map_odom=-shift_map,
        )
