# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Key-frames chosen while pictures come: memory grows with what is mapped, not with the flight."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from aerotwin_bringup.dense_localization.given_poses import PosedPair
from aerotwin_core.camera import StereoRig
from aerotwin_core.errors import UserError
from aerotwin_core.frames import FloatArray
from aerotwin_core.luma import grey_of
from aerotwin_core.parameters import parameter
from aerotwin_dense_localization.depth import StereoDepth, StereoParameters
from aerotwin_dense_localization.mapping import (
    DenseMap,
    Keyframe,
    LinkParameters,
    MapBuilder,
    MapParameters,
    agree_poses,
    find_links,
)


@dataclass(frozen=True, kw_only=True)
class MappingParameters:
    """How pairs of pictures with poses become a map."""

    max_overlap: float = parameter(
        0.85,
        text="A picture that shows more of a key-frame's surface is none itself.",
        minimum=0.0,
        maximum=1.0,
    )
    n_recent: int = parameter(
        60, text="Key-frames, the last ones, that it is compared with.", minimum=1, maximum=10_000
    )
    min_depth_share: float = parameter(
        0.05,
        text="A picture with depth at a smaller share of its pixels is no key-frame.",
        minimum=0.0,
        maximum=1.0,
    )
    max_keyframes: int = parameter(
        1000,
        text="A map of more is refused; each takes 9 bytes per pixel, and its points as many.",
        minimum=1,
        maximum=100_000,
    )
    stereo: StereoParameters = field(default_factory=StereoParameters)
    links: LinkParameters = field(default_factory=LinkParameters)
    map: MapParameters = field(default_factory=MapParameters)


class KeyframeSelection:
    """Takes those of the pairs as key-frames that show enough new.

    Parameters
    ----------
    rig : StereoRig
    parameters : MappingParameters

    Attributes
    ----------
    keyframes : list of Keyframe
    n_pairs, n_without_pose, n_without_depth : int
        Pairs that came; those without a pose; those that were new, but too dim or near for depth.
    """

    def __init__(self, rig: StereoRig, parameters: MappingParameters) -> None:
        self._camera, self._parameters = rig.camera, parameters
        try:
            self._stereo = StereoDepth(rig.camera, rig.baseline_m, parameters.stereo)
        except ValueError as error:
            raise UserError(f"{error} (--nearest-m, --farthest-m)") from None
        self.keyframes: list[Keyframe] = []
        self.n_pairs = self.n_without_pose = self.n_without_depth = 0

    def add(self, posed: PosedPair) -> bool:
        """Take a pair, or leave it; return which.

        Raises
        ------
        aerotwin_core.errors.UserError
            If there are too many key-frames.
        """
        pair, T_map_left = posed
        self.n_pairs += 1
        if T_map_left is None:
            self.n_without_pose += 1
            return False
        if self._is_known(T_map_left):
            return False
        found = self._stereo.depth(np.ascontiguousarray(grey_of(pair.left)), pair.right)
        if np.isfinite(found.depth).mean() < self._parameters.min_depth_share:
            self.n_without_depth += 1
            return False
        if len(self.keyframes) == self._parameters.max_keyframes:
            raise UserError(
                f"more than {len(self.keyframes)} key-frames after {self.n_pairs} pairs; map a "
                "part of them (--frames), or raise max_keyframes (--parameters)"
            )
        self.keyframes.append(
            Keyframe(
                stamp_ns=pair.stamp_ns,
                image=np.ascontiguousarray(pair.left),
                depth=found.depth,
                variance=found.variance,
                camera=self._camera,
                T_map_optical=T_map_left,
            )
        )
        return True

    def _is_known(self, T_map_left: FloatArray) -> bool:
        """Tell by the poses alone, before any depth is sought, whether a key-frame shows most."""
        p = self._parameters
        return any(
            keyframe.overlap_with(keyframe.at(T_map_left)) >= p.max_overlap
            for keyframe in self.keyframes[-p.n_recent :]
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class MappedKeyframes:
    """A map, the key-frames at the poses that it was made with, and their ties."""

    dense_map: DenseMap
    keyframes: tuple[Keyframe, ...]
    n_links: int

    def numbers(self) -> dict[str, Any]:
        """Return what it is in numbers.

        `overlap` is the mean share of a key-frame's surface that the next one shows.
        """
        shares = [a.overlap_with(b) for a, b in pairwise(self.keyframes)]
        return {
            "n_keyframes": len(self.keyframes),
            "n_links": self.n_links,
            "n_surfaces": len(self.dense_map.surfaces),
            "n_splats": len(self.dense_map),
            "overlap": float(np.mean(shares)) if shares else None,
        }


def map_of(
    keyframes: Sequence[Keyframe],
    parameters: MappingParameters,
    *,
    are_poses_kept: bool,
    on_keyframe: Callable[[], object] = lambda: None,
) -> MappedKeyframes:
    """Return the map of key-frames.

    Parameters
    ----------
    keyframes : sequence of Keyframe
    parameters : MappingParameters
    are_poses_kept : bool
        Whether their poses stand; else they are brought to agree with each other.
    on_keyframe : callable
        Called twice for each key-frame: when it is tied to others, and when it is in the map.

    Raises
    ------
    aerotwin_core.errors.UserError
        If no point was seen by enough key-frames.
    """
    n_links = 0
    if are_poses_kept:
        for _ in keyframes:
            on_keyframe()
    else:
        links = find_links(keyframes, parameters.links, on_keyframe=on_keyframe)
        keyframes, n_links = agree_poses(keyframes, links, parameters.links), len(links)
    builder = MapBuilder(parameters.map)
    for keyframe in keyframes:
        builder.add(keyframe)
        on_keyframe()
    try:
        dense_map = builder.finished()
    except ValueError as error:
        raise UserError(
            f"{error}: of {len(keyframes)} key-frames no point was seen by "
            f"{parameters.map.min_views}; fly past the same wall more slowly, or set min_views to 1"
        ) from None
    return MappedKeyframes(dense_map=dense_map, keyframes=tuple(keyframes), n_links=n_links)
