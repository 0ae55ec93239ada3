# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A trajectory: stamped poses of a body in a reference frame."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from aerotwin_core.frames import FloatArray, slerp

QUATERNION_NORMS = 1e-6, 1e6
"""Least and largest norm that is normalised: beyond, it is no attitude but damage."""


@dataclass(frozen=True)
class Trajectory:
    """Stamped poses.

    Attributes
    ----------
    stamps_ns : (n,) int array
        Strictly increasing [ns].
    p_ref_body, q_ref_body : (n, 3), (n, 4) arrays
        Positions [m] and unit quaternions xyzw.
    R_as_written : (n, 3, 3) array, optional
        Rotations from a file of matrices: orthonormal only to the rounding of that file. Scores
        that must equal those of tools that use the matrices unchanged are computed on these.

    Raises
    ------
    ValueError
        If shapes disagree, values are not finite, stamps do not increase or a quaternion is zero.
    """

    stamps_ns: np.ndarray
    p_ref_body: np.ndarray
    q_ref_body: np.ndarray
    R_as_written: np.ndarray | None = None

    def __post_init__(self) -> None:
        stamps = np.asarray(self.stamps_ns, dtype=np.int64)
        positions = np.asarray(self.p_ref_body, dtype=np.float64)
        quaternions = np.asarray(self.q_ref_body, dtype=np.float64)
        n = len(stamps)
        if stamps.ndim != 1 or positions.shape != (n, 3) or quaternions.shape != (n, 4):
            raise ValueError(
                "a trajectory needs stamps (n,), positions (n, 3) and quaternions (n, 4), got "
                f"{stamps.shape}, {positions.shape}, {quaternions.shape}"
            )
        if self.R_as_written is not None and self.R_as_written.shape != (n, 3, 3):
            raise ValueError(f"R_as_written must be ({n}, 3, 3), got {self.R_as_written.shape}")
        if not (np.isfinite(positions).all() and np.isfinite(quaternions).all()):
            raise ValueError("positions and quaternions must be finite, got NaN or infinity")
        if n > 1 and not (np.diff(stamps) > 0).all():
            first = int(np.argmin(np.diff(stamps) > 0)) + 1
            raise ValueError(f"stamps must strictly increase, they do not at pose {first}")
        with np.errstate(over="ignore"):
            norms = np.linalg.norm(quaternions, axis=1, keepdims=True)
        least, largest = QUATERNION_NORMS
        if n and not (norms.min() >= least and norms.max() <= largest):
            raise ValueError("quaternions must not be zero, nor too large to be normalised")
        object.__setattr__(self, "stamps_ns", stamps)
        object.__setattr__(self, "p_ref_body", positions)
        object.__setattr__(self, "q_ref_body", quaternions / norms if n else quaternions)

    def __len__(self) -> int:
        return len(self.stamps_ns)

    @property
    def path_length_m(self) -> float:
        """Sum of the distances between neighbouring poses [m]."""
        return float(np.linalg.norm(np.diff(self.p_ref_body, axis=0), axis=1).sum())

    @cached_property
    def R_ref_body(self) -> FloatArray:
        """Rotations of every pose, (n, 3, 3): R_as_written if present, else those of q_ref_body."""
        if self.R_as_written is not None:
            return self.R_as_written
        return _matrices(self.q_ref_body)

    def select(self, index: np.ndarray, stamps_ns: np.ndarray | None = None) -> "Trajectory":
        """Return the poses at index (m,), under their own stamps or the provided ones (m,) [ns]."""
        return Trajectory(
            self.stamps_ns[index] if stamps_ns is None else stamps_ns,
            self.p_ref_body[index],
            self.q_ref_body[index],
            None if self.R_as_written is None else self.R_as_written[index],
        )

    def transforms(self) -> FloatArray:
        """Return T_ref_body of every pose, (n, 4, 4)."""
        transforms = np.tile(np.eye(4), (len(self), 1, 1))
        transforms[:, :3, :3] = _matrices(self.q_ref_body)
        transforms[:, :3, 3] = self.p_ref_body
        return transforms

    def interpolate(self, stamps_ns: np.ndarray) -> "Trajectory":
        """Return the poses at stamps_ns (m,): linear in position, spherical in attitude.

        Raises
        ------
        ValueError
            If a stamp lies outside the trajectory or there are fewer than two poses.
        """
        stamps = np.asarray(stamps_ns, dtype=np.int64)
        if len(self) < 2:
            raise ValueError(f"interpolation needs two poses at least, got {len(self)}")
        if len(stamps) and (stamps.min() < self.stamps_ns[0] or stamps.max() > self.stamps_ns[-1]):
            raise ValueError("stamps_ns must lie within the trajectory")
        after = np.clip(np.searchsorted(self.stamps_ns, stamps), 1, len(self) - 1)
        before = after - 1
        period = self.stamps_ns[after] - self.stamps_ns[before]
        share = ((stamps - self.stamps_ns[before]) / period)[:, None]
        p, q = self.p_ref_body, self.q_ref_body
        positions = p[before] + share * (p[after] - p[before])
        return Trajectory(stamps, positions, slerp(q[before], q[after], share))


def _matrices(q_xyzw: np.ndarray) -> np.ndarray:
    """Return the rotations (n, 3, 3) of unit quaternions (n, 4): Diebel (2006), eq. 125."""
    x, y, z, w = q_xyzw.T
    matrices = np.empty((len(q_xyzw), 3, 3))
    matrices[:, 0, 0] = w * w + x * x - y * y - z * z
    matrices[:, 1, 1] = w * w - x * x + y * y - z * z
    matrices[:, 2, 2] = w * w - x * x - y * y + z * z
    matrices[:, 0, 1], matrices[:, 1, 0] = 2 * (x * y - w * z), 2 * (x * y + w * z)
    matrices[:, 0, 2], matrices[:, 2, 0] = 2 * (x * z + w * y), 2 * (x * z - w * y)
    matrices[:, 1, 2], matrices[:, 2, 1] = 2 * (y * z - w * x), 2 * (y * z + w * x)
    return matrices
