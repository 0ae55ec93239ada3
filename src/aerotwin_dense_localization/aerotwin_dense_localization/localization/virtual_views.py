# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Virtual key-frames: the map rendered at a pose, prepared for alignment."""

from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import cv2
import numpy as np

from aerotwin_core.camera import PinholeCamera
from aerotwin_core.frames import FloatArray
from aerotwin_dense_localization.alignment import DepthImage, DirectAlignment
from aerotwin_dense_localization.alignment.pyramid import camera_levels, grey_levels
from aerotwin_dense_localization.localization.parameters import LocalizationParameters
from aerotwin_dense_localization.localization.scan_path import moved_ahead
from aerotwin_dense_localization.mapping import DenseMap
from aerotwin_dense_localization.splats import SplatParameters, SplatRasteriser

_LEVELS = 4  # halves the camera's image three times
_MIDDLE = 0.6
"""The middle of an image covers this share of a view's width at most: the rest is room to move."""
_NEAREST = 0.2
"""Where the camera would be nearer to the surface than this share of the view's distance, the view
is not looked at."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ImagePlace:
    """A candidate pose of an image.

    `T_view_cam` is in the view with index `k`, with the view's attitude; `correlation` is that of
    the image's middle and the view.
    """

    k: int
    T_view_cam: FloatArray
    correlation: float


@dataclass(frozen=True, kw_only=True, eq=False)
class _SmallView:
    grey: np.ndarray
    depth: np.ndarray
    median_depth_m: float


class PlaceSearch:
    """Searches images in small views of a map, by normalised correlation.

    `camera`: of the images; views have its lens. `poses` (n, 4, 4): T_map_optical of the views.
    `setback_m`: assumed distance of the camera ahead of a view.
    """

    def __init__(
        self,
        dense_map: DenseMap,
        camera: PinholeCamera,
        poses: FloatArray,
        setback_m: float,
        splats: SplatParameters | None = None,
    ) -> None:
        self._camera = camera_levels(camera, _LEVELS)[-1]
        self._setback_m = setback_m
        rasteriser, self._views = SplatRasteriser(self._camera, splats), []
        for T in poses:
            seen = rasteriser.render(dense_map.visible(self._camera, T), T)
            self._views.append(_small_view(seen.grey, seen.depth))

    def find(self, grey: np.ndarray, n: int) -> list[ImagePlace]:
        """Return the n most similar places of an image (h, w) [DN], each from another view."""
        small = grey_levels(grey, _LEVELS)[-1]
        places = [self._place(k, view, small) for k, view in enumerate(self._views)]
        known = [place for place in places if place is not None]
        return sorted(known, key=lambda place: -place.correlation)[:n]

    def _place(self, k: int, view: _SmallView | None, small: np.ndarray) -> ImagePlace | None:
        if view is None:
            return None
        nearer = 1.0 - self._setback_m / view.median_depth_m
        if nearer < _NEAREST:
            return None
        middle = _middle(small, min(1.0, _MIDDLE / nearer))
        size = [max(1, round(nearer * n)) for n in middle.shape]
        template = cv2.resize(middle, size[::-1], interpolation=cv2.INTER_AREA)
        scores = cv2.matchTemplate(view.grey, template, cv2.TM_CCOEFF_NORMED)
        _, correlation, _, corner = cv2.minMaxLoc(np.nan_to_num(scores, nan=-1.0))
        u, v = (c + 0.5 * (n - 1) for c, n in zip(corner, size[::-1], strict=True))
        depth_m = view.depth[round(v), round(u)]
        depth_m = depth_m if np.isfinite(depth_m) else view.median_depth_m
        (point,) = self._camera.unproject(np.array([[u, v]]), np.array([depth_m]))
        T = np.eye(4)
        T[:3, 3] = point[0], point[1], self._setback_m
        return ImagePlace(k=k, T_view_cam=T, correlation=float(correlation))


def _small_view(grey: np.ndarray, depth: np.ndarray) -> _SmallView | None:
    """Return a view with its gaps filled; None where it shows almost nothing."""
    known = np.isfinite(grey)
    if known.mean() < 0.5:
        return None
    filled = np.where(known, grey, grey[known].mean()).astype(np.float32)
    return _SmallView(grey=filled, depth=depth, median_depth_m=float(np.nanmedian(depth)))


def _middle(image: np.ndarray, share: float) -> np.ndarray:
    """Return the middle of an image, of a share of its height and width."""
    sizes: Sequence[int] = [max(8, round(share * n)) for n in image.shape]
    rows, columns = (
        slice((n - size) // 2, (n - size) // 2 + size)
        for n, size in zip(image.shape, sizes, strict=True)
    )
    return image[rows, columns]


@dataclass(frozen=True, kw_only=True, eq=False)
class VirtualView:
    """The aligner to a view of the map from the optical frame's pose `T_map_view`."""

    T_map_view: FloatArray
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
        return VirtualView(T_map_view=T_map_view, aligner=aligner)

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
        while len(self._retained) > self.parameters.n_cached_views:
            self._retained.popitem(last=False)
        return self._retained[k]
