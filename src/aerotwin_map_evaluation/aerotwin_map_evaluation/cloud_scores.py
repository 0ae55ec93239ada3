# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Scores of two sets of distances: from the map to the reference, and back.

Accuracy and precision are of the map, completeness and recall of the reference: a sparse map may
be accurate but incomplete, a noisy one complete but inaccurate.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from aerotwin_map_evaluation.neighbours import nearest
from aerotwin_map_evaluation.statistics import describe_all
from aerotwin_registration.point_tree import PointTree

PERCENTILES = (50, 90, 95, 99, 100)


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
