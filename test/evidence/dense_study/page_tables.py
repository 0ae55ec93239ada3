# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Tables of a study of dense localisation."""

from collections.abc import Callable, Sequence

import numpy as np

from aerotwin_core.section import Cell, Table
from evidence.dense_study.page_figures import NAMES, POSES, distances_of, method_scans
from evidence.dense_study.results import MAPPINGS, METHODS, MapResult, ScanResult
from evidence.dense_study.thresholds import NOT_COMPARABLE, THRESHOLDS, Results, Row, value_text

_CM = 100.0
_VERDICTS = {True: "met", False: "missed", None: "not measured"}


def beside_paper(rows: Sequence[Row]) -> Table:
    """Return all seeds together beside the published figures."""
    pooled = {(row.bar.figure, row.mapping): row for row in rows if row.seed is None}
    cells = []
    for bar in THRESHOLDS:
        line: list[Cell] = [
            bar.figure,
            "–" if bar.paper is None else value_text(bar.paper, bar.unit)[0],
        ]
        for mapping in MAPPINGS:
            row = pooled[bar.figure, mapping]
            line += [value_text(row.value, bar.unit)[0], _limit(row)]
        cells.append((*line, value_text(None, bar.unit)[1] or "–", "no"))
    return Table(
        title="Beside the paper, all seeds together",
        columns=(
            "figure", "paper", "estimated mapping poses", "bar", "true mapping poses", "bar ",
            "unit", "comparable",
        ),
        rows=tuple(cells),
        caption=NOT_COMPARABLE,
    )  # fmt: skip


def thresholds_of_seeds(results: Results, rows: Sequence[Row]) -> Table:
    """Return each bar with the figure of every seed."""
    cells = []
    for bar in THRESHOLDS:
        for mapping in MAPPINGS:
            mine = [row for row in rows if row.bar is bar and row.mapping == mapping]
            met = [row.is_met for row in mine if row.seed is not None]
            verdict = None if None in met else all(met)
            figures = (value_text(row.value, bar.unit)[0] for row in mine)
            unit = value_text(None, bar.unit)[1] or "–"
            cells.append(
                (bar.figure, POSES[mapping], _limit(mine[0]), *figures, unit, _VERDICTS[verdict])
            )
    seeds = (f"seed {one.seed}" for one in results)
    return Table(
        title="Bars of each seed",
        columns=("figure", "mapping poses", "bar", *seeds, "all", "unit", "verdict"),
        rows=tuple(cells),
        caption="A bar is met when it is met with every seed.",
    )


def methods_by_distance(results: Results) -> tuple[Table, ...]:
    """Return the share localised and the error of every method at every distance."""
    distances = distances_of(results)
    columns = ("method", *(f"{distance_m:g} m" for distance_m in distances))
    kinds = (
        ("Images localised [%]", _share, "Less than 0.5 m from the truth."),
        ("Mean error of the images localised [cm]", _error, "Aligned; to be read with the share."),
        ("Images", _count, "Features are given some of the same images, evenly spaced."),
    )
    return tuple(
        Table(
            title=title,
            columns=columns,
            rows=tuple(
                (NAMES[method], *(cell(method_scans(results, method, d)) for d in distances))
                for method in METHODS
            ),
            caption=f"{caption} All seeds together, images as taken, estimated mapping poses.",
        )
        for title, cell, caption in kinds
    )


def maps(results: Results) -> Table:
    """Return the figures of every map."""
    columns = (
        "seed", "mapping poses", "points [1e6]", "key-frames", "ties", "mean [cm]", "median [cm]",
        "< 10 cm [%]", "< 20 cm [%]", "unaligned [cm]", "complete [%]",
    )  # fmt: skip
    return Table(
        title="Maps",
        columns=columns,
        rows=_of_each_map(results, _map_cells),
        caption="Distances of all points to the true mesh, and share of the visible wall that has "
        "one within 10 cm. Unaligned: the mean.",
    )


def alignments(results: Results) -> Table:
    """Return what the alignment of each map removed, and left."""
    columns = (
        "seed", "mapping poses", "key-frames off [cm]", "unaligned [cm]", "offset removed [m]",
        "tilt removed [deg]", "yaw removed [deg]", "scale left [%]",
    )  # fmt: skip
    return Table(
        title="Alignments of the maps",
        columns=columns,
        rows=_of_each_map(results, _alignment_cells),
        caption="Fitted to the key-frames' positions. A similarity would have removed the scale as "
        "well; it is left.",
    )


def scans(results: Results) -> Table:
    """Return the figures of every scan."""
    rows = []
    for result in results:
        for scan in sorted(result.scans, key=lambda one: -one.distance_m):
            rows.append((result.seed, *_scan_cells(scan)))
    return Table(
        title="Scans",
        columns=(
            "seed", "wall [m]", "method", "poses", "images", "n", "lost", "renewed", "relocalised",
            "ATE [cm]", "RMSE [cm]", "max [cm]", "unaligned [cm]", "turn [deg]", "scale [%]",
        ),
        rows=tuple(rows),
        caption="Method dense is direct alignment; features are of mapping or virtual key-frames. "
        "ATE is the mean. Errors are of all images with a pose, also where it is more than "
        "0.5 m off. Turn is the mean error of attitude, scale what would bring images nearest to "
        "the truth.",
    )  # fmt: skip


def controls(results: Results) -> Table:
    """Return the negative controls."""
    return Table(
        title="Negative controls",
        columns=("seed", "what was done to the truth", "expected [m]", "measured [m]", "seen by"),
        rows=tuple(
            (
                result.seed, one.name, f"{one.expected_m:.3f}", f"{one.measured_m:.3f}",
                one.seen_by or "nothing",
            )
            for result in results
            for one in result.controls
        ),
        caption="The true way of the scan at 2 m, corrupted and scored as the scans are: root mean "
        "square of the position error.",
    )  # fmt: skip


def _limit(row: Row) -> str:
    sign = "≥" if row.bar.is_least else "≤"
    return f"{sign} {value_text(row.limit, row.bar.unit)[0]}"


def _share(found: Sequence[ScanResult]) -> str:
    if not found:
        return "–"
    n = sum(scan.n_frames for scan in found)
    return f"{100.0 * (n - sum(scan.n_lost for scan in found)) / n:.1f}"


def _error(found: Sequence[ScanResult]) -> str:
    known = np.concatenate([np.empty(0), *(scan.known_m for scan in found)])
    return f"{known.mean() * _CM:.2f}" if len(known) else "–"


def _count(found: Sequence[ScanResult]) -> str:
    return f"{sum(scan.n_frames for scan in found)}" if found else "–"


def _of_each_map(
    results: Results, cells: Callable[[MapResult], tuple[Cell, ...]]
) -> tuple[tuple[Cell, ...], ...]:
    return tuple(
        (result.seed, POSES[one.mapping], *cells(one)) for result in results for one in result.maps
    )


def _map_cells(one: MapResult) -> tuple[Cell, ...]:
    near = one.points_to_mesh
    return (
        f"{one.n_splats * 1e-6:.2f}", one.n_keyframes, one.n_links, f"{near.mean_m * _CM:.2f}",
        f"{near.median_m * _CM:.2f}", f"{near.share_10cm * 100.0:.2f}",
        f"{near.share_20cm * 100.0:.2f}", f"{one.points_to_mesh_unaligned.mean_m * _CM:.2f}",
        f"{one.completeness_10cm * 100.0:.2f}",
    )  # fmt: skip


def _alignment_cells(one: MapResult) -> tuple[Cell, ...]:
    removed = one.removed
    return (
        f"{one.keyframes_mean_m * _CM:.2f}", f"{one.keyframes_unaligned_mean_m * _CM:.2f}",
        f"{removed.offset_m:.3f}", f"{removed.tilt_deg:.3f}", f"{removed.yaw_deg:.3f}",
        f"{removed.scale_percent:.3f}",
    )  # fmt: skip


def _scan_cells(scan: ScanResult) -> tuple[Cell, ...]:
    lengths = (scan.ate_mean_m, scan.ate_rmse_m, scan.ate_max_m, scan.ate_unaligned_mean_m)
    return (
        f"{scan.distance_m:g}", scan.method, POSES[scan.mapping], scan.images,
        scan.n_frames, scan.n_lost, scan.n_renewed, scan.n_relocalized,
        *("–" if one is None else f"{one * _CM:.2f}" for one in lengths),
        "–" if scan.turn_mean_deg is None else f"{scan.turn_mean_deg:.3f}",
        "–" if scan.scale_percent is None else f"{scan.scale_percent:.3f}",
    )  # fmt: skip
