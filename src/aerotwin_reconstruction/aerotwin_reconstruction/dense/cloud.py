# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A coloured cloud from aligned pictures: depth maps by stereo with several neighbours, fused."""

from dataclasses import dataclass

import cv2
import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.frames import invert_transform, transform_points
from aerotwin_core.threads import default_thread_count, run_tasks
from aerotwin_reconstruction.bundle.align import PhotoAlignment, Report
from aerotwin_reconstruction.bundle.features import read_picture
from aerotwin_reconstruction.dense.fusion import DenseCloud, VisiblePoints, fuse
from aerotwin_reconstruction.dense.kernels import agreed_depths, confirm, inverse_depths
from aerotwin_reconstruction.dense.parameters import DenseParameters
from aerotwin_reconstruction.dense.stereo import match_pair

_FEWEST_SHARED = 15
_ACROSS = np.sin(np.radians(50.0))
_DEGREES_LIKE_A_FACTOR_OF_TWO = 12.0
_CONFIRMED_BY = 10  # the pictures that share most points are asked


def shared_tracks(alignment: PhotoAlignment) -> np.ndarray:
    """Return the number of points that each two pictures share, (k, k)."""
    from scipy.sparse import csr_matrix

    tracks = alignment.tracks
    seen = csr_matrix(
        (np.ones(len(tracks.picture), np.int32), (tracks.picture, tracks.point)),
        (len(alignment.photos), tracks.n_points),
    )
    shared = (seen @ seen.T).toarray()
    np.fill_diagonal(shared, 0)
    return shared


def depth_ranges(alignment: PhotoAlignment) -> np.ndarray:
    """Return nearest, median and farthest depth of each picture's points, (k, 3) [m].

    NaN where a picture has none. The ends are the 1st and 99th percentiles: single tracks may be
    wrong.
    """
    tracks, T = alignment.tracks, alignment.T_map_optical
    away = alignment.points[tracks.point] - T[tracks.picture, :3, 3]
    depth = np.einsum("ni,ni->n", away, T[tracks.picture, :3, 2])
    ranges = np.full((len(T), 3), np.nan)
    for k in np.unique(tracks.picture):
        ranges[k] = np.quantile(depth[tracks.picture == k], [0.01, 0.5, 0.99])
    return ranges


def choose_neighbours(
    alignment: PhotoAlignment,
    shared: np.ndarray,
    median_depth_m: np.ndarray,
    parameters: DenseParameters,
) -> list[np.ndarray]:
    """Return for each picture the indices of its neighbours for stereo, the best first.

    They share points, look the same way, and are beside rather than behind each other, at a
    distance that makes depths precise while surfaces still look alike (Furukawa and Hernandez,
    Multi-View Stereo: A Tutorial, 2015, 2.4).
    """
    centres, axes = alignment.T_map_optical[:, :3, 3], alignment.T_map_optical[:, :3, 2]
    chosen = []
    for k in range(len(centres)):
        baseline = centres - centres[k]
        length = np.maximum(np.linalg.norm(baseline, axis=1), 1e-9)
        share = length / median_depth_m[k]
        angle_deg = np.degrees(np.arccos(np.clip(axes @ axes[k], -1.0, 1.0)))
        along = np.abs(baseline @ axes[k]) / length
        is_fit = (
            (shared[k] >= _FEWEST_SHARED)
            & (share >= parameters.min_baseline_ratio)
            & (share <= parameters.max_baseline_ratio)
            & (angle_deg <= parameters.largest_angle_deg)
            & (along < _ACROSS)
            & alignment.is_tied
        )
        penalty = np.abs(np.log2(share / parameters.preferred_baseline_ratio))
        penalty += angle_deg / _DEGREES_LIKE_A_FACTOR_OF_TWO
        fit = np.flatnonzero(is_fit) if alignment.is_tied[k] else np.empty(0, np.int64)
        chosen.append(fit[np.argsort(penalty[fit], kind="stable")[: parameters.n_neighbours]])
    return chosen


@dataclass(frozen=True, kw_only=True)
class DepthMaps:
    """Depths (k, h, w) float32 of all pictures along the optical axis [m], 0 unknown.

    `colours` are the pictures (h, w, 3) uint8 without distortion at the same size, `K` (3, 3) their
    intrinsics.
    """

    depth: np.ndarray
    colours: list[np.ndarray]
    K: np.ndarray


def reconstruct_cloud(
    alignment: PhotoAlignment,
    maps: DepthMaps,
    parameters: DenseParameters,
    *,
    report: Report = lambda text, share: None,
) -> DenseCloud:
    """Return the mutually confirmed points of depth maps as a cloud with normals and colours.

    Raises
    ------
    UserError
        If no two pictures agree on a surface.
    """
    shared = shared_tracks(alignment)
    done: list[int] = []

    def points_of(k: int) -> VisiblePoints:
        part = _confirmed_points(alignment, maps, shared, k, parameters)
        done.append(k)
        report("fusion", len(done) / (len(maps.depth) + 1))
        return part

    indices = [(k,) for k in range(len(maps.depth)) if maps.depth[k].any()]
    parts = run_tasks(points_of, indices, default_thread_count())
    try:
        cloud = fuse(
            parts,
            voxel_m=parameters.voxel_m,
            min_points=parameters.min_points,
            normal_neighbours=parameters.normal_neighbours,
            min_share=parameters.min_share,
        )
    except ValueError as error:
        raise UserError(f"no surface was found: {error}; survey with more overlap") from None
    report("fusion", 1.0)
    return cloud


def depth_maps(
    alignment: PhotoAlignment,
    shared: np.ndarray,
    parameters: DenseParameters,
    *,
    report: Report = lambda text, share: None,
) -> DepthMaps:
    """Return the depths of every picture that neighbours agree on."""
    ranges = depth_ranges(alignment)
    neighbours = choose_neighbours(alignment, shared, ranges[:, 1], parameters)
    if not any(len(row) >= parameters.n_agreeing for row in neighbours):
        raise UserError(
            "no picture has enough neighbours to compare with; survey with more forward overlap"
        )
    colours, K = _pictures(alignment, parameters.scale)
    greys = [cv2.cvtColor(image, cv2.COLOR_RGB2GRAY) for image in colours]
    depth = np.zeros((len(greys), *greys[0].shape), np.float32)
    done: list[int] = []

    def one(k: int) -> None:
        if len(neighbours[k]) >= parameters.n_agreeing:
            margin = 1.0 + parameters.depth_margin
            span = (ranges[k, 0] / margin, ranges[k, 2] * margin)
            _depth_of(k, neighbours[k], greys, alignment.T_map_optical, K, span, parameters, depth)
        done.append(k)
        report("stereo", len(done) / len(greys))

    run_tasks(one, [(k,) for k in range(len(greys))], default_thread_count())
    return DepthMaps(depth=depth, colours=colours, K=K)


def _pictures(alignment: PhotoAlignment, scale: float) -> tuple[list[np.ndarray], np.ndarray]:
    """Return all pictures shrunk and without distortion, and their intrinsic matrix."""
    tag = alignment.photos[0].tag
    size = (round(tag.width_px * scale), round(tag.height_px * scale))
    K = alignment.K
    for axis, (small, large) in enumerate(zip(size, (tag.width_px, tag.height_px))):
        K[axis] *= small / large
        K[axis, 2] += 0.5 * small / large - 0.5
    lens = np.array([*alignment.lens[3:], 0.0, 0.0])

    def one(path) -> np.ndarray:
        image = cv2.resize(read_picture(path), size, interpolation=cv2.INTER_AREA)
        return cv2.undistort(image, K, lens)

    tasks = [(photo.path,) for photo in alignment.photos]
    return run_tasks(one, tasks, default_thread_count()), K


def _depth_of(
    k: int,
    neighbours: np.ndarray,
    greys: list[np.ndarray],
    poses: np.ndarray,
    K: np.ndarray,
    depth_m: tuple[float, float],
    parameters: DenseParameters,
    out: np.ndarray,
) -> None:
    """Write the depths of one picture: by each neighbour, then what they agree on."""
    inverse, sharpness = [], []
    for j in neighbours:
        pair = match_pair(
            (greys[k], greys[j]), (poses[k], poses[j]), K, depth_m, block_px=parameters.block_px
        )
        if pair is None:
            continue
        found = np.empty(greys[k].shape, np.float32)
        inverse_depths(
            pair.disparity, pair.R_rect_optical, pair.K, pair.lowest, pair.baseline_m,
            np.linalg.inv(K), found,
        )  # fmt: skip
        inverse.append(found)
        sharpness.append(K[0, 0] * pair.baseline_m)
    if len(inverse) >= parameters.n_agreeing:
        agreed_depths(
            np.stack(inverse), np.array(sharpness), parameters.agreement_px,
            parameters.n_agreeing, out[k],
        )  # fmt: skip
        out[k][contrast(greys[k], parameters.block_px) < parameters.min_contrast_dn] = 0.0


def contrast(grey: np.ndarray, block_px: int) -> np.ndarray:
    """Return the standard deviation of the grey levels about each pixel, (h, w) float64."""
    size, levels = (block_px, block_px), grey.astype(np.float64)
    mean = cv2.blur(levels, size)
    return np.sqrt(np.maximum(cv2.blur(levels**2, size) - mean**2, 0.0))


def _confirmed_points(
    alignment: PhotoAlignment,
    maps: DepthMaps,
    shared: np.ndarray,
    k: int,
    parameters: DenseParameters,
) -> VisiblePoints:
    """Return the points of one depth map that other pictures confirm."""
    T = alignment.T_map_optical
    others = np.argsort(-shared[k], kind="stable")[:_CONFIRMED_BY]
    others = others[shared[k, others] > 0]
    T_other_k = np.stack([invert_transform(T[j]) @ T[k] for j in others])
    K_inverse = np.linalg.inv(maps.K)
    is_retained = np.empty(maps.depth[k].shape, np.uint8)
    confirm(
        maps.depth[k], K_inverse, T_other_k, maps.depth[others], maps.K,
        parameters.depth_tolerance, parameters.n_confirming, parameters.pixel_step, is_retained,
    )  # fmt: skip
    v, u = np.nonzero(is_retained)
    rays = np.column_stack([u, v, np.ones(len(u))]) @ K_inverse.T
    points = transform_points(T[k], rays * maps.depth[k][v, u, None])
    return VisiblePoints(
        points=points.astype(np.float32),
        colours=maps.colours[k][v, u],
        towards=T[k, :3, 3].astype(np.float32),
    )
