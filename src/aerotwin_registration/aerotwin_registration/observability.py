# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Which motions of a cloud its target's surface does not constrain.

A cloud on a plane slides: point-to-point residuals settle although two shifts and one turn are
free. The small eigenvalues of the point-to-plane information matrix belong to the motions that
move no point along a surface normal.
"""

from dataclasses import dataclass

import numpy as np

# Mean square of (surface normal . motion) below which a motion counts as free: the normals of
# real rough surfaces reach 0.01 and more, those of a plane seen with noise stay below 0.003.
FREE_INFORMATION = 0.004
# A part of a direction smaller than this is not mentioned.
_WORTH_NAMING = 0.4


@dataclass(frozen=True, kw_only=True)
class OpenDirection:
    """A motion that is not constrained."""

    # translation and rotation: the motion in target axes: shift [m], and turn about the cloud's
    # centre [rad] times the cloud's radius, together of unit length (with `growth`)
    translation: np.ndarray  # (3,)
    rotation: np.ndarray  # (3,)
    growth: float = 0.0  # change of log(scale) times the cloud's radius
    information: float  # mean square of the normal component; 1 = fully constrained

    @property
    def text(self) -> str:
        """The motion as text."""
        shift, turn = np.linalg.norm(self.translation), np.linalg.norm(self.rotation)
        if abs(self.growth) > max(shift, turn):
            return "a change of scale"
        if shift >= turn:
            return f"a shift along ({_named(self.translation)})"
        return f"a turn about ({_named(self.rotation)})"


def open_directions(rows: np.ndarray) -> tuple[OpenDirection, ...]:
    """Return the motions that points on a surface do not constrain.

    `rows` (n, 6 or 7) hold how far each point moves along its surface normal by a shift, by a turn
    about the points' centre (and by a change of log(scale)), with arms in units of the points' RMS
    radius, so that all have the same unit and eigenvalues lie between 0 and about 1.
    """
    values, vectors = np.linalg.eigh(rows.T @ rows / max(len(rows), 1))
    return tuple(
        OpenDirection(
            translation=v[:3],
            rotation=v[3:6],
            growth=float(np.sum(v[6:])),
            information=float(max(e, 0.0)),
        )
        for e, v in zip(values, vectors.T)
        if e < FREE_INFORMATION
    )


def _named(direction: np.ndarray) -> str:
    unit = direction / max(float(np.linalg.norm(direction)), 1e-12)
    unit = unit * np.sign(unit[int(np.argmax(np.abs(unit)))])
    parts = [
        f"{value:+.1f} {axis}" for axis, value in zip("xyz", unit) if abs(value) >= _WORTH_NAMING
    ]
    return " ".join(parts)
