# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The motion of a multirotor as standard messages, serialised by their fixed layout."""

from collections.abc import Sequence

import numpy as np
from numba import float64, void

from aerotwin_core import messages
from aerotwin_core.fixed_layout import FixedLayout
from aerotwin_core.kernel_cache import njit
from aerotwin_multirotor_dynamics import layout

TRUTH_FRAME = "base_link_truth"
_P, _Q, _R, _V, _A = (
    place.start
    for place in (
        layout.POSITION, layout.QUATERNION, layout.ROTATION, layout.VELOCITY, layout.ACCELERATION
    )
)  # fmt: skip
_N_ODOMETRY, _N_ACCEL = 13, 6
_OMEGA, _ALPHA = layout.ANGULAR_VELOCITY.start, layout.ANGULAR_ACCELERATION.start


def rotor_names(n_rotors: int) -> list[str]:
    """Return rotor_0, rotor_1 and so on, in the order of the motor outputs."""
    return [f"rotor_{i}" for i in range(n_rotors)]


def odometry_layout(truth_frame: str = TRUTH_FRAME) -> FixedLayout:
    """Return the layout of nav_msgs/Odometry from map to a frame, of `odometry_values`."""

    def odometry(stamp_ns: int, v: Sequence[float]) -> object:
        return messages.odometry_message(
            stamp_ns, "map", truth_frame, v[:3], v[3:7], v[7:10], v[10:13]
        )

    return FixedLayout(odometry, _N_ODOMETRY)


@njit(void(float64[::1], float64[::1]), cache=True)
def _describe(state, out):
    """Write the numbers of Odometry and AccelStamped of a state, (13 + 6,), in body axes."""
    out[0:3], out[3:7] = state[_P : _P + 3], state[_Q : _Q + 4]
    for i in range(3):
        v = a = 0.0
        for j in range(3):
            r = state[_R + 3 * j + i]
            v += r * state[_V + j]
            a += r * state[_A + j]
        out[7 + i], out[13 + i] = v, a
    out[10:13], out[16:19] = state[_OMEGA : _OMEGA + 3], state[_ALPHA : _ALPHA + 3]


@njit(void(float64[:, ::1], float64[:, ::1]), cache=True)
def _describe_all(states, out):
    for k in range(len(states)):
        _describe(states[k], out[k])


def motions(states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of Odometry (n, 13) and AccelStamped (n, 6) of states (n, k)."""
    out = np.empty((len(states), _N_ODOMETRY + _N_ACCEL))
    _describe_all(states, out)
    return out[:, :_N_ODOMETRY], out[:, _N_ODOMETRY:]


class TruthMessages:
    """Serialises odometry, acceleration and rotor speeds of state arrays, as truth in map."""

    def __init__(
        self, n_rotors: int, *, truth_frame: str = TRUTH_FRAME, base_frame: str = "base_link"
    ) -> None:
        names = rotor_names(n_rotors)

        def accel(stamp_ns: int, v: Sequence[float]) -> object:
            return messages.accel_stamped_message(stamp_ns, truth_frame, v[:3], v[3:])

        def rotors(stamp_ns: int, v: Sequence[float]) -> object:
            return messages.joint_state_message(stamp_ns, base_frame, names, v)

        self._odometry = odometry_layout(truth_frame)
        self.accel = FixedLayout(accel, _N_ACCEL)
        self._rotors = FixedLayout(rotors, n_rotors)
        self._speeds = layout.rotor_speeds(n_rotors)
        self._out = np.empty(_N_ODOMETRY + _N_ACCEL)
        self._of_odometry, self._of_accel = self._out[:_N_ODOMETRY], self._out[_N_ODOMETRY:]

    @property
    def layouts(self) -> tuple[FixedLayout, FixedLayout, FixedLayout]:
        """Layouts of nav_msgs/Odometry, geometry_msgs/AccelStamped and sensor_msgs/JointState."""
        return self._odometry, self.accel, self._rotors

    def values(self, state: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the numbers of the three, valid until the next call.

        Twist and acceleration are in body axes; the latter is without gravity, zero at rest.
        """
        _describe(state, self._out)
        return self._of_odometry, self._of_accel, state[self._speeds]

    def motion(self, stamp_ns: int, state: np.ndarray) -> list[bytes]:
        """Return the three messages, serialised."""
        return [
            layout.pack(stamp_ns, values.tolist())
            for layout, values in zip(self.layouts, self.values(state), strict=True)
        ]
