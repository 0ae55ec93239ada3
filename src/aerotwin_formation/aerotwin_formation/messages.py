# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What vehicles say to each other.

A report is the only message. It carries the sender's own motion, the newest motion of the leader
that the sender knows, so that a follower out of the leader's range learns it from others, the
number of the sender's plan, which acknowledges it, and the plan itself as long as the sender knows
of a vehicle without it.

Motions are rows of position [m], velocity [m/s] and acceleration [m/s^2] in map axes. The
acceleration is the one that the vehicle intends, without disturbances: the other two are
continued by it until the next report.
"""

from dataclasses import dataclass

import numpy as np

from aerotwin_core.frames import FloatArray
from aerotwin_formation.plan import FormationPlan

LEADER = 0
"""Number of the leader."""
NEVER_NS = -1
"""Stamp of what was not heard yet, and number of the plan of a vehicle without one."""
NANOSECOND = 1e-9


@dataclass(frozen=True, kw_only=True)
class VehicleReport:
    """One message of one vehicle.

    Attributes
    ----------
    sender : int
        Number of the vehicle; the leader is 0.
    stamp_ns, leader_stamp_ns : int
        When the motions were so; -1 for a leader never heard.
    motion, leader_motion : (3, 3) arrays
        Of the sender and of the leader.
    plan_number : int
        Of the sender's plan, -1 for none.
    plan : FormationPlan, optional
        That plan, if the sender knows of a vehicle without it.
    """

    sender: int
    stamp_ns: int
    motion: FloatArray
    leader_stamp_ns: int
    leader_motion: FloatArray
    plan_number: int
    plan: FormationPlan | None = None


def continued(motion: FloatArray, age_ns: np.ndarray, hold_ns: int) -> FloatArray:
    """Return motions (..., 3, 3) continued by their age (...) [ns] with their accelerations.

    After `hold_ns` nothing is known any more: the position stops where it would be then, velocity
    and acceleration are zero.
    """
    age = (np.clip(age_ns, 0, hold_ns) * NANOSECOND)[..., None]
    is_known = (age_ns <= hold_ns)[..., None]
    p, v, a = motion[..., 0, :], motion[..., 1, :], motion[..., 2, :]
    return np.stack(
        [p + age * (v + 0.5 * age * a), is_known * (v + age * a), is_known * a], axis=-2
    )
