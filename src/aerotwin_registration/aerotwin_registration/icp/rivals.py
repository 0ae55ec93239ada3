# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Alternative solutions: alignments started around a solution, and whether one is better.

A solution in a wrong basin is stationary, and its pairs may look good. It is exposed by another
solution nearby that explains more points.
"""

from dataclasses import dataclass, replace

import numpy as np

from aerotwin_core.frames import transform_points
from aerotwin_core.rms import rms_length
from aerotwin_registration.icp.evidence import explained_share
from aerotwin_registration.icp.protocol import IcpProtocol
from aerotwin_registration.icp.similarity import step_about
from aerotwin_registration.icp.steps import Steps
from aerotwin_registration.icp.surface import AlignmentTarget
from aerotwin_registration.neighbours import PairTracker

N_POINTS = 800  # of the source that a rival is found with
N_ITERATIONS = 12
SHIFT_RADII = 2.0  # distance of the starts, in search radii
TURN_DEG = 15.0
FAR_SPACINGS = 2.0
"""A rival that moves the points by less, in units of the clouds' spacing, is the same solution."""
HOME = 0.25
"""A start that has come back to the answer to within this share of that goes on as the answer
itself does, which is one of the starts."""


@dataclass(frozen=True, kw_only=True)
class Rival:
    """The alternative solution that explains most points.

    `lead` is the share of points it explains beyond those of the solution itself, `distance_m` the
    RMS distance of the points between both solutions [m].
    """

    lead: float
    distance_m: float


def best_rival(
    source: AlignmentTarget, target: AlignmentTarget, S: np.ndarray, protocol: IcpProtocol
) -> Rival | None:
    """Return the best solution other than S (4, 4), started from S itself and from around it.

    Each is found by GICP on a part of the source, the first half of the steps with twice the
    radius; None if all end at S.
    """
    places = source.sample(N_POINTS)
    explained = explained_share(source, target, S, protocol.radius_m, places)
    part = source.part(places)
    here = transform_points(S, part.points)
    far = FAR_SPACINGS * max(source.spacing_m, target.spacing_m)
    rivals = []
    for number, motion in enumerate(_motions(here.mean(axis=0), protocol.radius_m)):
        home = HOME * far if number else 0.0
        S_rival = _found(part, target, motion @ S, protocol, here, home)
        distance = rms_length(transform_points(S_rival, part.points) - here)
        if distance > far:
            share = explained_share(source, target, S_rival, protocol.radius_m, places)
            rivals.append(Rival(lead=share - explained, distance_m=distance))
    return max(rivals, key=lambda rival: rival.lead, default=None)


def _motions(centre: np.ndarray, radius_m: float) -> list[np.ndarray]:
    """Return the identity, then shifts and turns along and about all axes, both ways."""
    steps = [np.zeros(7)]
    for axis in range(6):
        size = SHIFT_RADII * radius_m if axis < 3 else np.radians(TURN_DEG)
        for sign in (1.0, -1.0):
            steps.append(np.zeros(7))
            steps[-1][axis] = sign * size
    return [step_about(centre, step) for step in steps]


def _found(
    part: AlignmentTarget,
    target: AlignmentTarget,
    S: np.ndarray,
    protocol: IcpProtocol,
    here: np.ndarray,
    home_m: float,
) -> np.ndarray:
    """Return where GICP from S ends, or where it was first within home_m of points here (n, 3)."""
    for radius_m in (2.0 * protocol.radius_m, protocol.radius_m):
        choices = replace(
            protocol, method="gicp", with_scale=False, robust_kernel="none", radius_m=radius_m
        )
        tracker = PairTracker(part.points, target.tree, radius_m)
        steps = Steps(choices, part, target)
        for _ in range(N_ITERATIONS // 2):
            pairs = tracker.pairs(S)
            is_home = rms_length(pairs.moved - here) < home_m
            if is_home or pairs.n < protocol.min_correspondences:
                return S
            S = steps.motion(S, pairs) @ S
    return S
