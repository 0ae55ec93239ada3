# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""From thrust and moments to rotor speeds, by the geometry of the airframe."""

import numpy as np
from numpy.typing import ArrayLike

from aerotwin_core.frames import FloatArray
from aerotwin_multirotor_dynamics import Airframe

_SMALL_N = 1e-9


class Allocation:
    """The rotors of an airframe as a linear map from their thrusts to a wrench, and back.

    Rotor i at (x, y) with thrust f_i gives thrust f_i, roll y f_i, pitch -x f_i and yaw
    -spin C_M f_i (Pegasus eq. 5-6, with any geometry). The inverse is the pseudo-inverse: the
    smallest of all thrusts for a wrench. There are four rotors at least, all along body z.

    Attributes
    ----------
    wrench_per_thrust : (4, n) array
        Thrust [N] and moments about body x, y, z [N m] of one newton of each rotor.
    maximum_thrust_n : float
        Of one rotor at its limit speed, in still air.

    Raises
    ------
    ValueError
        If the rotors cannot produce every wrench.
    """

    def __init__(self, airframe: Airframe) -> None:
        propeller = airframe.propeller
        places = np.array([rotor.position_m for rotor in airframe.rotors])
        spins = np.array([rotor.spin for rotor in airframe.rotors], dtype=np.float64)
        yaw = -spins * propeller.torque_per_thrust_m
        self.wrench_per_thrust = np.array([np.ones(len(places)), places[:, 1], -places[:, 0], yaw])
        rank = int(np.linalg.matrix_rank(self.wrench_per_thrust))
        if rank < 4:
            raise ValueError(
                f"airframe {airframe.name}: its {len(places)} rotors must control thrust, roll, "
                f"pitch and yaw, they control {rank} of the four; check places and spins"
            )
        self._thrust_per_wrench = np.linalg.pinv(self.wrench_per_thrust)
        if self._thrust_per_wrench[:, 0].min() <= 0.0:
            raise ValueError(
                f"airframe {airframe.name}: every rotor must carry part of the weight in level "
                "hover; check that the rotors surround the centre of mass"
            )
        self._places, self._coefficient = places, propeller.thrust_coefficient_n_s2
        axial = propeller.zero_thrust_axial_speed_m_s
        self._per_axial_speed = 1.0 / axial if axial > 0.0 else 0.0
        self._maximum_speed = airframe.motor.maximum_speed_rad_s
        self.maximum_thrust_n = self._coefficient * self._maximum_speed**2

    def thrusts(self, wrench: ArrayLike) -> tuple[FloatArray, bool]:
        """Return rotor thrusts (n,) [N] within their limits, and whether they meet the wrench.

        The wrench is thrust [N] and moments about body x, y, z [N m]. If it cannot be met, roll and
        pitch keep the vehicle upright and thrust is changed first; then yaw is reduced (priorities
        of Faessler, Falanga and Scaramuzza, IEEE RA-L 2(2), 2017, sec. III-C). Roll and pitch are
        scaled only when the rotors cannot span them.
        """
        thrust, roll, pitch, yaw = (float(value) for value in np.asarray(wrench, np.float64))
        inverse, limit = self._thrust_per_wrench, self.maximum_thrust_n
        desired = inverse @ (thrust, roll, pitch, yaw)
        if desired.min() >= 0.0 and desired.max() <= limit:
            return desired, True
        tilting = inverse @ (0.0, roll, pitch, 0.0)
        span = float(np.ptp(tilting))
        if span > limit:
            tilting *= limit / span
        lifting = inverse[:, 0]
        lowest = float(np.max(-tilting / lifting))
        highest = float(np.min((limit - tilting) / lifting))
        provided = tilting + lifting * min(max(thrust, lowest), max(highest, lowest))
        turning = inverse[:, 3] * yaw
        provided += turning * _room(provided, turning, limit)
        return np.clip(provided, 0.0, limit), False

    def speeds(
        self,
        thrusts_n: FloatArray,
        *,
        v_air_in_body: FloatArray | None = None,
        omega_in_body: FloatArray | None = None,
    ) -> FloatArray:
        """Return the rotor speeds (n,) [rad/s] for thrusts (n,) [N], not negative.

        Velocity through the air and angular velocity, body axes, compensate the loss of thrust in
        axial inflow, C_T w^2 (1 - v_axial / v_0) as in the dynamics; None: still air.
        """
        gain = self.thrust_gain(v_air_in_body, omega_in_body)
        speeds = np.sqrt(thrusts_n / (self._coefficient * gain))
        return np.minimum(speeds, self._maximum_speed)

    def thrust_gain(
        self, v_air_in_body: FloatArray | None, omega_in_body: FloatArray | None
    ) -> FloatArray | float:
        """Return thrust over its static value for each rotor (n,), 1 if the inflow is unknown."""
        if v_air_in_body is None or self._per_axial_speed == 0.0:
            return 1.0
        axial = np.full(len(self._places), v_air_in_body[2])
        if omega_in_body is not None:
            axial += omega_in_body[0] * self._places[:, 1] - omega_in_body[1] * self._places[:, 0]
        return np.maximum(1.0 - axial * self._per_axial_speed, 0.1)


def _room(provided: FloatArray, added: FloatArray, limit: float) -> float:
    """Return the largest share of `added` for which `provided` stays within [0, limit]."""
    share = 1.0
    for here, more in zip(provided.tolist(), added.tolist()):
        if more > _SMALL_N:
            share = min(share, max(limit - here, 0.0) / more)
        elif more < -_SMALL_N:
            share = min(share, max(here, 0.0) / -more)
    return share
