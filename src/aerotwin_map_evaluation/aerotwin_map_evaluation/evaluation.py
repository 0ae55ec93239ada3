# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Evaluation of one map: align, measure distances both ways, and compare with the floor."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from aerotwin_core.frames import transform_points
from aerotwin_core.protocol import DEFAULT, Protocol
from aerotwin_map_evaluation.alignment import align_map, aligned_distances, floor_of
from aerotwin_map_evaluation.entropy import MapEntropy, map_entropy
from aerotwin_map_evaluation.neighbours import nearest
from aerotwin_map_evaluation.planes import PlaneScores
from aerotwin_map_evaluation.protocol import MapProtocol
from aerotwin_map_evaluation.reference import MapReference, checked_points
from aerotwin_map_evaluation.result import (
    MapEvaluation,
    ReferenceSamples,
    ToSurface,
    judged_motion,
)
from aerotwin_map_evaluation.sensitivity import (
    MapControl,
    NoiseResponse,
    negative_controls,
    sensitivity,
)
from aerotwin_map_evaluation.statistics import CloudScores
from aerotwin_map_evaluation.surface import SurfaceReference, align_to_surface
from aerotwin_map_evaluation.wasserstein import VoxelDistances, voxel_distances
from aerotwin_registration import Registration
from aerotwin_registration.point_tree import PointTree

STEPS = ("reference", "alignment", "surface", "floor", "both ways", "sensitivity")
PROVIDED = "given"


def evaluate_map(
    reference: SurfaceReference | MapReference | None,
    map_points: np.ndarray,
    *,
    T_map_odom_initial: np.ndarray | None = None,
    is_placed: bool | None = None,
    protocol: MapProtocol | Protocol[MapProtocol] | None = None,
    observed: np.ndarray | None = None,
    reference_points: np.ndarray | None = None,
    like: MapEvaluation | None = None,
    on_step: Callable[[str], None] | None = None,
) -> MapEvaluation:
    """Measure a SLAM map against the truth.

    Parameters
    ----------
    reference : SurfaceReference, MapReference or None
        The true surface; None when only `reference_points` are known. A `MapReference` can be
        reused for many maps: its voxels and search tree are built once.
    map_points : (n, 3) array
        All points of the map, in its own frame [m].
    T_map_odom_initial : (4, 4) array, optional
        Known pose of that frame in map. Without it the map is used unchanged and scored aligned.
    is_placed : bool, optional
        Whether that pose is the true one, so that unaligned distances count; False makes it a
        start for the alignment. Default: true if a pose is provided.
    observed : (k, 3) array, optional
        Samples of the reference seen from true poses (`SurfaceReference.seen_from`): the region
        of floor and completeness. Without them completeness is of the whole reference, and the
        floor is that of the surface below the map's points.
    reference_points : (m, 3) array, optional
        Voxel centres or a cloud instead of voxels of the surface.
    like : MapEvaluation, optional
        An evaluation of the same map in its true pose against other voxels of the same surface:
        what does not depend on the voxels is not computed again.
    on_step : callable, optional
        Called with each of `STEPS`, for progress.

    Raises
    ------
    UserError
        If the map is empty or not finite, or there is no reference.
    ValueError
        If `like` differs in more than the voxels.
    """
    choices = named(protocol)
    chosen = choices.choices
    say = on_step or (lambda text: None)
    is_provided = T_map_odom_initial is not None if is_placed is None else is_placed
    is_provided |= chosen.align == "none"
    T_initial = np.eye(4) if T_map_odom_initial is None else T_map_odom_initial
    points_map = transform_points(T_initial, checked_points(map_points, "the map"))
    say(STEPS[0])
    if isinstance(reference, MapReference):
        against = reference
    else:
        against = MapReference.of(reference, reference_points, chosen)
    if like is not None:
        _check_alike(like, points_map, against.surface, is_provided, chosen)
    say(STEPS[1])
    registration = align_map(points_map, against.points, chosen)
    say(STEPS[2])
    to_surface = (
        _to_surface(points_map, against.surface, registration, is_provided, chosen)
        if like is None
        else like.to_surface
    )
    say(STEPS[3])
    floor, controls = None, tuple[MapControl, ...]()
    if to_surface is not None:
        floor = floor_of(against, to_surface.below(is_provided, chosen.cut_m), observed, chosen)
    say(STEPS[4])
    S_surface = None if to_surface is None else to_surface.S_surface
    S_judged = judged_motion(is_provided, S_surface, registration)
    judged_points = transform_points(S_judged, points_map)
    estimate = PointTree(judged_points)
    samples = _samples(against, observed, chosen)
    judged = None if to_surface is None else to_surface.judged(is_provided)
    if judged is None and chosen.distance == "planes":
        judged = against.distances(judged_points, "planes")
    both_ways = (
        _both_ways(estimate, samples, against, judged, chosen) if like is None else like.scores
    )
    say(STEPS[5])
    noise: tuple[NoiseResponse, ...] = ()
    if floor is not None:
        controls = negative_controls(
            floor.points_map, against, cut_m=chosen.cut_m, seed=chosen.seed
        )
        known = () if like is None else like.sensitivity
        noise = sensitivity(floor.points_map, samples.points_map, against, chosen, known)
    return MapEvaluation(
        points_map=points_map,
        reference=against,
        T_initial=T_initial,
        registration=registration,
        voxel_distances=aligned_distances(points_map, registration, against, chosen),
        box_distances=_to_boxes(points_map, registration, against),
        to_surface=to_surface,
        floor=floor,
        planes=_to_planes(judged_points, against, chosen),
        samples=samples,
        scores=both_ways,
        wasserstein=_wasserstein(estimate, samples, chosen) if like is None else like.wasserstein,
        entropy=_entropy(estimate, chosen) if like is None else like.entropy,
        controls=controls,
        sensitivity=noise,
        is_pose_known=is_provided,
        choices=choices,
    )


def _check_alike(
    like: MapEvaluation,
    points_map: np.ndarray,
    surface: SurfaceReference | None,
    is_provided: bool,
    chosen: MapProtocol,
) -> None:
    """Refuse an evaluation that differs in more than the voxels.

    Raises ValueError.
    """
    are_alike = {
        "the map": np.array_equal(like.points_map, points_map),
        "the surface": surface is not None and like.reference.surface is surface,
        "a known pose": is_provided and like.is_pose_known,
        "the protocol but its voxel_m": replace(chosen, voxel_m=like.protocol.voxel_m)
        == like.protocol,
    }
    differing = [name for name, is_alike in are_alike.items() if not is_alike]
    if differing:
        raise ValueError(f"like: must agree in {', '.join(differing)}; leave it out")


def named(protocol: MapProtocol | Protocol[MapProtocol] | None) -> Protocol[MapProtocol]:
    """Return a protocol with its name and hash; None gives the defaults."""
    if isinstance(protocol, Protocol):
        return protocol
    choices = protocol or MapProtocol()
    name = DEFAULT if choices == MapProtocol() else PROVIDED
    return Protocol(name=name, part="map", choices=choices)


def _to_surface(
    points_map: np.ndarray,
    surface: SurfaceReference | None,
    registration: Registration,
    is_provided: bool,
    protocol: MapProtocol,
) -> ToSurface | None:
    if surface is None:
        return None
    nearest_reference, given = surface.nearest(points_map)
    starts_aligned = registration.converged and not is_provided
    S_surface, open_directions = align_to_surface(
        points_map,
        surface,
        radius_m=protocol.radius_m,
        with_scale=protocol.with_scale,
        S_initial=registration.S_target_source if starts_aligned else None,
    )
    nearest_aligned, aligned = surface.nearest(transform_points(S_surface, points_map))
    return ToSurface(
        given=given,
        aligned=aligned,
        nearest_reference=nearest_reference,
        nearest_aligned=nearest_aligned,
        S_surface=S_surface,
        open_directions=open_directions,
    )


def _samples(
    against: MapReference, observed: np.ndarray | None, protocol: MapProtocol
) -> ReferenceSamples:
    """Return the part of the reference to cover: the observed part, else all of it."""
    spacing = protocol.floor_spacing_m
    region = "all of it (no true poses were given)"
    if observed is not None and len(observed):
        region = "seen from the true poses"
        points = np.asarray(observed, dtype=np.float64)
    elif against.surface is not None:
        points = against.surface.samples(spacing)
    else:
        points = against.points
    area = None
    if against.surface is not None:
        area = len(points) * against.surface.sample_area_m2(spacing)
    return ReferenceSamples(
        points_map=points,
        region=region,
        area_m2=area,
    )


def _both_ways(
    estimate: PointTree,
    samples: ReferenceSamples,
    against: MapReference,
    to_what: np.ndarray | None,
    protocol: MapProtocol,
) -> CloudScores:
    """Return the distances from the map to the reference, and from the samples to the map.

    To the nearest reference point unless `to_what` has other distances.
    """
    forward = nearest(against.tree, estimate) if to_what is None else to_what
    backward = nearest(estimate, samples.points_map)
    return CloudScores(forward=forward, backward=backward, thresholds_m=protocol.within_m)


def _wasserstein(
    estimate: PointTree, samples: ReferenceSamples, protocol: MapProtocol
) -> VoxelDistances:
    return voxel_distances(
        estimate.points,
        samples.points_map,
        edge_m=protocol.awd_voxel_m,
        min_points=protocol.awd_min_points,
    )


def _entropy(estimate: PointTree, protocol: MapProtocol) -> MapEntropy:
    return map_entropy(
        estimate, radius_m=protocol.entropy_radius_m, min_points=protocol.entropy_min_points
    )


def _to_planes(
    points: np.ndarray, against: MapReference, protocol: MapProtocol
) -> PlaneScores | None:
    if against.surface is not None or against.planes is None:
        return None
    return PlaneScores.of(against.planes, against.tree, points, cut_m=protocol.cut_m)


def _to_boxes(
    points_map: np.ndarray, registration: Registration, against: MapReference
) -> np.ndarray | None:
    if against.edge_m is None:
        return None
    moved = transform_points(registration.S_target_source, points_map)
    return against.distances(moved, "boxes")
