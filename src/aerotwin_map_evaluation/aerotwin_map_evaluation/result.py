# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Result of a map evaluation."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from aerotwin_core.frames import transform_points
from aerotwin_core.protocol import Protocol
from aerotwin_map_evaluation.alignment import Floor
from aerotwin_map_evaluation.entropy import MapEntropy
from aerotwin_map_evaluation.planes import PlaneScores
from aerotwin_map_evaluation.protocol import MapProtocol
from aerotwin_map_evaluation.reference import MapReference
from aerotwin_map_evaluation.sensitivity import MapControl, NoiseResponse
from aerotwin_map_evaluation.statistics import (
    CloudScores,
    describe,
    describe_all,
    removed_by,
    shares,
)
from aerotwin_map_evaluation.wasserstein import VoxelDistances
from aerotwin_registration import Registration
from aerotwin_registration.observability import OpenDirection

HISTOGRAM_BINS = 50


@dataclass(frozen=True, kw_only=True)
class ReferenceSamples:
    """The part of the reference that the map should cover (`region`): samples (m, 3) [m].

    Those of a surface each represent the same area, `area_m2` in all; None for a cloud.
    """

    points_map: np.ndarray
    region: str
    area_m2: float | None


@dataclass(frozen=True, kw_only=True)
class ToSurface:
    """Distances of the map to the surface [m] and the points there, unaligned and aligned.

    `S_surface` (4, 4) is that alignment of the map, a similarity if the protocol requests scale;
    `open_directions` are those that the surface does not constrain.
    """

    given: np.ndarray
    aligned: np.ndarray
    nearest_reference: np.ndarray
    nearest_aligned: np.ndarray
    S_surface: np.ndarray
    open_directions: tuple[OpenDirection, ...]

    def below(self, is_provided: bool, cut_m: float) -> np.ndarray:
        """Return the surface points (n, 3) within a cut of the scored map."""
        points = self.nearest_reference if is_provided else self.nearest_aligned
        return points[self.judged(is_provided) <= cut_m]

    def judged(self, is_provided: bool) -> np.ndarray:
        """Return the distances (n,) of the scored map."""
        return self.given if is_provided else self.aligned


@dataclass(frozen=True, kw_only=True)
class MapEvaluation:
    """Result of a map evaluation. Distances are per map point [m], in the order of the map.

    Attributes
    ----------
    points_map : (n, 3) array
        The map with its initial pose applied.
    T_initial : (4, 4) array
        That pose; a similarity where the start had a scale.
    registration : Registration
        Alignment of `points_map` to the reference's points.
    voxel_distances : (n,) array
        Of the correspondences (to voxel centres or points; by the protocol to boxes or the
        surface) after the alignment; infinite beyond the largest cut.
    box_distances : (n,) array or None
        To the nearest voxel as a box after the alignment, 0 inside; None for a cloud.
    to_surface : ToSurface or None
        To the true surface: unaligned, and after alignment to the surface itself.
    floor : Floor or None
        None without a surface.
    planes : PlaneScores or None
        Distances of the scored map to planes through the points of a cloud, and what its spacing
        adds to the others; None for voxels, and where the surface is known.
    samples : ReferenceSamples
        The part of the reference that the map should cover.
    scores, wasserstein : CloudScores, VoxelDistances
        Between the scored map and the samples.
    sensitivity : tuple of NoiseResponse
        Noise that each metric detects; empty without a surface.
    is_pose_known : bool
        Whether the map has its true pose, so that it is scored unaligned.
    """

    points_map: np.ndarray
    reference: MapReference
    T_initial: np.ndarray
    registration: Registration
    voxel_distances: np.ndarray
    box_distances: np.ndarray | None
    to_surface: ToSurface | None
    floor: Floor | None
    planes: PlaneScores | None
    samples: ReferenceSamples
    scores: CloudScores
    wasserstein: VoxelDistances
    entropy: MapEntropy
    controls: tuple[MapControl, ...]
    sensitivity: tuple[NoiseResponse, ...]
    is_pose_known: bool
    choices: Protocol[MapProtocol]

    @property
    def protocol(self) -> MapProtocol:
        """The options, without name and hash."""
        return self.choices.choices

    @property
    def surface_distances(self) -> np.ndarray | None:
        """Distances (n,) of the unaligned map to the true surface."""
        return None if self.to_surface is None else self.to_surface.given

    @property
    def aligned_surface_distances(self) -> np.ndarray | None:
        """Distances (n,) to the true surface after alignment to the surface itself."""
        return None if self.to_surface is None else self.to_surface.aligned

    @property
    def S_surface(self) -> np.ndarray | None:
        """That alignment (4, 4) of `points_map`."""
        return None if self.to_surface is None else self.to_surface.S_surface

    @property
    def open_on_surface(self) -> tuple[OpenDirection, ...]:
        """Directions that the surface does not constrain; that alignment leaves them unchanged."""
        return () if self.to_surface is None else self.to_surface.open_directions

    @property
    def voxels_map(self) -> np.ndarray:
        """The reference's points (m, 3): voxel centres or a cloud [m]."""
        return self.reference.points

    @property
    def T_reference_estimate(self) -> np.ndarray:
        """Rotation and translation (4, 4) from the input map to the reference.

        Without `scale`: x_reference = scale R x_estimate + t.
        """
        T = self.registration.S_target_source @ self.T_initial
        T[:3, :3] /= self.scale
        return T

    @property
    def scale(self) -> float:
        """Scale from the input map to the reference: of its start and of the alignment."""
        return self.registration.scale * float(np.cbrt(np.linalg.det(self.T_initial[:3, :3])))

    @cached_property
    def aligned_points_map(self) -> np.ndarray:
        """The aligned map (n, 3), in the order of all distances [m]."""
        return transform_points(self.registration.S_target_source, self.points_map)

    @cached_property
    def judged_points_map(self) -> np.ndarray:
        """The scored map (n, 3): unaligned, or aligned to surface or points [m]."""
        return transform_points(self.S_judged, self.points_map)

    @property
    def S_judged(self) -> np.ndarray:
        """The motion (4, 4) of `points_map` before it is scored."""
        return judged_motion(self.is_pose_known, self.S_surface, self.registration)

    @property
    def is_judged(self) -> bool:
        """Whether the scores are the map's: it has its true pose, or could be aligned."""
        return self.is_pose_known or self.registration.converged

    @property
    def judged_distances(self) -> np.ndarray:
        """The main distances (n,), of `judged_points_map`.

        To the surface where it is known, else to the reference's points; without a cut.
        """
        if self.surface_distances is None:
            return self.scores.forward
        if self.is_pose_known or self.aligned_surface_distances is None:
            return self.surface_distances
        return self.aligned_surface_distances

    def kept(self, distances: np.ndarray) -> np.ndarray:
        """Return the distances within the cut."""
        return distances[distances <= self.protocol.cut_m]

    def histogram(self, distances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return counts (50,) and edges (51,) [m] of the distances up to the cut: Fig. 10."""
        return np.histogram(self.kept(distances), HISTOGRAM_BINS, (0.0, self.protocol.cut_m))

    @property
    def completeness(self) -> dict[str, Any]:
        """Share of the reference samples with a map point within each threshold."""
        return {
            "n_samples": len(self.samples.points_map),
            "region": self.samples.region,
            "area_m2": self.samples.area_m2,
            "within": shares(self.scores.backward, self.protocol.within_m),
        }

    def metrics(self) -> dict[str, Any]:
        """Return the numbers for JSON; cached, so change a copy only."""
        return self._metrics

    @cached_property
    def _metrics(self) -> dict[str, Any]:
        return {
            "n_points": len(self.points_map),
            "n_voxels": len(self.voxels_map),
            "reference": {"points": self.reference.what, "voxel_m": self.reference.edge_m},
            "is_pose_known": self.is_pose_known,
            "alignment": self._alignment(),
            "correspondences": self._correspondences(),
            "floor": self._floor(),
            "boxes": None if self.box_distances is None else self._boxes(self.box_distances),
            "planes": None if self.planes is None else self.planes.plain(self.protocol.within_m),
            "surface": self._surface(),
            "rejection_curve": self.rejection_curve(),
            "completeness": self.completeness,
            "both_ways": self.scores.plain(),
            "wasserstein": self.wasserstein.plain(),
            "entropy": self.entropy.plain(),
            "sensitivity": [response.plain() for response in self.sensitivity],
            "controls": [control.plain() for control in self.controls],
            "protocol": self.choices.plain(),
        }

    def rejection_curve(self) -> list[dict[str, Any]]:
        """Return for each cut the share and the mean of the distances within it, map and floor."""
        rows = []
        for cut in self.protocol.rejection_m:
            kept = self.voxel_distances[self.voxel_distances <= cut]
            row = {"cut_m": cut, **describe(kept, len(self.points_map))}
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
            "T_reference_estimate": self.T_reference_estimate.tolist(),
            "scale": self.scale,
            "n_iterations": r.n_iterations,
            "n_correspondences": r.n_correspondences,
            "explained": _number(r.explained),
            "fitness": _number(r.fitness),
            "rmse_m": _number(r.rmse_m),
            "surface_rmse_m": _number(r.surface_rmse_m),
            "information": None if r.information is None else r.information.tolist(),
            "centre_reference": None if r.centre_target is None else r.centre_target.tolist(),
            "removed": removed_by(r.S_target_source, self.points_map),
            "open_directions": [d.text for d in r.open_directions],
            "open_motions": [[*d.translation, *d.rotation] for d in r.open_directions],
        }

    def _correspondences(self) -> dict[str, Any]:
        counts, edges = self.histogram(self.voxel_distances)
        return {
            **describe(self.kept(self.voxel_distances), len(self.points_map)),
            "cut_m": self.protocol.cut_m,
            "to": self.protocol.distance,
            "histogram": {"edges_m": edges.tolist(), "counts": counts.tolist()},
        }

    def _boxes(self, distances: np.ndarray) -> dict[str, Any]:
        return {
            **describe(self.kept(distances), len(self.points_map)),
            "inside": float(np.mean(distances == 0.0)),
        }

    def _surface(self) -> dict[str, Any] | None:
        found = self.to_surface
        if found is None:
            return None
        return {
            "unaligned": describe_all(found.given, self.protocol.within_m),
            "aligned": describe_all(found.aligned, self.protocol.within_m),
            "removed": removed_by(found.S_surface, self.points_map),
            "open_directions": [d.text for d in found.open_directions],
        }

    def _floor(self) -> dict[str, Any] | None:
        if self.floor is None:
            return None
        counts, _ = self.histogram(self.floor.distances)
        moved = self.floor.registration.S_target_source
        return {
            **describe(self.kept(self.floor.distances), len(self.floor.distances)),
            "region": self.floor.region,
            "converged": self.floor.registration.converged,
            "removed": removed_by(moved, self.floor.points_map),
            "histogram": {"counts": counts.tolist()},
        }


def judged_motion(
    is_pose_known: bool, S_surface: np.ndarray | None, registration: Registration
) -> np.ndarray:
    """Return the motion (4, 4) before a map is scored: none, or the best alignment."""
    if is_pose_known:
        return np.eye(4)
    return registration.S_target_source if S_surface is None else S_surface


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
