# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The evaluation of one map: align to voxels, measure, and put the floor beside it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from aerotwin_core.errors import UserError
from aerotwin_core.frames import transform_points
from aerotwin_core.parameters import to_mapping
from aerotwin_map_evaluation.controls import MapControl, negative_controls
from aerotwin_map_evaluation.protocol import MapProtocol
from aerotwin_map_evaluation.statistics import describe, describe_all, removed_by, shares
from aerotwin_map_evaluation.surface import SurfaceReference, align_to_surface, one_per_voxel
from aerotwin_registration import Registration, align
from aerotwin_voxel_cloud import voxelise


@dataclass(frozen=True, kw_only=True)
class Floor:
    """What a perfect map of the same region scores by the same protocol.

    Attributes
    ----------
    points_map : (n, 3) array
        Samples of the true surface.
    region : str
        How the region was found, in words.
    distances : (n,) array
        To the nearest voxel centre after the same alignment; infinite beyond the cuts.
    registration : Registration
        That alignment; a perfect map should not move, and does.
    """

    points_map: np.ndarray
    region: str
    distances: np.ndarray
    registration: Registration


@dataclass(frozen=True, kw_only=True)
class MapEvaluation:
    """What came out. Distances are per map point [m], in the order of the map.

    Attributes
    ----------
    points_map : (n, 3) array
        The map as given (with its initial pose applied).
    voxels_map : (m, 3) array
        Voxel centres of the reference.
    registration : Registration
        Alignment of `points_map` to the voxels.
    voxel_distances : (n,) array
        To the nearest voxel centre after the alignment; infinite beyond the largest cut.
    surface_distances, aligned_surface_distances : (n,) arrays or None
        To the true surface: as given, and after alignment to the surface itself.
    T_surface : (4, 4) array or None
        That alignment.
    floor : Floor or None
        None without a surface.
    completeness : dict or None
        Share of the observed surface with a map point within each distance.
    controls : tuple of MapControl
        What the scores can see.
    is_pose_given : bool
        Whether the map came with its pose, so that unaligned distances count.
    protocol : MapProtocol
        All choices.
    """

    points_map: np.ndarray
    voxels_map: np.ndarray
    T_initial: np.ndarray
    registration: Registration
    voxel_distances: np.ndarray
    surface_distances: np.ndarray | None
    aligned_surface_distances: np.ndarray | None
    T_surface: np.ndarray | None
    floor: Floor | None
    completeness: dict[str, Any] | None
    controls: tuple[MapControl, ...]
    is_pose_given: bool
    protocol: MapProtocol

    @property
    def judged_distances(self) -> np.ndarray:
        """The distances by which to judge: to the surface where it is known, else to voxels."""
        if self.surface_distances is None:
            return self.voxel_distances
        if self.is_pose_given or self.aligned_surface_distances is None:
            return self.surface_distances
        return self.aligned_surface_distances

    def kept(self, distances: np.ndarray) -> np.ndarray:
        """Return the distances within the cut."""
        return distances[distances <= self.protocol.cut_m]

    def metrics(self) -> dict[str, Any]:
        """Return the numbers for JSON."""
        return {
            "n_points": len(self.points_map),
            "n_voxels": len(self.voxels_map),
            "is_pose_given": self.is_pose_given,
            "alignment": self._alignment(),
            "correspondences": describe(self.kept(self.voxel_distances), len(self.points_map)),
            "floor": self._floor(),
            "surface": self._surface(),
            "rejection_curve": self.rejection_curve(),
            "completeness": self.completeness,
            "controls": [control.plain() for control in self.controls],
            "protocol": to_mapping(self.protocol),
        }

    def rejection_curve(self) -> list[dict[str, Any]]:
        """Return for each cut the share kept and the mean of what is kept, map and floor."""
        rows = []
        for cut in self.protocol.rejection_m:
            row = {"cut_m": cut, **describe(self.voxel_distances[self.voxel_distances <= cut])}
            row["share"] = row["n"] / len(self.points_map)
            if self.floor is not None:
                kept = self.floor.distances[self.floor.distances <= cut]
                row["floor_share"] = len(kept) / len(self.floor.distances)
                row["floor_mean_m"] = float(kept.mean()) if len(kept) else None
            rows.append(row)
        return rows

    def _alignment(self) -> dict[str, Any]:
        r = self.registration
        return {
            "converged": r.converged,
            "reason": r.reason,
            "T_reference_estimate": (r.T_target_source @ self.T_initial).tolist(),
            "n_iterations": r.n_iterations,
            "fitness": r.fitness,
            "rmse_m": None if np.isnan(r.rmse_m) else r.rmse_m,
            "removed": removed_by(r.T_target_source, self.points_map),
            "open_directions": [d.text for d in r.open_directions],
        }

    def _surface(self) -> dict[str, Any] | None:
        given, aligned, T = self.surface_distances, self.aligned_surface_distances, self.T_surface
        if given is None or aligned is None or T is None:
            return None
        return {
            "unaligned": describe_all(given, self.protocol.within_m),
            "aligned": describe_all(aligned, self.protocol.within_m),
            "removed": removed_by(T, self.points_map),
        }

    def _floor(self) -> dict[str, Any] | None:
        if self.floor is None:
            return None
        kept = self.kept(self.floor.distances)
        return {
            **describe(kept, len(self.floor.distances)),
            "region": self.floor.region,
            "converged": self.floor.registration.converged,
            "removed": removed_by(self.floor.registration.T_target_source, self.floor.points_map),
        }


def evaluate_map(
    reference: SurfaceReference | None,
    map_points: np.ndarray,
    *,
    T_map_odom_initial: np.ndarray | None = None,
    protocol: MapProtocol | None = None,
    observed: np.ndarray | None = None,
    reference_points: np.ndarray | None = None,
    on_step: Callable[[str], None] | None = None,
) -> MapEvaluation:
    """Measure a SLAM map against the truth.

    Parameters
    ----------
    reference : SurfaceReference or None
        The true surface; None when only `reference_points` are known.
    map_points : (n, 3) array
        All points of the map, in its own frame [m].
    T_map_odom_initial : (4, 4) array, optional
        Known pose of that frame in map. Without, the map is taken as it is and judged aligned.
    protocol : MapProtocol, optional
        All choices.
    observed : (k, 3) array, optional
        Surface points seen from true poses (`SurfaceReference.seen_from`): the region in which
        the floor and the completeness are taken. Without, the surface below the map's points.
    reference_points : (m, 3) array, optional
        Voxel centres or a cloud instead of voxels of the surface.
    on_step : callable, optional
        Called with the name of each step, for progress.

    Raises
    ------
    UserError
        If the map is empty or not finite, or there is no reference.
    """
    protocol = protocol or MapProtocol()
    say = on_step or (lambda text: None)
    points = _checked(map_points)
    T_initial = np.eye(4) if T_map_odom_initial is None else T_map_odom_initial
    points_map = transform_points(T_initial, points)
    say("voxels")
    voxels = _voxels(reference, reference_points, protocol)
    say("alignment")
    tree = cKDTree(voxels, balanced_tree=False)
    registration = align(points_map, voxels, protocol=protocol.icp)
    voxel_distances = _to_voxels(points_map, registration, tree, protocol)
    shared: dict[str, Any] = {
        "points_map": points_map,
        "voxels_map": voxels,
        "T_initial": T_initial,
        "registration": registration,
        "voxel_distances": voxel_distances,
        "is_pose_given": T_map_odom_initial is not None,
        "protocol": protocol,
    }
    if reference is None:
        return MapEvaluation(
            **shared,
            surface_distances=None,
            aligned_surface_distances=None,
            T_surface=None,
            floor=None,
            completeness=None,
            controls=(),
        )
    say("surface")
    nearest, surface_distances = reference.nearest(points_map)
    T_surface = align_to_surface(points_map, reference, radius_m=protocol.radius_m)
    aligned = reference.nearest(transform_points(T_surface, points_map))[1]
    say("floor")
    near = nearest[surface_distances <= protocol.cut_m]
    floor = _floor_of(near, observed, voxels, tree, protocol)
    say("controls")
    return MapEvaluation(
        **shared,
        surface_distances=surface_distances,
        aligned_surface_distances=aligned,
        T_surface=T_surface,
        floor=floor,
        completeness=_completeness(points_map, observed, protocol),
        controls=()
        if floor is None
        else negative_controls(
            floor.points_map, reference, tree, cut_m=protocol.cut_m, seed=protocol.seed
        ),
    )


def _checked(points: np.ndarray) -> np.ndarray:
    points = np.asarray(points, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 3:
        raise ValueError(f"map_points must have shape (n, 3), got {points.shape}")
    if len(points) == 0:
        raise UserError("the map is empty: the SLAM published no point")
    n_bad = int(np.count_nonzero(~np.isfinite(points).all(axis=1)))
    if n_bad:
        raise UserError(f"{n_bad} of {len(points)} map points are NaN or infinite; remove them")
    return points


def _voxels(
    reference: SurfaceReference | None, given: np.ndarray | None, protocol: MapProtocol
) -> np.ndarray:
    if given is not None:
        return np.asarray(given, dtype=np.float64)
    if reference is None:
        raise UserError("a map needs a reference: a surface or a cloud")
    return voxelise(reference.vertices, reference.triangles, protocol.voxel_m).centres()


def _to_voxels(
    points_map: np.ndarray, registration: Registration, tree: cKDTree, protocol: MapProtocol
) -> np.ndarray:
    reach = max(*protocol.rejection_m, protocol.cut_m) * (1.0 + 1e-9)
    moved = transform_points(registration.T_target_source, points_map)
    return tree.query(moved, distance_upper_bound=reach, workers=-1)[0]


def _floor_of(
    near: np.ndarray,
    observed: np.ndarray | None,
    voxels: np.ndarray,
    tree: cKDTree,
    protocol: MapProtocol,
) -> Floor | None:
    if observed is not None and len(observed):
        perfect, region = observed, "surface seen from the true poses"
    else:
        perfect, region = near, "surface below the map's points (true poses were not given)"
    perfect = one_per_voxel(perfect, protocol.floor_spacing_m)
    if len(perfect) < protocol.icp.min_correspondences:
        return None
    registration = align(perfect, voxels, protocol=protocol.icp)
    return Floor(
        points_map=perfect,
        region=region,
        distances=_to_voxels(perfect, registration, tree, protocol),
        registration=registration,
    )


def _completeness(
    points_map: np.ndarray, observed: np.ndarray | None, protocol: MapProtocol
) -> dict[str, Any] | None:
    if observed is None or len(observed) == 0:
        return None
    samples = one_per_voxel(observed, protocol.floor_spacing_m)
    distances = cKDTree(points_map, balanced_tree=False).query(
        samples, distance_upper_bound=max(protocol.within_m) * 1.001, workers=-1
    )[0]
    return {"n_samples": len(samples), "within": shares(distances, protocol.within_m)}
