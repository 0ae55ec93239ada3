# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A trajectory: stamped poses of a body in a reference frame."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

from aerotwin_core.frames import FloatArray


@dataclass(frozen=True)
class Trajectory:
    """Stamped poses.

    Attributes
    ----------
    stamps_ns : (n,) int array
        Strictly increasing [ns].
    p_ref_body : (n, 3) array
        Positions [m].
    q_ref_body : (n, 4) array
        Unit quaternions xyzw.

    Raises
    ------
    ValueError
        If shapes disagree, values are not finite, stamps do not increase or a quaternion is zero.
    """

    stamps_ns: np.ndarray
    p_ref_body: np.ndarray
    q_ref_body: np.ndarray

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
        if not (np.isfinite(positions).all() and np.isfinite(quaternions).all()):
            raise ValueError("positions and quaternions must be finite, got NaN or infinity")
        if n > 1 and not (np.diff(stamps) > 0).all():
            first = int(np.argmin(np.diff(stamps) > 0)) + 1
            raise ValueError(f"stamps must strictly increase, they do not at pose {first}")
        norms = np.linalg.norm(quaternions, axis=1, keepdims=True)
        if n and norms.min() < 1e-6:
            raise ValueError("quaternions must not be zero")
        object.__setattr__(self, "stamps_ns", stamps)
        object.__setattr__(self, "p_ref_body", positions)
        object.__setattr__(self, "q_ref_body", quaternions / norms if n else quaternions)

    def __len__(self) -> int:
        return len(self.stamps_ns)

    @property
    def path_length_m(self) -> float:
        """Sum of the distances between neighbouring poses [m]."""
        return float(np.linalg.norm(np.diff(self.p_ref_body, axis=0), axis=1).sum())

    def transforms(self) -> FloatArray:
        """Return T_ref_body of every pose, (n, 4, 4)."""
        transforms = np.tile(np.eye(4), (len(self), 1, 1))
        if len(self):
            transforms[:, :3, :3] = Rotation.from_quat(self.q_ref_body).as_matrix()
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
        start = self.stamps_ns[0]
        own, wanted = (self.stamps_ns - start) * 1e-9, (stamps - start) * 1e-9
        wanted = np.clip(wanted, own[0], own[-1])
        positions = np.column_stack([np.interp(wanted, own, c) for c in self.p_ref_body.T])
        attitudes = Slerp(own, Rotation.from_quat(self.q_ref_body))(wanted).as_quat()
        return Trajectory(stamps, positions.reshape(-1, 3), attitudes.reshape(-1, 4))
