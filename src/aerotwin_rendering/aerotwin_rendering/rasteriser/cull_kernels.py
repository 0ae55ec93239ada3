# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Which clusters a view may see, the nearest first, and in which pixels: compiled kernels."""

import math
from typing import NamedTuple

import numpy as np

from aerotwin_core.kernel_cache import njit
from aerotwin_rendering.rasteriser.clusters import Clusters
from aerotwin_rendering.rasteriser.lens import EMPTY_HIGH, EMPTY_LOW, Lens
from aerotwin_rendering.rasteriser.views import CameraView

# Grid coordinates of vertices are single precision: 5e-4 px off at 8192 px.
MARGIN = np.float32(2e-3)
MOST_CELLS = 4  # along a side of a box; more are looked up on a coarser level
FAR_AWAY = 1e6  # grid coordinates are kept below, so that they fit an integer
# Twice the rounding of single-precision inverse depths.
NEARER = np.float32(1.0 + 2.4e-7)


class Visible(NamedTuple):
    """Clusters that a view may see, the nearest first.

    ``cluster`` (k,) int32. ``box`` (k, 4) int32: first and last column, first and last row of the
    pixels that may see it. ``inverse_depth`` (k,) float32 is that of the nearest point of its box
    [1/m]; ``crosses_near`` (k,) bool: whether parts of it may lie nearer than the near plane.
    """

    cluster: np.ndarray
    box: np.ndarray
    inverse_depth: np.ndarray
    crosses_near: np.ndarray


@njit(nogil=True, cache=True, error_model="numpy")
def pixels_of(cells, levels, width, height, u_low, u_high, v_low, v_high):
    """First and last column and row of the pixels whose rays may lie in a box of the grid.

    ``cells`` and ``levels`` as in `Lens`: up to ``MOST_CELLS`` squared of one level are joined.
    """
    u_low, u_high = max(u_low - MARGIN, -FAR_AWAY), min(u_high + MARGIN, FAR_AWAY)
    v_low, v_high = max(v_low - MARGIN, -FAR_AWAY), min(v_high + MARGIN, FAR_AWAY)
    if len(levels) == 0:
        return (
            max(math.ceil(u_low), 0), min(math.floor(u_high), width - 1),
            max(math.ceil(v_low), 0), min(math.floor(v_high), height - 1),
        )  # fmt: skip
    last_column, last_row = levels[0, 1] - 1, levels[0, 2] - 1
    i0, i1 = max(math.floor(u_low), 0), min(math.floor(u_high), last_column)
    j0, j1 = max(math.floor(v_low), 0), min(math.floor(v_high), last_row)
    level = 0
    while i1 - i0 >= MOST_CELLS or j1 - j0 >= MOST_CELLS:
        level += 1
        i0, i1, j0, j1 = i0 >> 1, i1 >> 1, j0 >> 1, j1 >> 1
    u0, u1, v0, v1 = EMPTY_LOW, EMPTY_HIGH, EMPTY_LOW, EMPTY_HIGH
    for j in range(j0, j1 + 1):
        first = levels[level, 0] + j * levels[level, 1]
        for k in range(first + i0, first + i1 + 1):
            u0, u1 = min(u0, cells[k, 0]), max(u1, cells[k, 1])
            v0, v1 = min(v0, cells[k, 2]), max(v1, cells[k, 3])
    return u0, u1, v0, v1


@njit(nogil=True, cache=True, error_model="numpy")
def to_grid(t, squeeze, scale, offset):
    """Return the grid coordinate of x/z = t, or of y/z (see `Lens`)."""
    return scale * (t / (1.0 + squeeze * abs(t))) + offset


@njit(nogil=True, cache=True, error_model="numpy")
def _corner_box(low, high, pose, lens: Lens):
    """Pixels that may see a box whose corners all lie in front of the camera."""
    u_low, u_high, v_low, v_high = np.inf, -np.inf, np.inf, -np.inf
    for corner in range(8):
        dx = (high[0] if corner & 1 else low[0]) - pose[9]
        dy = (high[1] if corner & 2 else low[1]) - pose[10]
        dz = (high[2] if corner & 4 else low[2]) - pose[11]
        inverse = 1.0 / (pose[6] * dx + pose[7] * dy + pose[8] * dz)
        x = (pose[0] * dx + pose[1] * dy + pose[2] * dz) * inverse
        y = (pose[3] * dx + pose[4] * dy + pose[5] * dz) * inverse
        u = to_grid(x, lens.squeeze, lens.u_scale, lens.u_offset)
        v = to_grid(y, lens.squeeze, lens.v_scale, lens.v_offset)
        u_low, u_high = min(u_low, u), max(u_high, u)
        v_low, v_high = min(v_low, v), max(v_high, v)
    width, height = lens.x.shape[1], lens.y.shape[0]
    return pixels_of(lens.cells, lens.levels, width, height, u_low, u_high, v_low, v_high)


@njit(nogil=True, cache=True, error_model="numpy")
def find_visible(clusters: Clusters, pose, lens: Lens, near, far, first_row, last_row):
    """Return the clusters that may be seen, in no particular order.

    ``pose``: R_optical_map row by row (9), p_map_optical (3).
    """
    n = len(clusters.mesh)
    out = Visible(
        np.empty(n, np.int32), np.empty((n, 4), np.int32), np.empty(n, np.float32),
        np.empty(n, np.bool_),
    )  # fmt: skip
    # Outwards normals of the planes around all rays, in camera axes: (ax, ay, az) . P > 0 outside.
    planes = ((1.0, 0.0, -lens.high_x), (-1.0, 0.0, lens.low_x),
              (0.0, 1.0, -lens.high_y), (0.0, -1.0, lens.low_y))  # fmt: skip
    normals = np.empty((5, 3))
    for a in range(3):
        for k in range(4):
            p = planes[k]
            normals[k, a] = p[0] * pose[a] + p[1] * pose[3 + a] + p[2] * pose[6 + a]
        normals[4, a] = pose[6 + a]
    count = 0
    for c in range(n):
        low, high = clusters.box_low[c], clusters.box_high[c]
        outside = False
        z_low, z_high = 0.0, 0.0
        for k in range(5):
            least, most = 0.0, 0.0
            for a in range(3):
                s, t = (
                    normals[k, a] * (low[a] - pose[9 + a]),
                    normals[k, a] * (high[a] - pose[9 + a]),
                )
                least, most = least + min(s, t), most + max(s, t)
            if k < 4:
                # Rounding: a hair of the box's distance.
                outside |= least > 1e-12 * (abs(least) + abs(most))
            else:
                z_low, z_high = least, most
        if outside or z_high < near or z_low > far:
            continue
        u0, u1, v0, v1 = 0, lens.x.shape[1] - 1, first_row, last_row - 1
        crosses = z_low < 1.0000001 * near
        if not crosses:
            u0, u1, v0, v1 = _corner_box(low, high, pose, lens)
        if u0 > u1 or v0 > v1 or v1 < first_row or v0 >= last_row:
            continue
        out.cluster[count] = c
        out.box[count, 0], out.box[count, 1] = u0, u1
        out.box[count, 2], out.box[count, 3] = v0, v1
        out.inverse_depth[count] = NEARER / max(z_low, near)
        out.crosses_near[count] = crosses
        count += 1
    return Visible(
        out.cluster[:count], out.box[:count], out.inverse_depth[:count], out.crosses_near[:count]
    )


def pose_record(T_map_optical: np.ndarray) -> np.ndarray:
    """Return R_optical_map row by row and p_map_optical in one array (12,)."""
    T = np.asarray(T_map_optical, np.float64)
    return np.concatenate([T[:3, :3].T.ravel(), T[:3, 3]])


def visible_clusters(
    clusters: Clusters, view: CameraView, lens: Lens, pose: np.ndarray | None = None
) -> Visible:
    """Return the clusters that a view may see, in its rows and the adjacent ones; nearest first.

    ``pose`` is the `pose_record` of the camera in the frame of the clusters, by default in map.
    """
    first, last = view.row_range
    visible = find_visible(
        clusters,
        pose_record(view.T_map_optical) if pose is None else pose,
        lens,
        float(view.near_m),
        float(view.far_m),
        max(first - 1, 0),
        min(last + 1, view.camera.height),
    )
    order = np.argsort(-visible.inverse_depth, kind="stable")
    return Visible(*(np.ascontiguousarray(array[order]) for array in visible))
