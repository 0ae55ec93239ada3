# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Ground detection: a descent is commanded, the thrust falls, and the vehicle does not sink."""

import math

DESCENT_M_S = 0.25  # a desired descent faster than this counts
SINKING_M_S = 0.2
THRUST_SHARE = 0.8
SMOOTHING_S = 0.3  # climb and thrust are low-passed: a vehicle that comes down sideways hops
CONTACT_S = 0.6  # longer than the drop of the thrust when a descent begins


class GroundContact:
    """Detects the ground from commanded descent, response and thrust."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Reset the detector; the vehicle flies."""
        self._duration = 0.0
        self._climb = -math.inf
        self._share = 1.0

    def step(self, dt: float, wished_climb: float, climb: float, thrust_share: float) -> bool:
        """Return True when the vehicle has been on the ground for long enough.

        dt is the time since the last call [s]; the climbs, desired and estimated, are upwards
        [m/s]; `thrust_share` is the commanded thrust as part of the weight.
        """
        weight = min(dt / SMOOTHING_S, 1.0)
        if self._climb == -math.inf:
            self._climb = climb
        self._climb += weight * (climb - self._climb)
        self._share += weight * (thrust_share - self._share)
        stands = (
            wished_climb < -DESCENT_M_S
            and abs(self._climb) < max(SINKING_M_S, 0.4 * -wished_climb)
            and self._share < THRUST_SHARE
        )
        self._duration = self._duration + dt if stands else 0.0
        return self._duration >= CONTACT_S
