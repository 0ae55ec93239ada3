# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Scores of distances: summaries, both ways between map and reference, and what was removed."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from aerotwin_core.frames import transform_points
from aerotwin_core.rms import rms
from aerotwin_map_evaluation.neighbours import nearest
from aerotwin_registration.point_tree import PointTree

PERCENTILES = (50, 90, 95, 99, 100)


def describe(distances: np.ndarray, n_all: int | None = None) -> dict[str, Any]:
    """Return n, share, mean, std and RMSE of distances (n,) [m]; None if empty."""
    n_all = len(distances) if n_all is None else n_all
    has_any = len(distances) > 0
    return {
        "n": len(distances),
        "share": len(distances) / n_all if n_all else 0.0,
        "mean_m": float(np.mean(distances)) if has_any else None,
        "std_m": float(np.std(distances)) if has_any else None,
        "rmse_m": rms(distances) if has_any else None,
    }


def describe_all(distances: np.ndarray, within_m: tuple[float, ...]) -> dict[str, Any]:
    """Return those of `describe`, with median, 95 %, largest, and the share within each limit."""
    return {
        **describe(distances),
        "median_m": float(np.median(distances)),
        "p95_m": float(np.quantile(distances, 0.95)),
        "max_m": float(np.max(distances)),
        "within": shares(distances, within_m),
    }


def shares(distances: np.ndarray, within_m: tuple[float, ...]) -> dict[str, float]:
    """Return the share of distances (n,) not above each limit, keyed by the limit in metres."""
    return {f"{limit:g}": float(np.mean(distances <= limit)) for limit in within_m}


def removed_by(S_motion: np.ndarray, points_map: np.ndarray) -> dict[str, float]:
    """Return how a motion, with scale or without, changes points (n, 3).

    The offset of their centre [m] and its parts, yaw and tilt [deg], and the change of scale [%].
    """
    centre = points_map.mean(axis=0, keepdims=True)
    shift = (transform_points(S_motion, centre) - centre)[0]
    scale = float(np.cbrt(np.linalg.det(S_motion[:3, :3])))
    R = S_motion[:3, :3] / scale
    return {
        "offset_m": float(np.linalg.norm(shift)),
        "east_m": float(shift[0]),
        "north_m": float(shift[1]),
        "up_m": float(shift[2]),
        "yaw_deg": float(np.degrees(np.arctan2(R[1, 0] - R[0, 1], R[0, 0] + R[1, 1]))),
        "tilt_deg": float(np.degrees(np.arccos(np.clip(R[2, 2], -1.0, 1.0)))),
        "scale_percent": 100.0 * (scale - 1.0),
    }


@dataclass(frozen=True, kw_only=True)
class CloudScores:
    """Distances both ways [m].

    `forward` (n,) is from each map point to the reference, `backward` (m,) from each sample of the
    reference to the nearest map point. `thresholds_m` are those of precision, recall and F
    (Knapitsch et al. 2017, Tanks and Temples, section 4).
    """

    forward: np.ndarray
    backward: np.ndarray
    thresholds_m: tuple[float, ...]

    @classmethod
    def between(
        cls, map_points: np.ndarray, reference_points: np.ndarray, thresholds_m: tuple[float, ...]
    ) -> "CloudScores":
        """Return the distances between two clouds (n, 3) and (m, 3), both ways."""
        estimate, reference = PointTree(map_points), PointTree(reference_points)
        return cls(
            forward=nearest(reference, estimate),
            backward=nearest(estimate, reference),
            thresholds_m=thresholds_m,
        )

    @property
    def chamfer(self) -> dict[str, float]:
        """Both common definitions: of distances (sum and half of it), and of their squares."""
        there, back = float(self.forward.mean()), float(self.backward.mean())
        squares = float(np.mean(self.forward**2)) + float(np.mean(self.backward**2))
        return {"sum_m": there + back, "mean_m": (there + back) / 2.0, "squared_m2": squares}

    @property
    def hausdorff(self) -> dict[str, dict[str, float]]:
        """Percentiles of the distances [m] each way, and the larger of the two."""
        there, back = (np.percentile(part, PERCENTILES) for part in (self.forward, self.backward))
        ways = {
            "map_to_reference_m": there,
            "reference_to_map_m": back,
            "symmetric_m": np.maximum(there, back),
        }
        return {
            name: {f"p{p}": float(value) for p, value in zip(PERCENTILES, values)}
            for name, values in ways.items()
        }

    def precision_recall(self) -> list[dict[str, float]]:
        """Return precision, recall and their harmonic mean F at each threshold."""
        rows = []
        for limit in self.thresholds_m:
            precision = float(np.mean(self.forward <= limit))
            recall = float(np.mean(self.backward <= limit))
            both = precision + recall
            f = 2.0 * precision * recall / both if both else 0.0
            rows.append({"threshold_m": limit, "precision": precision, "recall": recall, "f": f})
        return rows

    def plain(self) -> dict[str, Any]:
        """Return the numbers for JSON."""
        return {
            "accuracy": describe_all(self.forward, self.thresholds_m),
            "completeness": describe_all(self.backward, self.thresholds_m),
            "precision_recall": self.precision_recall(),
            "chamfer": self.chamfer,
            "hausdorff": self.hausdorff,
        }
