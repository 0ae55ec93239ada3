# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The motion in messages of truth/odom, at their instants and between the last two."""

from typing import Any

import numpy as np

from aerotwin_core.frames import make_transform
from aerotwin_sensor_models.ros.conversions import truth_from_odometry
from aerotwin_sensor_models.ros.truth import Truth, interpolate


class TruthMotion:
    """Poses of the body between the last two truths; a `Motion` for cameras.

    `start_ns` equals `end_ns` after the first truth.
    """

    def __init__(self, odometry: Any) -> None:
        self._before = self._after = truth_from_odometry(odometry)

    @property
    def start_ns(self) -> int:
        """The instant of the truth before the last [ns]."""
        return self._before.stamp_ns

    @property
    def end_ns(self) -> int:
        """The instant of the last truth [ns]."""
        return self._after.stamp_ns

    def on_truth(self, odometry: Any) -> None:
        """Append the next truth.

        Raises ValueError if the message is invalid or a repetition; the motion stays as it was.
        """
        truth = truth_from_odometry(odometry)
        if truth.stamp_ns == self.end_ns:
            raise ValueError(f"truth/odom of {truth.stamp_ns} ns came twice")
        self._before, self._after = self._after, truth

    def pose(self, stamp_ns: int) -> np.ndarray:
        """Return T_map_body (4, 4) at an instant between the last two truths."""
        truth: Truth = interpolate(self._before, self._after, stamp_ns)
        return make_transform(truth.R_map_body, truth.p_map_body)
