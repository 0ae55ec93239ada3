# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Support of an alignment by the surfaces of both clouds, computed without ground truth.

A pair is explained when the point lies on the target's surface, within the roughness of both
surfaces, and both normals agree. A wrong alignment explains few pairs, or only those that
constrain one direction: two streets share the ground, but not the walls.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from aerotwin_core.frames import transform_points
from aerotwin_core.rms import rms, rms_length
from aerotwin_registration.icp.similarity import split_scale
from aerotwin_registration.icp.surface import N_SAMPLES, AlignmentTarget
from aerotwin_registration.observability import OpenDirection, open_directions

LARGEST_RESIDUAL = 2.0
"""Largest distance of a point on a surface, in units of both surfaces' roughness."""
LEAST_COSINE = 0.8  # of the angle between the normals of an explained pair
SPACING_SHARE = 0.1
"""Of the clouds' spacing, within which a surface is not known however smooth it is."""
_REGULAR = 1e-6


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Metrics of an alignment, from a sample of the source."""

    explained: float  # share of the sampled points that are explained
    # weakest and weakest_direction: least share of the information of paired points, over all
    # motions, that explained points hold, and that motion
    weakest: float
    weakest_direction: OpenDirection
    open_directions: tuple[OpenDirection, ...]  # motions that no pair constrains
    # Root mean square distance of explained pairs along the target's normal [m]
    surface_rmse_m: float
    # information and centre: mean information of a pair for a residual of 1 m: shift, turn about
    # `centre`, that of the pairs in the target surface's frame [m]
    information: np.ndarray  # (6, 6)
    centre: np.ndarray  # (3,)


@dataclass(frozen=True, kw_only=True)
class _Sample:
    moved: np.ndarray
    source_normals: np.ndarray
    target_normals: np.ndarray
    residuals: np.ndarray
    is_explained: np.ndarray


def explained_share(
    source: AlignmentTarget,
    target: AlignmentTarget,
    S: np.ndarray,
    radius_m: float,
    places: np.ndarray,
) -> float:
    """Return the share of the source's points at some indices that S (4, 4) explains."""
    return float(np.sum(_sampled(source, target, S, radius_m, places).is_explained) / len(places))


def evidence_of(
    source: AlignmentTarget,
    target: AlignmentTarget,
    S: np.ndarray,
    radius_m: float,
    *,
    with_scale: bool = False,
) -> Evidence | None:
    """Return the evidence of a sample of the source for S (4, 4); None without pairs."""
    places = source.sample(N_SAMPLES)
    sample = _sampled(source, target, S, radius_m, places)
    if len(sample.moved) == 0:
        return None
    centre = sample.moved.mean(axis=0)
    arms = sample.moved - centre
    arm = max(rms_length(arms), 1e-12)
    ok = sample.is_explained
    seen = _rows(sample.source_normals, arms / arm)
    share, motion = _weakest(seen, ok)
    surface = _rows(sample.target_normals, arms / arm, with_scale=with_scale)
    J = _rows(sample.target_normals, arms)
    return Evidence(
        explained=float(np.sum(ok) / len(places)),
        weakest=share,
        weakest_direction=OpenDirection(
            translation=motion[:3], rotation=motion[3:], information=share
        ),
        open_directions=open_directions(surface),
        surface_rmse_m=rms(sample.residuals[ok]),
        information=J.T @ J / len(J),
        centre=centre,
    )


def _sampled(
    source: AlignmentTarget,
    target: AlignmentTarget,
    S: np.ndarray,
    radius_m: float,
    places: np.ndarray,
) -> _Sample:
    moved = transform_points(S, source.points[places])
    index = target.tree.nearest(moved, 1, limit_m=radius_m)[1][:, 0]
    is_paired = index >= 0
    moved, index, places = moved[is_paired], index[is_paired], places[is_paired]
    target_normals, target_roughness = target.normals_at(index)
    source_normals, source_roughness = source.normals_at(places)
    T, scale = split_scale(S)
    source_normals = source_normals @ T[:3, :3].T
    residuals = np.abs(np.sum(target_normals * (target.points[index] - moved), axis=1))
    unknown = SPACING_SHARE * max(source.spacing_m * scale, target.spacing_m)
    rough = np.sqrt(target_roughness**2 + (scale * source_roughness) ** 2 + unknown**2)
    cosine = np.abs(np.sum(target_normals * source_normals, axis=1))
    return _Sample(
        moved=moved,
        source_normals=source_normals,
        target_normals=target_normals,
        residuals=residuals,
        is_explained=(residuals <= LARGEST_RESIDUAL * rough) & (cosine >= LEAST_COSINE),
    )


def _rows(normals: np.ndarray, arms: np.ndarray, *, with_scale: bool = False) -> np.ndarray:
    """Return the motion of each point along its normal by a shift, a turn (and a scale)."""
    columns = [normals, np.cross(arms, normals)]
    if with_scale:
        columns.append(np.sum(arms * normals, axis=1, keepdims=True))
    return np.hstack(columns)


def _weakest(rows: np.ndarray, is_explained: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the least explained share of information, 1 where there is none, and the motion."""
    of_all = rows.T @ rows / len(rows) + _REGULAR * np.eye(6)
    of_explained = rows[is_explained].T @ rows[is_explained] / len(rows) + _REGULAR * np.eye(6)
    values, vectors = eigh(of_explained, of_all)
    return float(values[0]), vectors[:, 0] / np.linalg.norm(vectors[:, 0])
