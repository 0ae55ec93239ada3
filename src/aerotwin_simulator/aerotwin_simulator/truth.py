# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Truth between two steps: the state of the vehicle at the exact instant of a sample."""

from dataclasses import dataclass

import numpy as np

from aerotwin_core.frames import make_transform
from aerotwin_multirotor_dynamics import layout
from aerotwin_multirotor_dynamics.state import interpolate_vector


@dataclass(frozen=True)
class TruthStep:
    """The vehicle's motion over one simulation step.

    Attributes
    ----------
    start_ns, end_ns : int
        The step (start, end] [ns].
    start, end : (k,) array
        State arrays at both ends, laid out as `aerotwin_multirotor_dynamics.layout` says.
    """

    start_ns: int
    end_ns: int
    start: np.ndarray
    end: np.ndarray

    def at(self, stamp_ns: int) -> np.ndarray:
        """Return the state array at an instant of the step."""
        if stamp_ns == self.end_ns:
            return self.end
        span = self.end_ns - self.start_ns
        fraction = (stamp_ns - self.start_ns) / span
        return interpolate_vector(self.start, self.end, fraction, dt=span * 1e-9)


def rotation(state: np.ndarray) -> np.ndarray:
    """Return R_map_body (3, 3) of a state array."""
    return state[layout.ROTATION].reshape(3, 3)


def transform(state: np.ndarray) -> np.ndarray:
    """Return T_map_body (4, 4) of a state array."""
    return make_transform(rotation(state), state[layout.POSITION])
