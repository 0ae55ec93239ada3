# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The chapters of a study of dense localisation: bars, scans, distances, maps, of all seeds."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from aerotwin_core.section import Figure, Headline, Section
from evidence.dense_study import page_figures as figures
from evidence.dense_study import page_tables as tables
from evidence.dense_study.page_figures import NAMES, POSES, method_scans
from evidence.dense_study.results import METHODS, SeedResult
from evidence.dense_study.thresholds import (
    THRESHOLDS,
    Results,
    Row,
    closest_distance_m,
    rows_of,
    value_text,
)

_ATE_M = THRESHOLDS[0].limits[0]
_NEAR_SHARES = next(
    bar.limits for bar in THRESHOLDS if bar.figure == "map points nearer than 10 cm"
)
_HEADLINES = (
    "ATE at 2 m, mean",
    "frames lost at 2 m",
    "map points to the true mesh, mean",
    "visible wall with a point within 10 cm",
    "ATE at 1 m, mean",
)
_ALIGNED = (
    "Aligned means after the rigid motion that takes the map's key-frames to their true places: "
    "one for each map, without scale, never fitted to a scan. What it "
    "removed stands in the table of alignments."
)


def sections_of(results: Results, pictures: Path) -> list[Section]:
    """Return the chapters of a study.

    Parameters
    ----------
    results : sequence of SeedResult
    pictures : Path
        Folder of the pictures of the first.
    """
    rows = rows_of(results)
    return [
        _thresholds(results, rows),
        _scan(results),
        _distances(results),
        _map(results),
        _pictures(results[0], pictures),
        _evidence(results),
    ]


def _thresholds(results: Results, rows: Sequence[Row]) -> Section:
    judged = [row for row in rows if row.seed is not None]
    n_met = sum(row.is_met is True for row in judged)
    n_open = sum(row.is_met is None for row in judged)
    left = f", {n_open} were not measured" if n_open else ""
    return Section(
        title="Bars",
        name="dense_bars",
        verdict=f"{n_met} of {len(judged)} bars are met, seed by seed{left}.",
        text="A wall is mapped in stereo from 13 m and scanned from near with one camera. Each bar "
        "counts with every seed. Both flights are simulated: this checks the method and is no twin "
        "result. Seeds were not used for tuning and are all listed. An image is lost "
        "when it has no pose or is placed more than 0.5 m from the truth. ATE is the mean distance "
        "between estimated and true position of the camera over all images with a pose, of all "
        f"seeds together. {_ALIGNED}",
        headline=(*_headlines(rows), _closest(results)),
        tables=(tables.beside_paper(rows), tables.thresholds_of_seeds(results, rows)),
        metrics={
            "rows": [
                {
                    "figure": row.bar.figure, "mapping": row.mapping, "seed": row.seed,
                    "value": row.value, "threshold": row.limit, "is_met": row.is_met,
                }
                for row in rows
            ],
            "closest_distance_m": closest_distance_m(results, "estimated"),
        },
    )  # fmt: skip


def _headlines(rows: Sequence[Row]) -> list[Headline]:
    tiles = []
    for figure in _HEADLINES:
        mine = [row for row in rows if row.bar.figure == figure and row.mapping == "estimated"]
        (pooled,) = (row for row in mine if row.seed is None)
        value, unit = value_text(pooled.value, pooled.bar.unit)
        limit, _ = value_text(pooled.limit, pooled.bar.unit)
        side = "least" if pooled.bar.is_least else "most"
        asked = f"the bar is at {side} {limit} {unit}".rstrip()
        met = [row.is_met for row in mine]
        published, _ = value_text(pooled.bar.paper, pooled.bar.unit)
        paper = "" if pooled.bar.paper is None else f"; the paper: {published} {unit}"
        tiles.append(
            Headline(
                label=figure, value=value, unit=unit,
                meaning=f"estimated mapping poses; {asked}{paper}",
                status="good" if all(met) else "bad" if False in met else "warn",
                computed="all seeds together; coloured by the worst seed",
                better="higher" if pooled.bar.is_least else "lower",
            )
        )  # fmt: skip
    return tiles


def _closest(results: Results) -> Headline:
    distance_m = closest_distance_m(results, "estimated")
    return Headline(
        label="closest distance that holds",
        value="none" if distance_m is None else f"{distance_m:g}",
        unit="" if distance_m is None else "m",
        meaning="from the wall, no image lost with any seed",
        computed="of the distances that were flown",
        better="lower",
    )


def _scan(results: Results) -> Section:
    return Section(
        title="The scan at 2 m",
        name="dense_scan",
        text="Each image is localised against views rendered from the map; nothing accumulates, as "
        "the errors along the way show. The map is the one made with estimated poses.\n\n"
        "Features are favoured: for each image they are told its true place, search only what is "
        "seen from there and 1 m around, and need 12 matches that agree. They are given some of "
        "the same images, evenly spaced; their way is measured from one to the next.",
        figures=(
            Figure(
                title="Direct alignment along the scan",
                caption="Position error, aligned. Compare with Fig. 10 of the paper. The bar is of "
                "the mean, not of a single image.",
                svg=figures.errors_along(results, _ATE_M),
                is_wide=True,
            ),
            Figure(
                title="All methods along the scan",
                caption="Images as taken. Crosses at the upper edge: lost. Compare with Fig. 6 of "
                "the paper, where ORB-SLAM3 flew at 5 m.",
                svg=figures.features_along(results),
                is_wide=True,
            ),
        ),
    )


def _distances(results: Results) -> Section:
    return Section(
        title="Distance to the wall",
        name="dense_distances",
        verdict=_distance_verdict(results),
        text="The same wall scanned from far to near, by direct alignment and by features. Against "
        "the mapping key-frames, as the localisation mode of a feature SLAM does, the images "
        "differ more and more in scale; virtual key-frames show the map from where the camera is.",
        figures=(
            Figure(
                title="Images localised, and their error, over the distance",
                caption="Lines: all seeds together; dots: each seed. Errors are of the images that "
                "were not lost: they stand with the share on the left.",
                svg=figures.over_distance(results, _ATE_M),
                is_wide=True,
            ),
            Figure(
                title="Errors of direct alignment at each distance",
                caption="All images of all seeds, images as taken, estimated mapping poses.",
                svg=figures.errors_of_distances(results),
            ),
        ),
        tables=tables.methods_by_distance(results),
    )


def _distance_verdict(results: Results) -> str:
    nearest = []
    for method in METHODS:
        flown = [(d, method_scans(results, method, d)) for d in figures.distances_of(results)]
        held = [d for d, scans in flown if scans and not any(scan.n_lost for scan in scans)]
        if any(scans for _, scans in flown):
            nearest.append(f"{NAMES[method]} {f'{min(held):g} m' if held else 'at no distance'}")
    return f"No image lost, nearest to the wall: {'; '.join(nearest)}." if nearest else ""


def _map(results: Results) -> Section:
    return Section(
        title="The map",
        name="dense_map",
        text="Distances of all exported points to the true mesh: none is trimmed, and nothing is "
        f"fitted to the mesh. {_ALIGNED}",
        figures=(
            Figure(
                title="Points of the map: cumulative",
                caption="A line for each seed; a line above its bar's corner meets it.",
                svg=figures.map_cumulative(results, _NEAR_SHARES),
            ),
            Figure(
                title="Points of the map: spread",
                caption="A line for each seed. What is farther than 10 cm is not shown.",
                svg=figures.map_histogram(results),
            ),
        ),
        tables=(tables.maps(results), tables.alignments(results)),
    )


def _pictures(result: SeedResult, folder: Path) -> Section:
    return Section(
        title="What the camera sees, and what the map shows",
        name="dense_pictures",
        text="Left as the camera took it, right rendered from the map of estimated poses at the "
        "same place. Virtual key-frames look alike, but stand behind. The map was seen from 13 m.",
        figures=tuple(
            Figure(
                title=f"{pair.distance_m:g} m from the wall",
                caption=f"Seed {result.seed}, middle of the scan.",
                png=figures.pair_picture(folder, pair),
            )
            for pair in result.pictures
        ),
    )


def _evidence(results: Results) -> Section:
    n_seen = sum(one.is_detected for result in results for one in result.controls)
    n = sum(len(result.controls) for result in results)
    ways = np.array([scan.n_frames for result in results for scan in result.scans])
    return Section(
        title="All scans, and controls",
        name="dense_evidence",
        verdict=f"{n_seen} of {n} negative controls were seen; {ways.sum():,} images were scored.",
        warnings=() if n_seen == n else ("A negative control was not seen by the score.",),
        text=f"Poses of the mapping are {POSES['estimated']} by the autopilot or {POSES['true']}; "
        "changing images have an exposure that changes by 30 % and a blur of 1 px.",
        tables=(tables.scans(results), tables.controls(results)),
        metrics={"n_images": int(ways.sum()), "n_controls": n, "n_controls_seen": n_seen},
    )
