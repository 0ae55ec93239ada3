# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Errors of a trajectory that is still growing, at constant cost per pose.

The aligned error needs no second pass over the poses: the residual of a rigid fit follows from sums
(Umeyama, "Least-squares estimation of transformation parameters between two point patterns", PAMI
1991, eq. 34-43).
"""

import math

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.rigid_motion import rotation_svd


class RunningErrors:
    """Running errors of pairs of true and estimated poses of one stamp, added in order.

    The first pair joins the estimate's frame to the truth's; unaligned errors are those after it.
    Relative errors are taken over `rpe_m` of the estimate's path [m].
    """

    def __init__(self, *, rpe_m: float = 1.0) -> None:
        self._rpe_m = rpe_m
        self._joined: tuple[np.ndarray, np.ndarray] | None = None
        self._anchor: tuple[np.ndarray, np.ndarray] | None = None
        self._last: tuple[np.ndarray, np.ndarray] | None = None
        self._since_anchor_m = 0.0
        # About the first pair, so that large coordinates lose no digits.
        self._sum = np.zeros((2, 3))
        self._sum_squares = np.zeros(2)
        self._products = np.zeros((3, 3))
        self._unaligned = _Mean()
        self._metre = _Mean()
        self._frame = _Mean()
        self.n = 0
        self.path_m = 0.0
        self.error_m = 0.0
        self.worst_m = 0.0

    def add(
        self, p_true: np.ndarray, q_true: np.ndarray, p_estimate: np.ndarray, q_estimate: np.ndarray
    ) -> None:
        """Add a pair: positions (3,) [m] and quaternions xyzw (4,)."""
        truth, estimate = _pose(p_true, q_true), _pose(p_estimate, q_estimate)
        if self._joined is None or self._last is None:
            self._joined = self._anchor = truth, estimate
        else:
            self._add_step(self._last, (truth, estimate))
        first_truth, first_estimate = self._joined
        provided = first_truth @ np.linalg.inv(first_estimate) @ estimate
        self.error_m = float(np.linalg.norm(provided[:3, 3] - truth[:3, 3]))
        self.worst_m = max(self.worst_m, self.error_m)
        self._unaligned.add(self.error_m)
        a, b = truth[:3, 3] - first_truth[:3, 3], estimate[:3, 3] - first_estimate[:3, 3]
        self._sum += (a, b)
        self._sum_squares += (a @ a, b @ b)
        self._products += np.outer(a, b)
        self._last = truth, estimate
        self.n += 1

    def _add_step(self, before: tuple, now: tuple) -> None:
        self._frame.add(_relative_error_m(before, now))
        self.path_m += float(np.linalg.norm(now[0][:3, 3] - before[0][:3, 3]))
        self._since_anchor_m += float(np.linalg.norm(now[1][:3, 3] - before[1][:3, 3]))
        if self._since_anchor_m >= self._rpe_m:
            assert self._anchor is not None
            self._metre.add(_relative_error_m(self._anchor, now))
            self._anchor, self._since_anchor_m = now, 0.0

    @property
    def ape_m(self) -> float | None:
        """RMS distance to truth, with the first poses joined [m]; None before the first pair."""
        return self._unaligned.rms

    @property
    def ape_aligned_m(self) -> float | None:
        """RMS distance after the best shift and rotation [m]; None before the first pair."""
        if self.n == 0:
            return None
        mean = self._sum / self.n
        variances = self._sum_squares / self.n - np.sum(mean**2, axis=1)
        covariance = self._products / self.n - np.outer(mean[0], mean[1])
        spread = rotation_svd(covariance)[1]
        return math.sqrt(max(0.0, float(variances.sum() - 2.0 * spread.sum())))

    @property
    def rpe_m(self) -> float | None:
        """RMS relative error over consecutive stretches of the path [m]."""
        return self._metre.rms

    @property
    def rpe_frame_m(self) -> float | None:
        """RMS relative error from one pose to the next [m]."""
        return self._frame.rms


class _Mean:
    """A growing mean of squares."""

    def __init__(self) -> None:
        self.n, self._sum = 0, 0.0

    def add(self, value: float) -> None:
        self.n += 1
        self._sum += value * value

    @property
    def rms(self) -> float | None:
        return math.sqrt(self._sum / self.n) if self.n else None


def _pose(p: np.ndarray, q_xyzw: np.ndarray) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3] = Rotation.from_quat(q_xyzw).as_matrix()
    T[:3, 3] = p
    return T


def _relative_error_m(before: tuple, now: tuple) -> float:
    """Return the difference of two steps, each seen from its own start [m] (Sturm et al. 2012)."""
    steps = [a[:3, :3].T @ (b[:3, 3] - a[:3, 3]) for a, b in zip(before, now, strict=True)]
    return float(np.linalg.norm(steps[1] - steps[0]))
