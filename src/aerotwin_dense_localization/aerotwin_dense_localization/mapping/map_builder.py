# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Grows the map key-frame by key-frame: known points are updated, new ones become a surface.

After Navarro et al. (2025), II.A.4 and II.A.5: the map is rendered at the key-frame's pose and
compared with it. Depths that agree are fused. Where they disagree, colours decide: similar colours
mean a wrong depth, different ones a newly seen object. A new surface is created by distance,
overlap and the coverage of salient pixels.
"""

from dataclasses import dataclass

import cv2
import numpy as np

from aerotwin_core.frames import invert_transform, transform_points
from aerotwin_core.threads import default_thread_count, run_tasks, split_range
from aerotwin_dense_localization.mapping.dense_map import DenseMap
from aerotwin_dense_localization.mapping.kernels import (
    AGREES,
    FINER,
    NEW,
    REVEALED,
    SPURIOUS,
    UNKNOWN,
    classify_pixels,
    find_slopes,
)
from aerotwin_dense_localization.mapping.keyframe import StereoKeyframe
from aerotwin_dense_localization.mapping.parameters import MapParameters
from aerotwin_dense_localization.mapping.surface import SplatSurface, to_lab
from aerotwin_dense_localization.splats import SplatCloud, SplatRasteriser

_SQUARE_PX = 32


@dataclass(frozen=True, kw_only=True)
class KeyframeReport:
    """How a key-frame changed the map.

    Attributes
    ----------
    n_agreeing, n_new, n_finer, n_revealed, n_spurious : int
        Its pixels by class.
    overlap, saliency : float
        Share of its pixels with depth, and of their saliency, that the map already contained.
    distance_m : float
        To the nearest surface's pose; infinite for the first.
    is_surface : bool
        Whether it became a surface of its own.
    n_replaced : int
        Points of the map that it replaced.
    """

    stamp_ns: int
    n_agreeing: int
    n_new: int
    n_finer: int
    n_revealed: int
    n_spurious: int
    overlap: float
    saliency: float
    distance_m: float
    is_surface: bool
    n_replaced: int


class SplatMapBuilder:
    """Builds a map incrementally from key-frames."""

    def __init__(self, parameters: MapParameters | None = None) -> None:
        self.parameters = MapParameters() if parameters is None else parameters
        self.surfaces: list[SplatSurface] = []

    def add(self, keyframe: StereoKeyframe) -> KeyframeReport:
        """Integrate a key-frame, whose pose is final, into the map."""
        p = self.parameters
        depth, variance = _without_rim(keyframe, p.margin_px)
        colours = to_lab(keyframe.image.reshape(*keyframe.image.shape[:2], -1))
        near = [k for k, surface in enumerate(self.surfaces) if _meets(surface, keyframe, p)]
        kind = self._kind(keyframe, depth, variance, colours, near)
        n_replaced = 0
        for k in near:
            n_replaced += self.surfaces[k].learn(
                (depth, variance, colours), kind, keyframe.camera, keyframe.T_map_optical, p
            )
        report = self._report(keyframe, kind, n_replaced)
        if report.is_surface:
            self.surfaces.append(_new_surface(keyframe, depth, variance, colours, kind))
        return report

    def finished(self) -> DenseMap:
        """Return the map, without the points that too few key-frames agreed on."""
        for surface in self.surfaces:
            surface.keep(surface.n_seen >= self.parameters.min_views)
        return DenseMap(self.surfaces, self.parameters)

    def _kind(
        self,
        keyframe: StereoKeyframe,
        depth: np.ndarray,
        variance: np.ndarray,
        colours: np.ndarray,
        near: list[int],
    ) -> np.ndarray:
        p, shape = self.parameters, depth.shape
        if not near:
            return np.where(depth > 0.0, NEW, UNKNOWN).astype(np.uint8)
        known = SplatCloud.joined([self._tagged(k) for k in near])
        seen = SplatRasteriser(keyframe.camera).render(known, keyframe.T_map_optical)
        kind = np.empty(shape, np.uint8)
        arrays = (depth, variance, colours, seen.depth, seen.variance, seen.weight, seen.image)
        choices = (
            keyframe.camera.fx, p.gate, p.depth_tolerance, p.max_pixel_ratio,
            p.colour_tolerance_dn, p.min_weight, kind,
        )  # fmt: skip
        n_threads = default_thread_count()
        bands = [(*band, *arrays, *choices) for band in split_range(shape[0], n_threads)]
        run_tasks(classify_pixels, bands, n_threads)
        return kind

    def _tagged(self, k: int) -> SplatCloud:
        """Return a surface's splats with colours as they are fused, and their pixel size."""
        surface = self.surfaces[k]
        cloud = surface.splats(self.parameters)
        tags = np.column_stack([surface.colours, surface.pixel_m()])
        return SplatCloud(points=cloud.points, colours=tags, covariances=cloud.covariances)

    def _report(
        self, keyframe: StereoKeyframe, kind: np.ndarray, n_replaced: int
    ) -> KeyframeReport:
        p = self.parameters
        count = {what: int((kind == what).sum()) for what in range(6)}
        is_known, is_new = kind != UNKNOWN, np.isin(kind, (NEW, FINER, REVEALED))
        n_known, n_new = int(is_known.sum()), int(is_new.sum())
        salience = _salience(keyframe)
        overlap = 1.0 - n_new / n_known if n_known else 1.0
        total = float(salience[is_known].sum())
        saliency = 1.0 - float(salience[is_new].sum()) / total if total > 0.0 else 1.0
        here = keyframe.T_map_optical[:3, 3]
        ways = [np.linalg.norm(s.T_map_surface[:3, 3] - here) for s in self.surfaces]
        distance_m = float(min(ways, default=np.inf))
        is_surface = n_new > 0 and (
            distance_m > p.new_distance_m or overlap < p.new_overlap or saliency < p.new_saliency
        )
        return KeyframeReport(
            stamp_ns=keyframe.stamp_ns,
            n_agreeing=count[AGREES],
            n_new=count[NEW],
            n_finer=count[FINER],
            n_revealed=count[REVEALED],
            n_spurious=count[SPURIOUS],
            overlap=overlap,
            saliency=saliency,
            distance_m=distance_m,
            is_surface=is_surface,
            n_replaced=n_replaced,
        )


def _without_rim(keyframe: StereoKeyframe, margin_px: int) -> tuple[np.ndarray, np.ndarray]:
    depth = np.full(keyframe.depth.shape, np.nan, np.float32)
    inside = np.s_[margin_px : depth.shape[0] - margin_px, margin_px : depth.shape[1] - margin_px]
    depth[inside] = keyframe.depth[inside]
    variance = np.ascontiguousarray(keyframe.variance, dtype=np.float32)
    return depth, variance


def _meets(surface: SplatSurface, keyframe: StereoKeyframe, p: MapParameters) -> bool:
    """Return whether a key-frame may show points of a nearby surface, tested on a few of them."""
    if np.linalg.norm(surface.T_map_surface[:3, 3] - keyframe.T_map_optical[:3, 3]) > p.reach_m:
        return False
    chosen = np.linspace(0, len(surface) - 1, min(len(surface), 200)).astype(int)
    rows, columns = np.divmod(surface.pixels[chosen], surface.camera.width)
    points = surface.camera.unproject(np.column_stack([columns, rows]), surface.depth[chosen])
    T = invert_transform(keyframe.T_map_optical) @ surface.T_map_surface
    uv = keyframe.camera.project(transform_points(T, points))
    rim = 0.1 * keyframe.camera.width
    size = np.array([keyframe.camera.width, keyframe.camera.height])
    return bool(((uv > -rim) & (uv < size + rim)).all(axis=1).any())


def _salience(keyframe: StereoKeyframe) -> np.ndarray:
    """Return the visual saliency of each pixel (h, w), by OpenCV's spectral residual."""
    # Of the luma: OpenCV would read a colour image as blue, green, red.
    found, salience = cv2.saliency.StaticSaliencySpectralResidual_create().computeSaliency(
        keyframe.grey
    )
    if not found:
        return np.ones(keyframe.depth.shape, np.float32)
    return salience


def _new_surface(
    keyframe: StereoKeyframe,
    depth: np.ndarray,
    variance: np.ndarray,
    colours: np.ndarray,
    kind: np.ndarray,
) -> SplatSurface:
    slopes = np.empty((*depth.shape, 2), np.float32)
    find_slopes(0, len(depth), depth, keyframe.camera.fx, keyframe.camera.fy, slopes)
    chosen = np.flatnonzero(np.isin(kind, (NEW, FINER, REVEALED)))
    rows, columns = np.divmod(chosen, keyframe.camera.width)
    # Square by square: neighbours in the list are neighbours on the wall.
    chosen = chosen[np.lexsort((columns // _SQUARE_PX, rows // _SQUARE_PX))]
    return SplatSurface(
        camera=keyframe.camera,
        T_map_surface=np.array(keyframe.T_map_optical, dtype=np.float64),
        pixels=chosen.astype(np.int32),
        depth=depth.ravel()[chosen],
        variance=variance.ravel()[chosen],
        slopes=slopes.reshape(-1, 2)[chosen],
        colours=colours.reshape(-1, colours.shape[-1])[chosen],
        n_seen=np.ones(len(chosen), np.int64),
    )
