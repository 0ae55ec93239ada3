# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Links between key-frames, also across flight lines, and the poses that agree with them.

Each key-frame is aligned to those that share most of its view: by grey values and by the depth of
both, so that stereo sets the scale. Poses are then adjusted to these links and, loosely, to the
input poses: a second pass over the same wall lands on the first.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.frames import FloatArray, invert_transform
from aerotwin_core.rigid_motion import cross_matrix
from aerotwin_dense_localization.alignment import DepthImage, DirectAlignment
from aerotwin_dense_localization.mapping.keyframe import StereoKeyframe
from aerotwin_dense_localization.mapping.parameters import LinkParameters
from aerotwin_registration.pose_graph import PoseConstraint, agreed_poses


@dataclass(frozen=True, kw_only=True, eq=False)
class KeyframeLink:
    """A relative-pose constraint between the optical frames of the key-frames `a` and `b`.

    `sigma_m` and `sigma_rad` are the worst standard deviations of the alignment, with its floor.
    """

    a: int
    b: int
    T_a_b: FloatArray
    sigma_m: float
    sigma_rad: float


def find_links(
    keyframes: Sequence[StereoKeyframe],
    parameters: LinkParameters | None = None,
    *,
    on_keyframe=lambda: None,
) -> list[KeyframeLink]:
    """Align key-frames to their neighbours; return the accepted links.

    `on_keyframe` is called after each key-frame.
    """
    p = LinkParameters() if parameters is None else parameters
    links = []
    for a, keyframe in enumerate(keyframes):
        view = DepthImage(
            grey=keyframe.grey,
            depth=keyframe.depth,
            variance=keyframe.variance,
            camera=keyframe.camera,
        )
        aligner = None
        for b in _neighbours(keyframes, a, p):
            aligner = DirectAlignment(view) if aligner is None else aligner
            other = keyframes[b]
            T_a_b = invert_transform(keyframe.T_map_optical) @ other.T_map_optical
            found = aligner.align(other.grey, other.camera, T_a_b, depth=other.depth)
            if found.converged and _is_near(found.T_view_cam, T_a_b, p):
                links.append(_link(a, b, found.T_view_cam, found.covariance, p))
        on_keyframe()
    return links


def agree_poses(
    keyframes: Sequence[StereoKeyframe],
    links: Sequence[KeyframeLink],
    parameters: LinkParameters | None = None,
) -> list[StereoKeyframe]:
    """Return the key-frames at the poses that fit their links and, loosely, the input poses."""
    p = LinkParameters() if parameters is None else parameters
    provided = np.array([keyframe.T_map_optical for keyframe in keyframes])
    # The map itself is first and fixed; each input pose is a link to it.
    constraints = [
        PoseConstraint(
            a=0, b=k + 1, T_a_b=T, shift_m=p.prior_m, turn_rad=float(np.radians(p.prior_deg))
        )
        for k, T in enumerate(provided)
    ]
    constraints += [
        PoseConstraint(
            a=link.a + 1,
            b=link.b + 1,
            T_a_b=link.T_a_b,
            shift_m=link.sigma_m,
            turn_rad=link.sigma_rad,
        )
        for link in links
    ]
    poses = agreed_poses(np.concatenate([np.eye(4)[None], provided]), constraints)
    return [keyframe.at(T) for keyframe, T in zip(keyframes, poses[1:], strict=True)]


def _neighbours(keyframes: Sequence[StereoKeyframe], a: int, p: LinkParameters) -> list[int]:
    """Return the earlier key-frames that share most of a view, also of other lines."""
    here = keyframes[a]
    shares = [(min(here.overlap_with(other), other.overlap_with(here)), b)
              for b, other in enumerate(keyframes[:a])]  # fmt: skip
    shares = sorted((s, b) for s, b in shares if s >= p.min_overlap)
    return [b for _, b in shares[-p.n_neighbours :]]


def _is_near(T_found: FloatArray, T_source: FloatArray, p: LinkParameters) -> bool:
    off = invert_transform(T_source) @ T_found
    shift_m = float(np.linalg.norm(off[:3, 3]))
    turn_deg = float(np.degrees(Rotation.from_matrix(off[:3, :3]).magnitude()))
    limit = p.max_correction_sigmas * np.sqrt(2.0)  # both are input poses
    return shift_m <= limit * p.prior_m and turn_deg <= limit * p.prior_deg


def _link(
    a: int, b: int, T_a_b: FloatArray, covariance: FloatArray, p: LinkParameters
) -> KeyframeLink:
    # The position of b in a's frame moves with the turn as well: C about b, not about the eye.
    J = np.hstack([np.eye(3), -cross_matrix(T_a_b[:3, 3])])
    shift = np.linalg.eigvalsh(J @ covariance @ J.T)[-1]
    turn = np.linalg.eigvalsh(covariance[3:, 3:])[-1]
    return KeyframeLink(
        a=a,
        b=b,
        T_a_b=T_a_b,
        sigma_m=float(np.hypot(np.sqrt(shift), p.floor_m)),
        sigma_rad=float(np.hypot(np.sqrt(turn), np.radians(p.floor_deg))),
    )
