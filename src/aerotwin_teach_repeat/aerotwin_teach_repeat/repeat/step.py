# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""States of a repeat and the result of one scan."""

from dataclasses import dataclass
from enum import StrEnum

from aerotwin_core.frames import FloatArray


class RepeatState(StrEnum):
    """State of a repeat; the vehicle moves in `repeating` and `blind` only.

    IDLE: no task. STARTING: stands and localises. REPEATING: drives, localised. BLIND: drives on
    odometry alone, for a bounded distance. STOPPED: brakes, too far without localisation.
    RELOCALISING: stands and localises, on the whole route if necessary. PAUSED: on request.
    FINISHED: at the end of the route. FAILED: needs a person; the reason says why.
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
    """A change of state and its reason."""

    stamp_ns: int
    before: RepeatState
    after: RepeatState
    reason: str


@dataclass(frozen=True, kw_only=True)
class RepeatStep:
    """Estimate and command after a scan or a tick.

    Attributes
    ----------
    stamp_ns : int
        Time of the pose [ns].
    T_map_base : (4, 4) array or None
        Estimated pose at the stamp; None before the vehicle was found.
    s_m, lateral_m : float
        Arc length along the route, and distance from it, positive to the left of travel [m].
    progress : float
        Completed fraction of the route, 0 to 1.
    blind_m : float
        Driven since the last accepted localisation [m].
    is_localised, reason : bool, str
        Whether this scan was localised; reason of the state, and of a fallback command.
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
