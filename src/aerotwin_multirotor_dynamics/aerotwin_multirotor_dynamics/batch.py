# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Many multirotors of one airframe, stepped by one call."""

import numpy as np
from numpy.typing import ArrayLike

from aerotwin_multirotor_dynamics import layout as at
from aerotwin_multirotor_dynamics.airframe import GRAVITY, Airframe
from aerotwin_multirotor_dynamics.kernel import step_batch
from aerotwin_multirotor_dynamics.multirotor import Multirotor


class MultirotorBatch:
    """Many multirotors of one airframe; each row moves as a `Multirotor` does, bit for bit.

    Parameters
    ----------
    airframe : Airframe
        With the built-in thrust and drag models.
    p_map_body, rotor_speed_rad_s : (n, 3) array, float or (rotors,) array
        Initial positions, level and at rest, in map [m]; initial rotor speeds.

    Attributes
    ----------
    states : (n, k) array
        State arrays, laid out in `layout`; write into them for another initial state.
    inputs : (n, m) array
        Wind, ground plane (level at height 0 at first) and commands of each, laid out in `layout`.
    """

    def __init__(
        self,
        airframe: Airframe,
        *,
        p_map_body: ArrayLike,
        rotor_speed_rad_s: ArrayLike = 0.0,
        gravity: float = GRAVITY,
    ) -> None:
        if airframe.thrust_model or airframe.drag_model:
            raise ValueError(
                f"airframe '{airframe.name}' has models of its own, a batch only the built-in "
                "ones; step each as a Multirotor"
            )
        places = np.asarray(p_map_body, float).reshape(-1, 3)
        one = Multirotor(airframe, rotor_speed_rad_s=rotor_speed_rad_s, gravity=gravity)
        self.airframe = airframe
        self.states = np.tile(one.state_vector, (len(places), 1))
        self.states[:, at.POSITION] = places
        self.inputs = np.tile(one.inputs, (len(places), 1))
        self.constants = one.constants[np.newaxis]

    def step(self, command: ArrayLike, dt: float, *, is_armed: bool = True) -> None:
        """Advance all by dt [s] under motor commands, (n, rotors) or broadcast to that.

        Raises
        ------
        ValueError
            If dt is not positive.
        FloatingPointError
            If any new state is not finite.
        """
        if not dt > 0.0:
            raise ValueError(f"dt must be positive, got {dt}")
        self.inputs[:, at.COMMAND :] = command
        self.inputs[:, at.IS_ARMED] = at.ARMED if is_armed else at.DISARMED
        n_finite = step_batch(self.states, self.inputs, self.constants, dt)
        if n_finite != len(self.states):
            raise FloatingPointError(
                f"the states of {len(self.states) - n_finite} multirotors are not finite; "
                "check wind, ground and time step"
            )
