# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A map from a stream of stereo pairs: selects key-frames, then builds the map from them."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from aerotwin_core.camera import StereoRig
from aerotwin_core.frames import FloatArray
from aerotwin_core.luma import grey_of
from aerotwin_core.parameters import parameter
from aerotwin_core.time import from_seconds
from aerotwin_dense_localization.depth import StereoDepth, StereoParameters
from aerotwin_dense_localization.mapping.dense_map import DenseMap
from aerotwin_dense_localization.mapping.keyframe import StereoKeyframe
from aerotwin_dense_localization.mapping.links import KeyframeLink, agree_poses, find_links
from aerotwin_dense_localization.mapping.map_builder import SplatMapBuilder
from aerotwin_dense_localization.mapping.parameters import LinkParameters, MapParameters

N_RECENT = 60  # number of last key-frames a pair is compared with


@dataclass(frozen=True, kw_only=True)
class RecorderParameters:
    """Which pairs become key-frames, and how the map is made of them."""

    rate_hz: float = parameter(
        1.0, text="Rate at which pairs are examined.", unit="Hz", minimum=0.01, maximum=100.0
    )
    max_overlap: float = parameter(
        0.85, text="Pairs that share more with a key-frame are skipped.", minimum=0.05, maximum=0.99
    )
    min_depth_share: float = parameter(
        0.05, text="Pairs with depth at fewer pixels are skipped.", minimum=0.0, maximum=1.0
    )
    max_keyframes: int = parameter(
        200, text="Most key-frames; each takes 11 bytes a pixel.", minimum=2, maximum=10_000
    )
    stereo: StereoParameters = field(default_factory=StereoParameters)
    links: LinkParameters = field(default_factory=LinkParameters)
    surfaces: MapParameters = field(default_factory=MapParameters)


@dataclass(frozen=True, kw_only=True, eq=False)
class RecordedMap:
    """A map, its key-frames at the poses with which it was built, and the number of their links."""

    dense_map: DenseMap
    keyframes: tuple[StereoKeyframe, ...]
    n_links: int

    @property
    def n_keyframes(self) -> int:
        """Number of key-frames in the map."""
        return len(self.keyframes)


class MapRecorder:
    """Selects key-frames of a rectified stereo rig whose poses come from ego-localisation.

    `keyframes`: at their input poses. `n_seen`, `n_without_depth`: pairs examined; those that were
    new but had too little depth.
    """

    def __init__(self, rig: StereoRig, parameters: RecorderParameters | None = None) -> None:
        self.parameters = p = RecorderParameters() if parameters is None else parameters
        self._stereo = StereoDepth(rig.camera, rig.baseline_m, p.stereo)
        self._period_ns = from_seconds(1.0 / p.rate_hz)
        self._last_ns: int | None = None
        self.keyframes: list[StereoKeyframe] = []
        self.n_seen = self.n_without_depth = 0

    @property
    def is_full(self) -> bool:
        """Whether `max_keyframes` is reached."""
        return len(self.keyframes) >= self.parameters.max_keyframes

    def move(self, T_new_map: FloatArray) -> None:
        """Transform all key-frames into another frame."""
        self.keyframes = [k.at(T_new_map @ k.T_map_optical) for k in self.keyframes]

    def is_due(self, stamp_ns: int) -> bool:
        """Return whether a pair at this stamp would be examined."""
        is_early = self._last_ns is not None and abs(stamp_ns - self._last_ns) < self._period_ns
        return not (is_early or self.is_full)

    def add(
        self, stamp_ns: int, left: np.ndarray, right: np.ndarray, T_map_optical: FloatArray
    ) -> StereoKeyframe | None:
        """Examine a pair if it is due; return its key-frame if it shows enough new surface.

        `left`, `right` (h, w) or (h, w, 3) uint8: rectified: grey or RGB [DN].
        `T_map_optical` (4, 4): estimated pose of the left camera's optical frame. Raises ValueError
        if the images do not match the rig, or the pose is not finite.
        """
        if not self.is_due(stamp_ns):
            return None
        self._last_ns = stamp_ns
        self.n_seen += 1
        if self._is_known(T_map_optical):
            return None
        found = self._stereo.depth(*(np.ascontiguousarray(grey_of(p)) for p in (left, right)))
        if np.isfinite(found.depth).mean() < self.parameters.min_depth_share:
            self.n_without_depth += 1
            return None
        frame = StereoKeyframe(
            stamp_ns=stamp_ns,
            image=np.ascontiguousarray(left),
            depth=found.depth,
            variance=found.variance,
            camera=self._stereo.camera,
            T_map_optical=T_map_optical,
        )
        self.keyframes.append(frame)
        return frame

    def _is_known(self, T_map_optical: FloatArray) -> bool:
        """Return whether a key-frame shows most of the view, by poses only: no stereo matching."""
        return any(
            keyframe.view_shown_from(T_map_optical) >= self.parameters.max_overlap
            for keyframe in self.keyframes[-N_RECENT:]
        )

    def finished(
        self,
        on_progress: Callable[[str, float], object] = lambda *_: None,
        *,
        are_poses_saved: bool = False,
    ) -> RecordedMap:
        """Return the map of the key-frames, at poses adjusted to agree with each other.

        `on_progress`: called with the current step and its completed share. `are_poses_saved`: use
        the input poses as they are; no links are searched. Raises ValueError if there is no
        key-frame, or no point was seen by as many as the map requires.
        """
        p, n = self.parameters, len(self.keyframes)
        if n == 0:
            raise ValueError("there is no key-frame: no pair with a pose has come")
        links = [] if are_poses_saved else self._links(on_progress)
        keyframes = agree_poses(self.keyframes, links, p.links) if links else self.keyframes
        builder = SplatMapBuilder(p.surfaces)
        for k, keyframe in enumerate(keyframes):
            builder.add(keyframe)
            on_progress("building the map", (k + 1) / n)
        return RecordedMap(
            dense_map=builder.finished(), keyframes=tuple(keyframes), n_links=len(links)
        )

    def _links(self, on_progress: Callable[[str, float], object]) -> list[KeyframeLink]:
        n, n_aligned = len(self.keyframes), 0

        def log_aligned() -> None:
            nonlocal n_aligned
            n_aligned += 1
            on_progress("tying key-frames", n_aligned / n)

        return find_links(self.keyframes, self.parameters.links, on_keyframe=log_aligned)
