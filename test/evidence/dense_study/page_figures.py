# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of a study of dense localisation; a method has one colour in all of them."""

from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np

from aerotwin_core.charts import Series, chart, draw_cumulative, thinned
from aerotwin_core.errors import UserError
from aerotwin_core.plots import (
    ACCENT,
    ALIGNED,
    BAD,
    ESTIMATE,
    FLOOR,
    TRUTH,
    WIDE_IN,
    colours,
    new_figure,
    render_svg,
    style,
)
from aerotwin_scenarios.dense_localization.scanning import LOST_M
from evidence.dense_study.results import (
    MAPPINGS,
    METHODS,
    N_PERCENTILES,
    ImagePair,
    MapResult,
    ScanResult,
)
from evidence.dense_study.thresholds import (
    PAPER_ATE_M,
    PAPER_DISTANCE_M,
    PAPER_NEAR_SHARE,
    PAPER_ORB_SLAM3_M,
    Results,
    dense_scans,
    maps_of,
    pooled_errors_m,
)

NAMES = {
    "dense": "direct alignment",
    "orb_mapping": "ORB, mapping key-frames",
    "sift_mapping": "SIFT, mapping key-frames",
    "orb_virtual": "ORB, virtual key-frames",
    "sift_virtual": "SIFT, virtual key-frames",
}
POSES = {"estimated": "estimated", "true": "true"}
_LOOKS = {
    "dense": {"color": ESTIMATE, "marker": "o", "ls": "-"},
    "orb_mapping": {"color": ACCENT, "marker": "s", "ls": "--"},
    "sift_mapping": {"color": FLOOR, "marker": "s", "ls": "--"},
    "orb_virtual": {"color": ACCENT, "marker": "^", "ls": "-"},
    "sift_virtual": {"color": FLOOR, "marker": "^", "ls": "-"},
}
_MAP_COLOURS = {"estimated": ESTIMATE, "true": ALIGNED}
_IMAGE_LOOKS = {
    "plain": {"color": ESTIMATE, "label": "images as taken"},
    "changing": {"color": ALIGNED, "label": "exposure ±30 %, blur 1 px"},
}
_THRESHOLD = {"color": BAD, "ls": "--", "lw": 1.2}
_PAPER = {"color": TRUTH, "ls": ":", "lw": 1.8}
_CM, _PERCENT = 100.0, 100.0
_ERROR_LIMITS_CM, _LOST_AT_CM = (0.03, 250.0), 160.0
"""Images that were lost stand at the upper edge, however far off they are."""
_THRESHOLD_DISTANCES_M = (2.0, 1.0)
_BESIDE = 0.07
"""Methods stand so far beside each other, so that none hides another."""
_MAP_LIMIT_CM = 20.0
_NEVER_CM = 1e6
"""Stands for the error of an image without a pose."""
_PICTURE_PX = 480
"""Width of each picture of a pair."""


def errors_along(results: Results, threshold_m: float) -> str:
    """Draw the errors of direct alignment along the scan at 2 m, a panel for each seed."""

    def draw(axes, result) -> None:
        for images, look in _IMAGE_LOOKS.items():
            for scan in dense_scans([result], PAPER_DISTANCE_M, "estimated", images):
                _line(axes, scan, **look)
        axes.axhline(
            threshold_m * _CM,
            label=f"threshold of the mean, {threshold_m * _CM:g} cm",
            **_THRESHOLD,
        )
        axes.axhline(PAPER_ATE_M * _CM, label="mean of the paper (not comparable)", **_PAPER)

    return _panels("dense-errors-along", results, draw)


def features_along(results: Results) -> str:
    """Draw the errors of every method along the scan at 2 m, a panel for each seed."""

    def draw(axes, result) -> None:
        for scan in _scans(result.scans, PAPER_DISTANCE_M):
            look = _LOOKS[scan.method]
            if scan.method == "dense":
                _line(axes, scan, color=look["color"], label=NAMES[scan.method])
                continue
            errors = _errors_cm(scan)
            lost = ~(errors <= LOST_M * _CM)
            shown = {**look, "ls": "", "ms": 4, "label": NAMES[scan.method]}
            axes.plot(scan.s_m, np.where(lost, np.nan, errors), **shown)
            if lost.any():
                axes.plot(
                    np.array(scan.s_m)[lost], np.full(lost.sum(), _LOST_AT_CM),
                    ls="", marker="x", ms=5, color=look["color"],
                )  # fmt: skip

    return _panels("features-errors-along", results, draw)


def over_distance(results: Results, threshold_m: float) -> str:
    """Draw the share of images localised and their error over the distance to the wall."""
    distances = distances_of(results)
    figure = new_figure(WIDE_IN, 4.6)
    with style():
        shares, errors = figure.subplots(1, 2)
        for method in METHODS:
            _over_distance(shares, errors, results, method, distances)
        for k, distance_m in enumerate(distances):
            if distance_m in _THRESHOLD_DISTANCES_M:
                label = f"threshold of the mean, {threshold_m * _CM:g} cm"
                errors.plot([k - 0.4, k + 0.4], [threshold_m * _CM] * 2, label=label, **_THRESHOLD)
            if distance_m == PAPER_DISTANCE_M:
                errors.plot(
                    [k], [PAPER_ATE_M * _CM], ls="", marker="*", ms=13, color=TRUTH,
                    label="the paper's method (not comparable)",
                )  # fmt: skip
        last = [k for k, d in enumerate(distances) if d >= PAPER_ORB_SLAM3_M]
        if last:
            shares.axvline(max(last), label="the paper's ORB-SLAM3 came no nearer", **_PAPER)
        for axes in (shares, errors):
            axes.set_xticks(range(len(distances)), [f"{d:g}" for d in distances])
            axes.set_xlabel("distance to the wall [m]")
        shares.set(ylabel="images localised [%]", ylim=(-3, 103))
        errors.set(ylabel="mean error of those localised [cm]", yscale="log")
        _plain_ticks(errors)
        handles = {h.get_label(): h for axes in (shares, errors) for h in _handles(axes)}
        figure.legend(
            handles=list(handles.values()), loc="outside lower center", ncols=min(len(handles), 4)
        )
    return render_svg(figure, "dense-over-distance")


def errors_of_distances(results: Results) -> str:
    """Draw which share of the images is at most so wrong, at each distance."""
    series, farthest_cm = [], [1.0]
    distances = [d for d in distances_of(results) if dense_scans(results, d, "estimated", "plain")]
    for distance_m, colour in zip(distances, colours(len(distances)), strict=True):
        scans = dense_scans(results, distance_m, "estimated", "plain")
        n_lost = sum(scan.errors_m.count(None) for scan in scans)
        known = pooled_errors_m(scans) * _CM
        errors = np.r_[known, np.full(n_lost, _NEVER_CM)]
        farthest_cm.append(float(np.quantile(known, 0.98)) if len(known) else 0.0)
        series.append(Series(label=f"{distance_m:g} m", values=errors, colour=colour))

    def draw(axes) -> None:
        draw_cumulative(axes, series, limits=(0.0, max(farthest_cm)), quantity="error", unit="cm")

    return chart("dense-errors-of-distances", draw)


def map_cumulative(results: Results, thresholds: Sequence[float]) -> str:
    """Draw which share of a map's points is at most so far from the true mesh.

    Parameters
    ----------
    results : sequence of SeedResult
    bars : (told, true) floats
        Shares that must lie within 10 cm.
    """

    def draw(axes) -> None:
        share = [*np.linspace(0.0, 100.0, N_PERCENTILES), 100.0]
        for mapping, one, label in _labelled_maps(results):
            known = np.array(one.points_to_mesh.percentiles_m) * _CM
            axes.plot(
                [*known, max(known[-1], _MAP_LIMIT_CM)], share, lw=1.4,
                color=_MAP_COLOURS[mapping], label=label,
            )  # fmt: skip
        for mapping, threshold in zip(MAPPINGS, thresholds, strict=True):
            axes.plot(
                [0.0, 10.0, 10.0], [threshold * _PERCENT, threshold * _PERCENT, 0.0],
                **_THRESHOLD | {"color": _MAP_COLOURS[mapping]},
                label=f"threshold with {POSES[mapping]} poses",
            )  # fmt: skip
        axes.plot(
            [10.0], [PAPER_NEAR_SHARE * _PERCENT], ls="", marker="*", ms=13, color=TRUTH,
            label="the paper (not comparable)",
        )  # fmt: skip
        axes.set(xlabel="at most this far from the true mesh [cm]", ylabel="points of the map [%]")
        axes.set(xlim=(0.0, _MAP_LIMIT_CM), ylim=(0.0, 101.0))
        axes.legend(loc="lower right")

    return chart("dense-map-cumulative", draw)


def map_histogram(results: Results) -> str:
    """Draw how the points of the maps are spread over distances to the true mesh."""
    edges = np.linspace(0.0, 10.0, 41)

    def draw(axes) -> None:
        for mapping, one, label in _labelled_maps(results):
            known = np.array(one.points_to_mesh.percentiles_m) * _CM
            share = np.interp(edges, known, np.linspace(0.0, 100.0, len(known)))
            axes.stairs(
                np.diff(share) / np.diff(edges), edges, color=_MAP_COLOURS[mapping], lw=1.6,
                label=label,
            )  # fmt: skip
        axes.set(xlabel="distance to the true mesh [cm]", ylabel="points of the map [%/cm]")
        axes.set(xlim=(edges[0], edges[-1]))
        axes.set_ylim(bottom=0.0)
        axes.legend(loc="upper right")

    return chart("dense-map-histogram", draw)


def pair_picture(folder: Path, pair: ImagePair) -> bytes:
    """Return a PNG file of a pair of pictures side by side, the scan's on the left.

    Raises
    ------
    UserError
        If a file is not in the folder, or is no picture.
    """
    parts = []
    for name in (pair.scan, pair.rendered):
        if Path(name).name != name:
            raise UserError(f"picture '{name}': expected the name of a file beside the result")
        image = cv2.imread(str(folder / name), cv2.IMREAD_GRAYSCALE)
        if image is None:
            raise UserError(f"{folder / name}: no picture; run the study anew")
        height = round(image.shape[0] * _PICTURE_PX / image.shape[1])
        parts.append(cv2.resize(image, (_PICTURE_PX, height), interpolation=cv2.INTER_AREA))
    gap = np.full((max(len(part) for part in parts), 8), 255, np.uint8)
    return cv2.imencode(".png", np.hstack([parts[0], gap, parts[1]]))[1].tobytes()


def distances_of(results: Results) -> list[float]:
    """Return the distances of the scans, from far to near [m]."""
    return sorted({scan.distance_m for one in results for scan in one.scans}, reverse=True)


def method_scans(results: Results, method: str, distance_m: float) -> list[ScanResult]:
    """Return the scans of a method with the map of estimated poses and images as taken."""
    return [
        scan for one in results for scan in _scans(one.scans, distance_m) if scan.method == method
    ]


def _scans(scans: Sequence[ScanResult], distance_m: float) -> list[ScanResult]:
    requested = (distance_m, "estimated", "plain")
    return [scan for scan in scans if (scan.distance_m, scan.mapping, scan.images) == requested]


def _over_distance(shares, errors, results: Results, method: str, distances: list[float]) -> None:
    """Draw a method: a line through all seeds together, and a dot for each seed."""
    look, drawn = _LOOKS[method], []
    beside = _BESIDE * (METHODS.index(method) - 0.5 * (len(METHODS) - 1))
    for k, distance_m in enumerate(distances):
        scans = method_scans(results, method, distance_m)
        if not scans:
            continue
        known = [scan.known_m for scan in scans]
        localized = sum(len(one) for one in known) / sum(scan.n_frames for scan in scans)
        pooled = np.concatenate(known)
        place = k + beside
        drawn.append((place, localized * _PERCENT, pooled.mean() * _CM if len(pooled) else np.nan))
        for scan in scans:
            dot = {"marker": ".", "color": look["color"], "alpha": 0.55, "ms": 5, "ls": ""}
            shares.plot(place, scan.share_localized * _PERCENT, **dot)
            if len(scan.known_m):
                errors.plot(place, scan.known_m.mean() * _CM, **dot)
    if drawn:
        places, share, error = np.array(drawn).T
        shares.plot(places, share, ms=7, label=NAMES[method], **look)
        errors.plot(places, error, ms=7, label=NAMES[method], **look)


def _panels(name: str, results: Results, draw) -> str:
    """Return panels of errors along a scan, one below the other, with one legend."""
    figure = new_figure(WIDE_IN, 1.3 + 1.9 * len(results))
    with style():
        panels = figure.subplots(len(results), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        for axes, result in zip(panels, results, strict=True):
            draw(axes, result)
            axes.set(yscale="log", ylim=_ERROR_LIMITS_CM)
            axes.set_ylabel(f"seed {result.seed}\nerror [cm]")
            axes.axhline(LOST_M * _CM, color=TRUTH, lw=0.8, label="lost above 50 cm")
            _plain_ticks(axes)
            axes.margins(x=0.01)
        panels[-1].set_xlabel("way along the scan [m]")
        handles = {h.get_label(): h for axes in panels for h in _handles(axes)}
        figure.legend(
            handles=list(handles.values()), loc="outside lower center", ncols=min(len(handles), 6)
        )
    return render_svg(figure, name)


def _line(axes, scan: ScanResult, **look) -> None:
    which = thinned(scan.n_frames)
    axes.plot(np.array(scan.s_m)[which], _errors_cm(scan)[which], lw=1.0, **look)


def _errors_cm(scan: ScanResult) -> np.ndarray:
    return np.array([np.nan if e is None else e for e in scan.errors_m]) * _CM


def _labelled_maps(results: Results) -> list[tuple[str, MapResult, str | None]]:
    """Return the maps of each kind with a label for the first of a kind."""
    return [
        (mapping, one, None if k else f"{POSES[mapping]} mapping poses, every seed")
        for mapping in MAPPINGS
        for k, one in enumerate(maps_of(results, mapping))
    ]


def _handles(axes) -> list:
    return axes.get_legend_handles_labels()[0]


def _plain_ticks(axes) -> None:
    """Label a logarithmic axis with plain numbers."""
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
