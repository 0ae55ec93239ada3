# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Results of a study of dense localisation against its bars, and beside the paper's figures.

A bar holds when it holds with every seed. What was not measured is told, and is not met.

References
----------
Navarro, Malis, Antoine, Martinet: Hybrid visual SLAM for multi-session precise localization. ICAS
2025, III.B: mean ATE 0.16 m at 2 m over 1900 frames; points of the map 11 cm off at the mean, half
of them less than 10 cm; ORB-SLAM3 in localisation mode came no nearer than 5 m.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from aerotwin_scenarios.dense_localization.scan_controls import (
    WITH_ESTIMATED_POSES,
    WITH_TRUE_POSES,
)
from evidence.dense_study.results import MAPPINGS, MapResult, ScanResult, SeedResult

PAPER_ATE_M, PAPER_POINTS_M, PAPER_NEAR_SHARE = 0.16, 0.11, 0.5
PAPER_DISTANCE_M, PAPER_ORB_SLAM3_M = 2.0, 5.0
NOT_COMPARABLE = (
    "Not comparable: simulated as ours, but another cliff, with other cameras, flights and noise; "
    "the paper does not say how it aligned. A figure is not better for being smaller."
)
Results = Sequence[SeedResult]


@dataclass(frozen=True, kw_only=True)
class Threshold:
    """What is asked of a figure.

    Attributes
    ----------
    figure, unit : str
        Lengths are in metres, shares from 0 to 1; shown as cm and %.
    value : callable
        The figure of results, of a map made with the poses of a kind; None if not measured.
    limits : tuple of float
        With told and with true poses of the mapping (`MAPPINGS`).
    is_least : bool
        Whether the figure must be at least so much; else at most.
    paper : float or None
        The same in the paper.
    """

    figure: str
    unit: str
    value: Callable[[Results, str], float | None]
    limits: tuple[float, float]
    is_least: bool = False
    paper: float | None = None

    def is_met(self, value: float, mapping: str) -> bool:
        """Whether a value passes."""
        limit = self.limits[MAPPINGS.index(mapping)]
        return value >= limit if self.is_least else value <= limit


@dataclass(frozen=True, kw_only=True)
class Row:
    """A figure of one seed, or of all where seed is None, against its bar."""

    bar: Threshold
    mapping: str
    seed: int | None
    value: float | None

    @property
    def limit(self) -> float:
        """What is asked."""
        return self.bar.limits[MAPPINGS.index(self.mapping)]

    @property
    def is_met(self) -> bool | None:
        """Whether the bar is met; None where it was not measured."""
        return None if self.value is None else self.bar.is_met(self.value, self.mapping)


def dense_scans(results: Results, distance_m: float, mapping: str, images: str) -> list[ScanResult]:
    """Return the scans of direct alignment that a distance, a map and images name."""
    return [
        scan
        for result in results
        for scan in result.scans
        if (scan.method, scan.distance_m, scan.mapping, scan.images)
        == ("dense", distance_m, mapping, images)
    ]


def maps_of(results: Results, mapping: str) -> list[MapResult]:
    """Return the maps that were made with poses of a kind."""
    return [one for result in results for one in result.maps if one.mapping == mapping]


def pooled_errors_m(scans: Sequence[ScanResult]) -> np.ndarray:
    """Return the errors of all images with a pose [m]."""
    return np.array([error for scan in scans for error in scan.errors_m if error is not None])


def _ate(distance_m: float, images: str) -> Callable[[Results, str], float | None]:
    def value(results: Results, mapping: str) -> float | None:
        errors = pooled_errors_m(dense_scans(results, distance_m, mapping, images))
        return float(errors.mean()) if len(errors) else None

    return value


def _lost(distance_m: float, images: str) -> Callable[[Results, str], float | None]:
    def value(results: Results, mapping: str) -> float | None:
        scans = dense_scans(results, distance_m, mapping, images)
        return sum(scan.n_lost for scan in scans) if scans else None

    return value


def _fewest_frames(results: Results, mapping: str) -> float | None:
    scans = dense_scans(results, PAPER_DISTANCE_M, mapping, "plain")
    return min((scan.n_frames for scan in scans), default=None)


def _of_maps(figure: Callable[[MapResult], float]) -> Callable[[Results, str], float | None]:
    def value(results: Results, mapping: str) -> float | None:
        found = [figure(one) for one in maps_of(results, mapping)]
        return float(np.mean(found)) if found else None

    return value


def _limits(name: str) -> tuple[float, float]:
    """Return a limit of the report, in the order of `MAPPINGS`."""
    return getattr(WITH_ESTIMATED_POSES, name), getattr(WITH_TRUE_POSES, name)


THRESHOLDS: tuple[Threshold, ...] = (
    Threshold(figure="ATE at 2 m, mean", unit="m", value=_ate(2.0, "plain"),
        limits=_limits("ate_mean_m"),
        paper=PAPER_ATE_M),
    Threshold(figure="frames lost at 2 m", unit="", value=_lost(2.0, "plain"), limits=(0, 0)),
    Threshold(figure="frames of the scan at 2 m", unit="", value=_fewest_frames,
        limits=(1900, 1900),
        is_least=True, paper=1900),
    Threshold(figure="map points to the true mesh, mean", unit="m",
        value=_of_maps(lambda one: one.points_to_mesh.mean_m), limits=_limits("points_mean_m"),
        paper=PAPER_POINTS_M),
    Threshold(figure="map points nearer than 10 cm", unit="share",
        value=_of_maps(lambda one: one.points_to_mesh.share_10cm), limits=_limits("share_10cm"),
        is_least=True, paper=PAPER_NEAR_SHARE),
    Threshold(figure="visible wall with a point within 10 cm", unit="share",
        value=_of_maps(lambda one: one.completeness_10cm), limits=_limits("completeness_10cm"),
        is_least=True),
    Threshold(figure="ATE at 2 m with changing images, mean", unit="m", value=_ate(2.0, "changing"),
        limits=(0.08, 0.06)),
    Threshold(figure="frames lost at 2 m with changing images", unit="",
        value=_lost(2.0, "changing"),
        limits=(0, 0)),
    Threshold(figure="ATE at 1 m, mean", unit="m", value=_ate(1.0, "plain"), limits=(0.05, 0.03)),
    Threshold(figure="frames lost at 1 m", unit="", value=_lost(1.0, "plain"), limits=(0, 0)),
)  # fmt: skip


def rows_of(results: Results) -> list[Row]:
    """Return a row for each bar, kind of mapping and seed, and one of all seeds together."""
    return [
        Row(bar=bar, mapping=mapping, seed=seed, value=bar.value(part, mapping))
        for bar in THRESHOLDS
        for mapping in MAPPINGS
        for seed, part in _parts(results)
    ]


def _parts(results: Results) -> Iterator[tuple[int | None, Results]]:
    for result in results:
        yield result.seed, [result]
    yield None, results


def closest_distance_m(results: Results, mapping: str) -> float | None:
    """Return the distance nearest to the wall at which no seed lost an image; None if none."""
    by_distance: dict[float, list[ScanResult]] = {}
    for result in results:
        for scan in result.scans:
            if (scan.method, scan.mapping, scan.images) == ("dense", mapping, "plain"):
                by_distance.setdefault(scan.distance_m, []).append(scan)
    held = [
        distance_m
        for distance_m, scans in by_distance.items()
        if len(scans) == len(results) and not any(scan.n_lost for scan in scans)
    ]
    return min(held, default=None)


def value_text(value: float | None, unit: str) -> tuple[str, str]:
    """Return a figure as text, and its unit: lengths in cm, shares in %.

    >>> value_text(0.0123, "m")
    ('1.23', 'cm')
    """
    scale, shown_unit = {"m": (100.0, "cm"), "share": (100.0, "%")}.get(unit, (1.0, unit))
    if value is None:
        return "not measured", shown_unit
    return (f"{value:.0f}" if scale == 1.0 else f"{value * scale:.2f}"), shown_unit
