# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Prediction of how well a lidar can localise against each submap, before driving.

A scan on a surface is constrained where the surface's normals oppose a motion. The point-to-plane
information of a submap, seen from its vertex, gives the constrained ones of six motions, and the
error of a localisation for a noise level.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from aerotwin_core.parameters import parameter
from aerotwin_core.rms import rms_length
from aerotwin_registration.observability import FREE_INFORMATION
from aerotwin_teach_repeat.route_graph import RouteGraph, Submap
from aerotwin_teach_repeat.submaps import SubmapProtocol, visible_from

MOTIONS = ("along", "across", "up", "roll", "pitch", "yaw")
"""Translations along the vertex's x, y and z, and rotations about them."""


@dataclass(frozen=True, kw_only=True)
class LocalisabilityProtocol:
    """Assumptions of the prediction about the lidar and its matches."""

    range_m: float = parameter(
        30.0, text="Points farther off are not counted on.", unit="m", minimum=1.0, maximum=200.0
    )
    n_pairs: int = parameter(
        2000, text="Pairs of points that a match rests on.", minimum=10, maximum=1_000_000
    )
    noise_m: float = parameter(
        0.05, text="Deviation of a scan from the submap's surface: noise and roughness of both.",
        unit="m", minimum=0.001, maximum=1.0,
    )  # fmt: skip
    correlated_pairs: float = parameter(
        25.0, text="Neighbouring pairs that err alike and count as one.", minimum=1.0, maximum=1e4
    )
    only_visible: bool = parameter(
        True, text="Count only what a lidar at the vertex could see of the submap."
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Localisability:
    """The prediction for each of n submaps of a graph.

    Attributes
    ----------
    vertex_ids, p_map : (n,) and (n, 3) arrays
        Vertices of the submaps and their positions [m].
    sigma : (n, 6) array
        Predicted standard deviations of `MOTIONS` [m, rad]; infinite where a motion is free.
    weakest : (n,) array
        Smallest eigenvalue of the information, rotations in units of the points' RMS radius:
        0 = an unconstrained motion, 1 = all normals oppose it.
    """

    vertex_ids: np.ndarray
    p_map: np.ndarray
    sigma: np.ndarray
    weakest: np.ndarray

    @property
    def is_constrained(self) -> np.ndarray:
        """Which submaps constrain all six motions, (n,) bool."""
        return self.weakest >= FREE_INFORMATION

    def metrics(self) -> dict[str, Any]:
        """Return the metrics as plain values; a free motion has no finite sigma and is left out."""
        finite = self.sigma[np.isfinite(self.sigma).all(axis=1)]
        medians = np.median(finite, axis=0).tolist() if len(finite) else []
        worst = int(np.argmin(self.weakest))
        return {
            "n_submaps": len(self.weakest),
            "constrained_share": float(self.is_constrained.mean()),
            "weakest": float(self.weakest[worst]),
            "weakest_vertex": int(self.vertex_ids[worst]),
            "median_sigma": dict(zip(MOTIONS, medians)),
        }


def localisability(
    graph: RouteGraph,
    protocol: LocalisabilityProtocol | None = None,
    *,
    submaps: SubmapProtocol | None = None,
    on_submap: Callable[[], Any] | None = None,
) -> Localisability:
    """Return the prediction for every submap of a graph.

    `submaps` sets the pose of the lidar (`lidar_…`) and the voxel size for visibility; `on_submap`
    is called after each submap.
    """
    protocol = LocalisabilityProtocol() if protocol is None else protocol
    view = SubmapProtocol() if submaps is None else submaps
    ids = graph.submap_ids
    sigma, weakest = np.empty((len(ids), 6)), np.empty(len(ids))
    for k, vertex_id in enumerate(ids):
        sigma[k], weakest[k] = _predict(graph.submap(vertex_id), protocol, view)
        if on_submap is not None:
            on_submap()
    p_map = graph.poses_map(ids)[:, :3, 3]
    return Localisability(vertex_ids=np.array(ids), p_map=p_map, sigma=sigma, weakest=weakest)


def _predict(
    submap: Submap, protocol: LocalisabilityProtocol, view: SubmapProtocol
) -> tuple[np.ndarray, float]:
    """Return sigma (6,) and the smallest eigenvalue of the information."""
    near = np.einsum("ij,ij->i", submap.points, submap.points) < protocol.range_m**2
    points, normals = submap.points[near], submap.normals[near]
    if protocol.only_visible:
        seen = visible_from(points, normals, view)
        points, normals = points[seen], normals[seen]
    if len(points) < 6:
        return np.full(6, np.inf), 0.0
    points, normals = points.astype(np.float64), normals.astype(np.float64)
    arm = max(rms_length(points), 1e-6)
    rows = np.hstack([normals, np.cross(points, normals) / arm])
    values, vectors = np.linalg.eigh(rows.T @ rows / len(rows))
    free = values < FREE_INFORMATION
    scale = protocol.noise_m**2 * protocol.correlated_pairs / min(protocol.n_pairs, len(rows))
    variance = scale * np.sum(vectors**2 / np.maximum(values, 1e-12), axis=1)
    # Directions with more than a tenth of a free motion are unconstrained.
    variance[(np.abs(vectors[:, free]) > 0.1).any(axis=1)] = np.inf
    return np.sqrt(variance) / np.repeat([1.0, arm], 3), float(max(values[0], 0.0))
