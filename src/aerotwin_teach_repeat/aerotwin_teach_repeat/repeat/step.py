# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""States of a repeat and what one scan brings."""

from dataclasses import dataclass
from enum import StrEnum

from aerotwin_core.frames import FloatArray


class RepeatState(StrEnum):
    """Where a repeat stands; it moves in `repeating` and `blind` only.

    Attributes
    ----------
    IDLE
        Nothing was asked for.
    STARTING
        Stands and looks for its place.
    REPEATING
        Drives, localised.
    BLIND
        Drives on odometry alone, for a bounded distance.
    STOPPED
        Brakes: too far without localisation.
    RELOCALISING
        Stands and looks for its place, on the whole route if need be.
    PAUSED
        Was told to wait.
    FINISHED
        At the end of the route.
    FAILED
        Needs a person; says why.
    """

    IDLE = "idle"
    STARTING = "starting"
    REPEATING = "repeating"
    BLIND = "blind"
    STOPPED = "stopped"
    RELOCALISING = "relocalising"
    PAUSED = "paused"
    FINISHED = "finished"
    FAILED = "failed"


DRIVING = frozenset({RepeatState.REPEATING, RepeatState.BLIND})
SEARCHING = frozenset({RepeatState.STARTING, RepeatState.STOPPED, RepeatState.RELOCALISING})
ENDED = frozenset({RepeatState.IDLE, RepeatState.FINISHED, RepeatState.FAILED})


@dataclass(frozen=True, kw_only=True)
class Transition:
    """A change of state and why."""

    stamp_ns: int
    before: RepeatState
    after: RepeatState
    reason: str


@dataclass(frozen=True, kw_only=True)
class RepeatStep:
    """What the repeat knows and commands after a scan or a tick.

    Attributes
    ----------
    stamp_ns : int
        Time of the pose [ns].
    v_m_s, omega_rad_s : float
        The command.
    T_map_base : (4, 4) array or None
        Pose believed at the stamp; None before the vehicle was found.
    s_m : float
        Arc length along the route [m].
    lateral_m : float
        Distance from the route, positive left of the direction of travel [m].
    progress : float
        Share of the route behind, 0 to 1.
    blind_m : float
        Driven since the last accepted localisation [m].
    is_localised : bool
        Whether this scan was localised.
    state : RepeatState
    reason : str
        Why it is in this state, and why a command is not the tracker's own.
    """

    stamp_ns: int
    v_m_s: float
    omega_rad_s: float
    T_map_base: FloatArray | None
    s_m: float
    lateral_m: float
    progress: float
    blind_m: float
    is_localised: bool
    state: RepeatState
    reason: str
