# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The path of a scan along a wall, and its virtual key-frames."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

from aerotwin_core.camera import PinholeCamera
from aerotwin_core.frames import FloatArray, invert_transform, make_transform, transform_points
from aerotwin_dense_localization.mapping import DenseMap
from aerotwin_dense_localization.splats import SplatRasteriser

_STEP_M = 0.05  # distance between the poses at which overlap is computed
_CELLS = 50  # cells per edge of a view; their centres sample its area
_PROBE = PinholeCamera(width=64, height=64, fx=100.0, fy=100.0, cx=31.5, cy=31.5)
"""Views the wall from behind the path."""
_PROBE_BACK_M, _PROBE_HALF_PX = 6.0, 12
_NEAR_SHARE = 0.2  # share of the wall in front of the camera that may be nearer than the stand-off


def raster_path(
    corner_map: Sequence[float],
    along_m: float,
    up_m: float,
    *,
    row_m: float,
    standoff_m: float,
    yaw_rad: float,
) -> FloatArray:
    """Return poses T_map_optical (n, 4, 4) of the waypoints of a raster over a vertical wall.

    Parameters
    ----------
    corner_map : (3,) sequence
        Lower left corner of the region on the wall, as seen from the camera [m].
    along_m, up_m : float
        Size of the region [m].
    row_m : float
        Maximum row spacing [m]; rows alternate in direction, from the bottom up.
    standoff_m : float
        Distance of the camera from the wall [m].
    yaw_rad : float
        Level viewing direction: 0 is east (+x), counter-clockwise.

    Raises
    ------
    ValueError
        If a size is not positive.
    """
    for name, value in (("along_m", along_m), ("up_m", up_m), ("row_m", row_m),
                        ("standoff_m", standoff_m)):  # fmt: skip
        if not value > 0.0:
            raise ValueError(f"{name} must be positive, got {value}")
    ahead = np.array([np.cos(yaw_rad), np.sin(yaw_rad), 0.0])
    right = np.array([np.sin(yaw_rad), -np.cos(yaw_rad), 0.0])
    R = np.column_stack([right, [0.0, 0.0, -1.0], ahead])
    heights = np.linspace(0.0, up_m, int(np.ceil(up_m / row_m)) + 1)
    start = np.asarray(corner_map, float) - standoff_m * ahead
    poses = []
    for k, height in enumerate(heights):
        ends = (0.0, along_m) if k % 2 == 0 else (along_m, 0.0)
        poses += [make_transform(R, start + x * right + [0.0, 0.0, height]) for x in ends]
    return np.array(poses)


def virtual_poses(
    path: FloatArray,
    camera: PinholeCamera,
    *,
    distance_m: float,
    overlap: float,
    setback_m: float,
) -> FloatArray:
    """Return poses T_map_optical (n, 4, 4) of virtual key-frames along a path.

    Each is placed where the camera's view of a surface at `distance_m` shares `overlap` with that
    of the last. The smaller share of both directions counts: a nearer view lies fully in a farther
    one, but shows less of it. All poses are moved back along their axis by `setback_m`.

    Parameters
    ----------
    path : (k, 4, 4) array
        Waypoints T_map_optical.
    camera : PinholeCamera
        The camera to be localised.
    distance_m : float
        From the path to the surface [m].
    """
    if not 0.0 <= overlap < 1.0:
        raise ValueError(f"overlap must lie in 0 to below 1, got {overlap}")
    stations = _dense(np.asarray(path, dtype=np.float64))
    v, u = (np.mgrid[0:_CELLS, 0:_CELLS].reshape(2, -1) + 0.5) / _CELLS
    pixels = np.column_stack([u * (camera.width - 1), v * (camera.height - 1)])
    points = camera.unproject(pixels, np.full(len(pixels), distance_m))
    chosen = [0]
    for k in range(1, len(stations)):
        last, here = stations[chosen[-1]], stations[k]
        shares = (_shared(*pair, camera, points) for pair in ((last, here), (here, last)))
        if min(shares) < overlap:
            chosen.append(k)
    if chosen[-1] != len(stations) - 1:
        chosen.append(len(stations) - 1)
    return moved_ahead(stations[chosen], -setback_m)


def follow_surface(
    path: FloatArray, dense_map: DenseMap, *, standoff_m: float, spacing_m: float = 0.5
) -> FloatArray:
    """Return poses (n, 4, 4) along a path, moved along their axis to a distance from the map.

    Parameters
    ----------
    path : (k, 4, 4) array
        Waypoints T_map_optical, within some metres of the result.
    standoff_m : float
        From the surface in front of each pose, a fifth of which may be nearer [m].
    spacing_m : float
        Between poses [m].

    Raises
    ------
    ValueError
        If the map shows no surface in front of a part of the path.
    """
    stations = _dense(np.asarray(path, dtype=np.float64), spacing_m)
    rasteriser, ahead = SplatRasteriser(_PROBE), np.empty(len(stations))
    middle = slice(31 - _PROBE_HALF_PX, 33 + _PROBE_HALF_PX)
    for k, T in enumerate(stations):
        eye = moved_ahead(T, -_PROBE_BACK_M)
        depth = rasteriser.render(dense_map.visible(_PROBE, eye), eye).depth[middle, middle]
        known = depth[np.isfinite(depth)]
        ahead[k] = np.quantile(known, _NEAR_SHARE) - _PROBE_BACK_M if len(known) else np.nan
    if np.isnan(ahead).any():
        k = int(np.argmax(np.isnan(ahead)))
        x, y, z = stations[k, :3, 3]
        raise ValueError(
            f"the map shows no surface before {np.isnan(ahead).sum()} of {len(stations)} places of "
            f"the path, the first at ({x:.1f}, {y:.1f}, {z:.1f}) m; lead it along what was mapped"
        )
    axes, eyes = stations[:, :3, 2], stations[:, :3, 3].copy()
    places = eyes + ahead[:, None] * axes
    for k in range(len(stations)):
        # Obstacles in front of the neighbours count too: the vehicle passes them.
        near = places[max(k - 1, 0) : k + 2]
        stations[k, :3, 3] += (np.min((near - eyes[k]) @ axes[k]) - standoff_m) * axes[k]
    return stations


def moved_ahead(T_map_optical: FloatArray, distance_m: float) -> FloatArray:
    """Return poses (..., 4, 4) moved along their optical axis [m]."""
    return T_map_optical @ make_transform(np.eye(3), [0.0, 0.0, distance_m])


def _dense(path: FloatArray, step_m: float = _STEP_M) -> FloatArray:
    """Return poses from waypoint to waypoint, at most a step apart."""
    parts = [path[:1]]
    for a, b in pairwise(path):
        n = max(int(np.ceil(np.linalg.norm(b[:3, 3] - a[:3, 3]) / step_m)), 1)
        share = np.arange(1, n + 1) / n
        turns = Slerp([0.0, 1.0], Rotation.from_matrix([a[:3, :3], b[:3, :3]]))(share)
        part = np.tile(np.eye(4), (n, 1, 1))
        part[:, :3, :3] = turns.as_matrix()
        part[:, :3, 3] = a[:3, 3] + share[:, None] * (b[:3, 3] - a[:3, 3])
        parts.append(part)
    return np.concatenate(parts)


def _shared(T_a: FloatArray, T_b: FloatArray, camera: PinholeCamera, points: FloatArray) -> float:
    """Return the share of points in b's optical frame that the camera shows from a."""
    return float(camera.shows(transform_points(invert_transform(T_a) @ T_b, points)).mean())
