# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Virtual key-frames: the map rendered at a pose, prepared for alignment."""

from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from aerotwin_core.camera import PinholeCamera
from aerotwin_core.frames import FloatArray
from aerotwin_dense_localization.alignment import DepthImage, DirectAlignment
from aerotwin_dense_localization.localization.parameters import LocalizationParameters
from aerotwin_dense_localization.localization.place_search import ImagePlace, PlaceSearch
from aerotwin_dense_localization.localization.scan_path import moved_ahead
from aerotwin_dense_localization.mapping import DenseMap
from aerotwin_dense_localization.splats import SplatRasteriser


@dataclass(frozen=True, kw_only=True, eq=False)
class VirtualView:
    """A view of the map from the optical frame's pose `T_map_view`, and its aligner."""

    T_map_view: FloatArray
    view: DepthImage
    aligner: DirectAlignment


class VirtualViews:
    """Renders views of a map and caches the last ones.

    Parameters
    ----------
    camera : PinholeCamera
        The camera to be localised: views have its lens and size.
    poses : (n, 4, 4) array
        T_map_optical of the virtual key-frames.

    Raises
    ------
    ValueError
        If there is no pose.
    """

    def __init__(
        self,
        dense_map: DenseMap,
        camera: PinholeCamera,
        poses: FloatArray,
        parameters: LocalizationParameters | None = None,
    ) -> None:
        self.parameters = LocalizationParameters() if parameters is None else parameters
        self.camera, self.poses = camera, np.asarray(poses, dtype=np.float64).reshape(-1, 4, 4)
        if len(self.poses) == 0:
            raise ValueError("there must be a virtual key-frame, got no pose")
        self._map = dense_map
        self._rasteriser = SplatRasteriser(camera, self.parameters.splats)
        self._retained: OrderedDict[int, Future[VirtualView]] = OrderedDict()
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="virtual view")
        self._search: PlaceSearch | None = None

    def __len__(self) -> int:
        return len(self.poses)

    def render(self, T_map_view: FloatArray) -> VirtualView:
        """Return the view from a pose."""
        seen = self._rasteriser.render(self._map.visible(self.camera, T_map_view), T_map_view)
        view = DepthImage(
            grey=seen.grey, depth=seen.depth, variance=seen.variance, camera=self.camera
        )
        aligner = DirectAlignment(view, self.parameters.alignment)
        return VirtualView(T_map_view=T_map_view, view=view, aligner=aligner)

    def get(self, k: int) -> VirtualView:
        """Return a virtual key-frame, rendered now if it is not cached."""
        return self._asked(k).result()

    def prefetch(self, k: int) -> None:
        """Render a virtual key-frame in the background."""
        self._asked(k)

    def closest(self, T_map_cam: FloatArray) -> int:
        """Return the virtual key-frame nearest to a camera set back, rotations included."""
        p = self.parameters
        here = moved_ahead(T_map_cam, -p.setback_m)[:3, 3]
        shift = np.linalg.norm(self.poses[:, :3, 3] - here, axis=1)
        traces = np.einsum("nij,ij->n", self.poses[:, :3, :3], T_map_cam[:3, :3])
        turn = np.arccos(np.clip(0.5 * (traces - 1.0), -1.0, 1.0))
        return int(np.argmin(shift + p.turn_m_per_rad * turn))

    def places(self, grey: np.ndarray) -> list[ImagePlace]:
        """Return candidate poses of an image in the views, the likeliest first."""
        p = self.parameters
        if self._search is None:
            self._search = PlaceSearch(self._map, self.camera, self.poses, p.setback_m, p.splats)
        return self._search.find(grey, p.n_candidates)

    def close(self) -> None:
        """Stop the thread that renders ahead."""
        self._worker.shutdown(cancel_futures=True)

    def _asked(self, k: int) -> "Future[VirtualView]":
        if k not in self._retained:
            self._retained[k] = self._worker.submit(self.render, self.poses[k])
        self._retained.move_to_end(k)
        while len(self._retained) > self.parameters.n_kept_views:
            self._retained.popitem(last=False)
        return self._retained[k]
