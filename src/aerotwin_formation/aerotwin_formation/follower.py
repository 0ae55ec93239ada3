# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The law by which followers keep their places, from what they received alone.

With the leader's velocity fed forward, vehicle i commands the velocity

    u_i = v + T a + K_p e_i + K_d (v - v_i)                                                     (1)
    e_i = (1 - w) [p_0 + d_i - p_i] + w mean_j [(p_j - d_j) - (p_i - d_i)]                      (2)

p_0 is the leader's position, continued to now from when it was so (`messages.continued`), which
makes up for the delay of the link; v and a are the leader's velocity and acceleration plus those
of the place d_i on the plan's curve; j are the other followers heard within `hold_s`. For a
vehicle whose velocity follows commands with a lag T the error obeys
T e'' + (1 + K_d) e' + K_p e = 0: no lag behind a leader whatever constant acceleration it has.

XTDrone's laws (Xiao et al. 2020, section V; follower.py and follower_consensus.py) have none of v,
a, K_d:

    u_i = K_p / |N_i| sum_j [(p_j - d_j) - (p_i - d_i)],  d_0 = 0                               (3)

with positions as last heard. N_i is the leader alone, or by consensus those of `xtdrone_topology`.
Behind a leader at constant v that was heard an age t ago it lags v (1 / K_p + t), and in a chain of
followers each lags that behind the mean of those that it follows.

Without a plan, or as long as the leader was never heard, a follower hovers. When nothing newer than
`hold_s` is known of the leader, the leader counts as standing where it would be then: the formation
stops there, and goes on when the leader is heard again.
"""

from dataclasses import dataclass

import numpy as np

from aerotwin_core.frames import FloatArray
from aerotwin_core.kernel_cache import njit
from aerotwin_core.parameters import parameter
from aerotwin_core.time import from_seconds
from aerotwin_formation.limits import limited
from aerotwin_formation.messages import LEADER, NANOSECOND, NEVER_NS, continued
from aerotwin_formation.plan import FormationPlan
from aerotwin_formation.received import ReceivedReports


@dataclass(frozen=True, kw_only=True)
class FollowerParameters:
    """Gains of the followers' law; also of the leader along its own route."""

    law: str = parameter(
        "feed_forward",
        choices=("feed_forward", "xtdrone", "xtdrone_consensus"),
        text="with the leader's velocity, or XTDrone's originals, which lag",
    )
    position_gain_1_s: float = parameter(
        1.5, unit="1/s", minimum=0.0, maximum=20.0, text="K_p; XTDrone's is 1"
    )
    velocity_gain: float = parameter(
        0.5, minimum=0.0, maximum=10.0, text="K_d; not in XTDrone's law"
    )
    response_time_s: float = parameter(
        0.3, unit="s", minimum=0.0, maximum=5.0, text="T, lag of the vehicle's velocity"
    )
    neighbour_weight: float = parameter(
        0.3, minimum=0.0, maximum=1.0, text="w of the other followers against the leader"
    )
    maximum_speed_m_s: float = parameter(
        5.0, unit="m/s", minimum=0.01, maximum=50.0, text="of commands; XTDrone's is 1"
    )
    hold_s: float = parameter(
        1.0, unit="s", minimum=0.05, maximum=60.0, text="for which a report is continued"
    )


@dataclass(frozen=True, kw_only=True)
class FollowerCommands:
    """Commands of m followers.

    Attributes
    ----------
    velocity : (m, 3) array
        To be flown, before avoidance [m/s].
    acceleration : (m, 3) array
        Intended, which is reported to the others [m/s^2].
    """

    velocity: FloatArray
    acceleration: FloatArray


def follower_commands(
    parameters: FollowerParameters,
    received: ReceivedReports,
    *,
    stamp_ns: int,
    position: FloatArray,
    velocity: FloatArray,
) -> FollowerCommands:
    """Return what each vehicle of `received` commands at a time.

    `position`, `velocity` (m, 3) are its own, as it estimates them. Row i of the result depends
    on row i of what was received and of these alone.
    """
    commands = np.zeros((2, *position.shape))
    law = _feed_forward if parameters.law == "feed_forward" else _xtdrone
    for rows, plan in received.plans_in_use():
        rows = rows[received.leader_stamps_ns[rows] != NEVER_NS]
        own = np.stack([position[rows], velocity[rows]], axis=1)
        commands[:, rows] = law(parameters, received, plan, rows, stamp_ns, own)
    return FollowerCommands(
        velocity=limited(commands[0], parameters.maximum_speed_m_s), acceleration=commands[1]
    )


def _feed_forward(
    p: FollowerParameters,
    received: ReceivedReports,
    plan: FormationPlan,
    rows: np.ndarray,
    stamp_ns: int,
    own: FloatArray,
) -> FloatArray:
    """Return velocity and acceleration (2, k, 3) by equations 1 and 2."""
    hold_ns = from_seconds(p.hold_s)
    leader = continued(
        received.leader_motion[rows], stamp_ns - received.leader_stamps_ns[rows], hold_ns
    )
    offsets = plan.offsets(stamp_ns)
    place = leader + offsets[:, received.receivers[rows]].transpose(1, 0, 2)
    error = place[:, 0] - own[:, 0]
    others, n_others = _shifts_of_others(received, offsets[0], rows, stamp_ns, hold_ns)
    weight = np.where(n_others > 0, p.neighbour_weight, 0.0)[:, None]
    own_shift = own[:, 0] - offsets[0, received.receivers[rows]]
    error = (1.0 - weight) * error + weight * (others - own_shift)
    return np.stack([tracking_velocity(p, place, own, error), place[:, 2]])


def tracking_velocity(
    p: FollowerParameters, place: FloatArray, own: FloatArray, error: FloatArray
) -> FloatArray:
    """Return equation 1 for places (k, 3, 3), own motions (k, 2, 3) and errors (k, 3)."""
    return (
        place[:, 1]
        + p.response_time_s * place[:, 2]
        + p.position_gain_1_s * error
        + p.velocity_gain * (place[:, 1] - own[:, 1])
    )


def _shifts_of_others(
    received: ReceivedReports, offsets: FloatArray, rows: np.ndarray, stamp_ns: int, hold_ns: int
) -> tuple[FloatArray, np.ndarray]:
    """Return the mean of p_j - d_j (k, 3) over the other followers heard, and how many (k,)."""
    total, n_heard = _sums_of_others(
        rows, received.stamps_ns, received.motion, offsets, stamp_ns, hold_ns
    )
    return total / np.maximum(n_heard, 1)[:, None], n_heard


@njit(cache=True)
def _sums_of_others(rows, stamps, motion, offsets, now_ns, hold_ns):
    totals, n_heard = np.zeros((len(rows), 3)), np.zeros(len(rows), dtype=np.int64)
    for k, row in enumerate(rows):
        for j in range(LEADER + 1, stamps.shape[1]):
            age_ns = now_ns - stamps[row, j]
            if stamps[row, j] == NEVER_NS or age_ns > hold_ns:
                continue
            age = age_ns * NANOSECOND
            p, v, a = motion[row, j]
            for x in range(3):
                totals[k, x] += p[x] + age * (v[x] + 0.5 * age * a[x]) - offsets[j, x]
            n_heard[k] += 1
    return totals, n_heard


def _xtdrone(
    p: FollowerParameters,
    received: ReceivedReports,
    plan: FormationPlan,
    rows: np.ndarray,
    stamp_ns: int,
    own: FloatArray,
) -> FloatArray:
    """Return velocity and no acceleration (2, k, 3) by equation 3; patterns change at once."""
    places = plan.goals if stamp_ns >= plan.start_ns else plan.starts
    numbers = received.receivers[rows]
    follows = received.stamps_ns[rows] != NEVER_NS
    if p.law == "xtdrone_consensus":
        follows &= plan.topology[numbers]
    else:
        follows[:, LEADER + 1 :] = False
    shifts = received.motion[rows][:, :, 0] - places
    own_shift = own[:, 0] - places[numbers]
    total = np.einsum("kj,kjx->kx", follows.astype(np.float64), shifts)
    n_followed = follows.sum(axis=1)[:, None]
    error = np.where(n_followed > 0, total / np.maximum(n_followed, 1) - own_shift, 0.0)
    return np.stack([p.position_gain_1_s * error, np.zeros_like(error)])
