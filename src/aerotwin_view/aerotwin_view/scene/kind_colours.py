# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The colour of each kind of path and estimate, the same wherever it is drawn."""

from aerotwin_core import plots
from aerotwin_view.robot_topics import ESTIMATES, SETPOINT

FLOWN = "flown"
"""The kind of the paths of true motion."""
_KNOWN = {FLOWN: plots.TRUTH, ESTIMATES[0]: plots.ALIGNED, ESTIMATES[1]: plots.ESTIMATE}
_OTHERS = plots.FLOOR, plots.ACCENT, plots.BAD
_MEANING = {
    FLOWN: "motion of the robots",
    ESTIMATES[0]: "estimate of the autopilot",
    ESTIMATES[1]: "estimate of the SLAM",
    SETPOINT: "commanded set-points",
}


def kind_colour(kind: str, n_others: int = 0) -> str:
    """Return a colour as #rrggbb; of a kind that is not known by how many such were before.

    >>> kind_colour("autopilot/odom"), kind_colour("slam/odom (placed at its first pose)")
    ('#2f7ed8', '#e8743b')
    """
    return _KNOWN.get(kind.partition(" (")[0]) or _OTHERS[n_others % len(_OTHERS)]


def kind_meaning(kind: str) -> str:
    """Return what the path of a kind is; a kind that is not known is a topic.

    >>> kind_meaning("slam/odom (placed at its first pose)"), kind_meaning("odom")
    ('estimate of the SLAM', 'poses of this topic')
    """
    return _MEANING.get(kind.partition(" (")[0], "poses of this topic")


def is_known_kind(kind: str) -> bool:
    """Return whether a kind has a colour of its own."""
    return kind.partition(" (")[0] in _KNOWN


def rgb_of(colour: str) -> tuple[int, int, int]:
    """Return red, green and blue to 255 of a colour as #rrggbb.

    >>> rgb_of("#e8743b")
    (232, 116, 59)
    """
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return red, green, blue
