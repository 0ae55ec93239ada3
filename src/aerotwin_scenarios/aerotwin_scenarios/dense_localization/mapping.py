# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The mapping flight: a stereo rig passes the wall from afar, and its images become a map."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from aerotwin_core.camera import PinholeCamera
from aerotwin_core.frames import FloatArray
from aerotwin_dense_localization.depth import StereoDepth, StereoParameters
from aerotwin_dense_localization.mapping import (
    DenseMap,
    SplatMapBuilder,
    StereoKeyframe,
    agree_poses,
    find_links,
)
from aerotwin_registration.icp.similarity import fit_rigid
from aerotwin_rendering import Rasteriser
from aerotwin_scenarios.dense_localization.flights import CameraTrack, Pictures

RIG = PinholeCamera(width=1280, height=800, fx=914.0, fy=914.0, cx=639.5, cy=399.5)
"""70 degrees wide."""
BASELINE_M = 0.5


@dataclass(frozen=True, kw_only=True, eq=False)
class MadeMap:
    """A map and how it was made."""

    dense_map: DenseMap
    keyframes: tuple[StereoKeyframe, ...]  # at the poses with which the map was made
    T_map_optical: FloatArray  # (n, 4, 4): their true poses
    n_links: int  # links between them; 0 with true poses
    # (4, 4): best rigid motion from the map's key-frames to their true places
    T_true_map: FloatArray

    def position_errors_m(self, *, is_aligned: bool) -> np.ndarray:
        """Return the position error of each key-frame (n,) [m]."""
        found = np.array([keyframe.T_map_optical[:3, 3] for keyframe in self.keyframes])
        if is_aligned:
            found = found @ self.T_true_map[:3, :3].T + self.T_true_map[:3, 3]
        return np.linalg.norm(found - self.T_map_optical[:, :3, 3], axis=1)


def record_frames(
    rasteriser: Rasteriser,
    track: CameraTrack,
    *,
    seed: int,
    on_frame: Callable[[], object] = lambda: None,
) -> list[StereoKeyframe]:
    """Return the stereo frames of a flight, with depth, at their true poses.

    `track` is that of the left camera, `seed` of the cameras' noise; `on_frame` is called after
    each frame of the track.
    """
    stereo = StereoDepth(RIG, BASELINE_M, StereoParameters(nearest_m=8.0))
    pictures, frames = Pictures(rasteriser, RIG, seed=seed), []
    for stamp_ns, T_true in zip(track.stamps_ns, track.T_map_optical, strict=True):
        left, right = pictures.stereo(T_true, BASELINE_M, int(stamp_ns))
        found = stereo.depth(left, right)
        frames.append(
            StereoKeyframe(
                stamp_ns=int(stamp_ns),
                image=left,
                depth=found.depth,
                variance=found.variance,
                camera=RIG,
                T_map_optical=T_true,
            )
        )
        on_frame()
    return frames


def make_map(
    frames: Sequence[StereoKeyframe],
    track: CameraTrack,
    *,
    has_truth: bool,
    on_keyframe: Callable[[], object] = lambda: None,
) -> MadeMap:
    """Return the map of a flight, with every frame as a key-frame.

    The map contains what two key-frames agree on; at its rim, those are the last of a line.

    `frames`: at the stamps of the track (`record_frames`). `has_truth`: whether the map is made
    with true poses; else with those that the autopilot reported, adjusted to agree with each other.
    `on_keyframe`: called after each key-frame is linked, and again after it is merged.
    """
    provided = track.T_map_optical if has_truth else track.T_map_optical_reported
    keyframes = [frame.at(T) for frame, T in zip(frames, provided, strict=True)]
    n_links = 0
    if not has_truth:
        links = find_links(keyframes, on_keyframe=on_keyframe)
        keyframes, n_links = agree_poses(keyframes, links), len(links)
    builder = SplatMapBuilder()
    for keyframe in keyframes:
        builder.add(keyframe)
        on_keyframe()
    return MadeMap(
        dense_map=builder.finished(),
        keyframes=tuple(keyframes),
        T_map_optical=track.T_map_optical,
        n_links=n_links,
        T_true_map=fit_rigid(
            np.array([keyframe.T_map_optical[:3, 3] for keyframe in keyframes]),
            track.T_map_optical[:, :3, 3],
        ),
    )
