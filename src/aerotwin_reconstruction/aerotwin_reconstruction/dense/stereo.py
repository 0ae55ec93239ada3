# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Stereo of two pictures at arbitrary poses: rectification and semi-global matching.

Both pictures are turned about their centres until rows are epipolar lines; OpenCV's semi-global
matching (Hirschmueller, PAMI 2008) finds disparities, in the reference's whole view.
"""

from dataclasses import dataclass

import cv2
import numpy as np

from aerotwin_core.stereo_matching import MOST_DISPARITIES, semi_global_matcher

_LARGEST_VIEW = 2.5  # a turned view may have so many times the pixels of the picture


@dataclass(frozen=True, kw_only=True)
class PairDisparity:
    """Disparities of a reference picture against a neighbour, in rectified axes."""

    disparity: np.ndarray  # (h, w) int16 sixteenths of a pixel; negative where there is none
    # R_rect_optical and K: from the reference's optical axes to the rectified ones; intrinsics of
    # the rectified view
    R_rect_optical: np.ndarray  # (3, 3)
    K: np.ndarray  # (3, 3)
    baseline_m: float
    lowest: float  # smallest valid disparity [px]


def rectifying_rotation(
    R_map_a: np.ndarray, R_map_b: np.ndarray, baseline: np.ndarray
) -> np.ndarray:
    """Return R_map_rect: x along the baseline from a to b, z nearest to both optical axes."""
    x = baseline / np.linalg.norm(baseline)
    axis = R_map_a[:, 2] + R_map_b[:, 2]
    z = axis - (axis @ x) * x
    z /= np.linalg.norm(z)
    return np.column_stack([x, np.cross(z, x), z])


def match_pair(
    images: tuple[np.ndarray, np.ndarray],
    poses: tuple[np.ndarray, np.ndarray],
    K: np.ndarray,
    depth_m: tuple[float, float],
    *,
    block_px: int,
) -> PairDisparity | None:
    """Return the disparities of the first picture against the second.

    `images` two (h, w) uint8: grey, without distortion; both have the intrinsics `K` (3, 3).
    `poses` two (4, 4): T_map_optical. `depth_m` (nearest, farthest): search range along the
    reference's axis [m]. Returns None where the views diverge too far to be turned into one
    plane, or the depths would need more than 512 disparities.
    """
    R_a, R_b = (T[:3, :3] for T in poses)
    baseline = poses[1][:3, 3] - poses[0][:3, 3]
    length = float(np.linalg.norm(baseline))
    R_map_rect = rectifying_rotation(R_a, R_b, baseline)
    turns = [R_map_rect.T @ R for R in (R_a, R_b)]
    view = _view(turns[0], K, images[0].shape)
    if view is None:
        return None
    K_rect, size = view
    nearest, farthest = _turned_depths(turns[0], K, images[0].shape, depth_m)
    f = K_rect[0, 0]
    lowest = int(np.floor(f * length / farthest))
    n = int(np.ceil((f * length / nearest - lowest) / 16.0)) * 16
    if not 16 <= n <= MOST_DISPARITIES:
        return None
    # The neighbour's view is shifted by the lowest disparity, so that none falls off its rim.
    K_other = K_rect.copy()
    K_other[0, 2] += lowest
    pair = [
        cv2.warpPerspective(
            image,
            K_to @ turn @ np.linalg.inv(K),
            size,
            flags=cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_CONSTANT,
        )
        for image, turn, K_to in zip(images, turns, (K_rect, K_other))
    ]
    matcher = semi_global_matcher(0, n, block_px)
    # The strip at the left, which the matcher cannot evaluate, is outside of the picture.
    padded = [cv2.copyMakeBorder(p, 0, 0, n, 0, cv2.BORDER_CONSTANT) for p in pair]
    disparity = matcher.compute(*padded)[:, n:]
    return PairDisparity(
        disparity=np.ascontiguousarray(disparity),
        R_rect_optical=turns[0],
        K=K_rect,
        baseline_m=length,
        lowest=float(lowest),
    )


def _corners(shape: tuple[int, ...], K: np.ndarray) -> np.ndarray:
    """Return the rays through the corners of a picture, (4, 3) with z = 1."""
    h, w = shape[:2]
    pixels = np.array([[0, 0, 1], [w - 1, 0, 1], [w - 1, h - 1, 1], [0, h - 1, 1]], float)
    return pixels @ np.linalg.inv(K).T


def _view(
    turn: np.ndarray, K: np.ndarray, shape: tuple[int, ...]
) -> tuple[np.ndarray, tuple[int, int]] | None:
    """Return intrinsics and (width, height) of the turned view that contains the whole picture."""
    corners = _corners(shape, K) @ turn.T
    if (corners[:, 2] < 0.2).any():
        return None
    xy = corners[:, :2] / corners[:, 2:]
    low, high = xy.min(axis=0), xy.max(axis=0)
    f = K[0, 0]
    width, height = (int(np.ceil(n)) + 1 for n in f * (high - low))
    if width * height > _LARGEST_VIEW * shape[0] * shape[1]:
        return None
    K_rect = np.array([[f, 0.0, -f * low[0]], [0.0, f, -f * low[1]], [0.0, 0.0, 1.0]])
    return K_rect, (width, height)


def _turned_depths(
    turn: np.ndarray, K: np.ndarray, shape: tuple[int, ...], depth_m: tuple[float, float]
) -> tuple[float, float]:
    """Return nearest and farthest depth along the turned axis of what a picture may show."""
    per_depth = (_corners(shape, K) @ turn.T)[:, 2]
    return float(depth_m[0] * min(per_depth.min(), 1.0)), float(depth_m[1] * per_depth.max())
