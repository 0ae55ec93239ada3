# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Damage to a multirotor in flight: rotors that lose power, thrust or jam, cells that fail.

The dynamics stay as they are; damage changes the constants of one vehicle, between two steps.
"""

import numpy as np

from aerotwin_multirotor_dynamics import layout as at
from aerotwin_multirotor_dynamics.multirotor import Multirotor


def set_rotor_health(
    body: Multirotor, rotor: int, *, speed_share: float = 1.0, thrust_share: float = 1.0
) -> None:
    """Set the condition of one rotor; 1 is sound.

    Parameters
    ----------
    rotor : int
        Number of the rotor, from 0, in the order of the motor outputs.
    speed_share : float
        Share of the commanded speed that its motor reaches, in [0, 1]; 0 stops it with the lag of
        the motor. Thrust falls with the square.
    thrust_share : float
        Share of its thrust and torque that its propeller makes at a speed, in [0, 1].

    Raises
    ------
    ValueError
        If there is no such rotor, or a share is outside of [0, 1].
    """
    row = _constants(body)["rotors"][_checked(body, rotor)]
    for name, share in (("speed_share", speed_share), ("thrust_share", thrust_share)):
        if not 0.0 <= share <= 1.0:
            raise ValueError(f"{name} must be in [0, 1], got {share}")
        row[name] = share


def jam_rotor(body: Multirotor, rotor: int) -> None:
    """Stop one rotor within a step; the body takes over its angular momentum.

    I_zz dw = spin J omega: rotor and body together keep their angular momentum about the axis of
    the rotor. It stays stopped until `set_rotor_health` says otherwise.

    Raises
    ------
    ValueError
        If there is no such rotor.
    """
    state, constants = body.state_vector, _constants(body)
    row = constants["rotors"][_checked(body, rotor)]
    speeds = state[at.rotor_speeds(len(body.airframe.rotors))]
    momentum = row["spin"] * constants["rotor_inertia_kg_m2"] * speeds[rotor]
    state[at.ANGULAR_VELOCITY][2] += momentum * constants["per_inertia_1_kg_m2"][2]
    speeds[rotor] = 0.0
    row["speed_share"] = 0.0


def set_lost_cells(body: Multirotor, n_cells: float) -> None:
    """Take cells out of the battery: 0 is sound, a part of a cell is possible.

    A cell that is shorted adds no voltage; the others, in series with it, have the same charge as
    before. Without a battery model it has no effect.

    Raises
    ------
    ValueError
        If it has not that many cells, or none would be left.
    """
    n_all = body.airframe.battery.cells
    if not 0.0 <= n_cells < n_all:
        raise ValueError(f"n_cells must be at least 0 and below {n_all}, got {n_cells}")
    _constants(body)["cell_share"] = 1.0 - n_cells / n_all


def _constants(body: Multirotor) -> np.void:
    return body.constants.view(at.CONSTANTS)[0]


def _checked(body: Multirotor, rotor: int) -> int:
    n_rotors = len(body.airframe.rotors)
    if not 0 <= rotor < n_rotors:
        raise ValueError(f"rotor must be in [0, {n_rotors - 1}], got {rotor}")
    return rotor
