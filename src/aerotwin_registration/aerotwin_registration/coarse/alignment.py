# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Coarse alignment: the pose of a cloud in another, from any heading, without a manual start.

Every yaw and every shift of a window is scored against a field around the target (`field`), the
best poses are refined (`search`) and aligned by ICP, and the winner is accepted only if it leads
every other pose clearly (`verdict`). Gravity is known: both clouds have z up; the ICP removes a
remaining tilt of some degrees.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from aerotwin_core.frames import make_transform, transform_points
from aerotwin_core.rms import rms_length
from aerotwin_registration.coarse.field import Field, Sample, draw_sample, make_field
from aerotwin_registration.coarse.protocol import CoarseProtocol
from aerotwin_registration.coarse.search import Window, distinct, refine, rotation, search
from aerotwin_registration.coarse.verdict import (
    CandidatePose,
    CoarseRegistration,
    judge,
    no_place,
    not_tried,
)
from aerotwin_registration.icp import AlignmentTarget, IcpProtocol, align
from aerotwin_registration.icp.surface import finite_points

SHIFTS_TO_ONE_SIDE = 10  # cells of the coarse search between no offset and the largest
CELLS_IN_RADIUS = 15  # cells in the source's radius: large clouds have larger cells
FINE = 1.0 / 3.0  # cells of the refinement, in coarse cells
_ROUNDING = 1e-9
_MAX_GROWTH = 1.0  # largest logarithm of the scale between an ICP and the searched scale
_SURROUNDINGS = 9
_LEAST_COARSE, _LEAST_FINE = 0.05, 0.3
"""Weight of flat ground: low in the search, enough in the refinement to find the height."""
_MAX_SEARCHED = 5000
_MAX_ALIGNED = 8
_ICP = IcpProtocol(
    method="gicp",
    relative_tolerance=1e-4,
    max_iterations=200,
    max_shift_m=1e9,
    max_turn_deg=180.0,
    min_explained=0.0,
    max_rival_lead=1.0,
)
"""Candidates may go far, to the place that others have found, too. What becomes of them is judged
here: rivals over the whole window, tilt and offset."""


def coarse_align(
    source: np.ndarray,
    target: np.ndarray,
    *,
    max_offset_m: float = 20.0,
    T_target_source_initial: np.ndarray | None = None,
    seed: int = 0,
    protocol: CoarseProtocol | None = None,
) -> CoarseRegistration:
    """Find the pose of a cloud in another, at any yaw and up to some offset.

    Parameters
    ----------
    source, target : (n, 3), (m, 3) arrays
        Points [m], z up in both (to a few degrees). The source may be a part of the target.
    max_offset_m : float
        Largest offset, horizontally and vertically, of the source's origin or of its middle,
        whichever is less [m].
    T_target_source_initial : (4, 4) array, optional
        Reference for offset and yaw; identity by default.
    seed : int
        Selects the sampled source points.

    Returns
    -------
    CoarseRegistration
        Accurate enough to start `align` from. `converged` is False, with a reason, if another
        pose is about as good (it is reported), if the overlap is too small, or if nothing fits.

    Raises
    ------
    ValueError
        If an array has the wrong shape or holds NaN or infinity, or the offset is not positive.

    Notes
    -----
    Cost grows with (offset / cell)^3 and the number of yaws, not with the number of points. The
    result is repeatable to the bit on any number of threads.

    References
    ----------
    The score is the correlation of Olson 2009 (Real-Time Correlative Scan Matching, ICRA), in
    three dimensions and with hits weighted by their information.
    """
    protocol = protocol or CoarseProtocol()
    source = np.ascontiguousarray(finite_points(source, "source"))
    target = np.ascontiguousarray(finite_points(target, "target"))
    if not 0.0 < max_offset_m < np.inf:
        raise ValueError(f"max_offset_m must be positive, got {max_offset_m}")
    T_initial = np.eye(4) if T_target_source_initial is None else T_target_source_initial
    if min(len(source), len(target)) < protocol.min_points:
        return not_tried(T_initial, len(source), len(target), protocol)
    source = transform_points(T_initial, source)
    cell = protocol.cell_m or _cell(source, max_offset_m)
    sample = draw_sample(source, 0.5 * cell, protocol.n_points, np.random.default_rng(seed))
    target = _reachable(target, sample, max_offset_m, protocol.scale_high)
    if min(len(sample.points), len(target)) < protocol.min_points:
        return not_tried(T_initial, len(sample.points), len(target), protocol)
    field = make_field(target, FINE * cell, FINE * cell, _SURROUNDINGS * cell, _LEAST_FINE)
    poses = _search(sample, target, field, cell, max_offset_m, protocol)
    places = _align_all(poses, sample, source, target, cell, protocol)
    if not places:
        return no_place(T_initial, max_offset_m)
    weight = _weight(sample, cell, protocol)
    result = judge(places, sample, field, cell, max_offset_m, protocol, weight)
    return result.after(T_initial)


def _search(
    sample: Sample,
    target: np.ndarray,
    fine: Field,
    cell: float,
    max_offset_m: float,
    protocol: CoarseProtocol,
) -> np.ndarray:
    """Return distinct poses (k, 5), best first."""
    field = make_field(target, cell, 0.7 * cell, _SURROUNDINGS * cell, _LEAST_COARSE)
    n_yaws = max(8, int(np.ceil(2.0 * np.pi * 1.2 * sample.radius_m / cell)))
    yaws = 2.0 * np.pi * np.arange(n_yaws) / n_yaws
    scales = _scales(protocol, sample.radius_m / cell)
    windows, weight = _windows(sample, max_offset_m, cell), _weight(sample, cell, protocol)
    poses = search(sample.points, field, windows, yaws, scales, weight)
    poses = poses[:_MAX_SEARCHED]
    poses = poses[distinct(poses, sample.radius_m, cell, protocol.n_candidates)]
    steps = np.array([0.5 * cell] * 3 + [np.pi / n_yaws, 0.5 * _growth(scales)])
    poses = refine(sample.points, fine, poses, steps, weight)
    return poses[distinct(poses, sample.radius_m, cell, _MAX_ALIGNED)]


def _align_all(
    poses: np.ndarray,
    sample: Sample,
    source: np.ndarray,
    target: np.ndarray,
    cell: float,
    protocol: CoarseProtocol,
) -> list[CandidatePose]:
    """Align the source at each pose by ICP; drop poses whose scale changes."""
    voxel = FINE * cell
    moving, fixed = AlignmentTarget(source, voxel_m=voxel), AlignmentTarget(target, voxel_m=voxel)
    choices = replace(_ICP, radius_m=cell, with_scale=protocol.seeks_scale)
    if protocol.seeks_scale:
        growth = _growth(_scales(protocol, sample.radius_m / cell))
        choices = replace(choices, max_scale_change=min(2.0 * growth, _MAX_GROWTH))
    places = []
    for pose in poses:
        R = rotation(pose[3])
        T = make_transform(R, pose[:3] - pose[4] * R @ sample.middle)
        aligned = align(
            moving, fixed, T_target_source_initial=T, scale_initial=pose[4], protocol=choices
        )
        if abs(np.log(aligned.scale / pose[4])) <= choices.max_scale_change + _ROUNDING:
            place = sample.moved(aligned.S_target_source)
            places.append(CandidatePose(registration=aligned, points=place))
    return places


def _cell(source: np.ndarray, max_offset_m: float) -> float:
    spread = source[:, :2] - np.median(source[:, :2], axis=0)
    radius = rms_length(spread)
    return max(max_offset_m / SHIFTS_TO_ONE_SIDE, radius / CELLS_IN_RADIUS)


def _windows(sample: Sample, max_offset_m: float, cell: float) -> list[Window]:
    """Return the search windows: offsets of the origin, and of the middle itself."""
    zero = np.zeros(3)
    about_origin = Window(centre=zero, lever=sample.middle, reach_m=max_offset_m)
    if np.linalg.norm(sample.middle) <= cell:
        return [about_origin]
    return [about_origin, Window(centre=sample.middle, lever=zero, reach_m=max_offset_m)]


def _scales(protocol: CoarseProtocol, cells_in_radius: float) -> np.ndarray:
    """Return scales that move the rim of the cloud by a cell from one to the next."""
    if not protocol.seeks_scale:
        return np.array([protocol.scale_low])
    span = np.log(protocol.scale_high / protocol.scale_low)
    n = int(np.ceil(span * cells_in_radius)) + 1
    return np.geomspace(protocol.scale_low, protocol.scale_high, max(n, 2))


def _growth(scales: np.ndarray) -> float:
    """Return the logarithm of one scale over the one before it; 0 with one scale."""
    return float(np.log(scales[1] / scales[0])) if len(scales) > 1 else 0.0


def _weight(sample: Sample, cell: float, protocol: CoarseProtocol) -> Callable[[float], float]:
    if not protocol.seeks_scale:
        return lambda scale: 1.0
    return lambda scale: sample.weight(scale, cell)


def _reachable(target: np.ndarray, sample: Sample, max_offset_m: float, scale: float) -> np.ndarray:
    reach = scale * sample.reach_m + max_offset_m
    far = scale * float(np.linalg.norm(sample.middle[:2])) + reach
    is_near = np.hypot(target[:, 0], target[:, 1]) <= far
    is_near |= np.hypot(*(target[:, :2] - sample.middle[:2]).T) <= reach
    return target[is_near]
