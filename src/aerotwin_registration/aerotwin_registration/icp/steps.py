# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The steps of each method: from pairs to the motion that brings them closer."""

import numpy as np

from aerotwin_core.threads import run_ranges
from aerotwin_registration.icp.protocol import ROBUST_KERNELS, IcpProtocol
from aerotwin_registration.icp.similarity import fit_moments, split_scale, step_about
from aerotwin_registration.icp.surface import AlignmentTarget
from aerotwin_registration.neighbours import Pairs

_DAMPING = 1e-9
"""Share of the mean stiffness added to every unknown, so that free directions stay still."""


class Steps:
    """Steps of one alignment from its pairs.

    Gauss-Newton with pairs that change may alternate between two sets of pairs: a step against the
    previous one halves the steps from there on, one along it doubles them again. `asked_m` is the
    length of the last Gauss-Newton step before it was shortened [m].
    """

    def __init__(
        self, protocol: IcpProtocol, source: AlignmentTarget, target: AlignmentTarget
    ) -> None:
        self._protocol = protocol
        self._source, self._target = source, target
        self._previous, self._gain = np.zeros(7), 1.0
        self.asked_m = 0.0

    def motion(self, S: np.ndarray, pairs: Pairs) -> np.ndarray:
        """Return the (4, 4) motion, in target axes, of the source at S (4, 4)."""
        sums, with_scale = pairs.sums, self._protocol.with_scale
        weight = max(sums[2], 1e-300)
        if self._protocol.method == "point_to_point":
            qx = sums[9:18].reshape(3, 3)
            return fit_moments(weight, sums[3:6], sums[6:9], qx, sums[18], with_scale=with_scale)
        centre = sums[3:6] / weight
        step, arm = solved(self._equations(S, pairs, centre), with_scale)
        in_metres = step * np.repeat([1.0, arm], [3, 4])
        self._gain = self._gain / 2.0 if in_metres @ self._previous < 0.0 else 2.0 * self._gain
        self._gain = min(self._gain, 1.0)
        self._previous = in_metres
        self.asked_m = float(np.linalg.norm(in_metres))
        longest = self._protocol.radius_m / max(self.asked_m, 1e-300)
        return step_about(centre, step * min(self._gain, longest))

    def _equations(self, S: np.ndarray, pairs: Pairs, centre: np.ndarray) -> np.ndarray:
        from aerotwin_registration.icp import kernels

        is_gicp = self._protocol.method == "gicp"
        is_paired = pairs.index >= 0
        self._target.fit(pairs.index[is_paired])
        if is_gicp:
            self._source.fit(np.flatnonzero(is_paired))
        sums = run_ranges(
            kernels.normal_equations,
            len(pairs.moved),
            kernels.GICP if is_gicp else kernels.POINT_TO_PLANE,
            ROBUST_KERNELS.index(self._protocol.robust_kernel),
            self._protocol.robust_m,
            pairs.moved,
            self._source.normals,
            np.ascontiguousarray(split_scale(S)[0][:3, :3]),
            self._target.points,
            self._target.normals,
            pairs.index,
            centre,
        )
        return sum(sums)


def solved(sums: np.ndarray, with_scale: bool) -> tuple[np.ndarray, float]:
    """Return the solution (7,) of normal equations, and the arm of its turn [m].

    `sums` (9, 7) are those of `kernels.normal_equations`; `with_scale` frees the last unknown.
    """
    n = 7 if with_scale else 6
    H, g = np.triu(sums[:n, :n]), sums[7, :n]
    H = H + np.triu(H, 1).T
    # Turns and scale move points by their arm: in metres all unknowns compare.
    arm = max(float(np.sqrt(np.trace(H[3:6, 3:6]) / max(np.trace(H[:3, :3]), 1e-300))), 1e-12)
    unit = np.repeat([1.0, 1.0 / arm], [3, n - 3])
    H = H * np.outer(unit, unit)
    H += _DAMPING * max(float(np.trace(H)) / n, 1e-300) * np.eye(n)
    step = np.zeros(7)
    step[:n] = unit * np.linalg.solve(H, unit * g)
    return step, arm
