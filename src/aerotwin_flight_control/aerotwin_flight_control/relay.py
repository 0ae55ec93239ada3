# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The relay manoeuvre: two multirotors that swing towards each other, up and down, and part.

Pegasus (Jacinto et al. 2024), eq. 17, after Pinto, Guerreiro and Cunha, "Planning Parcel Relay
Manoeuvres for Quadrotors", ICUAS 2021:

    x = t,    y = exp(-(t/s)^2 / 2) / s,    z = 1 + exp(-(t/s)^2 / 2) / s

The second vehicle flies the mirror image at y = 4.5 - exp(-(t/s)^2 / 2) / s, as Pegasus' example
(examples/utils/nonlinear_controller.py) does.
"""

from math import exp

import numpy as np
from numpy.typing import ArrayLike

from aerotwin_core.frames import FloatArray
from aerotwin_flight_control.reference import FlatState

AGGRESSIVENESS_S = 0.6  # s of eq. 17
MIRROR_Y_M = 4.5  # where the second vehicle's y begins
LOWEST_Z_M = 1.0
FORWARD_M_S = 1.0


class RelayReference:
    """Eq. 17 from t = -half_s to t = half_s, shifted so that its own time begins at 0.

    Parameters
    ----------
    origin_map : (3,) array
        Position in map of x = y = z = 0 of eq. 17 [m]; its axes are those of map.
    is_mirrored : bool
        Selects the second vehicle.
    s, half_s : float
        Parameter of eq. 17 [s], smaller is more aggressive; half of the duration [s].
    """

    def __init__(
        self,
        origin_map: ArrayLike,
        *,
        is_mirrored: bool = False,
        s: float = AGGRESSIVENESS_S,
        half_s: float = 5.0,
    ) -> None:
        if not s > 0.0 or not half_s > 0.0:
            raise ValueError(f"s and half_s must be positive, got {s} and {half_s}")
        self.duration = 2.0 * half_s
        self.s, self.half_s = s, half_s
        self._origin = np.array(origin_map, dtype=np.float64)
        self._origin[2] += LOWEST_Z_M
        self._side = 1.0
        if is_mirrored:
            self._side = -1.0
            self._origin[1] += MIRROR_Y_M

    def at(self, t: float) -> FlatState:
        """Return the state at t [s] of its own time."""
        relay_t = t - self.half_s
        bump = bump_derivatives(relay_t, self.s)
        rows = np.zeros((len(bump), 3))
        rows[:, 1] = self._side * bump
        rows[:, 2] = bump
        rows[0] += self._origin
        rows[0, 0] += relay_t * FORWARD_M_S
        rows[1, 0] = FORWARD_M_S
        return FlatState(p_derivatives_map=rows, yaw_derivatives=np.zeros(3))


def bump_derivatives(t: float, s: float) -> FloatArray:
    """Return f = exp(-(t/s)^2 / 2) / s and its first four derivatives.

    With u = t/s the k-th derivative is f (-1/s)^k He_k(u), He_k the Hermite polynomials.
    """
    u = t / s
    hermite = np.array([1.0, u, u**2 - 1.0, u**3 - 3.0 * u, u**4 - 6.0 * u**2 + 3.0])
    signs = (-1.0 / s) ** np.arange(5)
    return exp(-0.5 * u * u) / s * signs * hermite
